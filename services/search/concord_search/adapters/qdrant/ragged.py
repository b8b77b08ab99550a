"""Lists of whole numbers, one a row, in one flat array."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from concord_search.domain.candidates import Ints

FIRST = 8192


class Ragged:
    """A list of numbers for each row; a row without one has an empty list.

    Not safe for use by several threads at once; the owner holds a lock.
    """

    def __init__(self, starts: Ints, counts: Ints, values: Ints) -> None:
        self._starts, self._counts, self._values = starts, counts, values
        self._filled = len(values)

    @classmethod
    def empty(cls) -> "Ragged":
        """A `Ragged` without rows."""
        return cls(zeros(0), zeros(0), zeros(0))

    def arrays(self, rows: int) -> tuple[Ints, Ints, Ints]:
        """The constructor's arrays for the first `rows` rows; may share memory with this."""
        self._make_room(rows - 1, 0)
        return self._starts[:rows], self._counts[:rows], self._values[: self._filled]

    @property
    def values(self) -> Ints:
        """All numbers of all rows."""
        return self._values[: self._filled]

    def put(self, row: int, numbers: Sequence[int]) -> None:
        """Gives a row its numbers."""
        self._make_room(row, len(numbers))
        end = self._filled + len(numbers)
        self._values[self._filled : end] = numbers
        self._starts[row], self._counts[row] = self._filled, len(numbers)
        self._filled = end

    def _make_room(self, row: int, more: int) -> None:
        while row >= len(self._starts):
            self._starts, self._counts = longer(self._starts), longer(self._counts)
        while self._filled + more > len(self._values):
            self._values = longer(self._values)

    def wipe(self, row: int) -> Ints:
        """Zeroes all numbers of a row, as columns are stored on disk, too; returns them."""
        first, count = self._starts[row], self._counts[row]
        had = self._values[first : first + count].copy()
        self._values[first : first + count] = 0
        self._starts[row] = self._counts[row] = 0
        return had

    def of(self, rows: Ints) -> tuple[Ints, Ints]:
        """The numbers of some rows, one row after the other, and each number's index in `rows`."""
        starts, counts = self._starts[rows], self._counts[rows]
        owners = np.repeat(np.arange(len(rows)), counts)
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return self._values[starts[owners] + offsets], owners

    def counts(self, rows: Ints) -> Ints:
        """The number of numbers of each of some rows."""
        return self._counts[rows]


def zeros(count: int) -> NDArray[np.int64]:
    """`count` zeros."""
    return np.zeros(count, dtype=np.int64)


def longer(column: NDArray[np.int64]) -> NDArray[np.int64]:
    """The column with room for an eighth more: a column from disk is full, and its first write
    must not take twice its memory."""
    return np.concatenate([column, zeros(max(len(column) // 8, 1024))])
