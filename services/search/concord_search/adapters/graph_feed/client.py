"""The graph port over graph's contract."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import chain, zip_longest
from typing import TypeVar

import grpc
from concord.graph.v1 import (
    conflict_pb2,
    conflict_pb2_grpc,
    feed_pb2,
    feed_pb2_grpc,
    graph_pb2,
    graph_pb2_grpc,
    lineage_pb2,
    lineage_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    relation_pb2,
    relation_pb2_grpc,
)
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import TRANSIENT, Failure, from_rpc_error
from concord_chassis.call.identity import Caller, OwnTokens, RenewedToken, TokenIssuer
from concord_chassis.channel.channel import connect
from concord_chassis.channel.cursors import Cursor
from concord_chassis.channel.feed import followed, messages_of, spaces_of

from concord_search.adapters.graph_feed import messages
from concord_search.domain.changes import ChangeKind
from concord_search.domain.errors import (
    FilterUnsupported,
    GraphRefused,
    GraphUnavailable,
    NodeUnknown,
)
from concord_search.domain.filters import Edges, kind_of_edge
from concord_search.domain.instants import NEVER, PRESENT, AsOf
from concord_search.ports.graph import (
    Assessed,
    Change,
    Changes,
    Followed,
    Hydrated,
    OpenConflict,
    Partitions,
    SpaceHead,
    StateDigests,
    Statement,
)

PRINCIPAL = "search"
REFS_A_CALL = 64
"""States in one request: at 20,000 characters each, their reply stays below the limit."""

DIGESTED_WITHIN = 600.0
"""Seconds for graph to read a whole outbox."""

MOST_CONFLICTS = 200
MOST_STATEMENTS = 50
MOST_FACTS = 20
EDGES_A_CALL = 200

MOST_EDGES = 4_000
"""The most edges of a node that a search is restricted to: graph walks all of them for each page,
1.4 s of CPU together."""

MOST_SOURCES = 100
"""So many memories that state an edge are shown by graph; with as many there may be more."""

MOST_ID_CHARACTERS = 128
_READING = frozenset({"memory:read", "graph:read"})
_OPEN = (conflict_pb2.CONFLICT_STATE_POTENTIAL, conflict_pb2.CONFLICT_STATE_CONFIRMED)
_DECIDED = (
    conflict_pb2.CONFLICT_CLASS_EVOLUTION,
    conflict_pb2.CONFLICT_CLASS_CONTRADICTION,
    conflict_pb2.CONFLICT_CLASS_NUANCE,
)
"""What no judge could decide stands in lists of conflicts alone."""
_ENDS = (ChangeKind.DELETED, ChangeKind.ERASED)
_TRANSIENT = TRANSIENT | {grpc.StatusCode.ABORTED}

T = TypeVar("T")


class GraphClient:
    """Graph behind an address, called with a service principal's own tokens."""

    def __init__(self, address: str, issuer: TokenIssuer, confirmer: str = PRINCIPAL) -> None:
        """`confirmer`: the name under which this client confirms erasures."""
        service = Caller("", PRINCIPAL, frozenset({"feed:all"}), "SYSTEM")
        token = RenewedToken(issuer, service, ["graph"])
        self._channel = connect(address, token=token)
        self._follower = connect(address, token=token, cap=None)
        self._feed = feed_pb2_grpc.ChangeFeedServiceStub(self._channel)
        self._memories = memory_pb2_grpc.MemoryServiceStub(self._channel)
        self._conflicts = conflict_pb2_grpc.ConflictServiceStub(self._channel)
        self._graph = graph_pb2_grpc.GraphServiceStub(self._channel)
        self._lineage = lineage_pb2_grpc.LineageServiceStub(self._channel)
        self._relations = relation_pb2_grpc.RelationServiceStub(self._channel)
        self._watched = feed_pb2_grpc.ChangeFeedServiceStub(self._follower)
        self._tokens = OwnTokens(issuer, PRINCIPAL, "graph")
        self._confirming = OwnTokens(issuer, confirmer, "graph")

    async def partitions(self, known: Mapping[int, Cursor]) -> Partitions:
        request = feed_pb2.ListPartitionsRequest(cursors=messages_of(known))
        return messages.partitions(await reply(self._feed.ListPartitions(request)))

    async def spaces(self, partition: int) -> AsyncGenerator[Sequence[SpaceHead]]:
        async for page in spaces_of(self._listed, partition):
            yield [SpaceHead(each.space, each.head_seq) for each in page]

    async def _listed(self, request: feed_pb2.ListSpacesRequest) -> Sequence[feed_pb2.SpaceHead]:
        return (await reply(self._feed.ListSpaces(request))).spaces

    async def watch(self, cursors: Mapping[int, Cursor]) -> AsyncGenerator[Changes]:
        try:
            async with aclosing(followed(self._watched, cursors)) as feed:
                async for message in feed:
                    yield messages.changes(message)
        except Failure as failure:
            raise translated(failure) from failure

    async def changes(self, space: str, after_seq: int) -> Changes:
        request = feed_pb2.ListChangesRequest(space=space, after_seq=after_seq)
        found = await reply(self._feed.ListChanges(request))
        return messages.changes_of(found.changes, found.epoch)

    async def lacks(self, space: str, seq: int) -> bool:
        cursor = feed_pb2.SpaceCursor(space=space, seq=seq)
        request = feed_pb2.FindLackingRequest(cursors=[cursor])
        return bool((await reply(self._feed.FindLacking(request))).spaces)

    async def at(self, space: str, changes: Sequence[Change]) -> Sequence[Hydrated | None]:
        of_memories = [each for each in changes if each.is_memory]
        refs = [feed_pb2.RevisionRef(id=each.item_id, seq=each.seq) for each in of_memories]
        revisions, _ = await self._revisions(space, refs, PRESENT, count_as_read=False)
        found = {
            change.seq: messages.hydrated(revision, change.record_time)
            for change, revision in zip(of_memories, revisions, strict=True)
        }
        for each in changes:
            if not each.is_memory:
                found[each.seq] = await self._edge_of(space, each)
        return [found[each.seq] for each in changes]

    async def edges(
        self, space: str, ids: Sequence[str], as_of: AsOf = PRESENT
    ) -> Sequence[Hydrated | None]:
        read = await asyncio.gather(*(self._edge(space, each, as_of) for each in ids))
        return [
            edge and messages.hydrated_edge(edge, 0, messages.micros(edge.modify_time))
            for edge in read
        ]

    async def _edge_of(self, space: str, change: Change) -> Hydrated | None:
        """An edge as a change made it."""
        if change.kind in _ENDS:
            return None
        edge = await self._edge(space, change.item_id, AsOf(record=change.record_time))
        made = edge and messages.hydrated_edge(edge, change.seq, change.record_time)
        if made is None or kind_of_edge(made.state) is Edges.CONSTITUTIVE:
            return made
        return replace(made, state=replace(made.state, superseded_from=NEVER))

    async def _edge(self, space: str, edge_id: str, as_of: AsOf) -> type_pb2.Edge | None:
        request = graph_pb2.GetEdgeRequest(id=edge_id, peek=True, as_of=messages.as_of(as_of))
        said = await reply(self._graph.GetEdge(request, metadata=self._reading(space)))
        return said.edge if said.status == type_pb2.LOOKUP_STATUS_FOUND else None

    async def statements(
        self, space: str, node: str, as_of: AsOf = PRESENT
    ) -> Sequence[Statement] | None:
        for end in (type_pb2.EdgeEnd(name=node), type_pb2.EdgeEnd(id=node)):
            if (found := await self._around(space, end, as_of)) is not None:
                return found
        return None

    async def _around(
        self, space: str, end: type_pb2.EdgeEnd, as_of: AsOf
    ) -> Sequence[Statement] | None:
        if len(end.id) > MOST_ID_CHARACTERS:
            return None
        request = graph_pb2.QueryNeighborsRequest(
            start=end,
            direction=type_pb2.DIRECTION_BOTH,
            depth=1,
            filter=graph_pb2.EdgeFilter(edge_types=[type_pb2.EDGE_TYPE_CONSTITUTIVE]),
            as_of=messages.as_of(as_of),
            page_size=MOST_STATEMENTS,
            peek=True,
        )
        found = await reply(self._graph.QueryNeighbors(request, metadata=self._reading(space)))
        if found.status != type_pb2.LOOKUP_STATUS_FOUND:
            return None
        edges = (each.edge for each in found.neighbors)
        said = (messages.statement(each) for each in edges if messages.is_value(each))
        return sorted(said, key=lambda each: (each.text, each.edge_id))

    async def facts(
        self, space: str, subject: str, relation: str, as_of: AsOf = PRESENT
    ) -> Sequence[Statement]:
        request = graph_pb2.QueryNeighborsRequest(
            start=type_pb2.EdgeEnd(name=subject),
            direction=type_pb2.DIRECTION_OUTGOING,
            depth=1,
            filter=graph_pb2.EdgeFilter(relations=[relation]),
            as_of=messages.as_of(as_of),
            page_size=MOST_FACTS,
            peek=True,
        )
        found = await reply(self._graph.QueryNeighbors(request, metadata=self._reading(space)))
        return [messages.statement(each.edge) for each in found.neighbors]

    async def follow(
        self, space: str, node: str, relations: Sequence[str], as_of: AsOf = PRESENT
    ) -> Followed:
        request = relation_pb2.FollowRelationsRequest(
            start=type_pb2.EdgeEnd(name=node),
            relations=relations,
            as_of=messages.as_of(as_of),
            peek=True,
        )
        call = self._relations.FollowRelations(request, metadata=self._reading(space))
        return messages.followed(await reply(call))

    async def items_at(self, space: str, node: str, as_of: AsOf = PRESENT) -> frozenset[str]:
        request = graph_pb2.QueryNeighborsRequest(
            start=type_pb2.EdgeEnd(id=await self._node_id(space, node, as_of)),
            direction=type_pb2.DIRECTION_BOTH,
            depth=1,
            include_superseded=True,
            as_of=messages.as_of(as_of),
            page_size=EDGES_A_CALL,
            peek=True,
        )
        items: set[str] = set()
        while True:
            page = await reply(self._graph.QueryNeighbors(request, metadata=self._reading(space)))
            if page.status != type_pb2.LOOKUP_STATUS_FOUND:
                raise NodeUnknown(node)
            if page.visited_edge_count > MOST_EDGES:
                why = f"the node has more than {MOST_EDGES:,} edges"
                raise FilterUnsupported("filter.node", why)
            for each in page.neighbors:
                if len(each.edge.sources) >= MOST_SOURCES:
                    why = f"{MOST_SOURCES} or more memories state one edge of the node"
                    raise FilterUnsupported("filter.node", why)
                items.update(messages.items_of(each))
            if not page.next_page_token:
                return frozenset(items)
            request.page_token = page.next_page_token

    async def _node_id(self, space: str, node: str, as_of: AsOf) -> str:
        """The id of a node, given by name or else by id. Raises `NodeUnknown`."""
        at = messages.as_of(as_of)
        asked = [graph_pb2.GetNodeRequest(name=node, as_of=at)]
        if len(node) <= MOST_ID_CHARACTERS:
            asked.append(graph_pb2.GetNodeRequest(id=node, as_of=at))
        near: list[str] = []
        for request in asked:
            found = await reply(self._graph.GetNode(request, metadata=self._reading(space)))
            if found.status == type_pb2.LOOKUP_STATUS_FOUND:
                return found.node.id
            near += found.near_names
        raise NodeUnknown(node, near)

    async def digests(self, space: str, through: int) -> StateDigests:
        request = feed_pb2.GetDigestsRequest(space=space, seq=through)
        found = await reply(self._watched.GetDigests(request, timeout=DIGESTED_WITHIN))
        return StateDigests(
            epoch=found.epoch,
            seq=found.seq,
            buckets=[(each.state_count, int.from_bytes(each.digest)) for each in found.buckets],
        )

    async def current(
        self,
        space: str,
        ids: Sequence[str],
        *,
        count_as_read: bool,
        session_id: str = "",
        unsure: Collection[str] = (),
        as_of: AsOf = PRESENT,
    ) -> Sequence[Hydrated | None]:
        refs = [feed_pb2.RevisionRef(id=each, unsure=each in unsure) for each in ids]
        revisions, is_logged = await self._revisions(
            space, refs, as_of, count_as_read=count_as_read, session_id=session_id
        )
        return [messages.hydrated(revision, is_logged=is_logged) for revision in revisions]

    async def _revisions(
        self,
        space: str,
        refs: Sequence[feed_pb2.RevisionRef],
        as_of: AsOf,
        *,
        count_as_read: bool,
        session_id: str = "",
    ) -> tuple[list[feed_pb2.Revision], bool]:
        """The revisions, and whether the space keeps a recall log."""
        found: list[feed_pb2.Revision] = []
        is_logged = False
        for start in range(0, len(refs), REFS_A_CALL):
            request = feed_pb2.BatchGetRevisionsRequest(
                space=space,
                refs=refs[start : start + REFS_A_CALL],
                count_as_read=count_as_read,
                session_id=session_id,
                as_of=messages.as_of(as_of),
            )
            found_part = await reply(self._feed.BatchGetRevisions(request))
            found += found_part.revisions
            is_logged = found_part.recall_log
        return found, is_logged

    async def confirm_erase(self, space: str, memory_id: str) -> None:
        messages.clear_cache()
        # Under the name of this replica's key: each replica confirms for its own index.
        metadata = self._confirming.metadata(space, frozenset({"confirm:write"}))
        request = memory_pb2.ConfirmEraseRequest(
            request_id=hashlib.sha256(memory_id.encode()).hexdigest(), memory_id=memory_id
        )
        await reply(self._memories.ConfirmErase(request, metadata=metadata))

    async def conflicts(
        self, space: str, at: Mapping[str, Sequence[str]], as_of: AsOf = PRESENT
    ) -> Mapping[str, Sequence[OpenConflict]]:
        in_turn = chain.from_iterable(zip_longest(*at.values()))
        call = self._conflicts.ListConflicts(
            conflict_pb2.ListConflictsRequest(
                states=_OPEN,
                classes=_DECIDED,
                item_ids=list(at),
                conflict_ids=[*filter(None, dict.fromkeys(in_turn))][:MOST_CONFLICTS],
                as_of=messages.as_of(as_of),
                page_size=MOST_CONFLICTS,
            ),
            metadata=self._reading(space),
        )
        return messages.conflicts_by_side((await reply(call)).conflicts, frozenset(at))

    async def assessed(
        self, space: str, kinds: Sequence[int], token: str, limit: int, as_of: AsOf = PRESENT
    ) -> tuple[Sequence[Assessed], str]:
        request = memory_pb2.ListMemoriesRequest(
            filter=memory_pb2.MemoryFilter(kinds=map(type_pb2.MemoryKind.ValueType, kinds)),
            include_superseded=True,
            page_size=limit,
            page_token=token,
            as_of=messages.as_of(as_of),
        )
        found = await reply(self._memories.ListMemories(request, metadata=self._reading(space)))
        return [messages.assessed(each) for each in found.memories], found.next_page_token

    async def chain(self, space: str, item_id: str, as_of: AsOf = PRESENT) -> Collection[str]:
        call = self._lineage.GetLineage(
            lineage_pb2.GetLineageRequest(id=item_id, as_of=messages.as_of(as_of)),
            metadata=self._reading(space),
        )
        found = await reply(call)
        return [
            item.id
            for item in found.items
            if item.kind == type_pb2.ITEM_KIND_MEMORY and not item.is_deleted
        ]

    def _reading(self, space: str) -> tuple[tuple[str, str], ...]:
        """The credential under which a space's memories and conflicts are read."""
        return self._tokens.metadata(space, _READING)

    async def close(self) -> None:
        await self._follower.close()
        await self._channel.close()


async def reply(call: Awaitable[T]) -> T:
    """Graph's reply. Raises `GraphUnavailable` or `GraphRefused`."""
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise translated(from_rpc_error(error)) from error


def translated(failure: Failure) -> GraphUnavailable | GraphRefused:
    """Search's error for a failure of graph."""
    if failure.code in _TRANSIENT:
        return GraphUnavailable(f"graph does not answer ({failure.summary})")
    return GraphRefused(f"graph refuses ({failure.code.name} {failure.reason})")
