"""Tools of the profile `governance`: proposals, undo, the audit log, and conflicts."""

from concord.dissonance.v1 import dissonance_pb2
from concord.governance.v1 import audit_pb2, proposal_pb2

from concord_mcp.tool import Argument, Shape, Tool
from concord_mcp.tools.parts import GAVE_WAY, limit
from concord_mcp.tools.proposing import SMF_PROPOSE, STANDS

CONFLICT: Shape = {
    "id": "id",
    "class": "conflict_class",
    "state": "state",
    "first": ("first", {"id": "id", "says": "statement"}),
    "second": ("second", {"id": "id", "says": "statement"}),
    "etag": "etag",
}


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
