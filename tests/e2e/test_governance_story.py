"""Nobody changes who the agent is alone: the whole story through the gateway."""

import secrets

from concord.governance.v1 import audit_pb2, proposal_pb2
from concord.graph.v1 import governed_pb2, graph_pb2, space_pb2
from concord.type.v1 import type_pb2
from concord_client.client import AsyncClient
from concord_client.credentials import Target
from concord_client.trust import signing
from concord_client.trust.audit.log import Pinned, read_log
from concord_client.trust.audit.replay import Findings, Replay
from concord_client.trust.review import review
from concord_embedded import Running
from google.protobuf.field_mask_pb2 import FieldMask
from running_system import enrol
from writing import action_of

SPACE = "default"
AGENT = signing.Signer("helper", signing.generate_key())
HUMAN = signing.Signer("ada", signing.generate_key())
STATUS = proposal_pb2.ProposalStatus


async def propose(
    client: AsyncClient, action: governed_pb2.GovernedAction
) -> proposal_pb2.Proposal:
    """Makes a proposal."""
    request = proposal_pb2.CreateProposalRequest(action=action)
    return (await client.proposals.CreateProposal(request)).proposal


async def sign(
    client: AsyncClient, proposal: proposal_pb2.Proposal, slot: str
) -> "STATUS.ValueType":
    """Gives a slot's consent to what the proposal's bytes say."""
    signer = AGENT if slot == signing.AGENT else HUMAN
    consent = signing.sign_consent(slot=slot, signer=signer, **review(proposal).terms())
    reply = await client.proposals.ApproveProposal(
        proposal_pb2.ApproveProposalRequest(proposal_id=proposal.id, consent=consent)
    )
    return reply.proposal.status


async def state(client: AsyncClient) -> list[str]:
    """The space's state export, a line each."""
    parts = client.space.ExportSpace(space_pb2.ExportSpaceRequest())
    return [line async for part in parts for line in part.lines]


async def verified(client: AsyncClient, pinned: Pinned) -> Findings:
    """The log, exported and checked offline."""
    parts = client.audit.ExportAuditLog(audit_pb2.ExportAuditLogRequest())
    lines = b"".join([part.lines async for part in parts]).splitlines(keepends=True)
    return Replay(read_log(lines, pinned), pinned).run()


async def test_two_change_who_the_agent_is_and_two_undo_it(system: Running) -> None:
    """V1 V5 V6 V8 A2 W1 One signature does nothing; undone by two, the export is the same."""
    async with AsyncClient(Target(system.url, system.keys[SPACE])) as client:
        _, pinned = await enrol(client, system, SPACE, AGENT, HUMAN)
        value = type_pb2.Edge(
            source=type_pb2.EdgeEnd(name="helper"),
            relation="VALUES",
            target=type_pb2.EdgeEnd(name="honesty"),
            edge_type=type_pb2.EDGE_TYPE_CONSTITUTIVE,
        )
        first = await propose(
            client,
            action_of(
                graph_pb2.UpsertEdgeRequest(request_id=secrets.token_urlsafe(24), edge=value)
            ),
        )
        await sign(client, first, signing.AGENT)
        assert await sign(client, first, signing.HUMAN) == STATUS.PROPOSAL_STATUS_EXECUTED
        before = await state(client)
        (edge,) = (
            each
            for each in (await client.graph.ListEdges(graph_pb2.ListEdgesRequest())).edges
            if each.relation == "VALUES"
        )

        change = await propose(
            client,
            action_of(
                graph_pb2.UpdateEdgeRequest(
                    request_id=secrets.token_urlsafe(24),
                    edge=type_pb2.Edge(id=edge.id, etag=edge.etag, weight=0.25),
                    update_mask=FieldMask(paths=["weight"]),
                )
            ),
        )
        assert await sign(client, change, signing.AGENT) == STATUS.PROPOSAL_STATUS_PENDING
        assert await state(client) == before
        assert await sign(client, change, signing.HUMAN) == STATUS.PROPOSAL_STATUS_EXECUTED
        assert await state(client) != before
        assert (await verified(client, pinned)).executed == 2

        undone = await client.proposals.UndoModification(
            proposal_pb2.UndoModificationRequest(proposal_id=change.id)
        )
        await sign(client, undone.proposal, signing.AGENT)
        assert await state(client) != before
        assert await sign(client, undone.proposal, signing.HUMAN) == STATUS.PROPOSAL_STATUS_EXECUTED

        assert await state(client) == before
        assert (await verified(client, pinned)).undone == 1
