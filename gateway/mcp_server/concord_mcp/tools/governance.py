"""Tools of the profile `governance`: proposals, undo, the audit log, and conflicts."""

from collections.abc import Mapping
from typing import Any

from concord.dissonance.v1 import dissonance_pb2
from concord.governance.v1 import audit_pb2, proposal_pb2

from concord_mcp.arguments import refused
from concord_mcp.tool import Argument, Json, Shape, Tool
from concord_mcp.tools.notes import after_space_check
from concord_mcp.tools.parts import CLAIMS, CONFLICT, GAVE_WAY, RECORD, RULES, limit, texts
from concord_mcp.tools.proposing import SMF_PROPOSE, STANDS

TWO_IDS = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}

_SIDE: Shape = {
    "id": "id",
    "says": "statement",
    "spans": ("spans", {"start": "start", "end": "end"}),
}
VERSION: Shape = {
    **CONFLICT,
    "first": ("first", _SIDE),
    "second": ("second", _SIDE),
    "number": "number",
    "etag": "etag",
}
REVIEWED: Shape = {
    "conflict": ("conflict", VERSION),
    "proposal_id": "proposal_id",
    "dependent_ids": "dependent_ids",
    "gave_way": GAVE_WAY,
    "claims": CLAIMS,
    "token": "token",
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
    (Argument("item_id", "item_id"), Argument("actor", "actor"), Argument("actions", "actions"),
     Argument("since", "since"), limit(most=200, default=20)),
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

DETECT_CONTRADICTIONS = Tool(
    "detect_contradictions",
    dissonance_pb2,
    "DissonanceService.DetectContradictions",
    "Use when you want the whole memory checked for contradictions, not what is about one thing. "
    "list_conflicts shows what it found.",
    (
        Argument("full", "full", hint="not just what changed since the last check"),
        Argument("dry_run", "dry_run", hint="record nothing"),
        RECORD,
    ),
    {
        "status": "summary.status",
        "findings": "summary.findings",
        "rules": ("summary.rules", RULES),
        "statements": "summary.coverage.statements",
        "judged": "summary.coverage.judged",
        "abstained": "summary.coverage.abstained",
        "skipped": "summary.coverage.skipped",
        "recorded": "summary.coverage.recorded",
        "unrecorded": "summary.coverage.unrecorded",
        "token": "summary.token",
    },
    notes=after_space_check,
    reads=False,
)

LIST_CONFLICTS = Tool(
    "list_conflicts",
    dissonance_pb2,
    "DissonanceService.ListConflicts",
    "Use when you want to see where the memory disagrees with itself.",
    (Argument("states", "states"), Argument("item_ids", "item_ids"), limit()),
    {
        "conflicts": (
            "conflicts",
            {**VERSION, "why": "rule", "run_id": "run_id", "group_id": "group_id"},
        )
    },
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
    REVIEWED,
    reads=False,
)


def _demand_one(given: Mapping[str, Json]) -> None:
    if sum(given.get(name) is not None for name in ("rule", "run_id", "group_id")) != 1:
        raise refused("rule", "State it, or a run_id, or a group_id.")


DISMISS_CONFLICTS = Tool(
    "dismiss_conflicts",
    dissonance_pb2,
    "DissonanceService.DismissConflicts",
    "Use when many findings are wrong: dismiss all of a rule, a run or a group that nobody has "
    "reviewed.",
    (
        Argument("rule", "rule", hint="as `why` of a conflict names it"),
        Argument("run_id", "run_id", hint="undoes that run"),
        Argument("group_id", "group_id"),
        Argument("context", "context"),
    ),
    {"dismissed": "dismissed_count", "left": "left_count", "token": "token"},
    reads=False,
    demand=_demand_one,
)


def _pair(request: Any, value: Json) -> None:
    first, second = texts(value)
    if first == second:
        raise refused("item_ids", "They are two items.")
    request.pair.first_id, request.pair.second_id = first, second


def _demand_conflict(given: Mapping[str, Json]) -> None:
    if (given.get("conflict_id") is None) == (given.get("item_ids") is None):
        raise refused("conflict_id", "State it, or the two item_ids that disagree.")


RESOLVE_DISSONANCE = Tool(
    "resolve_dissonance",
    dissonance_pb2,
    "DissonanceService.ResolveDissonance",
    "Use when you know how a conflict is settled. What defines the agent is proposed, not changed.",
    (
        Argument("conflict_id", "conflict_id"),
        Argument("item_ids", "pair", schema=TWO_IDS, put=_pair, hint="in place of a conflict_id"),
        Argument("resolution_type", "resolution_type", required=True),
        Argument("superseded_id", "superseded_id", hint="the side that gives way"),
        Argument("context", "context"),
    ),
    REVIEWED,
    reads=False,
    demand=_demand_conflict,
)

TOOLS = (
    SMF_PROPOSE,
    SMF_REVIEW,
    SMF_UNDO,
    GET_AUDIT_LOG,
    DETECT_CONTRADICTIONS,
    LIST_CONFLICTS,
    REVIEW_CONFLICT,
    DISMISS_CONFLICTS,
    RESOLVE_DISSONANCE,
)
