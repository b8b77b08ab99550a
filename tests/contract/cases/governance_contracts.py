"""The contract cases of ProposalService, PrincipalService and AuditService."""

from concord.governance.v1 import audit_pb2, principal_pb2
from concord.governance.v1 import proposal_pb2 as pb
from concord.graph.v1 import governed_pb2, graph_pb2
from concord.type.v1 import type_pb2
from concord.type.v1.type_pb2 import SLOT_AGENT, SLOT_HUMAN
from concord_client.trust import signing
from contract_homes import Home, consent_to
from contract_live import member
from contract_registry import Contract, invalid
from google.protobuf.field_mask_pb2 import FieldMask

FOUND, MISSED = type_pb2.LOOKUP_STATUS_FOUND, type_pb2.LOOKUP_STATUS_NOT_FOUND
SALT = "a-salt-of-enough-letters"
STATUS = pb.ProposalStatus


def _action(home: Home) -> governed_pb2.GovernedAction:
    edge = type_pb2.Edge(id=home.edge_id, etag=home.edge_etag, weight=0.2)
    update = graph_pb2.UpdateEdgeRequest(
        request_id=SALT, edge=edge, update_mask=FieldMask(paths=["weight"])
    )
    return governed_pb2.GovernedAction(update_edge=update)


def _create(home: Home, language: str = "") -> pb.CreateProposalRequest:
    return pb.CreateProposalRequest(request_id="r", action=_action(home), language=language)


def _revise(home: Home, revision: int = 1) -> pb.ReviseProposalRequest:
    return pb.ReviseProposalRequest(
        request_id="r", proposal_id=home.waiting_id, revision=revision, action=_action(home)
    )


def _approve(home: Home, nonce: bytes = b"n" * 32) -> pb.ApproveProposalRequest:
    envelope = consent_to(home, home.waiting, signing.AGENT, nonce)
    return pb.ApproveProposalRequest(request_id="r", proposal_id=home.waiting_id, consent=envelope)


def _reject(home: Home, reason: str = "not so") -> pb.RejectProposalRequest:
    envelope = signing.sign_rejection(
        slot=signing.HUMAN,
        signer=home.parties.human,
        space=home.space,
        proposal_id=home.waiting_id,
        revision=1,
        reason=reason,
        nonce=b"n" * 32,
    )
    return pb.RejectProposalRequest(request_id="r", proposal_id=home.waiting_id, rejection=envelope)


def _revoke(home: Home, revision: int = 1) -> pb.RevokeConsentRequest:
    envelope = signing.sign_revocation(
        slot=signing.AGENT,
        signer=home.parties.agent,
        space=home.space,
        proposal_id=home.answered_id,
        revision=revision,
        consent=consent_to(home, home.answered, signing.AGENT, b"answered" * 4),
    )
    return pb.RevokeConsentRequest(
        request_id="r", proposal_id=home.answered_id, revocation=envelope
    )


def _bulk(home: Home, nonce: bytes = b"b" * 32) -> pb.BulkApproveRequest:
    envelope = consent_to(home, home.small, signing.AGENT, nonce)
    item = pb.ApproveItem(proposal_id=home.small_id, consent=envelope)
    return pb.BulkApproveRequest(request_id="r", items=[item])


def _settle(home: Home, reason: str = "not so") -> pb.SettleProposalRequest:
    return pb.SettleProposalRequest(
        request_id="r",
        proposal_id=home.unsigned_id,
        revision=1,
        settlement=pb.SETTLEMENT_REJECT,
        reason=reason,
    )


def _withdraw(home: Home, proposal_id: str = "") -> pb.WithdrawProposalRequest:
    return pb.WithdrawProposalRequest(request_id="r", proposal_id=proposal_id or home.waiting_id)


def _undo(home: Home, proposal_id: str = "") -> pb.UndoModificationRequest:
    return pb.UndoModificationRequest(request_id="r", proposal_id=proposal_id or home.executed_id)


PROPOSAL = {
    "CreateProposal": Contract(
        request=_create,
        success=lambda reply, home: reply.proposal.affected[0].id == home.edge_id,
        bad_input=(lambda _: pb.CreateProposalRequest(request_id="r"), invalid("action")),
        other=lambda home: _create(home, "de"),
    ),
    "ReviseProposal": Contract(
        request=_revise,
        success=lambda reply, _: reply.proposal.revision == 2,
        bad_input=(lambda home: _revise(home, -1), invalid("revision")),
        other=lambda home: _revise(home, 2),
    ),
    "GetProposal": Contract(
        request=lambda home: pb.GetProposalRequest(id=home.waiting_id),
        success=lambda reply, home: reply.proposal.id == home.waiting_id,
        bad_input=(lambda _: pb.GetProposalRequest(), invalid("by")),
    ),
    "ListProposals": Contract(
        request=lambda home: pb.ListProposalsRequest(item_id=home.edge_id),
        success=lambda reply, _: bool(reply.proposals),
        bad_input=(
            lambda home: pb.ListProposalsRequest(
                item_id="else", page_token=home.page_tokens["ListProposals"]
            ),
            invalid("page_token", "PAGE_TOKEN_INVALID"),
        ),
    ),
    "ApproveProposal": Contract(
        request=_approve,
        success=lambda reply, _: [each.slot for each in reply.proposal.consents] == [SLOT_AGENT],
        bad_input=(
            lambda home: pb.ApproveProposalRequest(request_id="r", proposal_id=home.waiting_id),
            invalid("consent"),
        ),
        other=lambda home: _approve(home, b"m" * 32),
    ),
    "RevokeConsent": Contract(
        request=_revoke,
        success=lambda reply, _: [each.revoked for each in reply.proposal.consents] == [True],
        bad_input=(
            lambda home: pb.RevokeConsentRequest(request_id="r", proposal_id=home.answered_id),
            invalid("revocation"),
        ),
        other=lambda home: _revoke(home, 2),
    ),
    "RejectProposal": Contract(
        request=_reject,
        success=lambda reply, _: reply.proposal.resolution == "not so",
        bad_input=(
            lambda home: pb.RejectProposalRequest(request_id="r", proposal_id=home.waiting_id),
            invalid("rejection"),
        ),
        other=lambda home: _reject(home, "otherwise"),
    ),
    "WithdrawProposal": Contract(
        request=_withdraw,
        success=lambda reply, _: reply.proposal.status == STATUS.PROPOSAL_STATUS_WITHDRAWN,
        bad_input=(
            lambda _: pb.WithdrawProposalRequest(request_id="r"),
            invalid("proposal_id"),
        ),
        other=lambda home: _withdraw(home, home.answered_id),
    ),
    "BulkApprove": Contract(
        request=_bulk,
        success=lambda reply, _: reply.outcomes[0].status == STATUS.PROPOSAL_STATUS_EXECUTED,
        bad_input=(lambda _: pb.BulkApproveRequest(request_id="r"), invalid("items")),
        other=lambda home: _bulk(home, b"c" * 32),
    ),
    "SettleProposal": Contract(
        request=_settle,
        success=lambda reply, _: reply.proposal.resolution == "not so",
        bad_input=(
            lambda home: pb.SettleProposalRequest(
                request_id="r", proposal_id=home.unsigned_id, revision=1
            ),
            invalid("settlement"),
        ),
        other=lambda home: _settle(home, "otherwise"),
        caller=lambda home: member(home.fresh_space),
    ),
    "UndoModification": Contract(
        request=_undo,
        success=lambda reply, home: reply.proposal.undo_of == home.executed_id,
        bad_input=(
            lambda _: pb.UndoModificationRequest(request_id="r"),
            invalid("proposal_id"),
        ),
        other=lambda home: _undo(home, home.waiting_id),
    ),
    "EraseProposalWords": Contract(
        request=lambda home: pb.EraseProposalWordsRequest(proposal_ids=[home.small_id]),
        success=lambda reply, _: reply.erased_count in (0, 1),
        bad_input=(lambda _: pb.EraseProposalWordsRequest(), invalid("proposal_ids")),
    ),
    "GetBriefing": Contract(
        request=lambda _: pb.GetBriefingRequest(),
        success=lambda reply, home: home.waiting_id in [p.proposal_id for p in reply.proposals],
    ),
}

PRINCIPAL = {
    "GetPrincipals": Contract(
        request=lambda _: principal_pb2.GetPrincipalsRequest(),
        success=lambda reply, _: [each.slot for each in reply.slots] == [SLOT_AGENT, SLOT_HUMAN],
    ),
}

AUDIT = {
    "ListAuditEntries": Contract(
        request=lambda home: audit_pb2.ListAuditEntriesRequest(item_id=home.rock_id),
        success=lambda reply, home: {each.item_id for each in reply.entries} == {home.rock_id},
        bad_input=(
            lambda home: audit_pb2.ListAuditEntriesRequest(
                item_id="else", page_token=home.page_tokens["ListAuditEntries"]
            ),
            invalid("page_token", "PAGE_TOKEN_INVALID"),
        ),
    ),
    "GetCheckpoint": Contract(
        request=lambda _: audit_pb2.GetCheckpointRequest(),
        success=lambda reply, home: reply.checkpoint.startswith(f"concord.local/{home.space}\n"),
    ),
    "GetInclusionProof": Contract(
        request=lambda _: audit_pb2.GetInclusionProofRequest(index=0, tree_size=2),
        success=lambda reply, _: len(reply.hashes) == 1 and reply.leaf,
        bad_input=(
            lambda _: audit_pb2.GetInclusionProofRequest(index=-1, tree_size=2),
            invalid("index"),
        ),
    ),
    "GetConsistencyProof": Contract(
        request=lambda _: audit_pb2.GetConsistencyProofRequest(old_size=1, new_size=2),
        success=lambda reply, _: len(reply.hashes) == 1,
        bad_input=(
            lambda _: audit_pb2.GetConsistencyProofRequest(old_size=-1, new_size=2),
            invalid("old_size"),
        ),
    ),
    "ExportAuditLog": Contract(
        request=lambda _: audit_pb2.ExportAuditLogRequest(),
        success=lambda reply, home: f'"space":"{home.space}"'.encode() in reply.lines,
        replies=1,
    ),
}
