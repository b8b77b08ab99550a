"""Walks from an item: its neighbours, the paths to another item, and relations hop by hop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from concord_graph.domain.drafts import EndRef
from concord_graph.domain.items import AsOf, Edge, EdgeType, Instant, ItemKind
from concord_graph.ports import EdgeFilter, Reads, Step, Walk
from concord_graph.usecases.read.items import shown_items
from concord_graph.usecases.read.neighbors import (
    NeighborPage,
    neighbor_page,
    neighbors_at_hand,
    walk_neighbors,
)
from concord_graph.usecases.read.paths import FoundPaths, find_paths
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.read.shown import Shown, is_ghost

MOST_ENDS = 100
MOST_EDGES_TO_AN_END = 5
MOST_STEPS = 10_000
MOST_HELD = 20
HELD_EDGES = 200

WalkAt = Callable[[int], Walk]
"""Makes the walk from the time of the read (µs), which is known only in the read."""


@dataclass(frozen=True, slots=True)
class PathPage:
    """Paths with their edges by id."""

    found: FoundPaths
    edges: dict[str, Shown]


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


@dataclass(frozen=True, slots=True)
class FollowedPage:
    """Followed hops with their edges by id."""

    hops: Sequence[FollowedHop]
    edges: dict[str, Shown]


class _Many:
    """An item has more edges than a brief read may look at."""


async def neighbors(
    reader: Reader,
    space: str,
    start: EndRef,
    depth: int,
    walk: WalkAt,
    *,
    pinned: int | None,
    after: tuple[float, int, str] | None,
    limit: int,
) -> NeighborPage | None:
    """Return a page of an item's neighbours; None if the item does not exist.

    `pinned`: the first page's instant (µs); None on the first page.
    """

    async def work(tx: Reads, current: int, *, walks: bool) -> NeighborPage | _Many | None:
        now = current if pinned is None else pinned
        walked = walk(now)
        start_id = await _start_of(tx, start, walked.at)
        if start_id is None:
            return None
        at_hand = depth == 1 and not walks and not walked.include_resolutions
        hand = await neighbors_at_hand(tx, start_id, walked, now) if at_hand else None
        if hand is None and not walks:
            return _Many()
        if hand is None:
            hand = await walk_neighbors(tx, start_id, depth, walked, now), {}
        return await neighbor_page(tx, *hand, walked.at, now=now, after=after, limit=limit)

    page = await reader.read(space, partial(work, walks=depth > 1), brief=depth == 1)
    if isinstance(page, _Many):
        page = await reader.read(space, partial(work, walks=True))
    if isinstance(page, _Many):
        raise TypeError(page)
    return page


async def path_page(
    tx: Reads,
    start: EndRef,
    end: EndRef,
    walk: Walk,
    now: int,
    *,
    max_depth: int,
    max_paths: int,
    out_of_time: Callable[[], bool],
) -> PathPage | None:
    """Return paths between two items; None if one of them does not exist."""
    ends = [await _start_of(tx, each, walk.at) for each in (start, end)]
    if None in ends:
        return None
    found = await find_paths(
        tx,
        str(ends[0]),
        str(ends[1]),
        walk,
        max_depth=max_depth,
        max_paths=max_paths,
        out_of_time=out_of_time,
    )
    ids = sorted({edge_id for path in found.paths for edge_id in path.edge_ids})
    return PathPage(found, await _edges(tx, ids, walk.at, now))


async def followed_page(
    tx: Reads, start: EndRef, relations: Sequence[str], as_of: AsOf, now: int
) -> FollowedPage | None:
    """Follow relations from an item, hop by hop; None if the item does not exist."""
    at = as_of.at(now)
    start_id = await _start_of(tx, start, at)
    if start_id is None:
        return None
    hops = await follow(tx, start_id, relations, at)
    ids = list(dict.fromkeys(edge_id for hop in hops for edge_id in hop.edge_ids))
    return FollowedPage(hops, await _edges(tx, ids, at, now))


async def _edges(tx: Reads, ids: Sequence[str], at: Instant, now: int) -> dict[str, Shown]:
    shown = await shown_items(tx, ItemKind.EDGE, ids, at, now)
    return {each.view.item.id: each for each in shown}


async def _start_of(tx: Reads, end: EndRef, at: Instant) -> str | None:
    """Return the id of the live item or ghost at which a walk starts or ends; None without one."""
    found = await tx.find(end, at)
    if found is None and not end.name and await is_ghost(tx, end.id, at):
        return end.id
    return found


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
