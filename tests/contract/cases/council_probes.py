"""What holds a council of models, and a synthesis, to what was really said (D8, D9).

Each probe returns whether the harm was done.
"""

from dataclasses import dataclass

from concord.dissonance.v1.review_pb2 import ReviewAnswerRequest
from concord_dissonance.domain.dialectic.extraction import extend, extract
from concord_dissonance.domain.dialectic.theses import Claim, Source
from concord_dissonance.domain.errors import QuorumMissed, ReviewersMissing, SynthesizerMissing
from concord_dissonance.domain.peer_review.council import conclude
from concord_dissonance.domain.peer_review.criteria import criteria_set
from concord_dissonance.domain.peer_review.review import (
    CriterionScore,
    FailedReviewer,
    FailureKind,
    PeerReview,
    Recommendation,
    Reviewer,
    Role,
)
from concord_dissonance.domain.sides import Micros
from concord_dissonance.usecases.dialectic.by_model import SynthesizeByModel
from concord_dissonance.usecases.dialectic.review_answer import ReviewAnswer
from concord_models.budget import Budget, Cost
from concord_testing.daily_cost import Day


def _reviewer(name: str) -> Reviewer:
    return Reviewer(name, name, name, Role.BALANCED)


async def one_of_three_answers() -> bool:
    """Have a council conclude of which two failed, by a quorum of one."""
    scores = tuple(CriterionScore(each, 9_000, "") for each in criteria_set("general", "en"))
    said = PeerReview(_reviewer("a"), scores, (), (), "", Recommendation.APPROVE, 0, Micros(0))
    gone = [FailedReviewer(_reviewer(each), FailureKind.TIMEOUT, "") for each in "bc"]
    try:
        conclude([said], gone, quorum=1, has_critical=False)
    except QuorumMissed:
        return False
    return True


async def a_statute_is_made_up() -> bool:
    """Let a model state a legal basis that stands in no word of the source."""
    source = Source("A", text="A permit is needed.")
    said = Claim(source.text, (source.text,), legal_basis=("§ 99 BauGB",))
    (thesis,) = extend(source, extract(source), [], [said]).theses
    return bool(thesis.legal_basis)


@dataclass
class _Council:
    """Three names; nobody is asked."""

    quorum: int = 2
    reviser: None = None
    synthesizer: None = None

    @property
    def reviewers(self) -> list["_Asked"]:
        return [_Asked(each) for each in "abc"]


@dataclass
class _Asked:
    name: str

    @property
    def reviewer(self) -> Reviewer:
        return _reviewer(self.name)


def _budget(_space: str) -> Budget:
    return Budget(Cost(9, 9_999, 9_999), Cost(9, 9_999, 9_999), Day(), micros_per_1000_tokens=1)


async def another_space_is_reviewed() -> bool:
    """Ask for a review in a space that the operator did not name."""
    asking = ReviewAnswer(_Council(), _budget, frozenset({"named"}))  # type: ignore[arg-type] # never asked
    try:
        asking.prepare("other", ReviewAnswerRequest())
    except ReviewersMissing:
        return False
    return True


async def another_space_is_written_about() -> bool:
    """Ask a model for a synthesis in a space that the operator did not name."""
    asking = SynthesizeByModel(_Asked("a"), _budget, frozenset({"named"}))  # type: ignore[arg-type] # never asked
    try:
        asking.prepare("other")
    except SynthesizerMissing:
        return False
    return True
