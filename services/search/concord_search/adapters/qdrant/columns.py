"""The payload numbers that ranking needs, row by row in memory; a point's id is its row.

Reading the payload of 200 candidates out of the engine costs more than a millisecond a query;
these columns cost nothing to look up: all numbers of a row lie side by side, since a query reads
few rows, each from memory. They are in memory while a space is used (`cache`), those of a large
space else in a file of their own (`columns_file`), and rebuilt from the engine without that file:
the engine is the source of truth. See services/decisions/0004.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from concord_search.adapters.qdrant import payload
from concord_search.adapters.qdrant.frequencies import DocumentFrequencies, weight
from concord_search.adapters.qdrant.ragged import Ragged, longer
from concord_search.domain.candidates import Floats, Ints

_PAYLOAD = (
    *("seq", "ac", "la", "created", "from", "d", "p", "imp", "head", "text", "edge"),
    *("session", "speaker", "talk", "speech", "until", "named", "then", "trust"),
    *("length", "writer"),
)
_KEPT = ("closed", "current", "before", "after")
_FIRST_ROWS = 2
_ITEM_BYTES = 200
"""About what an item's name, and its entry among the newest rows, take."""
_OWN_BYTES = 3_000
"""About what the objects take that columns are made of."""
_LISTS = ("concept", "term")
_SPANS = [f"{name} {part}" for name in _LISTS for part in ("start", "count")]
_ROW = np.dtype([(name, np.int64) for name in (*_PAYLOAD, *_KEPT, *_SPANS)])


class Columns:
    """Each row's numbers, concepts, terms and neighbours, and the newest row of each item.

    `before` and `after` are the rows beside a row in its session, plus one; 0 without one. A row
    that was never put, or was dropped, has no item. Not safe for use by several threads at once;
    the owner holds a lock.
    """

    def __init__(self) -> None:
        self.items: list[str] = []
        self.open_items = 0
        self._reserved = 0
        self._newest: dict[str, int] = {}
        self._last: dict[int, int] = {}
        self._rows = np.zeros(_FIRST_ROWS, _ROW)
        none = np.zeros(0, dtype=np.int64)
        self._lists = {name: Ragged(none) for name in _LISTS}
        self._documents = DocumentFrequencies(none)

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Ints]) -> "Columns":
        """Columns from the result of `arrays`; takes the arrays over."""
        made = cls()
        made._rows = arrays["rows"].view(_ROW)
        made._lists = {name: Ragged(arrays[name]) for name in _LISTS}
        made._documents = DocumentFrequencies(made._lists["term"].values)
        made.items = arrays["items"].tobytes().rstrip(b"\0").decode("ascii").split("\n")[:-1]
        order = np.argsort(made["seq"], kind="stable")  # of equals the later row is the newest
        made._newest = {item: row for row in order.tolist() if (item := made.items[row])}
        ends = np.flatnonzero((made["session"] != 0) & (made["after"] == 0))
        made._last = dict(zip(made["session"][ends].tolist(), ends.tolist(), strict=True))
        made.open_items = int(np.count_nonzero(made["current"] > made["edge"]))
        return made

    def arrays(self) -> dict[str, Ints]:
        """All that `of_arrays` needs, by name; may share memory with these columns."""
        names = "".join(f"{item}\n" for item in self.items).encode("ascii")
        return {
            "rows": self._rows[: len(self.items)].view(np.int64),
            **{name: numbers.values for name, numbers in self._lists.items()},
            "items": np.frombuffer(names + b"\0" * (-len(names) % 8), np.int64),
        }

    @property
    def nbytes(self) -> int:
        """About how much memory the columns take."""
        lists = sum(each.nbytes for each in self._lists.values())
        numbers = self._rows.nbytes + lists + self._documents.nbytes
        return _OWN_BYTES + numbers + _ITEM_BYTES * len(self.items)

    def __getitem__(self, name: str) -> Ints:
        """One column, at least as long as there are rows."""
        return self._rows[name]

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
        self._put_list("concept", row, values[payload.FACETS][: values["nc"]])
        self._put_terms(row, values["terms"])
        self._put_beside(row)
        self.close(row, int(values.get("till", 0)))

    def bring(self, row: int, values: Mapping[str, Any]) -> None:
        """Fills a row, or brings it up to date if it is filled."""
        if row < len(self.items) and self.items[row]:
            self.touch(row, values["ac"], values["la"])
            self.close(row, int(values.get("till", 0)))
        else:
            self.put(row, values)

    def _put_terms(self, row: int, terms: Sequence[int]) -> None:
        self._put_list("term", row, terms)
        if self._documents.is_full:
            self._documents = DocumentFrequencies(self._lists["term"].values)
        else:
            self._documents.add(np.array(terms, dtype=np.int64))

    def _put_list(self, name: str, row: int, numbers: Sequence[int]) -> None:
        self[f"{name} start"][row] = self._lists[name].add(numbers)
        self[f"{name} count"][row] = len(numbers)

    def _put_beside(self, row: int) -> None:
        """Links a new memory at the end of its session, and a new state in the former's place."""
        session = int(self["session"][row])
        if not session:
            return
        former, last = self._newest.get(self.items[row]), self._last.get(session)
        if former is not None:
            self["before"][row], self["after"][row] = self["before"][former], self["after"][former]
        elif last is not None:
            self["before"][row], self["after"][last] = last + 1, row + 1
        if former is None or former == last:
            self._last[session] = row

    def close(self, row: int, till: int) -> None:
        """Records that a state ended at change `till`; 0 = it has not."""
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
        """Whether an item counts as one of `open_items`: memories that no change has closed."""
        newest = self._newest.get(item)
        return newest is not None and not (self["closed"][newest] or self["edge"][newest])

    def _make_room(self, row: int) -> None:
        while row >= len(self["seq"]):
            self._rows = longer(self._rows)
        self.items.extend("" for _ in range(len(self.items), row + 1))

    def touch(self, row: int, access_count: int, last_access: int) -> None:
        """Records the reads of a memory."""
        self["ac"][row] = access_count
        self["la"][row] = last_access

    def newest(self, item: str) -> int | None:
        """The row of an item's newest state."""
        return self._newest.get(item)

    def rows_with(self, name: str, rows: Ints) -> Ints:
        """The rows whose number of this name is above 0; -1 in place of every other."""
        known = np.where(rows < len(self.items), rows, 0)
        return np.where((rows < len(self.items)) & (self[name][known] > 0), rows, -1)

    def newest_rows(self, rows: Ints) -> Ints:
        """For each row, the newest row of its item."""
        items = (self.items[row] for row in rows.tolist())
        return np.array([self._newest[item] for item in items], dtype=np.int64)

    def rows_of(self, items: Collection[str]) -> list[int]:
        """Every row of some items. Costs a pass over all rows."""
        return [row for row, name in enumerate(self.items) if name in items and name]

    def seen(self, row: int) -> int:
        """The last change that this row includes: the one that made it, or that ended it."""
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
        """Drops every row of an item; returns them. Costs a pass over all rows."""
        rows = [row for row, name in enumerate(self.items) if name == item]
        self.open_items -= self._counts(item)
        self._newest.pop(item, None)
        for row in rows:
            self._wipe(row)
        return rows

    def _wipe(self, row: int) -> None:
        """Zeroes all data of a row, as columns are stored on disk, too."""
        wiped = {name: self._lists[name].wipe(*self._span(name, row)) for name in _LISTS}
        self._documents.subtract(wiped["term"])
        self._rows[row] = 0
        self.items[row] = ""

    def _span(self, name: str, rows: Any) -> tuple[Any, Any]:
        """Where the numbers of a list begin, and how many there are, of one row or of some."""
        return self[f"{name} start"][rows], self[f"{name} count"][rows]

    def shared_concepts(self, rows: Ints, wanted: NDArray[np.int64]) -> tuple[Ints, Ints]:
        """For each row: how many concepts it shares with `wanted` (distinct); size of the union."""
        shared = self._holds("concept", rows, wanted).sum(axis=1)
        return shared, self["concept count"][rows] + len(wanted) - shared

    def holds(self, rows: Ints, wanted: Ints) -> NDArray[np.bool_]:
        """Whether each row holds each of `wanted`, shape (rows, terms); a row of -1 holds none."""
        found = np.zeros((len(rows), len(wanted)), dtype=np.bool_)
        known = np.flatnonzero(rows >= 0)
        if len(known):
            found[known] = self._holds("term", rows[known], wanted)
        return found

    def _holds(self, name: str, rows: Ints, wanted: Ints) -> NDArray[np.bool_]:
        found = np.zeros((len(rows), len(wanted)), dtype=np.bool_)
        numbers, ends = self._lists[name].of(*self._span(name, rows))
        # many times faster than the places of a table of so many numbers by so few
        same = np.flatnonzero(numbers == wanted[:, np.newaxis])
        which, at = np.divmod(same, max(len(numbers), 1))
        found[np.searchsorted(ends, at, side="right"), which] = True
        return found

    def documents(self, terms: Ints) -> Ints:
        """How many rows hold each term, of any shape; hardly ever too many."""
        return self._documents.counts(terms)

    def term_weights(self, terms: Ints) -> Floats:
        """The inverse document frequency of each term."""
        return self._documents.weights(terms, self.open_items)

    @property
    def rarest_weight(self) -> float:
        """The inverse document frequency of a term that one memory holds."""
        return float(weight(np.ones(1), self.open_items)[0])

    def beside(self, rows: Ints, side: str) -> Ints:
        """The current row `before` or `after` each row in its session; -1 where there is none."""
        linked = self[side][rows] - 1
        moved = np.flatnonzero((linked >= 0) & (self["current"][linked] == 0))
        for place in moved.tolist():
            newest = self._newest.get(self.items[linked[place]], -1)
            linked[place] = newest if newest >= 0 and self["current"][newest] else -1
        return linked
