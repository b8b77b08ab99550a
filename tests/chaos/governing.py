"""Both principals of a running system: what they agree on, and what must then be seen."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import grpc
from concord.governance.v1 import (
    audit_pb2,
    audit_pb2_grpc,
    principal_pb2,
    principal_pb2_grpc,
    proposal_pb2,
    proposal_pb2_grpc,
)
from concord.graph.v1 import governed_pb2, governed_pb2_grpc, graph_pb2, graph_pb2_grpc
from concord.type.v1 import type_pb2
from concord_client import credentials
from concord_client.trust import signing
from concord_client.trust.audit.log import Pinned, read_log
from concord_client.trust.audit.replay import Replay
from concord_testing.up_process import Spawned

STATUS = proposal_pb2.ProposalStatus


@dataclass
class Parties:
    """Both principals of the space, and what they have seen."""

    agent: signing.Signer = field(
        default_factory=lambda: signing.Signer("agent", signing.generate_key())
    )
    human: signing.Signer = field(
        default_factory=lambda: signing.Signer("ada", signing.generate_key())
    )
    checkpoint: str | None = None
    proposals: list[str] = field(default_factory=list)
    targets: set[str] = field(default_factory=set)

    def consent(self, proposal: proposal_pb2.Proposal, slot: str) -> bytes:
        """Sign a consent."""
        return signing.sign_consent(
            slot=slot,
            signer=self.agent if slot == signing.AGENT else self.human,
            space="default",
            proposal_id=proposal.id,
            revision=proposal.revision,
            proposal_digest=proposal.digest,
            action_digest=proposal.action_digest,
            etags={item.id: item.etag for item in proposal.affected},
            policy_digest=proposal.policy_digest,
            expire_time=datetime.now(UTC) + timedelta(hours=1),
        )


class Governed:
    """What these tests ask of the running system, through its gateway."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.proposals = proposal_pb2_grpc.ProposalServiceStub(channel)
        self.audit = audit_pb2_grpc.AuditServiceStub(channel)
        self.principals = principal_pb2_grpc.PrincipalServiceStub(channel)
        self.governed = governed_pb2_grpc.GovernedChangeServiceStub(channel)
        self.graph = graph_pb2_grpc.GraphServiceStub(channel)

    def log(self) -> list[bytes]:
        """Return the exported log, a line each."""
        parts = self.audit.ExportAuditLog(audit_pb2.ExportAuditLogRequest())
        return b"".join(part.lines for part in parts).splitlines(keepends=True)

    def visible(self) -> set[str]:
        """Return what the agent values."""
        wanted = graph_pb2.EdgeFilter(relations=["VALUES"])
        request = graph_pb2.ListEdgesRequest(filter=wanted, page_size=200)
        return {edge.target.name for edge in self.graph.ListEdges(request).edges}


@contextmanager
def governed(server: Spawned) -> Iterator[Governed]:
    """A channel with the agent's credential."""
    with _presenting(server, credentials.Role.AGENT) as asked:
        yield asked


@contextmanager
def _presenting(server: Spawned, role: credentials.Role) -> Iterator[Governed]:
    key = credentials.read(server.data / credentials.FILE_NAME).key("default", role)
    assert key is not None
    place = server.url.split("//", 1)[-1]
    with grpc.insecure_channel(place) as plain:
        yield Governed(grpc.intercept_channel(plain, _Presenting(key)))


class _Presenting(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
):
    """Sends the API key with every call."""

    def __init__(self, key: str) -> None:
        self._key = key

    def _with(self, details: grpc.ClientCallDetails) -> grpc.ClientCallDetails:
        metadata = (("authorization", f"Bearer {self._key}"),)
        return details._replace(metadata=metadata, timeout=30)  # type: ignore[attr-defined,no-any-return]

    def intercept_unary_unary(self, go, details, request):  # type: ignore[no-untyped-def]
        """Send it."""
        return go(self._with(details), request)

    def intercept_unary_stream(self, go, details, request):  # type: ignore[no-untyped-def]
        """Send it."""
        return go(self._with(details), request)


def enrol(server: Spawned, asked: Governed, parties: Parties) -> None:
    """Perform the genesis."""
    told = json.loads((server.data / credentials.FILE_NAME).read_text("utf-8"))
    known = asked.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())
    genesis = signing.sign_genesis(
        space="default",
        agent=parties.agent,
        human=parties.human,
        governance_key=known.governance_key,
    )
    with _presenting(server, credentials.Role.ADMIN) as admin:
        admin.governed.EnrolPrincipals(
            governed_pb2.EnrolPrincipalsRequest(
                request_id="enrol",
                enrolment_secret=told["enrolment_secrets"]["default"],
                genesis=genesis,
            )
        )


def propose(
    asked: Governed,
    parties: Parties,
    name: str,
    action: governed_pb2.GovernedAction | None = None,
) -> proposal_pb2.Proposal:
    """Propose that the agent values something, or another action."""
    edge = type_pb2.Edge(
        source=type_pb2.EdgeEnd(name="agent"),
        relation="VALUES",
        target=type_pb2.EdgeEnd(name=name),
        edge_type=type_pb2.EDGE_TYPE_CONSTITUTIVE,
    )
    values = governed_pb2.GovernedAction(
        upsert_edge=graph_pb2.UpsertEdgeRequest(request_id=f"{name} ".ljust(24, "x"), edge=edge)
    )
    request = proposal_pb2.CreateProposalRequest(request_id=f"p {name}", action=action or values)
    proposal = asked.proposals.CreateProposal(request).proposal
    parties.proposals.append(proposal.id)
    return proposal


def agree(
    asked: Governed,
    parties: Parties,
    name: str,
    action: governed_pb2.GovernedAction | None = None,
) -> None:
    """Propose that the agent values something, or another action, and sign it with both keys."""
    proposal = propose(asked, parties, name, action)
    for slot in (signing.AGENT, signing.HUMAN):
        asked.proposals.ApproveProposal(
            proposal_pb2.ApproveProposalRequest(
                request_id=f"{slot} {name}",
                proposal_id=proposal.id,
                consent=parties.consent(proposal, slot),
            )
        )
        parties.targets.add(name)
        if slot == signing.HUMAN:
            note = asked.audit.GetCheckpoint(audit_pb2.GetCheckpointRequest())
            parties.checkpoint = note.checkpoint


def settled(asked: Governed, parties: Parties) -> set[str]:
    """Wait until every decision has its end; return what was carried out."""
    end = time.monotonic() + 30
    while True:
        leaves = [json.loads(line) for line in asked.log()[1:]]
        decided = {
            leaf["properties"]["decision_id"] for leaf in leaves if leaf["action"] == "SMF_DECIDE"
        }
        done = {
            leaf["properties"]["decision_id"]
            for leaf in leaves
            if leaf["action"] in ("SMF_EXECUTE", "SMF_FAIL")
        }
        written = {
            leaf["properties"]["request_id"] for leaf in leaves if leaf["action"] == "WRITE_SUCCESS"
        }
        if decided == done == written:
            break
        assert time.monotonic() < end, (decided - done, done ^ written)
        time.sleep(0.05)
    found = [
        asked.proposals.GetProposal(proposal_pb2.GetProposalRequest(id=name)).proposal
        for name in parties.proposals
    ]
    assert all(each.status != STATUS.PROPOSAL_STATUS_APPROVED for each in found)
    return {
        each.action.upsert_edge.edge.target.name
        for each in found
        if each.status == STATUS.PROPOSAL_STATUS_EXECUTED
    }


def judge(asked: Governed, parties: Parties) -> None:
    """Every effect has its entry, every EXECUTED its effect, and the log extends what was seen."""
    executed = settled(asked, parties)

    assert executed == asked.visible()
    pinned = Pinned(checkpoint=parties.checkpoint)
    Replay(read_log(asked.log(), pinned), pinned).run()
