"""The verbs of governance: propose a change, sign it in this process, undo it."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime

import grpc
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import governed_pb2
from concord.type.v1 import type_pb2
from google.protobuf import json_format

from concord_client.credentials import DEFAULT_SPACE
from concord_client.refusal import FieldInvalid, Violation
from concord_client.trust import signing
from concord_client.trust.review import demand_space, reviewed
from concord_client.trust.signing import Signer
from concord_client.verbs import governance_things, read_reply
from concord_client.verbs.steps import Step, add, link
from concord_client.verbs.things import Fact, Importance, Kind, Slot


def propose(
    action: Mapping[str, object] | None = None,
    *,
    content: str = "",
    kind: Kind | None = None,
    importance: Importance | None = None,
    domain: str = "",
    tags: Sequence[str] = (),
    facts: Sequence[Fact] = (),
    speaker: str = "",
    supersedes: Sequence[str] = (),
    source: str = "",
    relation: str = "",
    target: str = "",
    weight: float | None = None,
    properties: Mapping[str, object] | None = None,
    valid_from: datetime | None = None,
    valid_until: datetime | None = None,
    constitutive: bool = False,
    note: str = "",
) -> Step[governance_things.Proposal]:
    """Propose a change: a memory, an edge, or any write.

    A memory has `content` and what else `add` takes; an edge `source`, `relation` and `target` and
    what else `link` takes. `constitutive`: it defines the agent. `action`, instead of these: one
    write as the contract's JSON, such as {"forget_memory": {"id": "…", "etag": "…"}}. `note`: your
    own words, up to 500 characters, shown as yours. Raises `FieldInvalid` for an action that is
    none, and `ValueError` for none or several of the three.
    """
    triple = source or relation or target
    if bool(action) + bool(content) + bool(triple) != 1:
        raise ValueError(
            "Propose one change: content for a memory; source, relation and target for an edge; or "
            'an action, such as {"forget_memory": {"id": "…", "etag": "…"}}.'
        )
    edge_type = type_pb2.EDGE_TYPE_CONSTITUTIVE if constitutive else type_pb2.EDGE_TYPE_UNSPECIFIED
    if action:
        governed = _parsed(action)
    elif content:
        adding = add(
            content,
            kind=kind,
            importance=importance,
            domain=domain,
            tags=tags,
            facts=facts,
            speaker=speaker,
            supersedes=supersedes,
            valid_from=valid_from,
            valid_until=valid_until,
            properties=properties,
        )
        memory = next(adding).request
        governed = governed_pb2.GovernedAction(add_memory=memory)  # type: ignore[arg-type] # its request
        governed.add_memory.memory.edge_type = edge_type
    else:
        edge = link(
            source,
            relation,
            target,
            weight=weight,
            valid_from=valid_from,
            valid_until=valid_until,
            properties=properties,
        ).request
        governed = governed_pb2.GovernedAction(upsert_edge=edge)  # type: ignore[arg-type] # its request
        governed.upsert_edge.edge.edge_type = edge_type
    if name := governed.WhichOneof("action"):
        getattr(governed, name).request_id = secrets.token_urlsafe(24)
    request = proposal_pb2.CreateProposalRequest(action=governed, note=note)
    return Step(request, _proposal)


def _parsed(action: Mapping[str, object]) -> governed_pb2.GovernedAction:
    try:
        return json_format.ParseDict(dict(action), governed_pb2.GovernedAction())
    except json_format.ParseError as error:
        said = " ".join(str(error).split())
        raise FieldInvalid(
            grpc.StatusCode.INVALID_ARGUMENT,
            "ERROR_REASON_FIELD_INVALID",
            f"action: {said}",
            violations=[Violation("action", said)],
        ) from None


def pending() -> Step[tuple[governance_things.Proposal, ...]]:
    """Proposals that wait for consent, the newest first, at most 50."""
    request = proposal_pb2.ListProposalsRequest(
        statuses=[proposal_pb2.PROPOSAL_STATUS_PENDING], with_summaries=True
    )

    def read(reply: proposal_pb2.ListProposalsResponse) -> tuple[governance_things.Proposal, ...]:
        return tuple(read_reply.proposal(each) for each in reply.proposals)

    return Step(request, read)


def review(id: str) -> Step[governance_things.Proposal | None]:  # noqa: A002
    """The current revision of a proposal, or None."""
    request = proposal_pb2.GetProposalRequest(id=id)

    def read(reply: proposal_pb2.GetProposalResponse) -> governance_things.Proposal | None:
        return read_reply.proposal(reply.proposal) if reply.HasField("proposal") else None

    return Step(request, read)


def approve(
    proposal: governance_things.Proposal,
    signer: Signer,
    *,
    slot: Slot = "AGENT",
    space: str = DEFAULT_SPACE,
) -> Step[governance_things.Proposal]:
    """Sign a consent to a proposal, in this process, and send it.

    The consent names the bytes of this revision: look at its `action` first. Raises `ReviewError`
    before signing if the bytes have another digest or space. Unlike `concord approve`, it does not
    compare an undo with the log.
    """
    found = reviewed(proposal.canonical, proposal.digest)
    demand_space(found, space)
    consent = signing.sign_consent(slot=slot, signer=signer, **found.terms())
    request = proposal_pb2.ApproveProposalRequest(proposal_id=proposal.id, consent=consent)
    return Step(request, _proposal)


def reject(
    proposal: governance_things.Proposal,
    signer: Signer,
    reason: str,
    *,
    slot: Slot = "AGENT",
    space: str = DEFAULT_SPACE,
) -> Step[governance_things.Proposal]:
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
    return Step(request, _proposal)


def undo(proposal: governance_things.Proposal) -> Step[governance_things.Proposal]:
    """Propose to undo an executed proposal; the slots that had to consent must consent again."""
    request = proposal_pb2.UndoModificationRequest(proposal_id=proposal.id)
    return Step(request, _proposal)


def _proposal(
    reply: proposal_pb2.CreateProposalResponse
    | proposal_pb2.ApproveProposalResponse
    | proposal_pb2.RejectProposalResponse
    | proposal_pb2.UndoModificationResponse,
) -> governance_things.Proposal:
    return read_reply.proposal(reply.proposal)
