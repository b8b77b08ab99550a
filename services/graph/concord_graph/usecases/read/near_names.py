"""Names that a reader who found nothing may have meant (G13)."""

from __future__ import annotations

from itertools import zip_longest

from concord_graph.domain.drafts import EndRef
from concord_graph.domain.items import Edge, Instant
from concord_graph.domain.spelling import MOST_NEAR, NameKind, nearest
from concord_graph.ports import Reads, Walk

MOST_EACH_WAY = 32
MOST_EDGES = 100


async def near_names(tx: Reads, kind: NameKind, asked: str) -> tuple[str, ...]:
    """Return up to 5 live names of a kind that are spelt like the one asked for."""
    if not asked:
        return ()
    return nearest(asked, await tx.names_near(kind, asked, MOST_EACH_WAY))


async def near_triple(
    tx: Reads, source: EndRef, relation: str, target: EndRef, now: int
) -> tuple[str, ...]:
    """Return up to 5 names near a triple's unknown ends, or, if both are known, its relation."""
    at = Instant(now)
    ends = [await tx.find(end, at) for end in (source, target)]
    unknown = [end for end, found in zip((source, target), ends, strict=True) if found is None]
    if not unknown:
        return await _near_relations(tx, str(ends[0]), relation, str(ends[1]), at)
    near = [await near_names(tx, NameKind.NODE, end.name) for end in unknown if end.name]
    in_turn = (name for names in zip_longest(*near) for name in names if name)
    return tuple(dict.fromkeys(in_turn))[:MOST_NEAR]


async def _near_relations(
    tx: Reads, source_id: str, relation: str, target_id: str, at: Instant
) -> tuple[str, ...]:
    """Return near relations from source to target; none if the source has too many edges."""
    walk = Walk(at, incoming=False, include_superseded=True)
    views = await tx.edges_at_hand(source_id, walk, MOST_EDGES) or ()
    edges = [view.item for view in views if isinstance(view.item, Edge)]
    return nearest(relation, [edge.relation for edge in edges if edge.target.id == target_id])
