"""The payload numbers that ranking needs, column by column in memory; a point's id is its row.

Reading the payload of 200 candidates out of the engine costs more than a millisecond a query;
these columns cost about 200 bytes a point and nothing to look up. They are kept in a file of their
own while a space is closed (`kept`), are rebuilt from the engine where that file is not there, and
are never the truth. See services/decisions/0004.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from concord_search.adapters.qdrant import payload
from concord_search.domain.candidates import Ints

_PAYLOAD = ("seq", "ac", "la", "created", "d", "p", "imp", "head", "text", "edge")
_KEPT = ("closed", "current", "first concept", "concepts")
_FIRST_ROWS = 1024


class Columns:
    """What each row holds, the newest row of each item, and concepts as one flat array.

    A row that was never put, or was dropped, has no item. Not safe for use by several threads at
    once; the owner holds a lock.
    """

    def __init__(self) -> None:
        self.items: list[str] = []
        self.open_items = 0
        self._reserved = 0
        self._newest: dict[str, int] = {}
        self._columns = {name: _zeros(_FIRST_ROWS) for name in (*_PAYLOAD, *_KEPT)}
        self._concepts = _zeros(_FIRST_ROWS * 8)
        self._filled = 0

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Ints]) -> "Columns":
        """Columns from what `arrays` gave; takes the arrays over."""
        made = cls()
        made._columns = {name: arrays[name] for name in (*_PAYLOAD, *_KEPT)}
        made._concepts, made._filled = arrays["all concepts"], len(arrays["all concepts"])
        made.items = arrays["items"].tobytes().rstrip(b"\0").decode("ascii").split("\n")[:-1]
        order = np.argsort(made["seq"], kind="stable")  # of equals the later row is the newest
        made._newest = {item: row for row in order.tolist() if (item := made.items[row])}
        made.open_items = int(np.count_nonzero(made["current"] > made["edge"]))
        return made

    def arrays(self) -> dict[str, Ints]:
        """All that `of_arrays` needs, by name; may share memory with these columns."""
        rows = len(self.items)
        names = "".join(f"{item}\n" for item in self.items).encode("ascii")
        return {
            **{name: column[:rows] for name, column in self._columns.items()},
            "all concepts": self._concepts[: self._filled],
            "items": np.frombuffer(names + b"\0" * (-len(names) % 8), np.int64),
        }

    def __getitem__(self, name: str) -> Ints:
        """One column, at least as long as there are rows."""
        return self._columns[name]

    def reserve(self) -> int:
        """A row that no point has had."""
        row = max(self._reserved, len(self.items))
        self._reserved = row + 1
        return row

    def put(self, row: int, values: Mapping[str, Any]) -> None:
        """Fills a row from a point's payload."""
        self._make_room(row)
        self.items[row] = str(values["item"])
        for name in _PAYLOAD:
            self[name][row] = values.get(name, 0)
        self._put_concepts(row, payload.concepts_of(values))
        self._put_closed(row, int(values.get("till", 0)))

    def _put_concepts(self, row: int, concepts: Sequence[int]) -> None:
        end = self._filled + len(concepts)
        while end > len(self._concepts):
            self._concepts = _longer(self._concepts)
        self._concepts[self._filled : end] = concepts
        self["first concept"][row] = self._filled
        self["concepts"][row] = len(concepts)
        self._filled = end

    def _put_closed(self, row: int, till: int) -> None:
        item = self.items[row]
        before = self._counts(item)
        self["closed"][row] = till
        newest = self._newest.get(item, row)
        if self["seq"][row] >= self["seq"][newest]:
            self["current"][newest] = 0
            self._newest[item] = newest = row
        self["current"][newest] = not self["closed"][newest]
        self.open_items += self._counts(item) - before

    def _counts(self, item: str) -> bool:
        """Whether an item counts among `open_items`: memories that no change has closed."""
        newest = self._newest.get(item)
        return newest is not None and not (self["closed"][newest] or self["edge"][newest])

    def _make_room(self, row: int) -> None:
        while row >= len(self["seq"]):
            self._columns = {name: _longer(column) for name, column in self._columns.items()}
        self.items.extend("" for _ in range(len(self.items), row + 1))

    def close(self, row: int, till: int) -> None:
        """Notes that a state ended at a change."""
        self._put_closed(row, till)

    def touch(self, row: int, access_count: int, last_access: int) -> None:
        """Notes reads."""
        self["ac"][row] = access_count
        self["la"][row] = last_access

    def newest(self, item: str) -> int | None:
        """The row of an item's newest state."""
        return self._newest.get(item)

    def current_rows(self, rows: Ints) -> Ints:
        """The rows that are their item's open newest state; -1 in place of every other."""
        known = np.where(rows < len(self.items), rows, 0)
        current = (rows < len(self.items)) & (self["current"][known] > 0)
        return np.where(current, rows, -1)

    def known_rows(self, rows: Ints) -> Ints:
        """The rows that hold a state, current or not; -1 in place of every other."""
        known = np.where(rows < len(self.items), rows, 0)
        there = (rows < len(self.items)) & (self["seq"][known] > 0)
        return np.where(there, rows, -1)

    def newest_rows(self, rows: Ints) -> Ints:
        """For each row the newest one of its item."""
        items = (self.items[row] for row in rows.tolist())
        return np.array([self._newest[item] for item in items], dtype=np.int64)

    def rows_of(self, items: Collection[str]) -> list[int]:
        """Every row of some items. Costs a pass over all rows."""
        return [row for row, name in enumerate(self.items) if name in items and name]

    def seen(self, row: int) -> int:
        """The last change that this row knows of: what made it, or what ended it."""
        return max(int(self["seq"][row]), int(self["closed"][row]))

    def unclosed_leftovers(self) -> list[tuple[int, int]]:
        """Rows that are neither newest nor closed, with the newest row of their item.

        Such rows are left by a process that died between writing a state and closing the former.
        """
        rows = len(self.items)
        left = np.flatnonzero((self["closed"][:rows] == 0) & (self["current"][:rows] == 0))
        named = ((row, self.items[row]) for row in left.tolist())
        return [(row, self._newest[item]) for row, item in named if item]

    def drop(self, item: str) -> list[int]:
        """Forgets every row of an item; returns them. Costs a pass over all rows."""
        rows = [row for row, name in enumerate(self.items) if name == item]
        self.open_items -= self._counts(item)
        self._newest.pop(item, None)
        for row in rows:
            self._wipe(row)
        return rows

    def _wipe(self, row: int) -> None:
        """Leaves nothing of a row, as columns are kept on disk too."""
        first = self["first concept"][row]
        self._concepts[first : first + self["concepts"][row]] = 0
        for column in self._columns.values():
            column[row] = 0
        self.items[row] = ""

    def shared_concepts(self, rows: Ints, wanted: NDArray[np.int64]) -> tuple[Ints, Ints]:
        """How many concepts each row shares with `wanted` (distinct), and the size of the union."""
        starts, counts = self["first concept"][rows], self["concepts"][rows]
        owners = np.repeat(np.arange(len(rows)), counts)
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        concepts = self._concepts[starts[owners] + offsets]
        hits = (concepts[:, np.newaxis] == wanted).any(axis=1)  # both are few: no need to sort
        shared = np.bincount(owners[hits], minlength=len(rows)).astype(np.int64)
        return shared, counts + len(wanted) - shared


def _zeros(count: int) -> NDArray[np.int64]:
    return np.zeros(count, dtype=np.int64)


def _longer(column: NDArray[np.int64]) -> NDArray[np.int64]:
    """With room for an eighth more: what is read from disk is full, and its first write must not
    take twice its memory."""
    return np.concatenate([column, _zeros(max(len(column) // 8, _FIRST_ROWS))])
