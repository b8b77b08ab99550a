"""Models that judge, review, revise and synthesize."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from concord_models.budget import Budget, Cost

from concord_dissonance.domain.dialectic.said import (
    ModelFailure,
    SaidContradiction,
    SaidSynthesis,
    SourceText,
    SynthesisTask,
)
from concord_dissonance.domain.dialectic.theses import Claim
from concord_dissonance.domain.peer_review.review import (
    FailedReviewer,
    PeerReview,
    Reviewer,
    ReviewTask,
)
from concord_dissonance.domain.sides import Side
from concord_dissonance.domain.verdicts import Abstention, Judge, Verdict

T = TypeVar("T")


class TextJudge(Protocol):
    """A model that judges pairs of texts. Swapping a pair swaps the verdict; it may abstain."""

    @property
    def kind(self) -> Judge:
        """Which judge it is."""
        ...

    def questions(self, first: Side, second: Side) -> Sequence[int]:
        """How many tokens each question about a pair takes at most; none for a local model."""
        ...

    async def judge(self, first: Side, second: Side, budget: Budget) -> Verdict | Abstention:
        """Judge two texts. Raises `JudgeUnavailable`, and `BudgetSpent` before it asks."""
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What became of asking a reviewer; `cost` is None where nobody counted it."""

    said: PeerReview | FailedReviewer
    cost: Cost | None
    is_cached: bool = False


@dataclass(frozen=True, slots=True)
class Revised:
    """A revised answer, or why there is none; `cost` is None where nobody counted it."""

    answer: str
    cost: Cost | None
    failure: str = ""
    """May be shown."""


class ModelReviewer(Protocol):
    """A model that reviews answers. It sees a task alone, and what it says is scores and words."""

    @property
    def reviewer(self) -> Reviewer:
        """Which model it is."""
        ...

    def cost(self, task: ReviewTask) -> Cost:
        """Estimate what a review costs at most; nothing for one that is kept."""
        ...

    async def review(self, task: ReviewTask) -> Reviewed:
        """Review an answer. A model that does not answer in time has failed."""
        ...


class ModelReviser(Protocol):
    """A model that revises answers."""

    def cost(self, task: ReviewTask, weaknesses: Sequence[str]) -> Cost:
        """Estimate what a revision costs at most."""
        ...

    async def revise(self, task: ReviewTask, weaknesses: Sequence[str]) -> Revised:
        """Revise the answer of a task by its weaknesses."""
        ...


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """What a model said, or why it gave nothing; its cost as estimated where nobody counted it."""

    said: T | ModelFailure
    cost: Cost
    is_cached: bool = False


class ModelSynthesizer(Protocol):
    """A model that extracts theses, finds contradictions and words a synthesis.

    What it says of the indices of its task, and of enums, is checked; that the sources bear it out
    is not.
    """

    @property
    def name(self) -> str:
        """Its name in the settings."""
        ...

    def cost(self, task: SynthesisTask, texts: Sequence[SourceText]) -> Cost:
        """Estimate what all steps cost, the later ones by the theses and contradictions of rules;
        nothing for what is known."""
        ...

    async def theses(self, task: SynthesisTask, text: SourceText) -> Asked[Sequence[Claim]]:
        """What a source's text claims: at most three, with quotes as evidence."""
        ...

    async def contradictions(self, task: SynthesisTask) -> Asked[Sequence[SaidContradiction]]:
        """Which theses contradict each other, each pair once."""
        ...

    async def synthesis(self, task: SynthesisTask) -> Asked[SaidSynthesis]:
        """A text, and how each contradiction is resolved."""
        ...


class Council(Protocol):
    """The models that are set up to review and to write syntheses."""

    @property
    def reviewers(self) -> Sequence[ModelReviewer]:
        """All of them, different models."""
        ...

    @property
    def reviser(self) -> ModelReviser | None:
        """None when none is set up."""
        ...

    @property
    def synthesizer(self) -> ModelSynthesizer | None:
        """None when none is set up."""
        ...

    @property
    def quorum(self) -> int:
        """How many reviews a verdict needs unless the request says."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...
