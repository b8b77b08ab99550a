"""Where sketches of texts are kept. What is lost is read again."""

from collections.abc import Collection, Iterable, Mapping, Set
from typing import Protocol

from concord_chassis.channel.cursors import Cursor

from concord_dissonance.ports.feed import Position

Row = tuple[str, bytes, bytes]
"""A memory's id, the version of what was read, and the packed sketch."""


class SketchStore(Protocol):
    """The sketches of each space's memories. A failure of the store is logged, and finds nothing
    or keeps nothing: a check is as right without it, and slower."""

    async def get(self, space: str, ids: Collection[str]) -> Mapping[str, tuple[bytes, bytes]]:
        """The version and packed sketch of each memory that has one, by its id."""
        ...

    async def put(self, space: str, rows: Iterable[Row]) -> None:
        """Keep sketches in the place of former ones. What it returned from survives a death of the
        process, and a death of the machine perhaps not."""
        ...

    async def drop(self, space: str, ids: Collection[str]) -> None:
        """Remove sketches, and their bytes from the file."""
        ...

    async def ids(self, space: str) -> Collection[str]:
        """The memories of a space that have a sketch."""
        ...

    async def position(self, space: str) -> Position | None:
        """Up to which change a space was read; None: never."""
        ...

    async def reached(self, space: str, position: Position) -> None:
        """Note up to which change a space was read."""
        ...

    async def drop_space(self, space: str) -> None:
        """Remove all of a space."""
        ...

    async def heard(self) -> tuple[Mapping[int, Cursor], Set[str]]:
        """Up to which change of each partition all work is done, and the spaces that are in use;
        nothing before `keep_heard`."""
        ...

    async def keep_heard(self, cursors: Mapping[int, Cursor], in_use: Set[str]) -> None:
        """Keep both, in one step."""
        ...
