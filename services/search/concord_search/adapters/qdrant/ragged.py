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
        """Without any row."""
        return cls(zeros(0), zeros(0), zeros(0))

    def arrays(self, rows: int) -> tuple[Ints, Ints, Ints]:
        """What the constructor takes, of the first `rows` rows; may share memory with this."""
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
        """Leaves nothing of a row, as columns are kept on disk too; returns what it had."""
        first, count = self._starts[row], self._counts[row]
        had = self._values[first : first + count].copy()
        self._values[first : first + count] = 0
        self._starts[row] = self._counts[row] = 0
        return had

    def of(self, rows: Ints) -> tuple[Ints, Ints]:
        """The numbers of some rows, one after the other, and to which of `rows` each belongs."""
        starts, counts = self._starts[rows], self._counts[rows]
        owners = np.repeat(np.arange(len(rows)), counts)
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return self._values[starts[owners] + offsets], owners

    def counts(self, rows: Ints) -> Ints:
        """How many numbers each of some rows has."""
        return self._counts[rows]


def zeros(count: int) -> NDArray[np.int64]:
    """So many zeros."""
    return np.zeros(count, dtype=np.int64)


def longer(column: NDArray[np.int64]) -> NDArray[np.int64]:
    """With room for an eighth more: what is read from disk is full, and its first write must not
    take twice its memory."""
    return np.concatenate([column, zeros(max(len(column) // 8, 1024))])
