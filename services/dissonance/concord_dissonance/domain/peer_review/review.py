"""One reviewer's review of an answer, or the reason why there is none (D9)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from concord_dissonance.domain.peer_review.criteria import Criterion
from concord_dissonance.domain.sides import Micros

POINT = 1_000
"""Scores are whole numbers of thousandths of a point, from 0 to 10 points."""
LEAST_TO_APPROVE = 5
"""Points under which an approval contradicts its own scores."""
LEAST_AGAINST_REJECTION = 7
"""Points from which a rejection contradicts its own scores."""


class Recommendation(Enum):
    """A reviewer's recommendation about the answer."""

    APPROVE = "approve"
    REVISE = "revise"
    REJECT = "reject"


class Role(Enum):
    """The attitude with which a reviewer reads."""

    GENERALIST = "generalist"
    BALANCED = "balanced"
    CONSERVATIVE = "conservative"


@dataclass(frozen=True, slots=True)
class Reviewer:
    """A model that reviews: its name in the settings, the endpoint's name of it, and its role."""

    name: str
    model: str
    vendor: str
    role: Role


@dataclass(frozen=True, slots=True)
class ReviewTask:
    """The input of a review. Every text is data."""

    question: str
    answer: str
    sources: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    language: str
    """ "en" or "de"."""


@dataclass(frozen=True, slots=True)
class CriterionScore:
    """A score in thousandths of a point, and why."""

    criterion: Criterion
    score: int
    comment: str


@dataclass(frozen=True, slots=True)
class PeerReview:
    """One reviewer's review."""

    reviewer: Reviewer
    scores: tuple[CriterionScore, ...]
    """One for each criterion, in their order."""
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    comments: str
    recommendation: Recommendation
    told_score: int
    """The reviewer's own score of the whole, in thousandths: shown, but never computed with."""
    time: Micros

    @property
    def points(self) -> Fraction:
        """The weighted mean of its criterion scores in points, from 0 to 10, exactly."""
        total = sum(each.score * each.criterion.weight for each in self.scores)
        return Fraction(total, POINT * sum(each.criterion.weight for each in self.scores))

    @property
    def contradicts_itself(self) -> bool:
        """Whether it approves of less than 5 points, or rejects 7 and more."""
        if self.recommendation is Recommendation.APPROVE:
            return self.points < LEAST_TO_APPROVE
        rejects = self.recommendation is Recommendation.REJECT
        return rejects and self.points >= LEAST_AGAINST_REJECTION


class FailureKind(Enum):
    """Why a reviewer that was asked gave no review."""

    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    MALFORMED = "malformed"
    CUT_OFF = "cut_off"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class FailedReviewer:
    """A reviewer that gave no review; `detail` may be shown."""

    reviewer: Reviewer
    kind: FailureKind
    detail: str
