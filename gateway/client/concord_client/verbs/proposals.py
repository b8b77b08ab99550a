"""The verbs of governance: propose a change, sign it in this process, undo it."""

import secrets
from collections.abc import Mapping

from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import governed_pb2
from google.protobuf import json_format

from concord_client.credentials import DEFAULT_SPACE
from concord_client.trust import signing
from concord_client.trust.review import demand_space, reviewed
from concord_client.trust.signing import Signer
from concord_client.verbs import read_reply, things
from concord_client.verbs.steps import Step
from concord_client.verbs.things import Slot

_PROPOSALS = "/concord.governance.v1.ProposalService/"


def propose(action: Mapping[str, object], *, note: str = "") -> Step[things.Proposal]:
    """Propose a change, such as one of a constitutive item.

    `action`: one write as the contract's JSON, such as {"forget_memory": {"id": "…", "etag": "…"}}.
    `note`: your own words, up to 500 characters, shown as yours.
    """
    governed = governed_pb2.GovernedAction()
    json_format.ParseDict(dict(action), governed)
    if name := governed.WhichOneof("action"):
        getattr(governed, name).request_id = secrets.token_urlsafe(24)
    request = proposal_pb2.CreateProposalRequest(action=governed, note=note)

    def read(reply: proposal_pb2.CreateProposalResponse) -> things.Proposal:
        return read_reply.proposal(reply.proposal)

    return Step(f"{_PROPOSALS}CreateProposal", request, proposal_pb2.CreateProposalResponse, read)


def pending() -> Step[tuple[things.Proposal, ...]]:
    """Proposals that wait for consent, the newest first, at most 50."""
    request = proposal_pb2.ListProposalsRequest(statuses=[proposal_pb2.PROPOSAL_STATUS_PENDING])

    def read(reply: proposal_pb2.ListProposalsResponse) -> tuple[things.Proposal, ...]:
        return tuple(read_reply.proposal(each) for each in reply.proposals)

    return Step(f"{_PROPOSALS}ListProposals", request, proposal_pb2.ListProposalsResponse, read)


def review(id: str) -> Step[things.Proposal | None]:  # noqa: A002
    """The current revision of a proposal, or None."""
    request = proposal_pb2.GetProposalRequest(id=id)

    def read(reply: proposal_pb2.GetProposalResponse) -> things.Proposal | None:
        return read_reply.proposal(reply.proposal) if reply.HasField("proposal") else None

    return Step(f"{_PROPOSALS}GetProposal", request, proposal_pb2.GetProposalResponse, read)


def approve(
    proposal: things.Proposal, signer: Signer, *, slot: Slot = "AGENT", space: str = DEFAULT_SPACE
) -> Step[things.Proposal]:
    """Sign a consent to a proposal, in this process, and send it.

    The consent names the bytes of this revision: look at its `action` first. Raises `ReviewError`
    before signing if the bytes have another digest or space. Unlike `concord approve`, it does not
    compare an undo with the log.
    """
    found = reviewed(proposal.canonical, proposal.digest)
    demand_space(found, space)
    consent = signing.sign_consent(slot=slot, signer=signer, **found.terms())
    request = proposal_pb2.ApproveProposalRequest(proposal_id=proposal.id, consent=consent)

    def read(reply: proposal_pb2.ApproveProposalResponse) -> things.Proposal:
        return read_reply.proposal(reply.proposal)

    return Step(f"{_PROPOSALS}ApproveProposal", request, proposal_pb2.ApproveProposalResponse, read)


def reject(
    proposal: things.Proposal,
    signer: Signer,
    reason: str,
    *,
    slot: Slot = "AGENT",
    space: str = DEFAULT_SPACE,
) -> Step[things.Proposal]:
    """Sign a rejection of a proposal, in this process, and send it. One rejection ends it.

    `reason`: 1 to 1,000 characters. Raises `ReviewError` as `approve` does.
    """
    found = reviewed(proposal.canonical, proposal.digest)
    demand_space(found, space)
    rejection = signing.sign_rejection(
        slot=slot,
        signer=signer,
        space=space,
        proposal_id=proposal.id,
        revision=found.document["revision"],
        reason=reason,
    )
    request = proposal_pb2.RejectProposalRequest(proposal_id=proposal.id, rejection=rejection)

    def read(reply: proposal_pb2.RejectProposalResponse) -> things.Proposal:
        return read_reply.proposal(reply.proposal)

    return Step(f"{_PROPOSALS}RejectProposal", request, proposal_pb2.RejectProposalResponse, read)


def undo(proposal: things.Proposal) -> Step[things.Proposal]:
    """Propose to undo an executed proposal; the slots that had to consent must consent again."""
    request = proposal_pb2.UndoModificationRequest(proposal_id=proposal.id)

    def read(reply: proposal_pb2.UndoModificationResponse) -> things.Proposal:
        return read_reply.proposal(reply.proposal)

    return Step(
        f"{_PROPOSALS}UndoModification", request, proposal_pb2.UndoModificationResponse, read
    )
