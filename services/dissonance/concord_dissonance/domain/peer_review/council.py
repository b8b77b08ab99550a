"""Counts a verdict from several reviews; nothing here asks or believes a model (D9)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import combinations

from concord_dissonance.domain.errors import QuorumMissed
from concord_dissonance.domain.peer_review.review import (
    POINT,
    CriterionScore,
    FailedReviewer,
    PeerReview,
    Recommendation,
    Reviewer,
)

LEAST_QUORUM = 2
CONFLICT = 3 * POINT
"""From this difference on, two reviewers' scores of a criterion are a conflict."""


class Approval(Enum):
    """The outcome of the reviewers' recommendations."""

    APPROVED = "approved"
    CONDITIONAL = "conditional"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class ScoreConflict:
    """Two reviewers whose scores of a criterion differ by three points or more."""

    first: Reviewer
    first_score: CriterionScore
    second: Reviewer
    second_score: CriterionScore

    @property
    def difference(self) -> int:
        """In thousandths of a point."""
        return abs(self.first_score.score - self.second_score.score)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a council. Shares are in [0, 1], scores in points from 0 to 10."""

    approval: Approval
    consensus: float
    average: float
    approval_rate: float
    confidence: float
    conflicts: tuple[ScoreConflict, ...]
    recommendations: tuple[str, ...]


def conclude(
    reviews: Sequence[PeerReview],
    failed: Sequence[FailedReviewer],
    *,
    quorum: int,
    has_critical: bool,
) -> Verdict:
    """Return the verdict of the reviewers that were asked: `reviews`, and `failed` without one.

    `has_critical`: a critical contradiction of the answer is unresolved. Raises `QuorumMissed`
    for fewer reviews than the quorum, or than two.
    """
    expected = len(reviews) + len(failed)
    if len(reviews) < max(quorum, LEAST_QUORUM):
        raise QuorumMissed(expected, len(reviews), quorum)
    scores = [each.points for each in reviews]
    said = [each.recommendation for each in reviews]
    agreement = consensus(scores)
    return Verdict(
        approval=_approval(said, has_critical=has_critical),
        consensus=agreement,
        average=float(sum(scores) / len(scores)),
        approval_rate=said.count(Recommendation.APPROVE) / len(said),
        confidence=agreement * len(reviews) / expected,
        conflicts=tuple(_conflicts(reviews)),
        recommendations=_recommendations(reviews),
    )


def consensus(scores: Sequence[Fraction]) -> float:
    """Return 1 - 2 s / 10 with the population's standard deviation s, which is 5 at most."""
    mean = Fraction(sum(scores), len(scores))
    variance = Fraction(sum((score - mean) ** 2 for score in scores), len(scores))
    return 1 - math.sqrt(variance) / 5


def _approval(said: Sequence[Recommendation], *, has_critical: bool) -> Approval:
    if 2 * said.count(Recommendation.REJECT) > len(said):
        return Approval.REJECTED
    if 3 * said.count(Recommendation.APPROVE) >= 2 * len(said) and not has_critical:
        return Approval.APPROVED
    return Approval.CONDITIONAL


def _conflicts(reviews: Sequence[PeerReview]) -> list[ScoreConflict]:
    """Return the conflicts, the gravest first."""
    found = [
        ScoreConflict(one.reviewer, first, other.reviewer, second)
        for one, other in combinations(reviews, 2)
        for first, second in zip(one.scores, other.scores, strict=True)
        if abs(first.score - second.score) >= CONFLICT
    ]
    return sorted(found, key=lambda each: -each.difference)


def _recommendations(reviews: Sequence[PeerReview]) -> tuple[str, ...]:
    """Return the weaknesses that reviewers name, each once, those that most of them name first."""
    named: dict[str, list[str]] = {}
    for review in reviews:
        for weakness in dict.fromkeys(review.weaknesses):
            named.setdefault(" ".join(weakness.casefold().split()), []).append(weakness)
    return tuple(each[0] for each in sorted(named.values(), key=lambda each: -len(each)))
