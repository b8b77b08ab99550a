"""What a write asks of a space to say how its items stand, and where it keeps that."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from concord_graph.domain.items import Edge, Memory, Record
from concord_graph.domain.succession import Standing
from concord_graph.ports.results import Ref
from concord_graph.ports.values import Place, ValuesAround

# ruff: noqa: D102 - `Reads` and `Writes` say what each method does


class SpaceToSettle(Protocol):
    """A space as it is now, in a transaction (`Writes`) or in memory."""

    async def functional(self) -> Collection[str]: ...

    async def values_around(self, places: Sequence[Place], most: int) -> Sequence[ValuesAround]: ...

    async def standings(self, ids: Collection[str]) -> Mapping[str, Standing]: ...

    async def items(self, ids: Collection[str]) -> Mapping[str, Edge | Memory]: ...

    async def revisions(self, refs: Sequence[Ref]) -> Sequence[Record | None]: ...

    async def rivals(self, relation: str, limit: int) -> Sequence[str]: ...

    async def facts_of_each(self, memory_ids: Collection[str]) -> Mapping[str, Sequence[str]]: ...

    async def stating(self, edge_ids: Collection[str]) -> Sequence[tuple[str, int]]: ...

    async def lineage_edges(self, ids: Collection[str]) -> Sequence[Edge]: ...

    async def is_pinned(self, item_id: str) -> bool: ...

    async def put_standings(self, standings: Mapping[str, Standing], time: int) -> None: ...
