"""Lists of whole numbers in one flat array."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from concord_search.domain.candidates import Ints


class Ragged:
    """Lists of numbers, each found again by its start and its count.

    Not safe for use by several threads at once; the owner holds a lock.
    """

    def __init__(self, values: Ints) -> None:
        self._values = values
        self._filled = len(values)

    @property
    def values(self) -> Ints:
        """All numbers of all lists."""
        return self._values[: self._filled]

    @property
    def nbytes(self) -> int:
        """The memory of the array, with its room for more."""
        return self._values.nbytes

    def add(self, numbers: Sequence[int]) -> int:
        """Adds a list; returns its start."""
        start, end = self._filled, self._filled + len(numbers)
        while end > len(self._values):
            self._values = longer(self._values)
        self._values[start:end] = numbers
        self._filled = end
        return start

    def wipe(self, start: int, count: int) -> Ints:
        """Zeroes all numbers of a list, as columns are stored on disk, too; returns them."""
        had = self._values[start : start + count].copy()
        self._values[start : start + count] = 0
        return had

    def of(self, starts: Ints, counts: Ints) -> tuple[Ints, Ints]:
        """The numbers of some lists, one list after the other, and where each list ends."""
        ends = np.cumsum(counts)
        places = np.arange(counts.sum()) + np.repeat(starts - ends + counts, counts)
        return self._values.take(places), ends


def longer(column: NDArray[Any]) -> NDArray[Any]:
    """The column with room for more: twice a short one's, an eighth more of a long one's, which is
    full when it comes from disk, and whose first write must not take twice its memory."""
    more = np.zeros(max(len(column) // 8, min(max(len(column), 8), 1024)), column.dtype)
    return np.concatenate([column, more])
