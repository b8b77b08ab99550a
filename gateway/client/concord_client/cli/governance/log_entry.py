"""Entries of the audit log with an inclusion proof, such as a proposal's execution."""

import json

from concord.governance.v1 import audit_pb2
from concord.governance.v1.audit_pb2 import GetInclusionProofResponse
from concord_attestation.tree import ProofInvalid, leaf_hash, verify_inclusion

from concord_client.cli.errors import CommandError
from concord_client.cli.governance.session import GovernanceSession
from concord_client.trust.pins import Seen

_PAGE = 200


def proved(governance: GovernanceSession, index: int) -> tuple[Seen, GetInclusionProofResponse]:
    """The witness's pins with the newest checkpoint, and the proof that it covers entry `index`.

    The newest checkpoint is fetched first, and must extend the last one seen. Raises
    `CommandError`, `WitnessError`.
    """
    governance.principals()
    seen = governance.witness.follow(governance.client.audit)
    head = seen.read(seen.checkpoint)
    request = audit_pb2.GetInclusionProofRequest(index=index, tree_size=head.size)
    reply = governance.client.audit.GetInclusionProof(request)
    try:
        verify_inclusion(leaf_hash(reply.leaf), index, head.size, list(reply.hashes), head.root)
    except ProofInvalid:
        raise CommandError(
            f"The log does not prove its entry {index}.", reason="AUDIT_PROOF_INVALID"
        ) from None
    return seen, reply


def execution_of(governance: GovernanceSession, proposal_id: str) -> bytes | None:
    """The leaf of a proposal's execution; None if the log has none.

    Raises `CommandError`, `WitnessError`.
    """
    entry = _entry(governance, proposal_id)
    return None if entry is None else proved(governance, entry.index)[1].leaf


def _entry(governance: GovernanceSession, proposal_id: str) -> audit_pb2.AuditEntry | None:
    request = audit_pb2.ListAuditEntriesRequest(
        actions=[audit_pb2.AUDIT_ACTION_SMF_EXECUTE], page_size=_PAGE
    )
    while True:
        page = governance.client.audit.ListAuditEntries(request)
        for each in page.entries:
            if each.proposal_id == proposal_id and _is_of(each.leaf, proposal_id):
                return each
        if not page.next_page_token:
            return None
        request.page_token = page.next_page_token


def _is_of(leaf: bytes, proposal_id: str) -> bool:
    try:
        return bool(json.loads(leaf)["proposal"]["id"] == proposal_id)
    except (ValueError, KeyError, TypeError):
        return False
