"""Tools for consents, rejections and the log, served without the caller's signing key.

A call without an envelope answers with the bytes to sign; the same call with the signed envelope
sends it to governance. SIGNING.md describes the statements.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import rfc8785
from concord.governance.v1 import audit_pb2, principal_pb2, proposal_pb2
from concord.type.v1 import type_pb2
from concord_attestation.checkpoint import Checkpoint, read_checkpoint
from concord_attestation.note import NoteInvalid
from concord_attestation.tree import ProofInvalid, verify_consistency
from google.protobuf.message import Message

from concord_mcp.answer import shaped
from concord_mcp.arguments import refused
from concord_mcp.calls import Calls, Refusal
from concord_mcp.tool import ComposedTool, Json
from concord_mcp.tools.proposing import STANDS

PROPOSALS = "/concord.governance.v1.ProposalService/"
AUDIT = "/concord.governance.v1.AuditService/"
PRINCIPALS = "/concord.governance.v1.PrincipalService/GetPrincipals"
NONCE_BYTES = 32

ANSWER = {"proposal_id": "its id", "digest": "of what smf_review showed"}
SLOT = {"slot": "whose key signs: AGENT (default) or HUMAN"}
ENVELOPE = {"envelope": "DSSE, as JSON or base64; without it: the bytes to sign"}
TEXT = {"type": "string"}
SIGNED: Mapping[str, Json] = {
    **dict.fromkeys(("statement", "payload_type", "to_sign", *STANDS), TEXT),
    "number": {"type": "integer"},
    "consents": {"type": "array", "items": {"type": "object"}},
}


async def _approve(calls: Calls, given: Mapping[str, str]) -> dict[str, Json]:
    """Answer with a consent's bytes to sign, or send a signed consent to governance."""
    if "envelope" not in given:
        return await _unsigned(calls, given, "consent", _consent)
    request = proposal_pb2.ApproveProposalRequest(consent=_envelope(given["envelope"]))
    return await _decided(
        calls, given, "ApproveProposal", request, proposal_pb2.ApproveProposalResponse
    )


async def _reject(calls: Calls, given: Mapping[str, str]) -> dict[str, Json]:
    """Answer with a rejection's bytes to sign, or send a signed rejection to governance."""
    if "envelope" not in given:
        if "reason" not in given:
            raise refused("reason", "It is what the rejection states, and signed.")
        reason = given["reason"]
        return await _unsigned(
            calls, given, "rejection", lambda _document, _digest: {"version": 1, "reason": reason}
        )
    request = proposal_pb2.RejectProposalRequest(rejection=_envelope(given["envelope"]))
    return await _decided(
        calls, given, "RejectProposal", request, proposal_pb2.RejectProposalResponse
    )


async def _decided(
    calls: Calls, given: Mapping[str, str], method: str, request: Any, reply: type[Message]
) -> dict[str, Json]:
    """Send a signed decision to governance; return the proposal's state."""
    request.request_id, request.proposal_id = str(uuid.uuid4()), given["proposal_id"]
    return shaped(await calls.call(f"{PROPOSALS}{method}", request, reply), STANDS)


async def _unsigned(
    calls: Calls,
    given: Mapping[str, str],
    name: str,
    terms: Callable[[Mapping[str, Any], str], Mapping[str, Any]],
) -> dict[str, Json]:
    """The statement, and its pre-authentication encoding (DSSE) in base64, which is signed."""
    proposal = await _proposal(calls, given)
    document = json.loads(proposal.canonical)
    slot = given.get("slot", "AGENT").upper()
    statement = rfc8785.dumps(
        {
            "space": document["space"],
            "slot": slot,
            "principal": await _principal(calls, slot),
            "proposal_id": document["proposal_id"],
            "revision": document["revision"],
            "nonce": secrets.token_urlsafe(NONCE_BYTES),
            **terms(document, proposal.digest),
        }
    )
    kind = f"application/vnd.concord.{name}.v1+json"
    encoded = b"DSSEv1 %d %b %d %b" % (len(kind), kind.encode(), len(statement), statement)
    return {
        "statement": statement.decode(),
        "payload_type": kind,
        "to_sign": base64.b64encode(encoded).decode(),
    }


def _consent(document: Mapping[str, Any], digest: str) -> Mapping[str, Any]:
    etags = {item["id"]: item["etag"] for item in document["affected"]}
    return {
        "version": 3,
        "proposal_digest": digest,
        "action_digest": document["action_digest"],
        "etags_digest": hashlib.sha256(rfc8785.dumps(etags)).hexdigest(),
        "policy_digest": document["policy_digest"],
        "expire_time": document["expire_time"],
    }


async def _proposal(calls: Calls, given: Mapping[str, str]) -> proposal_pb2.Proposal:
    """The proposal. Raises `Refusal` if its digest is not the reviewed one."""
    found = await calls.call(
        f"{PROPOSALS}GetProposal",
        proposal_pb2.GetProposalRequest(id=given["proposal_id"]),
        proposal_pb2.GetProposalResponse,
    )
    if found.status != type_pb2.LOOKUP_STATUS_FOUND or not found.proposal.canonical:
        raise Refusal("ERROR_REASON_ITEM_NOT_FOUND", "There is no such proposal.")
    if given.get("digest", found.proposal.digest) != found.proposal.digest:
        raise Refusal(
            "ERROR_REASON_REVISION_STALE",
            "The proposal is not what was reviewed: look at it again with smf_review.",
        )
    return found.proposal


async def _principal(calls: Calls, slot: str) -> str:
    """The principal of a slot."""
    found = await _principals(calls)
    names = {
        type_pb2.Slot.Name(each.slot).removeprefix("SLOT_"): each.principal for each in found.slots
    }
    if not names:
        raise Refusal("ERROR_REASON_GENESIS_MISSING", "This space has no principals yet.")
    if slot not in names:
        raise refused("slot", f"It is one of {', '.join(names)}.")
    return names[slot]


async def _principals(calls: Calls) -> principal_pb2.GetPrincipalsResponse:
    return await calls.call(
        PRINCIPALS, principal_pb2.GetPrincipalsRequest(), principal_pb2.GetPrincipalsResponse
    )


async def _verify(calls: Calls, given: Mapping[str, str]) -> dict[str, Json]:
    """Check the log's signature, and that the log extends an earlier checkpoint."""
    principals = await _principals(calls)

    def read(note: str) -> Checkpoint:
        return read_checkpoint(note, principals.log_origin, principals.log_key)

    reply = await calls.call(
        f"{AUDIT}GetCheckpoint", audit_pb2.GetCheckpointRequest(), audit_pb2.GetCheckpointResponse
    )
    try:
        now = read(reply.checkpoint)
        if "checkpoint" in given:
            await _demand_consistent(calls, read(given["checkpoint"]), now)
    except (NoteInvalid, ProofInvalid):
        raise Refusal(
            "ERROR_REASON_PROOF_IMPOSSIBLE", "The log is not the one of that checkpoint."
        ) from None
    return {"verified": True, "size": now.size, "checkpoint": reply.checkpoint}


async def _demand_consistent(calls: Calls, before: Checkpoint, now: Checkpoint) -> None:
    proof = await calls.call(
        f"{AUDIT}GetConsistencyProof",
        audit_pb2.GetConsistencyProofRequest(old_size=before.size, new_size=now.size),
        audit_pb2.GetConsistencyProofResponse,
    )
    verify_consistency(before.size, before.root, now.size, now.root, list(proof.hashes))


def _envelope(text: str) -> bytes:
    """The bytes of a DSSE envelope, from its JSON or from base64 of that. Raises `Refusal`."""
    if text.lstrip().startswith("{"):
        return text.encode()
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise refused("envelope", "It is JSON, or that in base64.") from None


SMF_APPROVE = ComposedTool(
    "smf_approve",
    "Use when you agree to a proposal that you have reviewed: first for the bytes to sign, then "
    "with the signed envelope (`concord approve` makes one, too; SIGNING.md says how).",
    {**ANSWER, **SLOT, **ENVELOPE},
    _approve,
    optional=frozenset({"digest", "slot", "envelope"}),
    permission="decisions:write",
    answer=SIGNED,
)

SMF_REJECT = ComposedTool(
    "smf_reject",
    "Use when you do not agree to a proposal: first for the bytes to sign, then with the signed "
    "envelope. One rejection ends it.",
    {**ANSWER, **SLOT, "reason": "why; signed", **ENVELOPE},
    _reject,
    optional=frozenset({"digest", "slot", "reason", "envelope"}),
    permission="decisions:write",
    answer=SIGNED,
)

AUDIT_VERIFY = ComposedTool(
    "audit_verify",
    "Use when you want to know whether the log of all changes is signed, and goes on from the "
    "checkpoint that you kept.",
    {"checkpoint": "an earlier one"},
    _verify,
    reads=True,
    optional=frozenset({"checkpoint"}),
    permission="audit:read",
    answer={"verified": {"type": "boolean"}, "size": {"type": "integer"}, "checkpoint": TEXT},
)

TOOLS = (SMF_APPROVE, SMF_REJECT, AUDIT_VERIFY)
