"""Tools of the profile `dialectic`: syntheses of opposing theses, and reviews of answers."""

from typing import Any

from concord.dissonance.v1 import dialectic_pb2

from concord_mcp.calls import Refusal
from concord_mcp.tool import Argument, Tool

THESIS = {
    "index": "index",
    "agent": "agent_source",
    "memory_id": "memory_id",
    "claim": "claim",
    "confidence": "confidence",
    "legal_basis": "legal_basis",
}
CONTRADICTION = {
    "thesis_a": "thesis_a",
    "thesis_b": "thesis_b",
    "type": "type",
    "severity": "severity",
    "description": "description",
    "strategy": "strategy",
    "resolutions": "potential_resolutions",
}
_SYNTHESIS = "event.done.synthesis"


def refused(reply: Any) -> Refusal | None:
    """The refusal of a failed run; None for a run that did not fail."""
    if not reply.event.HasField("failed"):
        return None
    return Refusal(reply.event.failed.reason, reply.event.failed.message)


SYNTHESIZE = Tool(
    "synthesize",
    dialectic_pb2,
    "DialecticService.Synthesize",
    "Use when agents or memories say different things: what stands, what is resolved and how, what "
    "stays open.",
    (
        Argument("question", "question"),
        Argument("results", "results", hint="what agents found: agent, and text or theses"),
        Argument("memory_ids", "memory_ids"),
        Argument("query", "query", hint="takes the memories that it finds"),
        Argument("keep", "keep.memory", hint="add the synthesis as a memory"),
        Argument("record_conflicts", "keep.conflicts"),
        Argument(
            "method", "method", hint="MODEL has a model read and word it, where one is set up"
        ),
    ),
    {
        "text": f"{_SYNTHESIS}.text",
        "summary": f"{_SYNTHESIS}.summary",
        "method": f"{_SYNTHESIS}.method",
        "degraded": (
            f"{_SYNTHESIS}.degraded",
            {"stage": "stage", "failure": "failure", "detail": "detail"},
        ),
        "is_complete": f"{_SYNTHESIS}.is_complete",
        "confidence": f"{_SYNTHESIS}.confidence",
        "contradictions": (f"{_SYNTHESIS}.contradictions", CONTRADICTION),
        "theses": (f"{_SYNTHESIS}.theses", THESIS),
        "memory_id": f"{_SYNTHESIS}.kept.memory_id",
        "conflict_ids": f"{_SYNTHESIS}.kept.conflict_ids",
        "token": f"{_SYNTHESIS}.kept.token",
    },
    lists="theses",
    refused=refused,
    reads=False,
)

_REVIEW = "event.done.review"
_VERDICT = f"{_REVIEW}.verdict"

REVIEW_ANSWER = Tool(
    "review_answer",
    dialectic_pb2,
    "DialecticService.ReviewAnswer",
    "Use before you give an answer that much depends on: several other models score it, and their "
    "agreement is counted.",
    (
        Argument("question", "question", required=True),
        Argument("answer", "answer", required=True),
        Argument("sources", "sources", hint="texts that the answer rests on"),
        Argument("criteria_set", "criteria_set"),
        Argument("max_revisions", "max_revisions", hint="has weaknesses mended, 0 to 2 times"),
    ),
    {
        "status": f"{_VERDICT}.status",
        "summary": f"{_REVIEW}.summary",
        "warnings": f"{_REVIEW}.warnings",
        "consensus": f"{_VERDICT}.consensus_score",
        "average": f"{_VERDICT}.average_score",
        "confidence": f"{_VERDICT}.confidence",
        "recommendations": f"{_VERDICT}.recommendations",
        "answer": f"{_VERDICT}.answer",
        "conflicts": (
            f"{_VERDICT}.conflicts",
            {
                "criterion": "criterion",
                "reviewer_a": "reviewer_a",
                "score_a": "score_a",
                "reviewer_b": "reviewer_b",
                "score_b": "score_b",
            },
        ),
        "failed": (
            f"{_VERDICT}.failed",
            {"reviewer": "reviewer.name", "failure": "failure", "detail": "detail"},
        ),
        "reviews": (
            f"{_VERDICT}.reviews",
            {
                "reviewer": "reviewer.name",
                "model": "reviewer.model",
                "score": "weighted_score",
                "recommendation": "recommendation",
                "weaknesses": "weaknesses",
            },
        ),
    },
    lists="reviews",
    refused=refused,
    reads=False,
)

TOOLS = (SYNTHESIZE, REVIEW_ANSWER)
