"""Dissonance over the real graph, search and governance, each a real server, for tests of all."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc
from concord.dissonance.v1 import dialectic_pb2, dialectic_pb2_grpc, dissonance_pb2_grpc
from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import (
    conflict_pb2,
    conflict_pb2_grpc,
    graph_pb2,
    graph_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    record_pb2,
    record_pb2_grpc,
    relation_pb2,
    relation_pb2_grpc,
    space_pb2,
    space_pb2_grpc,
)
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller, TokenVerifier
from concord_chassis.observe.log import json_lines
from concord_dissonance.bootstrap import build as build_dissonance
from concord_dissonance.config import Addresses
from concord_search.bootstrap import build as build_search
from concord_search.config import IndexConfig
from concord_testing.chat_endpoint import ChatEndpoint, serving_chat
from concord_testing.council import council_file, synthesizing
from concord_testing.embedders import WordEmbedder
from concord_testing.serving import Serving, serving
from governed_world import SCOPES, Party, World, request_id
from writing import to_add, to_upsert_edge

QUIET = json_lines("test", level="critical")
ASKING = SCOPES | {"conflict:admin", "dissonance:read", "dissonance:write"}
STATE, ETERNAL = relation_pb2.TEMPORAL_CLASS_STATE, relation_pb2.TEMPORAL_CLASS_ETERNAL


@dataclass
class Run:
    """What a check of a space replied."""

    percents: list[float] = field(default_factory=list)
    conflicts: list[conflict_pb2.Conflict] = field(default_factory=list)
    summary: pb.CheckSummary = field(default_factory=pb.CheckSummary)

    @property
    def said(self) -> set[tuple[str, frozenset[str]]]:
        """The classes that were found, each with both statements."""
        name = conflict_pb2.ConflictClass.Name
        return {
            (
                name(each.conflict_class).removeprefix("CONFLICT_CLASS_"),
                frozenset({each.first.statement, each.second.statement}),
            )
            for each in self.conflicts
        }


class Space:
    """A space, as a principal of it sees it."""

    def __init__(self, world: World, served: Serving, name: str, principal: str, kind: str) -> None:
        who = Caller(name, principal, ASKING, kind)
        graph: grpc.aio.Channel = world.graph.channel(who)
        self.dissonance = dissonance_pb2_grpc.DissonanceServiceStub(served.channel(who, cap=60))
        self.graph = graph_pb2_grpc.GraphServiceStub(graph)
        self.memories = memory_pb2_grpc.MemoryServiceStub(graph)
        self.relations = relation_pb2_grpc.RelationServiceStub(graph)
        self.spaces = space_pb2_grpc.SpaceServiceStub(graph)
        self.conflicts = conflict_pb2_grpc.ConflictServiceStub(graph)
        self.token = ""
        """The freshness token of the last memory that was added."""

    async def declare(self, name: str, **fields: object) -> None:
        """Declare a relation, functional and a state unless said otherwise."""
        said = {"functional": True, "temporal_class": STATE} | fields
        request = relation_pb2.DeclareRelationRequest(request_id=request_id(), name=name, **said)  # type: ignore[arg-type]
        await self.relations.DeclareRelation(request)

    async def edge(
        self, source: str, relation: str, target: str, **fields: object
    ) -> type_pb2.Edge:
        """Write an edge."""
        edge = type_pb2.Edge(
            source=type_pb2.EdgeEnd(name=source),
            relation=relation,
            target=type_pb2.EdgeEnd(name=target),
            **fields,  # type: ignore[arg-type]
        )
        request = to_upsert_edge(edge)
        return (await self.graph.UpsertEdge(request)).edge

    async def add(self, content: str, **fields: object) -> type_pb2.Memory:
        """Add a memory."""
        return (await self.added(content, **fields)).memory

    async def added(self, content: str, **fields: object) -> memory_pb2.AddMemoryResponse:
        """Add a memory; the whole reply."""
        memory = type_pb2.Memory(content=content, **fields)  # type: ignore[arg-type]
        request = to_add(memory)
        reply = await self.memories.AddMemory(request)
        self.token = reply.token
        return reply

    async def update(self, memory: type_pb2.Memory, content: str) -> None:
        """Change what a memory says."""
        await self.updated(memory, content=content)

    async def updated(self, memory: type_pb2.Memory, **fields: object) -> type_pb2.Memory:
        """Change fields of a memory."""
        changed = type_pb2.Memory(id=memory.id, etag=memory.etag, **fields)  # type: ignore[arg-type]
        request = memory_pb2.UpdateMemoryRequest(request_id=request_id(), memory=changed)
        request.update_mask.paths.extend(fields)
        return (await self.memories.UpdateMemory(request)).memory

    async def current(self, node: str) -> set[str]:
        """Return what a node is related to now."""
        request = graph_pb2.QueryNeighborsRequest(
            start=type_pb2.EdgeEnd(name=node), direction=type_pb2.DIRECTION_OUTGOING
        )
        reply = await self.graph.QueryNeighbors(request)
        return {each.edge.target.name for each in reply.neighbors}

    async def ask_for_texts(self) -> None:
        """Have checks that follow a write record what they find in texts."""
        settings = conflict_pb2.CheckSettings(records_text_findings=True)
        request = conflict_pb2.SetCheckSettingsRequest(settings=settings)
        await self.conflicts.SetCheckSettings(request)

    async def detect(
        self, *, full: bool = True, dry_run: bool = False, sent: str = "", most_text: int = 0
    ) -> Run:
        """Check the space."""
        request = pb.DetectContradictionsRequest(
            request_id=sent or request_id(),
            full=full,
            dry_run=dry_run,
            max_text_findings=most_text,
        )
        run = Run()
        async for reply in self.dissonance.DetectContradictions(request):
            match reply.WhichOneof("event"):
                case "progress":
                    run.percents.append(reply.progress.percent)
                case "conflict":
                    run.conflicts.append(reply.conflict)
                case _:
                    run.summary = reply.summary
        return run

    async def check(self, node: str, **fields: object) -> pb.CheckDissonanceResponse:
        """Check what stands around a node, all of it unless said otherwise."""
        said = {"scope": pb.CHECK_SCOPE_FULL} | fields
        request = pb.CheckDissonanceRequest(
            request_id=request_id(),
            context_node=node,
            **said,  # type: ignore[arg-type]
        )
        return await self.dissonance.CheckDissonance(request)

    async def listed(self, **fields: object) -> pb.ListConflictsResponse:
        """List conflicts."""
        return await self.dissonance.ListConflicts(pb.ListConflictsRequest(**fields))  # type: ignore[arg-type]

    async def review(
        self, conflict: conflict_pb2.Conflict, action: pb.ReviewAction.ValueType, **fields: object
    ) -> pb.ReviewConflictResponse:
        """Review a conflict in its newest version."""
        request = pb.ReviewConflictRequest(
            request_id=request_id(),
            conflict_id=conflict.id,
            action=action,
            **fields,  # type: ignore[arg-type]
        )
        return await self.dissonance.ReviewConflict(request)

    async def copy_to(self, other: "Space") -> None:
        """Import the space, which has no genesis, into another."""
        asked = space_pb2.ExportSpaceRequest(form=space_pb2.EXPORT_FORM_FULL)
        lines = [line async for part in self.spaces.ExportSpace(asked) for line in part.lines]
        header = space_pb2.ImportHeader(request_id=request_id())
        parts = [space_pb2.ImportSpaceRequest(header=header)]
        parts += [space_pb2.ImportSpaceRequest(piece=f"{line}\n".encode()) for line in lines]
        await other.spaces.ImportSpace(iter(parts))

    async def judges(self) -> dict[int, int]:
        """Return the state of each judge."""
        found = (await self.dissonance.ListJudges(pb.ListJudgesRequest())).judges
        return {each.judge: each.state for each in found}

    async def end_session(self, session_id: str) -> pb.EndSessionResponse:
        """End a session."""
        request = pb.EndSessionRequest(request_id=request_id(), session_id=session_id)
        return await self.dissonance.EndSession(request)

    async def amendments(self, *memories: type_pb2.Memory) -> Sequence[pb.Amendment]:
        """Return what memories may amend, once the index has them all."""
        request = pb.SuggestAmendmentsRequest(
            request_id=request_id(), memory_ids=[each.id for each in memories]
        )
        request.consistency.at_least_as_fresh = self.token
        return (await self.dissonance.SuggestAmendments(request)).amendments

    async def resolve(self, **fields: object) -> pb.ResolveDissonanceResponse:
        """Resolve a conflict."""
        request = pb.ResolveDissonanceRequest(request_id=request_id(), **fields)  # type: ignore[arg-type]
        return await self.dissonance.ResolveDissonance(request)


@dataclass
class Dissonant:
    """Dissonance at work, over a world of graph and governance."""

    world: World
    served: Serving
    search: Serving | None = None

    def space(self, name: str = "one", principal: str = "agent", kind: str = "AGENT") -> Space:
        """Return a space as a principal of it sees it."""
        return Space(self.world, self.served, name, principal, kind)

    def dialectic(self, space: str = "one") -> "dialectic_pb2_grpc.DialecticServiceAsyncStub":
        """Return syntheses and reviews as a principal of a space sees them."""
        channel = self.served.channel(Caller(space, "agent", ASKING, "AGENT"), cap=60)
        return dialectic_pb2_grpc.DialecticServiceStub(channel)

    async def position(self, name: str = "one") -> int:
        """Return the last change of a space that was followed; 0 before the first one."""
        who = Caller(name, "dissonance", frozenset({"record:all"}), "SYSTEM")
        records = record_pb2_grpc.RecordServiceStub(self.world.graph.channel(who))
        names = [record_pb2.RecordName(kind="triggers_position")]
        (found,) = (await records.GetRecords(record_pb2.GetRecordsRequest(names=names))).records
        return int(json.loads(found.body or '{"token": ""}')["token"].partition(" ")[0] or 0)


async def waiting(
    party: Party, *others: proposal_pb2.ProposalStatus.ValueType
) -> Sequence[proposal_pb2.Proposal]:
    """Return the proposals that wait for consent, and those of the other states that are named."""
    statuses = [proposal_pb2.PROPOSAL_STATUS_PENDING, *others]
    request = proposal_pb2.ListProposalsRequest(statuses=statuses, page_size=200)
    return (await party.proposals.ListProposals(request)).proposals


def whole(events: Sequence[dialectic_pb2.DialecticEvent]) -> None:
    """Fail unless events are those of one run: numbered, rising, with one end."""
    assert [each.number for each in events] == [*range(1, len(events) + 1)]
    percents = [each.percent for each in events]
    assert percents == sorted(percents)
    ends = [each.WhichOneof("event") in {"done", "failed"} for each in events]
    assert ends == [False] * (len(events) - 1) + [True]
    assert events[-1].HasField("failed") or percents[-1] == 100


@asynccontextmanager
async def dissonant(
    world: World,
    *,
    with_search: bool = True,
    follow: bool = True,
    judges: bool = True,
    **settings: object,
) -> AsyncIterator[Dissonant]:
    """Run dissonance, with search unless it is to be dead, until the block ends.

    `settings`: those of dissonance, instead of its own. `judges`: search finds dissonance.
    """
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="concord-"))
        place, search = f"unix:{folder}/dissonance", None
        addresses: Mapping[str, str] = {
            "graph_address": world.graph.address,
            "search_address": f"unix:{world.folder / 'nobody.sock'}",
            "governance_address": world.governance.address,
        }
        if with_search:
            search = await _search(stack, world, place if judges else f"{place}-elsewhere")
            addresses = {**addresses, "search_address": search.address}
        app = build_dissonance(
            Addresses.model_validate({**addresses, **settings}),
            world.dissonance_issuer,
            clock=world.clock,  # type: ignore[arg-type] # microseconds
            log=QUIET,
        )
        if follow:
            await app.start()
        stack.push_async_callback(app.close)
        served = await stack.enter_async_context(
            serving(
                app.registrations,
                issuer=world.graph.issuer,
                address=place,
            )
        )
        yield Dissonant(world, served, search)


@asynccontextmanager
async def modelled(
    world: World, folder: Path, **settings: Any
) -> AsyncIterator[tuple[Dissonant, ChatEndpoint]]:
    """Run dissonance with local models, which texts of the space "one" may go to.

    Of the three that review two are enough. `folder`: for their settings file.
    """
    async with serving_chat(synthesizing) as endpoint:
        file = council_file(folder, endpoint.url, price=1_000, timeout=20, quorum=2)
        told = {"models_file": file, "llm_spaces": frozenset({"one"}), **settings}
        async with dissonant(world, with_search=False, follow=False, **told) as works:
            yield works, endpoint


async def _search(stack: AsyncExitStack, world: World, judges: str) -> Serving:
    config = IndexConfig(
        graph_address=world.graph.address,
        index_path=world.folder / "index",
        dissonance_address=judges,
    )
    app = build_search(
        config, world.graph.issuer, clock=world.clock, embedder=WordEmbedder(), log=QUIET
    )
    await app.start()
    stack.push_async_callback(app.close)
    issuers = (world.graph.issuer, world.dissonance_issuer)
    return await stack.enter_async_context(
        serving(
            app.registrations,
            ready=app.ready,
            verifier=TokenVerifier({each.name: each.public_key for each in issuers}),
            issuer=world.graph.issuer,
        )
    )
