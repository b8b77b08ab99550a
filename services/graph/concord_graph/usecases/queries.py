"""Reading: items by name or id, lists, walks, chains, counts, and states for the index."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from concord_graph.domain.drafts import EndRef
from concord_graph.domain.items import EdgeType, Instant, ItemKind, Memory, Node
from concord_graph.ports import (
    Clock,
    Counts,
    EdgeFilter,
    GraphStore,
    MemoryFilter,
    Reads,
    State,
    Walk,
)
from concord_graph.usecases.chains import Chain, chain_of
from concord_graph.usecases.neighbors import (
    Neighborhood,
    Reached,
    neighbors_at_hand,
    walk_neighbors,
)
from concord_graph.usecases.paths import FoundPaths, find_paths
from concord_graph.usecases.shown import Shown, current_edges, show, with_heads
from concord_graph.usecases.touches import Touches

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NeighborPage:
    """A page of a walk: what was reached with its edge, and whether more follows.

    `now` (µs) is the instant of the reading, `valid` the one asked about.
    """

    entries: tuple[tuple[Reached, Shown], ...]
    has_more: bool
    truncated: bool
    visited: int
    now: int
    valid: int


@dataclass(frozen=True, slots=True)
class PathPage:
    """Paths with their edges by id; `valid` (µs) is the instant asked about."""

    found: FoundPaths
    edges: dict[str, Shown]
    valid: int


WalkAt = Callable[[int], Walk]
"""How edges are followed, once the instant of the reading (µs) is known."""


class Queries:
    """Reads of one store. Reads that count are told to `touches` once the reply is known."""

    def __init__(self, store: GraphStore, touches: Touches, clock: Clock) -> None:
        self._store = store
        self._touches = touches
        self._clock = clock

    async def read(self, space: str, work: Callable[[Reads, int], Awaitable[T]]) -> T:
        """Run work on a consistent view, with a "now" that no record is later than."""
        return await self._store.read(space, lambda tx: work(tx, max(self._clock(), tx.last_time)))

    async def node(self, space: str, *, node_id: str = "", name: str = "") -> Node | None:
        """Return a live node by id or name."""

        async def work(tx: Reads, _: int) -> Node | None:
            node = await (tx.node(node_id) if node_id else tx.live_node_named(name))
            return node if node and not node.deleted else None

        return await self.read(space, work)

    async def edge(self, space: str, edge_id: str, *, peek: bool) -> Shown | None:
        """Return a live edge by id."""

        async def work(tx: Reads, now: int) -> Shown | None:
            return await _shown_edge(tx, edge_id, now)

        return self._touched(space, await self.read(space, work), peek=peek)

    async def edge_of_triple(
        self, space: str, source: EndRef, relation: str, target: EndRef, *, peek: bool
    ) -> Shown | None:
        """Return the current edge of a triple, else its latest live one."""

        async def work(tx: Reads, now: int) -> Shown | None:
            at = Instant(now)
            ends = [await tx.find(end, at) for end in (source, target)]
            if None in ends:
                return None
            edges = await tx.live_edges_of_triple(str(ends[0]), relation, str(ends[1]))
            begun = [edge for edge in edges if edge.effective_from <= now]
            chosen = await current_edges(tx, edges, at) or begun or edges
            # nothing stands before a constitutive edge: it is the one that writes address, too
            first = [edge for edge in chosen if edge.edge_type == EdgeType.CONSTITUTIVE] or chosen
            return await _shown_edge(tx, first[-1].id, now) if first else None

        return self._touched(space, await self.read(space, work), peek=peek)

    async def memory(
        self, space: str, *, memory_id: str = "", external_id: str = "", peek: bool
    ) -> Shown | None:
        """Return a memory by id or key: also a superseded or forgotten one."""

        async def work(tx: Reads, now: int) -> Shown | None:
            key = memory_id
            if external_id:
                found = await tx.memory_by_external_id(external_id)
                key = found.id if found else ""
            at = Instant(now)
            views = await tx.views(ItemKind.MEMORY, [key], at)
            shown = await with_heads(tx, list(views.values()), at)
            return show(shown[0], now) if shown else None

        return self._touched(space, await self.read(space, work), peek=peek)

    async def nodes(self, space: str, label: str, after: str, limit: int) -> Sequence[Node]:
        """Return a page of live nodes by name."""
        return await self.read(space, lambda tx, _: tx.list_nodes(label, after, limit))

    async def edges(
        self, space: str, filter_: EdgeFilter, after: str, limit: int
    ) -> Sequence[Shown]:
        """Return a page of live edges by id."""

        async def work(tx: Reads, now: int) -> Sequence[Shown]:
            ids = await tx.list_edges(filter_, after, limit)
            return await _shown_all(tx, ItemKind.EDGE, ids, Instant(now), now)

        return await self.read(space, work)

    async def memories(
        self, space: str, filter_: MemoryFilter, before: tuple[int, str] | None, limit: int
    ) -> Sequence[Shown]:
        """Return a page of live memories, newest first."""

        async def work(tx: Reads, now: int) -> Sequence[Shown]:
            keys = await tx.list_memories(filter_, Instant(now), before, limit)
            ids = [memory_id for _, memory_id in keys]
            return await _shown_all(tx, ItemKind.MEMORY, ids, Instant(now), now)

        return await self.read(space, work)

    async def history(
        self, space: str, memory_id: str, before_revision: int, limit: int
    ) -> Sequence[Memory]:
        """Return a page of a memory's revisions, newest first."""
        return await self.read(space, lambda tx, _: tx.history(memory_id, before_revision, limit))

    async def neighbors(  # one argument per part of the question
        self,
        space: str,
        start: EndRef,
        depth: int,
        walk: WalkAt,
        *,
        pinned: int | None,
        after: tuple[float, int, str] | None,
        limit: int,
        peek: bool,
    ) -> NeighborPage | None:
        """Return a page of what surrounds an item; None when it does not exist.

        `pinned` is the first page's instant (µs), None on the first page.
        """

        async def work(tx: Reads, current: int) -> NeighborPage | None:
            now = current if pinned is None else pinned
            walked = walk(now)
            start_id = await tx.find(start, walked.at)
            if start_id is None:
                return None
            hand = await neighbors_at_hand(tx, start_id, walked, now) if depth == 1 else None
            if hand is None:
                hand = await walk_neighbors(tx, start_id, depth, walked, now), {}
            return await _page(tx, *hand, walked.at, now=now, after=after, limit=limit)

        page = await self.read(space, work)
        if page and not peek:
            self._touches.add(space, (reached.edge_id for reached, _ in page.entries))
        return page

    async def paths(
        self,
        space: str,
        start: EndRef,
        end: EndRef,
        walk: WalkAt,
        *,
        max_depth: int,
        max_paths: int,
        out_of_time: Callable[[], bool],
        peek: bool,
    ) -> PathPage | None:
        """Return paths between two items; None when one of them does not exist."""

        async def work(tx: Reads, now: int) -> PathPage | None:
            walked = walk(now)
            ends = [await tx.find(start, walked.at), await tx.find(end, walked.at)]
            if None in ends:
                return None
            found = await find_paths(
                tx,
                str(ends[0]),
                str(ends[1]),
                walked,
                max_depth=max_depth,
                max_paths=max_paths,
                out_of_time=out_of_time,
            )
            ids = {edge_id for path in found.paths for edge_id in path.edge_ids}
            shown = await _shown_all(tx, ItemKind.EDGE, sorted(ids), walked.at, now)
            edges = {one.view.item.id: one for one in shown}
            return PathPage(found, edges, walked.at.valid)

        page = await self.read(space, work)
        if page and not peek:
            self._touches.add(space, page.edges)
        return page

    async def chain(self, space: str, item_id: str) -> tuple[Chain, int] | None:
        """Return the whole chain of an item, with the instant it was read at."""

        async def work(tx: Reads, now: int) -> tuple[Chain, int] | None:
            chain = await chain_of(tx, item_id, Instant(now))
            return (chain, now) if chain else None

        return await self.read(space, work)

    async def counts(self, space: str) -> Counts:
        """Count the items of a space."""
        return await self.read(space, lambda tx, _: tx.counts())

    async def genesis_digest(self, space: str) -> str:
        """Return the digest of the space's genesis; empty without one."""

        async def work(tx: Reads, _: int) -> str:
            record = await tx.genesis()
            return record.digest if record else ""

        return await self.read(space, work)

    async def states(
        self, space: str, refs: Sequence[tuple[str, int]], *, count_as_read: bool
    ) -> Sequence[tuple[State, Shown] | None]:
        """Return memories as they were after a change (0 = now), with what a reader sees."""

        async def work(tx: Reads, now: int) -> list[tuple[State, Shown] | None]:
            found = await tx.states(refs, now)
            return [await _with_shown(tx, state, now) if state else None for state in found]

        states = await self.read(space, work)
        if count_as_read:
            self._touches.add(space, (state[0].view.item.id for state in states if state))
        return states

    def _touched(self, space: str, shown: Shown | None, *, peek: bool) -> Shown | None:
        if shown and not peek:
            self._touches.add(space, [shown.view.item.id])
        return shown


async def _shown_edge(tx: Reads, edge_id: str, now: int) -> Shown | None:
    found = await _shown_all(tx, ItemKind.EDGE, [edge_id], Instant(now), now)
    return found[0] if found and not found[0].view.item.deleted else None


async def _shown_all(
    tx: Reads, kind: ItemKind, ids: Sequence[str], at: Instant, now: int
) -> list[Shown]:
    views = await tx.views(kind, ids, at)
    ordered = [views[item_id] for item_id in ids if item_id in views]
    return [show(view, now) for view in await with_heads(tx, ordered, at)]


async def _page(
    tx: Reads,
    around: Neighborhood,
    known: Mapping[str, Shown],
    at: Instant,
    *,
    now: int,
    after: tuple[float, int, str] | None,
    limit: int,
) -> NeighborPage:
    rest = [r for r in around.reached if after is None or r.rank > after]
    page = rest[:limit]
    missing = [reached.edge_id for reached in page if reached.edge_id not in known]
    if missing:
        views = await tx.views(ItemKind.EDGE, missing, at)
        known = {**known, **{item_id: show(view, now) for item_id, view in views.items()}}
    shown = [known[reached.edge_id] for reached in page]
    with_ends = await with_heads(tx, [one.view for one in shown], at)
    entries = tuple(
        (reached, one if view is one.view else replace(one, view=view))
        for reached, one, view in zip(page, shown, with_ends, strict=True)
    )
    return NeighborPage(
        entries=entries,
        has_more=len(rest) > limit,
        truncated=around.truncated,
        visited=len(around.reached),
        now=now,
        valid=at.valid,
    )


async def _with_shown(tx: Reads, state: State, now: int) -> tuple[State, Shown]:
    view = (await with_heads(tx, [state.view], state.at))[0]
    return state, show(view, now)
