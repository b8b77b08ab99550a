"""The payload numbers that ranking needs, column by column in memory, one row per point.

Reading the payload of 200 candidates out of the engine costs more than a millisecond a query;
these columns cost about 300 bytes a point and nothing to look up. They are rebuilt from the
engine when a space is opened and are never the truth.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from concord_search.adapters.edge import payload
from concord_search.domain.candidates import Ints

_WHOLE = ("i", "seq", "ac", "la", "created", "d", "p", "imp", "head", "text")
_FIRST_ROWS = 1024


class Columns:
    """Rows by point, the newest row of each item, and concepts as one flat array.

    Not safe for use by several threads at once; the owner holds a lock.
    """

    def __init__(self) -> None:
        self.items: list[str] = []
        self.points: list[int] = []
        self.open_items = 0
        self._rows: dict[int, int] = {}
        self._newest: dict[str, int] = {}
        self._whole = {name: np.zeros(_FIRST_ROWS, dtype=np.int64) for name in _WHOLE}
        self._closed = np.zeros(_FIRST_ROWS, dtype=np.int64)
        self._current = np.zeros(_FIRST_ROWS, dtype=np.int64)
        self._concepts: NDArray[np.int64] = np.zeros(_FIRST_ROWS * 8, dtype=np.int64)
        self._ends = np.zeros(_FIRST_ROWS + 1, dtype=np.int64)

    def __getitem__(self, name: str) -> Ints:
        """One column, longer than the number of rows."""
        return self._whole[name]

    def put(self, point: UUID, values: Mapping[str, Any]) -> None:
        """Adds a point's row, or writes over it."""
        row = self._rows.get(point.int)
        if row is None:
            row = self._append(point, str(values["item"]), payload.concepts_of(values))
        for name, column in self._whole.items():
            column[row] = values[name]
        self._put_closed(row, int(values.get("till", 0)))

    def _append(self, point: UUID, item: str, concepts: Sequence[int]) -> int:
        row = len(self.items)
        self._make_room(row, len(concepts))
        start = int(self._ends[row])
        self._concepts[start : start + len(concepts)] = concepts
        self._ends[row + 1] = start + len(concepts)
        self.items.append(item)
        self.points.append(point.int)
        self._rows[point.int] = row
        return row

    def _put_closed(self, row: int, till: int) -> None:
        item = self.items[row]
        before = self._is_open(item)
        self._closed[row] = till
        newest = self._newest.get(item, row)
        if self["seq"][row] >= self["seq"][newest]:
            self._current[newest] = 0
            self._newest[item] = newest = row
        self._current[newest] = not self._closed[newest]
        self.open_items += self._is_open(item) - before

    def _is_open(self, item: str) -> bool:
        newest = self._newest.get(item)
        return newest is not None and not self._closed[newest]

    def _make_room(self, row: int, concepts: int) -> None:
        if row >= len(self._closed):
            self._whole = {name: _doubled(column) for name, column in self._whole.items()}
            self._closed = _doubled(self._closed)
            self._current = _doubled(self._current)
            self._ends = np.concatenate([self._ends, np.zeros(row, dtype=np.int64)])
        while self._ends[row] + concepts > len(self._concepts):
            self._concepts = _doubled(self._concepts)

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

    def row_of(self, point: UUID) -> int | None:
        """The row of a point."""
        return self._rows.get(point.int)

    def current_rows(self, points: Sequence[UUID]) -> Ints:
        """The row of each point that is its item's open newest state; -1 for every other."""
        find = self._rows.get
        rows = np.array([find(point.int, -1) for point in points], dtype=np.int64)
        return np.where((rows >= 0) & (self._current[rows] > 0), rows, -1)

    def seen(self, row: int) -> int:
        """The last change that this row knows of: what made it, or what ended it."""
        return max(int(self["seq"][row]), int(self._closed[row]))

    def unclosed_leftovers(self) -> list[tuple[int, int]]:
        """Rows that are neither newest nor closed, with the newest row of their item.

        Such rows are left by a process that died between writing a state and closing the former.
        """
        open_rows = np.flatnonzero(self._closed[: len(self.items)] == 0).tolist()
        found = ((row, self._newest[self.items[row]]) for row in open_rows)
        return [(row, newest) for row, newest in found if row != newest]

    def drop(self, item: str) -> list[UUID]:
        """Forgets every row of an item; returns its points. Costs a pass over all rows."""
        rows = [row for row, name in enumerate(self.items) if name == item]
        before = self._is_open(item)
        self._newest.pop(item, None)
        self.open_items -= before
        points = [UUID(int=self.points[row]) for row in rows]
        for row in rows:
            self._rows.pop(self.points[row], None)
            self._closed[row] = 1
            self._current[row] = 0
            self.items[row] = ""
        return points

    def shared_concepts(self, rows: Ints, wanted: NDArray[np.int64]) -> tuple[Ints, Ints]:
        """How many concepts each row shares with `wanted` (distinct), and the size of the union."""
        starts, ends = self._ends[rows], self._ends[rows + 1]
        counts = ends - starts
        owners = np.repeat(np.arange(len(rows)), counts)
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        concepts = self._concepts[starts[owners] + offsets]
        hits = np.isin(concepts, wanted)
        shared = np.bincount(owners[hits], minlength=len(rows)).astype(np.int64)
        return shared, counts + len(wanted) - shared


def _doubled(column: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([column, np.zeros(len(column), dtype=np.int64)])
