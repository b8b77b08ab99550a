"""What the log says an executed proposal did: proved to stand under the newest checkpoint."""

import json

from concord.governance.v1 import audit_pb2
from concord_attestation.tree import ProofInvalid, leaf_hash, verify_inclusion

from concord_client.cli.errors import CommandError
from concord_client.cli.governance.session import GovernanceSession

_PAGE = 200


def leaf_of(governance: GovernanceSession, proposal_id: str) -> bytes | None:
    """The entry of a proposal's execution, as it is hashed; None when the log has none.

    The log is followed first, so that it is the one that was seen before, and the entry is proved
    to be in it. Raises `CommandError`, `WitnessError`.
    """
    governance.principals()
    seen = governance.witness.follow(governance.client.audit)
    head = seen.read(seen.checkpoint)
    entry = _entry(governance, proposal_id)
    if entry is None or entry.index >= head.size:
        return None
    request = audit_pb2.GetInclusionProofRequest(index=entry.index, tree_size=head.size)
    reply = governance.client.audit.GetInclusionProof(request)
    hashes = list(reply.hashes)
    try:
        verify_inclusion(leaf_hash(reply.leaf), entry.index, head.size, hashes, head.root)
    except ProofInvalid:
        raise CommandError(
            f"The log does not prove its entry {entry.index}.", reason="AUDIT_PROOF_INVALID"
        ) from None
    return reply.leaf


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
