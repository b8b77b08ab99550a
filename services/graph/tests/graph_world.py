"""A graph of one's own: a real server over a fresh store, and short ways to call it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import grpc
import neo4j_at_hand
import pytest
from concord.graph.v1 import (
    claim_pb2_grpc,
    conflict_pb2_grpc,
    dialogue_pb2,
    dialogue_pb2_grpc,
    episode_pb2_grpc,
    erasure_pb2_grpc,
    feed_pb2,
    feed_pb2_grpc,
    governed_pb2,
    governed_pb2_grpc,
    graph_pb2,
    graph_pb2_grpc,
    lineage_pb2,
    lineage_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    recall_pb2_grpc,
    record_pb2_grpc,
    relation_pb2,
    relation_pb2_grpc,
    session_pb2_grpc,
    space_pb2,
    space_pb2_grpc,
    undo_pb2_grpc,
    working_memory_pb2,
    working_memory_pb2_grpc,
)
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import Failure, from_rpc_error
from concord_chassis.call.identity import Caller
from concord_client.trust import digests, signing
from concord_graph.adapters.neo4j.store import open_store as open_neo4j
from concord_graph.adapters.sqlite.schema import SCHEMA
from concord_graph.adapters.sqlite.store import open_store as open_sqlite
from concord_graph.bootstrap import GraphApp, build_on
from concord_graph.ports import PARTITIONS, GraphStore
from concord_graph.usecases.memory.entries import DEFAULT_CAPACITY
from concord_testing import blank_files, signed
from concord_testing.serving import Serving, new_issuer, serving
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

START = 1_800_000_000_000_000  # 2027-01-15T08:00:00Z
SECOND = 1_000_000
DAY = 86_400 * SECOND
SECONDS = 60.0
"""How long tests wait for what normally comes at once: a busy machine may take its time."""
SCOPES = frozenset(
    {
        *("graph:read", "graph:write", "memory:read", "memory:write"),
        *("governed:read", "governed:write", "enrolment:write", "granted:write"),
        *("space:write", "feed:all", "confirm:write", "conflict:write", "record:all"),
        *("recall:admin", "conflict:admin", "erasure:admin", "operations:undo"),
    }
)
SECRET = "one-time-secret"
MADE = 8
POLICY = "0" * 64

DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE
CONSTITUTIVE = type_pb2.EDGE_TYPE_CONSTITUTIVE
RESOLUTION = type_pb2.EDGE_TYPE_RESOLUTION
FOUND = type_pb2.LOOKUP_STATUS_FOUND
NOT_FOUND = type_pb2.LOOKUP_STATUS_NOT_FOUND
SUPERSEDES = type_pb2.LINEAGE_RELATION_SUPERSEDES
DEPRECATES = type_pb2.LINEAGE_RELATION_DEPRECATES
AMENDS = type_pb2.LINEAGE_RELATION_AMENDS
CONTRADICTS = type_pb2.LINEAGE_RELATION_CONTRADICTS
PROTECTED = "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED"

Json = str | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]


_request_numbers = itertools.count(1)


class Clock:
    """A clock in microseconds since 1970 that stands still until it is moved."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def pass_(self, microseconds: int) -> None:
        """Move it on, or back."""
        self.now += microseconds


def watch(
    numbers: Mapping[int, int], *, replay_only: bool = False, gather_millis: int = 0
) -> feed_pb2.WatchChangesRequest:
    """Ask for the changes of partitions, each after a number."""
    return feed_pb2.WatchChangesRequest(
        cursors=[
            feed_pb2.PartitionCursor(partition=partition, number=number)
            for partition, number in numbers.items()
        ],
        replay_only=replay_only,
        gather_millis=gather_millis,
    )


def stamp(time: int) -> Timestamp:
    """Return microseconds since 1970 as a Timestamp."""
    seconds, micros = divmod(time, SECOND)
    return Timestamp(seconds=seconds, nanos=micros * 1000)


def valid_at(time: int) -> type_pb2.AsOf:
    """Ask what held then."""
    return type_pb2.AsOf(valid_time=stamp(time))


def known_at(time: int) -> type_pb2.AsOf:
    """Ask what was known then to hold now."""
    return type_pb2.AsOf(record_time=stamp(time))


def micros(time: Timestamp) -> int:
    """Return a Timestamp as microseconds since 1970."""
    return time.seconds * SECOND + time.nanos // 1000


def struct(values: Mapping[str, Json]) -> Struct:
    """Return a Struct."""
    message = Struct()
    message.update(dict(values))
    return message


def named(name: str) -> type_pb2.EdgeEnd:
    """Return the end that is a node of this name."""
    return type_pb2.EdgeEnd(name=name)


def by_id(item_id: str) -> type_pb2.EdgeEnd:
    """Return the end of this id."""
    return type_pb2.EdgeEnd(id=item_id)


def fact(
    subject: str,
    relation: str,
    object_: str,
    *,
    weight: float | None = None,
    properties: Mapping[str, Json] | None = None,
    extracted: bool = False,
) -> type_pb2.Fact:
    """Return a fact as a caller states it."""
    return type_pb2.Fact(
        subject=subject,
        relation=relation,
        object=object_,
        weight=weight,
        properties=None if properties is None else struct(properties),
        extracted=extracted,
    )


def edge_of(
    source: str | type_pb2.EdgeEnd,
    relation: str,
    target: str | type_pb2.EdgeEnd,
    *,
    weight: float | None = None,
    properties: Mapping[str, Json] | None = None,
    edge_type: type_pb2.EdgeType.ValueType = type_pb2.EDGE_TYPE_UNSPECIFIED,
    importance: type_pb2.Importance.ValueType = type_pb2.IMPORTANCE_UNSPECIFIED,
    valid_from: int | None = None,
    valid_until: int | None = None,
) -> type_pb2.Edge:
    """Return an edge as a caller states it; strings are node names, times microseconds."""
    return type_pb2.Edge(
        source=named(source) if isinstance(source, str) else source,
        relation=relation,
        target=named(target) if isinstance(target, str) else target,
        weight=weight,
        properties=None if properties is None else struct(properties),
        edge_type=edge_type,
        importance=importance,
        valid_from=None if valid_from is None else stamp(valid_from),
        valid_until=None if valid_until is None else stamp(valid_until),
    )


class Calls:
    """One caller's calls, each with a request id of its own; replies are unwrapped."""

    def __init__(
        self, channel: grpc.aio.Channel, space: str, door: grpc.aio.Channel | None = None
    ) -> None:
        """`door` speaks for governance, which alone applies a governed change."""
        self.space = space
        self.graph = graph_pb2_grpc.GraphServiceStub(channel)
        self.memory = memory_pb2_grpc.MemoryServiceStub(channel)
        self.lineage_service = lineage_pb2_grpc.LineageServiceStub(channel)
        self.dialogue_service = dialogue_pb2_grpc.DialogueServiceStub(channel)
        self.episode = episode_pb2_grpc.EpisodeServiceStub(channel)
        self.working_memory = working_memory_pb2_grpc.WorkingMemoryServiceStub(channel)
        self.space_service = space_pb2_grpc.SpaceServiceStub(channel)
        self.conflict = conflict_pb2_grpc.ConflictServiceStub(channel)
        self.relation = relation_pb2_grpc.RelationServiceStub(channel)
        self.session = session_pb2_grpc.SessionServiceStub(channel)
        self.record = record_pb2_grpc.RecordServiceStub(channel)
        self.recall = recall_pb2_grpc.RecallServiceStub(channel)
        self.erasure = erasure_pb2_grpc.ErasureServiceStub(channel)
        self.undo = undo_pb2_grpc.UndoServiceStub(channel)
        self.governed = governed_pb2_grpc.GovernedChangeServiceStub(channel)
        if door is not None:
            apart = governed_pb2_grpc.GovernedChangeServiceStub(door)
            self.governed.ApplyGovernedChange = apart.ApplyGovernedChange
        self.claim = claim_pb2_grpc.ClaimServiceStub(channel)
        self.feed = feed_pb2_grpc.ChangeFeedServiceStub(channel)

    def request_id(self) -> str:
        """Return a request id that was not used before."""
        return f"r-{next(_request_numbers)}"

    async def put_node(self, name: str, **fields: object) -> type_pb2.Node:
        """Upsert a node."""
        node = type_pb2.Node(name=name, **fields)  # type: ignore[arg-type] # a test's own fields
        reply = await self.graph.UpsertNode(
            graph_pb2.UpsertNodeRequest(request_id=self.request_id(), node=node)
        )
        return reply.node

    async def get_node(self, name: str) -> type_pb2.Node:
        """Read a node that is there."""
        reply = await self.graph.GetNode(graph_pb2.GetNodeRequest(name=name))
        assert reply.status == FOUND
        return reply.node

    async def update_node(self, node: type_pb2.Node, *mask: str) -> type_pb2.Node:
        """Update the named fields of a node."""
        request = graph_pb2.UpdateNodeRequest(
            request_id=self.request_id(), node=node, update_mask=FieldMask(paths=mask)
        )
        return (await self.graph.UpdateNode(request)).node

    async def delete_node(self, node: type_pb2.Node, *, cascade: bool = False) -> int:
        """Delete a node; return how many edges went with it."""
        request = graph_pb2.DeleteNodeRequest(
            request_id=self.request_id(), id=node.id, etag=node.etag, cascade=cascade
        )
        return (await self.graph.DeleteNode(request)).deleted_edge_count

    async def upsert(self, edge: type_pb2.Edge, etag: str = "") -> graph_pb2.UpsertEdgeResponse:
        """Upsert an edge."""
        return await self.graph.UpsertEdge(
            graph_pb2.UpsertEdgeRequest(request_id=self.request_id(), edge=edge, etag=etag)
        )

    async def put_edge(self, *args: object, **fields: object) -> type_pb2.Edge:
        """Upsert an edge from the arguments of `edge_of`."""
        return (await self.upsert(edge_of(*args, **fields))).edge  # type: ignore[arg-type]

    async def get_edge(self, edge_id: str, *, peek: bool = True) -> type_pb2.Edge:
        """Read an edge that is there."""
        reply = await self.graph.GetEdge(graph_pb2.GetEdgeRequest(id=edge_id, peek=peek))
        assert reply.status == FOUND
        return reply.edge

    async def get_triple(self, source: str, relation: str, target: str) -> type_pb2.Edge:
        """Read the edge of a triple that is there."""
        triple = graph_pb2.Triple(source=named(source), relation=relation, target=named(target))
        reply = await self.graph.GetEdge(graph_pb2.GetEdgeRequest(triple=triple, peek=True))
        assert reply.status == FOUND
        return reply.edge

    async def update_edge(self, edge: type_pb2.Edge, *mask: str) -> type_pb2.Edge:
        """Update the named fields of an edge."""
        request = graph_pb2.UpdateEdgeRequest(
            request_id=self.request_id(), edge=edge, update_mask=FieldMask(paths=mask)
        )
        return (await self.graph.UpdateEdge(request)).edge

    async def delete_edge(self, edge: type_pb2.Edge) -> None:
        """Delete an edge."""
        await self.graph.DeleteEdge(
            graph_pb2.DeleteEdgeRequest(request_id=self.request_id(), id=edge.id, etag=edge.etag)
        )

    async def declare(
        self, name: str, *, functional: bool = True, etag: str = "", **fields: object
    ) -> relation_pb2.DeclareRelationResponse:
        """Declare a relation."""
        return await self.relation.DeclareRelation(
            relation_pb2.DeclareRelationRequest(
                request_id=self.request_id(),
                name=name,
                functional=functional,
                etag=etag,
                **fields,  # type: ignore[arg-type]
            )
        )

    async def declared(self, **fields: object) -> dict[str, bool]:
        """Return the declared relations of the first page: name to functional."""
        request = relation_pb2.ListRelationsRequest(**fields)  # type: ignore[arg-type]
        reply = await self.relation.ListRelations(request)
        return {each.name: each.functional for each in reply.relations}

    async def neighbors(
        self, start: str | type_pb2.EdgeEnd, **fields: object
    ) -> graph_pb2.QueryNeighborsResponse:
        """Ask what surrounds an item, without a trace unless `peek=False`."""
        end = named(start) if isinstance(start, str) else start
        options = {"peek": True} | fields
        return await self.graph.QueryNeighbors(
            graph_pb2.QueryNeighborsRequest(start=end, **options)  # type: ignore[arg-type]
        )

    async def paths(self, start: str, end: str, **fields: object) -> graph_pb2.FindPathResponse:
        """Ask how two nodes hang together, without a trace unless `peek=False`."""
        options = {"peek": True} | fields
        return await self.graph.FindPath(
            graph_pb2.FindPathRequest(start=named(start), end=named(end), **options)  # type: ignore[arg-type]
        )

    async def export(self, **fields: object) -> list[str]:
        """Export the space; one string per line."""
        request = space_pb2.ExportSpaceRequest(**fields)  # type: ignore[arg-type] # a test's own
        pieces = self.space_service.ExportSpace(request)
        return [line async for piece in pieces for line in piece.lines]

    async def add(self, content: str, **fields: object) -> type_pb2.Memory:
        """Add a memory."""
        memory = type_pb2.Memory(content=content, **fields)  # type: ignore[arg-type]
        return (await self.add_memory(memory)).memory

    async def add_memory(self, memory: type_pb2.Memory) -> memory_pb2.AddMemoryResponse:
        """Add a memory as it is."""
        return await self.memory.AddMemory(
            memory_pb2.AddMemoryRequest(request_id=self.request_id(), memory=memory)
        )

    async def batch(
        self,
        memories: Iterable[type_pb2.Memory],
        *,
        update_existing: bool = False,
        request_id: str = "",
    ) -> memory_pb2.BatchAddMemoriesResponse:
        """Add memories in one batch."""
        items = [memory_pb2.BatchAddMemoriesRequest(memory=memory) for memory in memories]
        header = memory_pb2.BatchHeader(
            request_id=request_id or self.request_id(),
            update_existing=update_existing,
            memory_count=len(items),
        )
        messages = [memory_pb2.BatchAddMemoriesRequest(header=header), *items]
        return await self.memory.BatchAddMemories(iter(messages))

    async def append(
        self, session_id: str, *turns: tuple[str, str], **fields: object
    ) -> list[type_pb2.Memory]:
        """Append turns, each (speaker, content), to a session's dialogue."""
        said = [dialogue_pb2.DialogueTurn(speaker=who, content=what) for who, what in turns]
        request = dialogue_pb2.AppendDialogueRequest(
            request_id=self.request_id(), session_id=session_id, turns=said
        )
        for turn in request.turns:
            turn.MergeFrom(dialogue_pb2.DialogueTurn(**fields))  # type: ignore[arg-type]
        return list((await self.dialogue_service.AppendDialogue(request)).turns)

    async def dialogue(self, session_id: str, **fields: object) -> list[str]:
        """Return what was said on the first page of a session's dialogue."""
        request = dialogue_pb2.ListDialogueRequest(session_id=session_id, **fields)  # type: ignore[arg-type]
        return [turn.content for turn in (await self.dialogue_service.ListDialogue(request)).turns]

    async def hold(
        self,
        content: str,
        importance: type_pb2.Importance.ValueType = type_pb2.IMPORTANCE_UNSPECIFIED,
        session_id: str = "",
    ) -> working_memory_pb2.PutWorkingMemoryResponse:
        """Put a text into working memory."""
        return await self.working_memory.PutWorkingMemory(
            working_memory_pb2.PutWorkingMemoryRequest(
                request_id=self.request_id(),
                content=content,
                importance=importance,
                session_id=session_id,
            )
        )

    async def held(self, **fields: object) -> list[str]:
        """Return the texts on the first page of working memory."""
        request = working_memory_pb2.ListWorkingMemoryRequest(**fields)  # type: ignore[arg-type]
        return [
            entry.content
            for entry in (await self.working_memory.ListWorkingMemory(request)).entries
        ]

    async def get(self, memory_id: str, *, peek: bool = True) -> type_pb2.Memory:
        """Read a memory that is there."""
        reply = await self.memory.GetMemory(memory_pb2.GetMemoryRequest(id=memory_id, peek=peek))
        assert reply.status == FOUND
        return reply.memory

    async def update(self, memory: type_pb2.Memory, *mask: str) -> type_pb2.Memory:
        """Update the named fields of a memory."""
        request = memory_pb2.UpdateMemoryRequest(
            request_id=self.request_id(), memory=memory, update_mask=FieldMask(paths=mask)
        )
        return (await self.memory.UpdateMemory(request)).memory

    async def operations(self, **fields: object) -> list[space_pb2.Operation]:
        """Return the first page of the record of mutations."""
        request = space_pb2.ListOperationsRequest(**fields)  # type: ignore[arg-type] # a test's own
        reply = await self.space_service.ListOperations(request)
        return list(reply.operations)

    async def forget(self, memory: type_pb2.Memory) -> type_pb2.Memory:
        """Forget a memory."""
        request = memory_pb2.ForgetMemoryRequest(
            request_id=self.request_id(), id=memory.id, etag=memory.etag
        )
        return (await self.memory.ForgetMemory(request)).memory

    async def restore(self, memory: type_pb2.Memory) -> type_pb2.Memory:
        """Restore a memory."""
        request = memory_pb2.RestoreMemoryRequest(
            request_id=self.request_id(), id=memory.id, etag=memory.etag
        )
        return (await self.memory.RestoreMemory(request)).memory

    async def erase(
        self, memory: type_pb2.Memory, *, reason: str = "", request_id: str = ""
    ) -> memory_pb2.EraseMemoryResponse:
        """Erase a memory."""
        request = memory_pb2.EraseMemoryRequest(
            request_id=request_id or self.request_id(),
            id=memory.id,
            etag=memory.etag,
            reason=reason,
        )
        return await self.memory.EraseMemory(request)

    async def receipt(self, memory_id: str) -> memory_pb2.EraseReceipt:
        """Read the receipt of a memory that was erased."""
        request = memory_pb2.GetEraseReceiptRequest(memory_id=memory_id)
        reply = await self.memory.GetEraseReceipt(request)
        assert reply.status == FOUND
        return reply.receipt

    async def scrubbed(self, memory_id: str, within: float = SECONDS) -> memory_pb2.EraseReceipt:
        """Return the receipt once the store itself has confirmed, `within` seconds."""
        async with asyncio.timeout(within):
            while True:
                receipt = await self.receipt(memory_id)
                if receipt.confirmations[0].HasField("confirm_time"):
                    return receipt
                await asyncio.sleep(0.005)

    async def listed(self, **fields: object) -> list[str]:
        """Return the ids of the first page of memories."""
        request = memory_pb2.ListMemoriesRequest(**fields)  # type: ignore[arg-type]
        reply = await self.memory.ListMemories(request)
        return [memory.id for memory in reply.memories]

    async def relate(
        self,
        relation: type_pb2.LineageRelation.ValueType,
        newer_id: str,
        older_id: str,
        context: str = "",
    ) -> lineage_pb2.AddLineageResponse:
        """State lineage."""
        return await self.lineage_service.AddLineage(
            lineage_pb2.AddLineageRequest(
                request_id=self.request_id(),
                relation=relation,
                newer_id=newer_id,
                older_id=older_id,
                context=context,
            )
        )

    async def lineage(
        self, item_id: str, as_of: type_pb2.AsOf | None = None
    ) -> lineage_pb2.GetLineageResponse:
        """Read the chain around an item."""
        return await self.lineage_service.GetLineage(
            lineage_pb2.GetLineageRequest(id=item_id, as_of=as_of)
        )

    async def changes(self, after: int = 0) -> list[feed_pb2.Change]:
        """Return every change of the space after a sequence number, up to its present end."""
        found: list[feed_pb2.Change] = []
        while True:
            request = feed_pb2.ListChangesRequest(space=self.space, after_seq=after)
            page = (await self.feed.ListChanges(request)).changes.changes
            if not page:
                return found
            found += page
            after = page[-1].seq

    async def heads(self) -> dict[str, int]:
        """Return the newest sequence number of each space, by its name."""
        count = len((await self.feed.ListPartitions(feed_pb2.ListPartitionsRequest())).partitions)
        replies = [
            await self.feed.ListSpaces(feed_pb2.ListSpacesRequest(partition=each))
            for each in range(count)
        ]
        return {head.space: head.head_seq for reply in replies for head in reply.spaces}

    async def states(self, *refs: tuple[str, int]) -> list[feed_pb2.Revision]:
        """Return memories as they were after a change; 0 = now."""
        request = feed_pb2.BatchGetRevisionsRequest(
            space=self.space, refs=[feed_pb2.RevisionRef(id=i, seq=seq) for i, seq in refs]
        )
        return list((await self.feed.BatchGetRevisions(request)).revisions)


class World:
    """A running graph, its store's file and its clock."""

    def __init__(self, app: GraphApp, server: Serving, path: Path, clock: Clock) -> None:
        self.app = app
        self.server = server
        self.path = path
        self.clock = clock

    def calls(
        self,
        space: str = "home",
        principal: str = "agent-1",
        scopes: frozenset[str] = SCOPES,
        kind: str = "AGENT",
        origin: str = "",
    ) -> Calls:
        """Return the calls of a principal in a space."""
        caller = Caller(space, principal, scopes, kind, origin=origin)
        governance = Caller(space, "governance", scopes, "SYSTEM")
        # A Neo4j that was just started plans a statement for seconds, on a busy machine for many.
        channels = (self.server.channel(each, cap=SECONDS) for each in (caller, governance))
        return Calls(next(channels), space, next(channels))

    def parties(self, space: str = "home") -> Parties:
        """Return new parties of a space."""
        return Parties(space, self.clock)


@asynccontextmanager
async def world(
    path: Path,
    *,
    clock: Clock | None = None,
    spaces: Sequence[str] = ("home", "other"),
    busy_seconds: float = 5.0,
    working_capacity: int = DEFAULT_CAPACITY,
    beside: bool = False,
    partitions: int = PARTITIONS,
) -> AsyncIterator[World]:
    """Run a graph over a store; every one of `spaces` may enrol with `SECRET`.

    `beside`: another world runs, so this one is on SQLite, for there is one Neo4j. `partitions` is
    the number of partitions of a new store.
    """
    clock = clock or Clock()
    enrolment = {space: sha256(SECRET.encode()).hexdigest() for space in spaces}
    app = await _built(
        path,
        clock,
        enrolment=enrolment,
        busy_seconds=busy_seconds,
        working_capacity=working_capacity,
        beside=beside,
        partitions=partitions,
    )
    await app.start()
    try:
        async with serving(
            app.registrations,
            ready=app.ready,
            issuer=new_issuer("governance"),
        ) as server:
            yield World(app, server, path, clock)
    finally:
        await app.close()


async def _built(
    path: Path,
    clock: Clock,
    *,
    enrolment: Mapping[str, str],
    busy_seconds: float,
    working_capacity: int,
    beside: bool,
    partitions: int,
) -> GraphApp:
    """Return a graph over the store that GRAPH_STORE chooses; `path` tells stores apart in both."""
    if neo4j_at_hand.is_chosen() and not beside:
        return await build_on(
            neo4j_at_hand.of(path),
            clock=clock,
            enrolment=enrolment,
            working_capacity=working_capacity,
            partitions=partitions,
        )
    file = blank_files.lay(path, SCHEMA)
    store = open_sqlite(file, clock, busy_seconds=busy_seconds, partitions=partitions)
    return GraphApp(store, clock, enrolment, working_capacity=working_capacity)


async def opened_store(path: Path, clock: Clock) -> GraphStore:
    """Return the bare store that GRAPH_STORE chooses."""
    if neo4j_at_hand.is_chosen():
        return await open_neo4j(neo4j_at_hand.of(path), clock)
    return open_sqlite(blank_files.lay(path, SCHEMA), clock)


async def refused(call: Awaitable[object]) -> Failure:
    """Return the failure that a call ends with, as it came over the wire."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return from_rpc_error(caught.value)


async def reason(call: Awaitable[object]) -> str:
    """Return the reason that a call is refused for."""
    return (await refused(call)).reason


class Parties:
    """The agent, the human and governance of a space, with their keys."""

    def __init__(self, space: str, clock: Clock) -> None:
        self.space = space
        self._clock = clock
        self.agent = signing.Signer("agent-1", signing.generate_key())
        self.human = signing.Signer("anna", signing.generate_key())
        self.governance = signing.generate_key()
        self._numbers = itertools.count(1)

    def genesis(self, space: str = "") -> bytes:
        """Return the genesis record that both slots signed."""
        return signing.sign_genesis(
            space=space or self.space,
            agent=self.agent,
            human=self.human,
            governance_key=signing.public_bytes(self.governance),
        )

    async def enrol(self, calls: Calls, secret: str = SECRET) -> str:
        """Write the genesis; return its digest."""
        request = governed_pb2.EnrolPrincipalsRequest(
            request_id=calls.request_id(), enrolment_secret=secret, genesis=self.genesis()
        )
        return (await calls.governed.EnrolPrincipals(request)).genesis_digest

    def expiry(self, seconds: float = 3600) -> datetime:
        """Return a time by the graph's clock."""
        epoch = datetime(1970, 1, 1, tzinfo=UTC)
        return epoch + timedelta(microseconds=self._clock()) + timedelta(seconds=seconds)

    def grant(
        self,
        action: governed_pb2.GovernedAction,
        etags: Mapping[str, str],
        *,
        space: str = "",
        slots: Sequence[str] = (signing.AGENT, signing.HUMAN),
        expire_time: datetime | None = None,
        consent_expire_time: datetime | None = None,
        consented: governed_pb2.GovernedAction | None = None,
        governance: Ed25519PrivateKey | None = None,
    ) -> bytes:
        """Return a grant for an action, with the consents of `slots`; all else can be bent.

        It leaves room for `MADE` new items, as a proposal does for those that its preview makes.
        """
        etags = {f"made-{number}": "" for number in range(MADE)} | dict(etags)
        digest = digests.action_digest(action)
        proposal = f"p-{next(self._numbers)}"
        signers = {signing.AGENT: self.agent, signing.HUMAN: self.human}
        consents = {
            slot: signing.sign_consent(
                slot=slot,
                signer=signers[slot],
                space=space or self.space,
                proposal_id=proposal,
                revision=1,
                proposal_digest=POLICY,
                action_digest=digests.action_digest(consented or action),
                etags=etags,
                policy_digest=POLICY,
                expire_time=consent_expire_time or self.expiry(),
            )
            for slot in slots
        }
        return signed.sign_grant(
            governance=governance or self.governance,
            space=space or self.space,
            decision_id=proposal,
            proposal_id=proposal,
            revision=1,
            proposal_digest=POLICY,
            action_digest=digest,
            etags=etags,
            policy_digest=POLICY,
            consents=consents,
            expire_time=expire_time or self.expiry(),
        )

    async def apply(
        self,
        calls: Calls,
        action: governed_pb2.GovernedAction,
        etags: Mapping[str, str] | None = None,
        grant: bytes = b"",
    ) -> governed_pb2.ApplyGovernedChangeResponse:
        """Apply an action under a grant of both principals, who have seen all that it rests on.

        With `etags` they have seen these items, and nothing else.
        """
        if not grant:
            grant = self.grant(action, await self.seen(calls, action) if etags is None else etags)
        return await calls.governed.ApplyGovernedChange(
            governed_pb2.ApplyGovernedChangeRequest(
                request_id=calls.request_id(), action=action, grant=grant
            )
        )

    async def seen(self, calls: Calls, action: governed_pb2.GovernedAction) -> dict[str, str]:
        """Return the etags of what an action touches and rests on, as it is now."""
        request = governed_pb2.PreviewChangeRequest(action=action)
        touched = (await calls.governed.PreviewChange(request)).items
        return {item.id: item.etag for item in touched}

    async def constitutive_edge(
        self, calls: Calls, source: str = "Me", relation: str = "VALUES", target: str = "Honesty"
    ) -> type_pb2.Edge:
        """Return a new constitutive edge, made with consent."""
        edge = edge_of(source, relation, target, weight=0.9, edge_type=CONSTITUTIVE)
        upsert = graph_pb2.UpsertEdgeRequest(request_id=calls.request_id(), edge=edge)
        return (await self.apply(calls, governed_pb2.GovernedAction(upsert_edge=upsert))).edge

    async def constitutive_memory(
        self, calls: Calls, memory_id: str = "who-i-am", content: str = "I keep my promises."
    ) -> type_pb2.Memory:
        """Return a new constitutive memory, made with consent."""
        memory = type_pb2.Memory(id=memory_id, content=content, edge_type=CONSTITUTIVE)
        add = memory_pb2.AddMemoryRequest(request_id=calls.request_id(), memory=memory)
        return (await self.apply(calls, governed_pb2.GovernedAction(add_memory=add))).memory
