"""Exports of a space: each is read in one consistent view, and few run at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import BinaryIO, TypeVar

from concord_graph.domain.items import AsOf
from concord_graph.ports import Clock, GraphStore, Reads
from concord_graph.usecases.transfer.drawing import draw_lineage
from concord_graph.usecases.transfer.full_export import FullExport, put_down
from concord_graph.usecases.transfer.state_export import export_state

T = TypeVar("T")


class Exports:
    """Exports of the spaces of one store."""

    def __init__(self, store: GraphStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def state(self, space: str, as_of: AsOf) -> list[str]:
        """Return the lines of the state export."""
        return await self._export(space, lambda tx, now: export_state(tx, as_of.at(now)))

    async def full(self, space: str, file: BinaryIO) -> FullExport:
        """Write the whole history to a file; its lines are readable while the file is open."""
        return await self._export(space, lambda tx, _: put_down(tx, file))

    async def drawing(self, space: str, as_of: AsOf) -> list[str]:
        """Return the lines of a drawing of all lineage."""
        return await self._export(space, lambda tx, now: draw_lineage(tx, as_of.at(now)))

    async def _export(self, space: str, work: Callable[[Reads, int], Awaitable[T]]) -> T:
        return await self._store.export(
            space, lambda tx: work(tx, max(self._clock(), tx.last_time))
        )
