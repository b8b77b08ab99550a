"""Follows a list of relations from an item, hop by hop (G9, T3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from concord_graph.domain.items import Edge, EdgeType, Instant, ItemKind
from concord_graph.ports import EdgeFilter, Reads, Step, Walk

MOST_ENDS = 100
MOST_EDGES_TO_AN_END = 5
MOST_STEPS = 10_000
MOST_HELD = 20
HELD_EDGES = 200


@dataclass(frozen=True, slots=True)
class FollowedHop:
    """One followed relation: its edges and distinct ends, best first.

    If no item has the relation, there are no ends, and `held_relations` names those they have.
    """

    relation: str
    edge_ids: tuple[str, ...] = ()
    end_ids: tuple[str, ...] = ()
    truncated: bool = False
    held_relations: tuple[str, ...] = ()


async def follow(
    tx: Reads, start_id: str, relations: Sequence[str], at: Instant
) -> list[FollowedHop]:
    """Return the hops in order, up to and with the first that has no edges."""
    hops: list[FollowedHop] = []
    frontier: Sequence[str] = [start_id]
    for relation in relations:
        walk = Walk(at, incoming=False, filter=EdgeFilter(relations=(relation,)))
        steps = await tx.steps(frontier, walk, MOST_STEPS + 1)
        if not steps:
            held = await _held_relations(tx, frontier, at)
            return [*hops, FollowedHop(relation, held_relations=held)]
        hops.append(_hop(relation, steps))
        frontier = hops[-1].end_ids
    return hops


def _hop(relation: str, steps: Sequence[Step]) -> FollowedHop:
    ranked = sorted(steps, key=_rank)
    ends = tuple(dict.fromkeys(step.target_id for step in ranked))
    room = dict.fromkeys(ends[:MOST_ENDS], MOST_EDGES_TO_AN_END)
    edges = []
    for step in ranked:
        if room.get(step.target_id):
            room[step.target_id] -= 1
            edges.append(step.id)
    truncated = len(ends) > MOST_ENDS or len(steps) > MOST_STEPS
    return FollowedHop(relation, tuple(edges), ends[:MOST_ENDS], truncated)


def _rank(step: Step) -> tuple[bool, float, str]:
    return (step.edge_type != EdgeType.CONSTITUTIVE, -step.weight, step.id)


async def _held_relations(tx: Reads, frontier: Sequence[str], at: Instant) -> tuple[str, ...]:
    """Return relations that lead from the items: suggestions for a reader who found none."""
    steps = await tx.steps(frontier, Walk(at, incoming=False), HELD_EDGES)
    views = await tx.views(ItemKind.EDGE, [step.id for step in steps], at)
    held = {view.item.relation for view in views.values() if isinstance(view.item, Edge)}
    return tuple(sorted(held))[:MOST_HELD]
