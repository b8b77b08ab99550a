"""Graph and governance in the test's own process, and two principals with keys of their own."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import chosen_store
import grpc
import pytest
from concord.governance.v1 import (
    audit_pb2,
    audit_pb2_grpc,
    principal_pb2,
    principal_pb2_grpc,
    proposal_pb2,
    proposal_pb2_grpc,
)
from concord.graph.v1 import (
    claim_pb2_grpc,
    conflict_pb2_grpc,
    dialogue_pb2_grpc,
    episode_pb2_grpc,
    erasure_pb2_grpc,
    governed_pb2,
    governed_pb2_grpc,
    graph_pb2,
    graph_pb2_grpc,
    lineage_pb2_grpc,
    memory_pb2_grpc,
    relation_pb2_grpc,
    session_pb2_grpc,
    space_pb2,
    space_pb2_grpc,
    undo_pb2_grpc,
    working_memory_pb2_grpc,
)
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import Failure, from_rpc_error
from concord_chassis.call.identity import Caller, TokenIssuer, TokenVerifier
from concord_chassis.observe.log import Logger
from concord_client.trust import signing
from concord_client.trust.audit.log import Log, Pinned, read_log
from concord_client.trust.audit.replay import Findings, Replay
from concord_governance.bootstrap import GovernanceApp
from concord_governance.bootstrap import build as build_governance
from concord_governance.config import LedgerConfig
from concord_graph.bootstrap import build_on as build_graph
from concord_testing.serving import Serving, new_issuer, serving
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.message import Message
from writing import action_of, to_upsert_edge

if TYPE_CHECKING:  # these names exist for type checkers only
    from concord.governance.v1.proposal_pb2_grpc import ProposalServiceAsyncStub
    from concord.graph.v1.conflict_pb2_grpc import ConflictServiceAsyncStub

START = 1_800_000_000_000_000
SECOND = 1_000_000
HOUR = 3_600 * SECOND
DAY = 24 * HOUR
SECRET = "one-time-secret"
GENESIS_ENTRIES = 3
SECONDS = 50.0
"""How long tests wait for what normally comes at once: a busy machine may take its time."""
T = TypeVar("T")
AGENT, HUMAN = signing.AGENT, signing.HUMAN
SCOPES = frozenset(
    {
        *(
            "graph:read",
            "graph:write",
            "memory:read",
            "memory:write",
            "governed:read",
            "governed:write",
            "enrolment:write",
            "granted:write",  # governance's alone: who attacks here has stolen its token
            "space:write",
        ),
        *("governance:read", "proposals:write", "decisions:write", "audit:read", "erasure:admin"),
        "operations:undo",
    }
)
STATUS = proposal_pb2.ProposalStatus
CONSTITUTIVE = type_pb2.EDGE_TYPE_CONSTITUTIVE

_numbers = itertools.count(1)


class Clock:
    """A clock in microseconds since 1970 that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def pass_(self, microseconds: int) -> None:
        """Move it on."""
        self.now += microseconds


async def eventually(ask: Callable[[], Awaitable[T]], holds: Callable[[T], bool] = bool) -> T:
    """Ask until the answer holds; return it. Fail when it does not in `SECONDS`."""
    async with asyncio.timeout(SECONDS):
        while not holds(found := await ask()):  # noqa: ASYNC110 - it is asked anew
            await asyncio.sleep(0.005)
    return found


def request_id() -> str:
    """Return a request id that was not used before."""
    return f"r-{next(_numbers)}"


@dataclass
class Party:
    """Both slots of a space: their principals and keys, and short ways to ask and to sign."""

    space: str
    channel: grpc.aio.Channel
    graph_channel: grpc.aio.Channel
    clock: Clock
    door: grpc.aio.Channel | None = None
    """Speaks for governance, which alone applies a governed change."""
    persons_channel: grpc.aio.Channel | None = None
    """To graph, of a person: no agent changes what both agreed to, nor its ends (W9)."""
    agent: signing.Signer = field(
        default_factory=lambda: signing.Signer("agent", signing.generate_key())
    )
    human: signing.Signer = field(
        default_factory=lambda: signing.Signer("ada", signing.generate_key())
    )

    def __post_init__(self) -> None:
        self.proposals = proposal_pb2_grpc.ProposalServiceStub(self.channel)
        self.principals = principal_pb2_grpc.PrincipalServiceStub(self.channel)
        self.audit = audit_pb2_grpc.AuditServiceStub(self.channel)
        self.governed = governed_pb2_grpc.GovernedChangeServiceStub(self.graph_channel)
        if self.door is not None:
            apart = governed_pb2_grpc.GovernedChangeServiceStub(self.door)
            self.governed.ApplyGovernedChange = apart.ApplyGovernedChange
        self.graph = graph_pb2_grpc.GraphServiceStub(self.graph_channel)
        self.memory = memory_pb2_grpc.MemoryServiceStub(self.graph_channel)
        self.erasure = erasure_pb2_grpc.ErasureServiceStub(self.graph_channel)
        self.undoing = undo_pb2_grpc.UndoServiceStub(self.graph_channel)
        self.lineage_service = lineage_pb2_grpc.LineageServiceStub(self.graph_channel)
        self.dialogue_service = dialogue_pb2_grpc.DialogueServiceStub(self.graph_channel)
        self.episode = episode_pb2_grpc.EpisodeServiceStub(self.graph_channel)
        self.session = session_pb2_grpc.SessionServiceStub(self.graph_channel)
        self.working_memory = working_memory_pb2_grpc.WorkingMemoryServiceStub(self.graph_channel)
        self.space_service = space_pb2_grpc.SpaceServiceStub(self.graph_channel)
        self.relation = relation_pb2_grpc.RelationServiceStub(self.graph_channel)
        self.conflict = conflict_pb2_grpc.ConflictServiceStub(self.graph_channel)
        self.claim = claim_pb2_grpc.ClaimServiceStub(self.graph_channel)

    def signer(self, slot: str) -> signing.Signer:
        """Return who fills a slot."""
        return self.agent if slot == AGENT else self.human

    async def enrol(self, secret: str = SECRET) -> str:
        """Perform the genesis; return its digest."""
        known = await self.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())
        genesis = signing.sign_genesis(
            space=self.space,
            agent=self.agent,
            human=self.human,
            governance_key=known.governance_key,
            create_time=self.time(0),
        )
        reply = await self.governed.EnrolPrincipals(
            governed_pb2.EnrolPrincipalsRequest(
                request_id=request_id(), enrolment_secret=secret, genesis=genesis
            )
        )
        await eventually(self.entries, lambda told: len(told) >= GENESIS_ENTRIES)
        return reply.genesis_digest

    async def propose(self, action: Message, **fields: Any) -> proposal_pb2.Proposal:
        """Propose an action, or what a request of graph asks for."""
        reply = await self.proposals.CreateProposal(
            proposal_pb2.CreateProposalRequest(
                request_id=request_id(), action=action_of(action), **fields
            )
        )
        return reply.proposal

    def consent(
        self,
        proposal: proposal_pb2.Proposal,
        slot: str,
        *,
        hours: float = 1,
        signer: signing.Signer | None = None,
        **changed: Any,
    ) -> bytes:
        """Sign a consent; `changed` replaces what it says."""
        said: dict[str, Any] = {
            "space": self.space,
            "proposal_id": proposal.id,
            "revision": proposal.revision,
            "proposal_digest": proposal.digest,
            "action_digest": proposal.action_digest,
            "etags": {item.id: item.etag for item in proposal.affected},
            "policy_digest": proposal.policy_digest,
            "expire_time": self.time(hours),
        }
        return signing.sign_consent(
            slot=slot, signer=signer or self.signer(slot), **(said | changed)
        )

    def revocation(
        self,
        proposal: proposal_pb2.Proposal,
        slot: str,
        consent: bytes,
        **changed: Any,
    ) -> bytes:
        """Sign that a slot takes a consent back; `changed` replaces what it says, and who signs."""
        said: dict[str, Any] = {
            "slot": slot,
            "signer": self.signer(slot),
            "space": self.space,
            "proposal_id": proposal.id,
            "revision": proposal.revision,
            "consent": consent,
        }
        return signing.sign_revocation(**(said | changed))

    async def approve(
        self, proposal: proposal_pb2.Proposal, slot: str, envelope: bytes | None = None
    ) -> proposal_pb2.Proposal:
        """Give a slot's consent."""
        reply = await self.proposals.ApproveProposal(
            proposal_pb2.ApproveProposalRequest(
                request_id=request_id(),
                proposal_id=proposal.id,
                consent=envelope or self.consent(proposal, slot),
            )
        )
        return reply.proposal

    async def decide(self, proposal: proposal_pb2.Proposal) -> proposal_pb2.Proposal:
        """Give every consent that a proposal needs."""
        proposal = await self.approve(proposal, AGENT)
        if proposal.status == STATUS.PROPOSAL_STATUS_PENDING:
            proposal = await self.approve(proposal, HUMAN)
        return proposal

    async def reject(
        self, proposal: proposal_pb2.Proposal, slot: str, reason: str = "not so"
    ) -> proposal_pb2.Proposal:
        """Sign a rejection and bring it."""
        envelope = signing.sign_rejection(
            slot=slot,
            signer=self.signer(slot),
            space=self.space,
            proposal_id=proposal.id,
            revision=proposal.revision,
            reason=reason,
        )
        reply = await self.proposals.RejectProposal(
            proposal_pb2.RejectProposalRequest(
                request_id=request_id(), proposal_id=proposal.id, rejection=envelope
            )
        )
        return reply.proposal

    async def bulk(
        self, *given: tuple[proposal_pb2.Proposal, bytes], dry_run: bool = False
    ) -> list[tuple[int, str]]:
        """Approve proposals at once, each with a consent; return its status and why it is not."""
        items = [
            proposal_pb2.ApproveItem(proposal_id=each.id, consent=consent)
            for each, consent in given
        ]
        request = proposal_pb2.BulkApproveRequest(
            request_id=request_id(), items=items, dry_run=dry_run
        )
        reply = await self.proposals.BulkApprove(request)
        return [(each.status, each.reason) for each in reply.outcomes]

    async def undo(self, proposal: proposal_pb2.Proposal) -> proposal_pb2.Proposal:
        """Propose to undo an executed proposal."""
        reply = await self.proposals.UndoModification(
            proposal_pb2.UndoModificationRequest(request_id=request_id(), proposal_id=proposal.id)
        )
        return reply.proposal

    async def revise(
        self, proposal: proposal_pb2.Proposal, action: Message, **fields: Any
    ) -> proposal_pb2.Proposal:
        """Propose another action in the same proposal, at the revision that was read."""
        said: dict[str, Any] = {"request_id": request_id(), "revision": proposal.revision}
        request = proposal_pb2.ReviseProposalRequest(
            proposal_id=proposal.id, action=action_of(action), **(said | fields)
        )
        return (await self.proposals.ReviseProposal(request)).proposal

    async def withdraw(self, proposal: proposal_pb2.Proposal) -> proposal_pb2.Proposal:
        """Take a proposal back."""
        reply = await self.proposals.WithdrawProposal(
            proposal_pb2.WithdrawProposalRequest(request_id=request_id(), proposal_id=proposal.id)
        )
        return reply.proposal

    async def get(self, proposal: proposal_pb2.Proposal) -> proposal_pb2.Proposal:
        """Read a proposal as it is now."""
        reply = await self.proposals.GetProposal(proposal_pb2.GetProposalRequest(id=proposal.id))
        return reply.proposal

    async def state(self) -> list[str]:
        """Return the space's state export, a line each."""
        pieces = self.space_service.ExportSpace(space_pb2.ExportSpaceRequest())
        return [line async for piece in pieces for line in piece.lines]

    async def edge(self, source: str, relation: str, target: str) -> type_pb2.Edge | None:
        """Return the edge of a triple; None without one."""
        triple = graph_pb2.Triple(
            source=type_pb2.EdgeEnd(name=source),
            relation=relation,
            target=type_pb2.EdgeEnd(name=target),
        )
        reply = await self.graph.GetEdge(graph_pb2.GetEdgeRequest(triple=triple, peek=True))
        return reply.edge if reply.status == type_pb2.LOOKUP_STATUS_FOUND else None

    async def entries(self, **fields: Any) -> Sequence[audit_pb2.AuditEntry]:
        """Return the newest entries of the log."""
        reply = await self.audit.ListAuditEntries(audit_pb2.ListAuditEntriesRequest(**fields))
        return reply.entries

    async def actions(self) -> list[str]:
        """Return what the log tells, oldest first."""
        found = [audit_pb2.AuditAction.Name(each.action) for each in await self.entries()]
        return [name.removeprefix("AUDIT_ACTION_") for name in reversed(found)]

    async def export_log(self) -> list[bytes]:
        """Return the exported log, a line each."""
        parts = self.audit.ExportAuditLog(audit_pb2.ExportAuditLogRequest())
        return b"".join([part.lines async for part in parts]).splitlines(keepends=True)

    async def verified(self, **pinned: Any) -> Findings:
        """Export the log, check it offline and replay its rules."""
        known = Pinned(**pinned)
        log: Log = read_log(await self.export_log(), known)
        return Replay(log, known).run()

    def time(self, hours: float) -> datetime:
        """Return the clock's time and some hours."""
        at = datetime.fromtimestamp(self.clock.now // SECOND, UTC)
        return at + timedelta(microseconds=self.clock.now % SECOND, hours=hours)


def edge_action(
    source: str = "agent",
    relation: str = "VALUES",
    target: str = "honesty",
    *,
    edge_type: type_pb2.EdgeType.ValueType = CONSTITUTIVE,
    **fields: Any,
) -> governed_pb2.GovernedAction:
    """Return the action that makes or merges into an edge."""
    edge = type_pb2.Edge(
        source=type_pb2.EdgeEnd(name=source),
        relation=relation,
        target=type_pb2.EdgeEnd(name=target),
        edge_type=edge_type,
        **fields,
    )
    return action_of(to_upsert_edge(edge))


@dataclass
class World:
    """A running graph and governance, with a party for each space asked for."""

    graph: Serving
    governance: Serving
    app: GovernanceApp
    clock: Clock
    folder: Path
    issuer: TokenIssuer
    """Governance's."""
    dissonance_issuer: TokenIssuer

    def party(self, space: str = "one") -> Party:
        """Return a new party of a space; its genesis is not performed."""
        who = Caller(space, "agent", SCOPES, "AGENT")
        door = self.issuer.mint(Caller(space, "governance", SCOPES, "SYSTEM"))
        channels = self.governance.channel(who), self.graph.channel(who)
        person = self.graph.channel(Caller(space, "ada", SCOPES, "HUMAN"))
        return Party(space, *channels, self.clock, self.graph.channel_with(door), person)

    def channel(self, principal: str, kind: str, space: str = "one") -> grpc.aio.Channel:
        """Return governance's channel for another principal of a space."""
        return self.governance.channel(Caller(space, principal, SCOPES, kind))

    def dissonance(self, space: str = "one") -> ProposalServiceAsyncStub:
        """Return governance's proposals for dissonance, with a token that it signed itself."""
        channel = self.governance.channel_with(self._of_dissonance(space))
        return proposal_pb2_grpc.ProposalServiceStub(channel)

    def findings(self, space: str = "one") -> ConflictServiceAsyncStub:
        """Return graph's conflicts for dissonance."""
        channel = self.graph.channel_with(self._of_dissonance(space))
        return conflict_pb2_grpc.ConflictServiceStub(channel)

    def _of_dissonance(self, space: str) -> str:
        scopes = SCOPES | {"conflict:write"}
        return self.dissonance_issuer.mint(Caller(space, "dissonance", scopes, "SYSTEM"))


class Keys:
    """Governance's own keys, kept over restarts as files are."""

    def __init__(self) -> None:
        self.issuer = TokenIssuer(Ed25519PrivateKey.generate(), "governance")
        self.grant = Ed25519PrivateKey.generate()
        self.log = Ed25519PrivateKey.generate()
        self.clients = new_issuer()
        self.dissonance = TokenIssuer(Ed25519PrivateKey.generate(), "dissonance")


@asynccontextmanager
async def world(
    folder: Path,
    *,
    clock: Clock | None = None,
    keys: Keys | None = None,
    settings: dict[str, int] | None = None,
    spaces: Sequence[str] = ("one", "two"),
    llm: dict[str, Any] | None = None,
    log: Logger | None = None,
    most_pending: int = 100,
    keys_file: Path | None = None,
) -> AsyncIterator[World]:
    """Run graph and governance over the stores in a folder."""
    known, now = keys or Keys(), clock or Clock()
    secret = sha256(SECRET.encode()).hexdigest()
    graph_app = await build_graph(
        chosen_store.GRAPH.of(folder / "graph.db"),
        enrolment=dict.fromkeys(spaces, secret),
        clock=now,
        confirmers=("governance",),
    )
    settings_file = None
    if settings is not None:
        settings_file = folder / "settings.json"
        settings_file.write_text(json.dumps(settings))
    asking = (known.clients, known.dissonance)
    verifier = TokenVerifier({each.name: each.public_key for each in (*asking, known.issuer)})
    async with AsyncExitStack() as stack:
        graph = await stack.enter_async_context(
            serving(
                graph_app.registrations,
                issuer=known.clients,
                verifier=verifier,
            )
        )
        await graph_app.start()
        stack.push_async_callback(graph_app.close)
        app = await build_governance(
            LedgerConfig(
                graph_address=graph.address,
                settings_file=settings_file,
                pending_per_principal=most_pending,
                keys_file=keys_file,
                **(llm or {}),
            ),
            chosen_store.LEDGER.of(folder / "ledger.db"),
            known.issuer,
            known.grant,
            known.log,
            clock=now,
            log=log,
        )
        await app.start()
        stack.push_async_callback(app.close)
        governance = await stack.enter_async_context(
            serving(
                app.registrations,
                issuer=known.clients,
                verifier=TokenVerifier({each.name: each.public_key for each in asking}),
                ready=app.ready,
                background=app.background,
            )
        )
        yield World(graph, governance, app, now, folder, known.issuer, known.dissonance)


async def refused(call: Any) -> Failure:
    """Return why a call is refused; fail when it is not."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return from_rpc_error(caught.value)


def reason_of(failure: Failure) -> tuple[str, str]:
    """Return a refusal's machine reason, and the check that failed if it names one."""
    return failure.reason.removeprefix("ERROR_REASON_"), failure.metadata.get("check", "")
