"""The whole chain around an item: both directions, all branches (T5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from concord_graph.domain.items import Edge, Instant, ItemKind, Memory
from concord_graph.ports import Reads, View
from concord_graph.usecases.read.shown import (
    Shown,
    is_ghost,
    show,
    with_ghosts,
    with_heads,
    with_orphans,
)
from concord_graph.usecases.read.succession import place_of

MOST_ITEMS = 1_000


@dataclass(frozen=True, slots=True)
class Link:
    """One item of a chain; `view` is None for a ghost.

    `derived_from`: the memories that its sources name, which are no part of the chain.
    """

    id: str
    view: View | None
    is_head: bool = False
    derived_from: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain's items by effective valid time, and all lineage edges between them.

    `valid` (µs): the instant at which their supersession is worked out.
    """

    items: tuple[Link, ...]
    edges: tuple[Shown, ...]
    valid: int
    truncated: bool = False


async def chain_of(tx: Reads, item_id: str, at: Instant, now: int) -> Chain | None:
    """Return the chain of a memory, an edge or a ghost; None if the id is unknown.

    A memory's chain includes the memories that state the former or later values of its facts.
    """
    edges, ids = await _around(tx, {item_id, *await _taking_turns(tx, item_id, at)}, at)
    views = await _views(tx, ids, at)
    if item_id not in views and not edges and not await is_ghost(tx, item_id, at):
        return None
    return await _assembled(tx, ids, edges, views, at, now=now)


async def _around(tx: Reads, start: set[str], at: Instant) -> tuple[dict[str, Edge], set[str]]:
    """Return all lineage around these items, and every item that lineage or succession reaches."""
    edges: dict[str, Edge] = {}
    ids, frontier = set(start), set(start)
    while frontier and len(ids) <= MOST_ITEMS:
        found = await tx.lineage_edges(frontier, at.record)
        edges |= {edge.id: edge for edge in found}
        ends = {end.id for edge in found for end in (edge.source, edge.target)}
        frontier = (ends | await _in_succession(tx, frontier, at)) - ids
        ids |= frontier
    return edges, ids


async def _taking_turns(tx: Reads, item_id: str, at: Instant) -> set[str]:
    """Return the memories whose facts are in one chain with a fact of this memory (T2)."""
    stated = set(await tx.facts_of(item_id, at.record))
    if not stated:
        return set()
    _, ids = await _around(tx, stated, at)
    views = await tx.views(ItemKind.EDGE, ids - stated, at)
    return {memory_id for view in views.values() for memory_id in view.sources}


async def _in_succession(tx: Reads, ids: set[str], at: Instant) -> set[str]:
    """Return the live edges that precede or succeed any of these edges in time (G2, T2)."""
    functional = await tx.functional(at.record)
    found = await tx.items(ids, at.record) if functional else {}
    edges = [edge for edge in found.values() if isinstance(edge, Edge) and not edge.deleted]
    places = [place_of(edge) for edge in edges if edge.relation in functional]
    rows = await tx.values_around(places, MOST_ITEMS + 1, at.record) if places else ()
    return {value.id for around in rows for part in around for value in part}


async def _assembled(
    tx: Reads,
    ids: set[str],
    edges: dict[str, Edge],
    views: Mapping[str, View],
    at: Instant,
    *,
    now: int,
) -> Chain:
    kept = set(sorted(ids, key=lambda i: _when(views.get(i), i))[:MOST_ITEMS])
    links = sorted(
        (_link(item_id, views.get(item_id), at) for item_id in kept),
        key=lambda link: _when(link.view, link.id),
    )
    shown = [e.id for e in edges.values() if e.source.id in kept and e.target.id in kept]
    found = await tx.views(ItemKind.EDGE, shown, at)
    orphaned = await with_orphans(tx, [found[i] for i in sorted(found)], at)
    edge_views = await with_ghosts(tx, orphaned, at)
    return Chain(
        items=tuple(await _with_sources(tx, links, at)),
        edges=tuple(show(view, now, at.valid) for view in edge_views),
        valid=at.valid,
        truncated=len(ids) > MOST_ITEMS,
    )


async def _views(tx: Reads, ids: set[str], at: Instant) -> dict[str, View]:
    views: dict[str, View] = {}
    for kind in (ItemKind.MEMORY, ItemKind.EDGE):
        found = await tx.views(kind, ids, at)
        for view in await with_heads(tx, list(found.values()), at):
            views[view.item.id] = view
    return views


async def _with_sources(tx: Reads, links: list[Link], at: Instant) -> list[Link]:
    """Fill in the memories that the items' sources name (M1), at most MOST_ITEMS in all."""
    named: dict[str, tuple[str, ...]] = {}
    left = MOST_ITEMS
    for link in links:
        memory = link.view.item if link.view else None
        named[link.id] = memory.derived_from[:left] if isinstance(memory, Memory) else ()
        left -= len(named[link.id])
    wanted = {memory_id for ids in named.values() for memory_id in ids}
    if not wanted:
        return links
    views = await _views(tx, wanted, at)
    return [
        replace(link, derived_from=tuple(_link(i, views.get(i), at) for i in named[link.id]))
        for link in links
    ]


def _link(item_id: str, view: View | None, at: Instant) -> Link:
    if view is None or view.item.deleted:
        return Link(item_id, view)
    return Link(item_id, view, is_head=not view.supersession.is_superseded(at.valid))


def _when(view: View | None, item_id: str) -> tuple[int, str]:
    """Return the sort key of an item; a ghost has no time and sorts as the oldest."""
    return (view.supersession.effective_from if view else -(2**62), item_id)
