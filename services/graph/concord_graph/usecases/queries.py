"""Reading: items by name or id, lists, walks, chains, counts, and states for the index."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from concord_attestation.consent import GenesisRecord

from concord_graph.domain.drafts import EndRef
from concord_graph.domain.erasure import Erasure
from concord_graph.domain.items import (
    FOREVER,
    AsOf,
    DeclaredRelation,
    Instant,
    ItemKind,
    Memory,
    Node,
    is_erased,
)
from concord_graph.domain.sessions import CoRead, Restated, Session
from concord_graph.domain.spelling import NameKind
from concord_graph.ports import (
    Change,
    Clock,
    Counts,
    EdgeFilter,
    GraphStore,
    MemoryFilter,
    OperationFilter,
    Reads,
    SessionFilter,
    State,
    View,
    Walk,
)
from concord_graph.usecases.governed.principal_keys import keys_now
from concord_graph.usecases.read.attested import Attested, attested_edges, attested_memories
from concord_graph.usecases.read.chains import Chain, chain_of
from concord_graph.usecases.read.follow import FollowedHop, follow
from concord_graph.usecases.read.near_names import near_names
from concord_graph.usecases.read.neighbors import (
    NeighborPage,
    neighbor_page,
    neighbors_at_hand,
    walk_neighbors,
)
from concord_graph.usecases.read.paths import FoundPaths, find_paths
from concord_graph.usecases.read.recall_log import keeps_recalls
from concord_graph.usecases.read.shown import (
    Shown,
    current_edges,
    fixed_edges,
    is_ghost,
    show,
    with_amendments,
    with_conflicts,
    with_connections,
    with_ends,
    with_heads,
)
from concord_graph.usecases.read.touches import Touches

T = TypeVar("T")

MOST_PAIRS = 1_000
"""Pairs of memories in a list of co-reads."""

MOST_RESTATED = 1_000
_FEW_STATES = 100
MOST_TRIGGERED = 10_000
"""Memories in a list of restated memories."""


@dataclass(frozen=True, slots=True)
class PathPage:
    """Paths with their edges by id; `valid` (µs): the instant that the reader asked about."""

    found: FoundPaths
    edges: dict[str, Shown]
    valid: int


@dataclass(frozen=True, slots=True)
class FollowedPage:
    """Followed hops with their edges by id; `valid` (µs): the instant the reader asked about."""

    hops: Sequence[FollowedHop]
    edges: dict[str, Shown]
    valid: int


WalkAt = Callable[[int], Walk]
"""Makes the walk from the time of the read (µs), which is known only in the read."""


class _Many:
    """An item has more edges than a brief read may look at."""


class Queries:
    """Reads of one store. Reads that count as access are noted in `touches` after the read."""

    def __init__(self, store: GraphStore, touches: Touches, clock: Clock) -> None:
        self._store = store
        self._touches = touches
        self._clock = clock

    async def read(
        self, space: str, work: Callable[[Reads, int], Awaitable[T]], *, brief: bool = False
    ) -> T:
        """Run work on a consistent view; its "now" (µs) is not before any record.

        `brief`: the work looks at some hundred rows at most.
        """
        return await self._store.read(
            space, lambda tx: work(tx, max(self._clock(), tx.last_time)), brief=brief
        )

    async def node(
        self, space: str, as_of: AsOf, *, node_id: str = "", name: str = ""
    ) -> Node | None:
        """Return a live node by id or name."""

        async def work(tx: Reads, now: int) -> Node | None:
            at = as_of.at(now)
            found = node_id or await tx.find(EndRef(name), at) or ""
            view = (await tx.views(ItemKind.NODE, [found], at)).get(found)
            node = view.item if view else None
            return node if isinstance(node, Node) and not node.deleted else None

        return await self.read(space, work, brief=True)

    async def edge(
        self, space: str, edge_id: str, as_of: AsOf, *, peek: bool, session_id: str = ""
    ) -> Shown | None:
        """Return a live edge by id."""

        async def work(tx: Reads, now: int) -> Shown | None:
            return await _shown_edge(tx, edge_id, as_of.at(now), now)

        found = await self.read(space, work, brief=True)
        return self._touched(space, found, peek=peek, session_id=session_id)

    async def edge_of_triple(  # one argument per part of the question
        self,
        space: str,
        source: EndRef,
        relation: str,
        target: EndRef,
        as_of: AsOf,
        *,
        peek: bool,
        session_id: str = "",
    ) -> Shown | None:
        """Return the current edge of a triple, else its latest live one."""

        async def work(tx: Reads, now: int) -> Shown | None:
            at = as_of.at(now)
            ends = [await tx.find(end, at) for end in (source, target)]
            if None in ends:
                return None
            edges = await tx.live_edges_of_triple(str(ends[0]), relation, str(ends[1]), at.record)
            begun = [edge for edge in edges if edge.effective_from <= at.valid]
            chosen = await current_edges(tx, edges, at) or begun or edges
            # constitutive and pinned edges come first: writes address them, too
            first = await fixed_edges(tx, chosen, at.record) or chosen
            return await _shown_edge(tx, first[-1].id, at, now) if first else None

        found = await self.read(space, work, brief=True)
        return self._touched(space, found, peek=peek, session_id=session_id)

    async def memory(
        self,
        space: str,
        as_of: AsOf,
        *,
        memory_id: str = "",
        external_id: str = "",
        peek: bool,
        session_id: str = "",
    ) -> Shown | None:
        """Return a memory by id or external id, even if it is superseded or forgotten."""

        async def work(tx: Reads, now: int) -> Shown | None:
            key = memory_id
            at = as_of.at(now)
            if external_id:
                found = await tx.memory_by_external_id(external_id, at.record)
                key = found.id if found else ""
            shown = await _shown_all(tx, ItemKind.MEMORY, [key], at, now)
            return shown[0] if shown else None

        found = await self.read(space, work, brief=True)
        return self._touched(space, found, peek=peek, session_id=session_id)

    async def near_names(self, space: str, kind: NameKind, asked: str) -> Sequence[str]:
        """Return up to 5 live names that are spelt like a name that was not found."""
        if not asked:
            return ()
        return await self.read(space, lambda tx, _: near_names(tx, kind, asked))

    async def nodes(
        self, space: str, label: str, as_of: AsOf, after: str, limit: int
    ) -> Sequence[Node]:
        """Return a page of live nodes by name."""
        return await self.read(
            space, lambda tx, now: tx.list_nodes(label, as_of.at(now), after, limit)
        )

    async def relations(
        self, space: str, as_of: AsOf, after: str, limit: int
    ) -> Sequence[DeclaredRelation]:
        """Return a page of declared relations by name."""
        return await self.read(
            space, lambda tx, now: tx.list_relations(as_of.at(now), after, limit)
        )

    async def edges(
        self, space: str, filter_: EdgeFilter, as_of: AsOf, after: str, limit: int
    ) -> Sequence[Shown]:
        """Return a page of live edges by id."""

        async def work(tx: Reads, now: int) -> Sequence[Shown]:
            at = as_of.at(now)
            ids = await tx.list_edges(replace(filter_, now=now), at, after, limit)
            return await _shown_all(tx, ItemKind.EDGE, ids, at, now)

        return await self.read(space, work)

    async def memories(
        self,
        space: str,
        filter_: MemoryFilter,
        as_of: AsOf,
        before: tuple[int, str] | None,
        limit: int,
    ) -> Sequence[Shown]:
        """Return a page of live memories, newest first."""

        async def work(tx: Reads, now: int) -> Sequence[Shown]:
            at = as_of.at(now)
            keys = await tx.list_memories(filter_, at, before, limit)
            ids = [memory_id for _, memory_id in keys]
            return await _shown_all(tx, ItemKind.MEMORY, ids, at, now)

        return await self.read(space, work)

    async def history(
        self, space: str, memory_id: str, as_of: AsOf, before_revision: int, limit: int
    ) -> Sequence[Memory]:
        """Return a page of a memory's revisions, newest first, with record times as known then."""

        async def work(tx: Reads, now: int) -> Sequence[Memory]:
            record = as_of.at(now).record
            found = await tx.history(memory_id, before_revision, limit, record)
            return [_open_then(memory, record) for memory in found]

        return await self.read(space, work)

    async def operations(
        self, space: str, filter_: OperationFilter, beyond: int | None, limit: int
    ) -> Sequence[Change]:
        """Return a page of changes with their authors."""
        return await self.read(space, lambda tx, _: tx.operations(filter_, beyond, limit))

    async def erasure(self, space: str, *, erase_id: str, memory_id: str) -> Erasure | None:
        """Return the receipt of an erasure by its id or by the memory's id."""
        return await self.read(
            space, lambda tx, _: tx.erasure(erase_id=erase_id, memory_id=memory_id)
        )

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
        session_id: str = "",
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

        page = await self.read(space, partial(work, walks=depth > 1), brief=depth == 1)
        if isinstance(page, _Many):
            page = await self.read(space, partial(work, walks=True))
        if isinstance(page, _Many):
            raise TypeError(page)
        if page and not peek:
            self._touches.add(space, (reached.edge_id for reached, _ in page.entries))
            self._touches.use(space, session_id)
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
        session_id: str = "",
    ) -> PathPage | None:
        """Return paths between two items; None if one of them does not exist."""

        async def work(tx: Reads, now: int) -> PathPage | None:
            walked = walk(now)
            ends = [await _start_of(tx, each, walked.at) for each in (start, end)]
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
            self._touches.use(space, session_id)
        return page

    async def follow(
        self,
        space: str,
        start: EndRef,
        relations: Sequence[str],
        as_of: AsOf,
        *,
        peek: bool,
        session_id: str = "",
    ) -> FollowedPage | None:
        """Follow relations from an item, hop by hop; None if the item does not exist."""

        async def work(tx: Reads, now: int) -> FollowedPage | None:
            at = as_of.at(now)
            start_id = await _start_of(tx, start, at)
            if start_id is None:
                return None
            hops = await follow(tx, start_id, relations, at)
            ids = dict.fromkeys(edge_id for hop in hops for edge_id in hop.edge_ids)
            shown = await _shown_all(tx, ItemKind.EDGE, list(ids), at, now)
            return FollowedPage(hops, {one.view.item.id: one for one in shown}, at.valid)

        page = await self.read(space, work)
        if page and not peek:
            self._touches.add(space, page.edges)
            self._touches.use(space, session_id)
        return page

    async def chain(
        self, space: str, item_id: str, as_of: AsOf
    ) -> tuple[Chain, list[Shown]] | None:
        """Return the whole chain of an item, and its lineage edges by id."""

        async def work(tx: Reads, now: int) -> tuple[Chain, list[Shown]] | None:
            at = as_of.at(now)
            chain = await chain_of(tx, item_id, at)
            if chain is None:
                return None
            return chain, [show(view, now, at.valid) for view in chain.edges]

        return await self.read(space, work)

    async def counts(self, space: str, as_of: AsOf) -> Counts:
        """Count the items of a space."""
        return await self.read(space, lambda tx, now: tx.counts(as_of.at(now)))

    async def genesis_digest(self, space: str) -> str:
        """Return the digest of the space's genesis; empty without one."""

        async def work(tx: Reads, _: int) -> str:
            record = await tx.genesis()
            return record.digest if record else ""

        return await self.read(space, work)

    async def genesis(self, space: str) -> tuple[GenesisRecord, bytes, int] | None:
        """Return the genesis with the keys that count now, its envelope, and the import's change.

        The last is the number of the change that imported it, 0 if it was not imported.
        """

        async def work(tx: Reads, _: int) -> tuple[GenesisRecord, bytes, int] | None:
            if await tx.genesis() is None:
                return None
            imported = await tx.imported()
            seq = imported.seq if imported else 0
            return await keys_now(tx), await tx.genesis_envelope(), seq

        return await self.read(space, work)

    async def attested(
        self, space: str, cursor: tuple[bool, int, str], limit: int
    ) -> Sequence[Attested]:
        """Return digests of live constitutive items: edges by id, then memories, newest first.

        `cursor`: whether the edges are done, and the last item's creation time (µs) and id.
        """

        async def work(tx: Reads, now: int) -> Sequence[Attested]:
            at_memories, time, last = cursor
            edges = [] if at_memories else await attested_edges(tx, now, last, limit)
            before = (time, last) if at_memories else None
            return [*edges, *await attested_memories(tx, now, before, limit - len(edges))]

        return await self.read(space, work)

    async def states(
        self,
        space: str,
        refs: Sequence[tuple[str, int]],
        as_of: AsOf,
        *,
        count_as_read: bool,
        session_id: str = "",
    ) -> tuple[Sequence[tuple[State, Shown] | None], bool]:
        """Return memories as of the change that each ref names (0: as of `as_of`).

        Also return whether the space keeps a recall log.
        """

        async def work(tx: Reads, now: int) -> tuple[list[tuple[State, Shown] | None], bool]:
            at = as_of.at(now)
            found = await tx.states(refs, at.valid, at.record)
            ended = [
                replace(state, view=(await with_ends(tx, [state.view], state.at))[0])
                if state and seq
                else state
                for state, (_, seq) in zip(found, refs, strict=True)
            ]
            amended = await _amended_now(tx, refs, ended, at)
            shown = [
                (state, show(amended.get(place, state.view), now, state.at.valid))
                if state
                else None
                for place, state in enumerate(ended)
            ]
            return shown, await keeps_recalls(tx)

        states, logs = await self.read(space, work, brief=len(refs) <= _FEW_STATES)
        if count_as_read:
            read = [s[0].view.item.id for s in states if s and not is_erased(s[0].view.item)]
            self._touches.add(space, read)
            self._touches.use(space, session_id, read)
        return states, logs

    async def flush(self) -> None:
        """Store the reads and uses of sessions that were noted so far."""
        await self._touches.flush()

    async def session(self, space: str, session_id: str) -> Session | None:
        """Return a session's record."""
        await self.flush()
        return await self.read(space, lambda tx, _: tx.session(session_id))

    async def sessions(
        self, space: str, filter_: SessionFilter, before: tuple[int, str] | None, limit: int
    ) -> Sequence[Session]:
        """Return a page of sessions, the last used first."""
        await self.flush()
        return await self.read(space, lambda tx, _: tx.sessions(filter_, before, limit))

    async def co_reads(self, space: str, session_id: str) -> Sequence[CoRead]:
        """Return how often memories were read in one session with one that this session read."""
        return await self.read(space, lambda tx, _: tx.co_reads(session_id, MOST_PAIRS))

    async def restated(
        self, space: str, session_ids: Sequence[str], least: int
    ) -> Sequence[Restated]:
        """Return the live memories that at least `least` of these sessions stated."""
        return await self.read(space, lambda tx, _: tx.restated(session_ids, least, MOST_RESTATED))

    async def triggered(self, space: str) -> Sequence[tuple[str, Sequence[str]]]:
        """Return the ids of live memories that have triggers, with their triggers."""
        return await self.read(space, lambda tx, _: tx.triggered(MOST_TRIGGERED))

    def _touched(
        self, space: str, shown: Shown | None, *, peek: bool, session_id: str
    ) -> Shown | None:
        if shown and not peek and not is_erased(shown.view.item):
            self._touches.add(space, [shown.view.item.id])
            self._touches.use(space, session_id, [shown.view.item.id])
        return shown


async def _start_of(tx: Reads, end: EndRef, at: Instant) -> str | None:
    """Return the id of the live item or ghost at which a walk starts or ends; None without one."""
    found = await tx.find(end, at)
    if found is None and not end.name and await is_ghost(tx, end.id, at):
        return end.id
    return found


async def _shown_edge(tx: Reads, edge_id: str, at: Instant, now: int) -> Shown | None:
    found = await _shown_all(tx, ItemKind.EDGE, [edge_id], at, now)
    return found[0] if found and not found[0].view.item.deleted else None


async def _shown_all(
    tx: Reads, kind: ItemKind, ids: Sequence[str], at: Instant, now: int
) -> list[Shown]:
    views = await tx.views(kind, ids, at)
    ordered = [views[item_id] for item_id in ids if item_id in views]
    return [show(view, now, at.valid) for view in await with_heads(tx, ordered, at)]


def _open_then(memory: Memory, record: int) -> Memory:
    """Return a revision as known at a record time (µs): open if it was closed later."""
    if memory.revision.record_until <= record:
        return memory
    return replace(memory, revision=replace(memory.revision, record_until=FOREVER))


async def _amended_now(
    tx: Reads, refs: Sequence[tuple[str, int]], states: Sequence[State | None], at: Instant
) -> dict[int, View]:
    """Return by place the views of refs without a change, with all that a reader sees of them.

    Refs with a change come from a follower of the feed, who needs neither amendments nor open
    conflicts nor connections.
    """
    places = [i for i, state in enumerate(states) if state and not refs[i][1]]
    views = [state.view for i in places if (state := states[i])]
    amended = await with_amendments(tx, await with_ends(tx, views, at), at)
    annotated = await with_connections(tx, await with_conflicts(tx, amended, at), at)
    return dict(zip(places, annotated, strict=True))
