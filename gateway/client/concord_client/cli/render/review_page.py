"""Renders the review of an answer."""

from concord.dissonance.v1 import review_pb2
from rich.console import RenderableType

from concord_client.cli.render.page import fields, lines, plural, table, text, word

_STYLES = {
    review_pb2.APPROVAL_STATUS_APPROVED: "bold green",
    review_pb2.APPROVAL_STATUS_CONDITIONAL: "bold yellow",
    review_pb2.APPROVAL_STATUS_REJECTED: "bold red",
}


def reviewer_line(said: review_pb2.PeerReview) -> RenderableType:
    """A reviewer's scores and recommendation in a line."""
    kept = ", as before" if said.is_cached else ""
    return text(
        f"{_name(said.reviewer)}: {said.weighted_score:.1f} of 10, {_would(said)}{kept}", "dim"
    )


def failed_line(failed: review_pb2.FailedReviewer) -> RenderableType:
    """A failed reviewer and its failure in a line."""
    why = word(review_pb2.ReviewerFailure, failed.failure)
    return text(f"{_name(failed.reviewer)}: no review, {why}: {failed.detail}", "red")


def reviewed(found: review_pb2.AnswerReview) -> list[RenderableType]:
    """The verdict, its warnings, and each reviewer's review."""
    last = found.verdict
    parts: list[RenderableType] = [text(found.summary, _STYLES.get(last.status, ""))]
    parts += [text(each, "bold red") for each in found.warnings]
    parts += ["", _scores(last)]
    parts += [failed_line(each) for each in last.failed]
    for each in last.conflicts:
        parts += ["", *_conflict(each)]
    for review in last.reviews:
        parts += ["", *_review(review)]
    if last.recommendations:
        parts += [
            "",
            text("To mend", "bold"),
            *(text(f"- {each}") for each in last.recommendations),
        ]
    if found.earlier_rounds:
        rounds = plural(len(found.earlier_rounds), "revision")
        parts += ["", text(f"The answer after {rounds}", "bold"), text(last.answer)]
    cost = found.cost
    said = (
        f"{plural(cost.calls, 'call')}, {plural(cost.tokens, 'token')}, "
        f"{cost.micros / 1e6:.2f} of money"
    )
    return [*parts, "", text(said, "dim")]


def _scores(last: review_pb2.ReviewRound) -> RenderableType:
    made = table("Criterion", *(f"#{each.reviewer.name}" for each in last.reviews))
    for scores in zip(*(each.scores for each in last.reviews), strict=True):
        made.add_row(text(scores[0].criterion), *(f"{each.score:.1f}" for each in scores))
    made.add_row("weighted", *(f"{each.weighted_score:.2f}" for each in last.reviews))
    made.add_row("recommends", *(_would(each) for each in last.reviews))
    return made


def _review(said: review_pb2.PeerReview) -> list[RenderableType]:
    role = word(review_pb2.ReviewerRole, said.reviewer.role)
    own_count = f"{said.overall_score:.1f} of 10 by its own count, which is not used"
    pairs = [
        ("model", f"{said.reviewer.model} of {said.reviewer.vendor}, {role}"),
        ("score", f"{said.weighted_score:.2f} of 10 by its criteria; {own_count}"),
        ("comments", said.comments),
        ("strengths", "\n".join(said.strengths)),
        ("weaknesses", "\n".join(said.weaknesses)),
    ]
    pairs += [(each.criterion, each.comment) for each in said.scores if each.comment]
    return [text(said.reviewer.name, "bold"), fields(pairs)]


def _conflict(found: review_pb2.ScoreConflict) -> list[RenderableType]:
    head = f"Conflict on {found.criterion}: {found.difference:.1f} points apart"
    sides = (
        (found.reviewer_a, found.score_a, found.comment_a),
        (found.reviewer_b, found.score_b, found.comment_b),
    )
    return [
        text(head, "bold"),
        lines(*(text(f"  {name} {score:.1f}: {comment}") for name, score, comment in sides)),
    ]


def _would(said: review_pb2.PeerReview) -> str:
    return word(review_pb2.Recommendation, said.recommendation)


def _name(reviewer: review_pb2.Reviewer) -> str:
    return f"{reviewer.name} ({reviewer.model})"
