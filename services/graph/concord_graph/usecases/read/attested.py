"""Digests of the constitutive items, for the audit log and for comparing the store with it (A2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from concord_graph.domain import protection
from concord_graph.domain.digests import digest
from concord_graph.domain.items import FOREVER, Edge, EdgeType, Instant, ItemKind, Memory, Record
from concord_graph.ports import EdgeFilter, MemoryFilter, Reads
from concord_graph.usecases.read.items import item_at

_CONSTITUTIVE_EDGES = EdgeFilter(edge_types=(EdgeType.CONSTITUTIVE,))
_CONSTITUTIVE_MEMORIES = MemoryFilter(edge_type=EdgeType.CONSTITUTIVE, at_any_time=True)


@dataclass(frozen=True, slots=True)
class Attested:
    """A live constitutive item, by the digests of its row. `create_time` (µs) orders memories."""

    id: str
    kind: ItemKind
    digest: str
    ends: Mapping[str, str]
    create_time: int


async def digests_of_ends(tx: Reads, item: Record) -> Mapping[str, str] | None:
    """Return the digests of a constitutive item's ends, by id; None for any other item."""
    if not isinstance(item, (Edge, Memory)) or not protection.is_constitutive(item):
        return None
    if isinstance(item, Memory):
        return {}
    found = {end.id: await item_at(tx, end) for end in (item.source, item.target)}
    return {end_id: digest(end) for end_id, end in found.items() if end is not None}


async def attested(
    tx: Reads, now: int, cursor: tuple[bool, int, str], limit: int
) -> Sequence[Attested]:
    """Return digests of live constitutive items: edges by id, then memories, newest first.

    `cursor`: whether the edges are done, and the last item's creation time (µs) and id.
    """
    at_memories, time, last = cursor
    edges = [] if at_memories else await attested_edges(tx, now, last, limit)
    before = (time, last) if at_memories else None
    return [*edges, *await attested_memories(tx, now, before, limit - len(edges))]


async def attested_edges(tx: Reads, now: int, after: str, limit: int) -> Sequence[Attested]:
    """Return the live constitutive edges with an id greater than `after`, by id."""
    at = Instant(now, FOREVER)
    ids = await tx.list_edges(_CONSTITUTIVE_EDGES, at, after, limit)
    return [await _attested(tx, await tx.edge(edge_id)) for edge_id in ids]


async def attested_memories(
    tx: Reads, now: int, before: tuple[int, str] | None, limit: int
) -> Sequence[Attested]:
    """Return the live constitutive memories older than `before`, newest first.

    Those that have ended or not begun are among them: the log lists them, too.
    """
    at = Instant(now, FOREVER)
    found = await tx.list_memories(_CONSTITUTIVE_MEMORIES, at, before, limit)
    return [await _attested(tx, await tx.memory(memory_id)) for _, memory_id in found]


async def _attested(tx: Reads, item: Edge | Memory | None) -> Attested:
    assert item is not None  # noqa: S101 - listed in the same consistent view
    ends = await digests_of_ends(tx, item) or {}
    return Attested(item.id, item.kind, digest(item), ends, item.create_time)
