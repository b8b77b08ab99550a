"""Arguments and results of syntheses and reviews, as plain data; enum values by contract name."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

CriteriaSet: TypeAlias = Literal["GENERAL", "LEGAL", "TECHNICAL"]
Language: TypeAlias = Literal["", "de", "en"]


@dataclass(frozen=True, slots=True)
class ThesisInput:
    """A claim with its support. `confidence` and `authority` are in [0, 1]."""

    claim: str
    evidence: Sequence[str] = ()
    confidence: float | None = None
    legal_basis: Sequence[str] = ()
    context: str = ""
    region: str = ""
    valid_from: datetime | None = None
    authority: float | None = None


@dataclass(frozen=True, slots=True)
class AgentResult:
    """One agent's result: a text of up to 20,000 characters, or up to 20 theses, or both."""

    agent: str
    text: str = ""
    theses: Sequence[ThesisInput] = ()
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Thesis:
    """A thesis in its source's own words. `is_kept` is False if another one replaces it."""

    index: int
    agent_source: str
    memory_id: str
    claim: str
    evidence: tuple[str, ...]
    confidence: float
    legal_basis: tuple[str, ...]
    context: str
    region: str
    valid_from: datetime | None
    authority: float | None
    is_kept: bool


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two theses, by their index, that cannot both hold as they stand.

    `strategy`: the rule that resolves it, "" if none does; `prevailing`: the index of the thesis
    that holds, None if both do.
    """

    thesis_a: int
    thesis_b: int
    type: str
    severity: str
    description: str
    strategy: str
    potential_resolutions: tuple[str, ...]
    confidence: float
    prevailing: int | None


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """Two theses, by their index, that may or may not hold together."""

    thesis_a: int
    thesis_b: int
    description: str


@dataclass(frozen=True, slots=True)
class SetAside:
    """A sentence of a source that is no thesis, and why."""

    agent_source: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class CriterionScore:
    """A reviewer's score of one criterion, from 0 to 10."""

    criterion: str
    score: float
    comment: str


@dataclass(frozen=True, slots=True)
class PeerReview:
    """One reviewer's review: a model's words, which are data and never instructions."""

    reviewer: str
    model: str
    round: int
    scores: tuple[CriterionScore, ...]
    weighted_score: float
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    recommendation: str
    comments: str


@dataclass(frozen=True, slots=True)
class FailedReviewer:
    """A reviewer that was asked but gave no review."""

    reviewer: str
    round: int
    failure: str
    detail: str


@dataclass(frozen=True, slots=True)
class ScoreConflict:
    """Two reviewers whose scores of a criterion are 3 or more apart."""

    criterion: str
    reviewer_a: str
    score_a: float
    reviewer_b: str
    score_b: float


@dataclass(frozen=True, slots=True)
class ReviewRound:
    """One round: an answer, the reviews of it, and their combined scores and recommendations.

    `consensus_score`, `approval_rate` and `confidence` are in [0, 1], `average_score` in [0, 10].
    """

    answer: str
    status: str
    consensus_score: float
    average_score: float
    approval_rate: float
    confidence: float
    expected_count: int
    reviews: tuple[PeerReview, ...]
    failed: tuple[FailedReviewer, ...]
    conflicts: tuple[ScoreConflict, ...]
    recommendations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerReview:
    """A reviewed answer. The last round counts; each earlier one was followed by a revision."""

    verdict: ReviewRound
    earlier_rounds: tuple[ReviewRound, ...]
    summary: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Synthesis:
    """A synthesis of agents' and memories' claims: theses, resolutions and open contradictions.

    `is_by_model`: a model wrote it; `degraded`: why the model failed, after which rules went on.
    `memory_id`, `amended_ids` and `conflict_ids`: the items that were written to keep it.
    """

    run_id: str
    text: str
    summary: str
    theses: tuple[Thesis, ...]
    contradictions: tuple[Contradiction, ...]
    ambiguities: tuple[Ambiguity, ...]
    set_aside: tuple[SetAside, ...]
    is_complete: bool
    confidence: float
    reasoning: str
    language: str
    is_by_model: bool
    degraded: str
    memory_id: str
    amended_ids: tuple[str, ...]
    conflict_ids: tuple[str, ...]
    review: AnswerReview | None


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a run; `percent`: its progress in [0, 100], which never falls.

    At most one of the last four fields is set. The end of a run is no event, but its result.
    """

    number: int
    run_id: str
    stage: str
    percent: float
    theses: tuple[Thesis, ...] = ()
    contradiction: Contradiction | None = None
    review: PeerReview | None = None
    failed_reviewer: FailedReviewer | None = None
