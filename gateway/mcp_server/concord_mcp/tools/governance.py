"""Tools of the profile `governance`: proposals, undo, the audit log, and conflicts."""

import secrets
from typing import Any

from concord.dissonance.v1 import dissonance_pb2
from concord.governance.v1 import audit_pb2, proposal_pb2
from concord.graph.v1 import governed_pb2
from google.protobuf import json_format

from concord_mcp.tool import Argument, Json, Shape, Tool
from concord_mcp.tools.parts import GAVE_WAY, limit

ACTIONS = ", ".join(field.name for field in governed_pb2.GovernedAction.DESCRIPTOR.fields)

STANDS: Shape = {
    "id": "proposal.id",
    "number": "proposal.number",
    "status": "proposal.status",
    "kind": "proposal.kind",
    "level": "proposal.approval_level",
    "digest": "proposal.digest",
    "says": "proposal.framing.neutral_summary",
    "expires": "proposal.expire_time",
    "failure_reason": "proposal.failure_reason",
    "failed_check": "proposal.failed_check",
    "failed_slot": "proposal.failed_slot",
    "consents": (
        "proposal.consents",
        {"slot": "slot", "principal": "principal", "revoked": "revoked"},
    ),
}

CONFLICT: Shape = {
    "id": "id",
    "class": "conflict_class",
    "state": "state",
    "first": ("first", {"id": "id", "says": "statement"}),
    "second": ("second", {"id": "id", "says": "statement"}),
    "etag": "etag",
}


def _action(request: Any, value: Json) -> None:
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError
    json_format.ParseDict(value, request.action)
    write = getattr(request.action, request.action.WhichOneof("action"))
    write.request_id = secrets.token_urlsafe(24)


SMF_PROPOSE = Tool(
    "smf_propose",
    proposal_pb2,
    "ProposalService.CreateProposal",
    "Use when what defines the agent should change: it stays as it is until each principal "
    "has signed.",
    (
        Argument(
            "action",
            "action",
            required=True,
            schema={"type": "object"},
            put=_action,
            hint=f"one write as JSON, under one of {ACTIONS}",
        ),
        Argument("note", "note", hint="yours, shown in quotes"),
    ),
    STANDS,
    reads=False,
)

SMF_REVIEW = Tool(
    "smf_review",
    proposal_pb2,
    "ProposalService.GetProposal",
    "Use before you approve or reject a proposal: what it would change, and its digest.",
    (Argument("proposal_id", "id", required=True),),
    {
        "lookup": "status",
        **STANDS,
        "action": "proposal.action",
        "if_approved": "proposal.framing.if_approved",
        "if_rejected": "proposal.framing.if_rejected",
        "note": "proposal.note",
    },
)

SMF_UNDO = Tool(
    "smf_undo",
    proposal_pb2,
    "ProposalService.UndoModification",
    "Use when an executed proposal should be undone: proposes it, whoever agreed must agree again.",
    (Argument("proposal_id", "proposal_id", required=True),),
    STANDS,
    reads=False,
)

GET_AUDIT_LOG = Tool(
    "get_audit_log",
    audit_pb2,
    "AuditService.ListAuditEntries",
    "Use when you want to know who decided, tried or changed what, and when.",
    (Argument("item_id", "item_id"), Argument("actions", "actions"), Argument("since", "since"),
     limit(most=200, default=20)),
    {
        "entries": (
            "entries",
            {
                "index": "index",
                "time": "time",
                "action": "action",
                "actor": "actor",
                "principal": "principal",
                "item_id": "item_id",
                "proposal_id": "proposal_id",
                "blocked": "blocked",
                "reason": "reason",
            },
        )
    },
    lists="entries",
)  # fmt: skip

LIST_CONFLICTS = Tool(
    "list_conflicts",
    dissonance_pb2,
    "DissonanceService.ListConflicts",
    "Use when you want to see where the memory disagrees with itself.",
    (Argument("states", "states"), Argument("item_ids", "item_ids"), limit()),
    {"conflicts": ("conflicts", CONFLICT)},
    lists="conflicts",
)

REVIEW_CONFLICT = Tool(
    "review_conflict",
    dissonance_pb2,
    "DissonanceService.ReviewConflict",
    "Use when you have judged a finding: confirm it, dismiss it, or except it with its context.",
    (
        Argument("conflict_id", "conflict_id", required=True),
        Argument("action", "action", required=True),
        Argument("context", "context"),
    ),
    {
        "conflict": ("conflict", CONFLICT),
        "proposal_id": "proposal_id",
        "dependent_ids": "dependent_ids",
        "gave_way": GAVE_WAY,
        "token": "token",
    },
    reads=False,
)

RESOLVE_DISSONANCE = Tool(
    "resolve_dissonance",
    dissonance_pb2,
    "DissonanceService.ResolveDissonance",
    "Use when you know how a conflict is settled. What defines the agent is proposed, not changed.",
    (
        Argument("conflict_id", "conflict_id", required=True),
        Argument("resolution_type", "resolution_type", required=True),
        Argument("superseded_id", "superseded_id", hint="the side that gives way"),
        Argument("context", "context"),
    ),
    {
        "conflict": ("conflict", CONFLICT),
        "proposal_id": "proposal_id",
        "dependent_ids": "dependent_ids",
        "gave_way": GAVE_WAY,
        "token": "token",
    },
    reads=False,
)

TOOLS = (
    SMF_PROPOSE,
    SMF_REVIEW,
    SMF_UNDO,
    GET_AUDIT_LOG,
    LIST_CONFLICTS,
    REVIEW_CONFLICT,
    RESOLVE_DISSONANCE,
)
