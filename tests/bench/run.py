"""One run of benchmarks: its sizes, its places, and the client that they share."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

from tests.bench.table import Row
from tests.bench.timing import Caller


@dataclass(frozen=True)
class Run:
    """What a benchmark gets."""

    caller: Caller
    folder: Path
    """Empty at the start of the run, and gone at its end."""
    evaluation: Path
    """Where the evaluation data would be."""
    quick: bool
    large: bool = False
    """Whether large sizes are measured where they take long."""

    def size(self, full: int, quick: int) -> int:
        """A size, by whether the run is quick."""
        return quick if self.quick else full

    @property
    def rounds(self) -> int:
        """How often floor and figure take turns."""
        return self.size(20, 4)


Bench = Callable[[Run], AsyncIterator[Row]]
