"""Models that judge, name facts, review, revise and synthesize."""

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
from concord_dissonance.domain.dialectic.theses import Claim as ThesisClaim
from concord_dissonance.domain.extraction.by_model import Claim
from concord_dissonance.domain.extraction.candidate import Said
from concord_dissonance.domain.peer_review.review import PeerReview, Reviewer, ReviewTask
from concord_dissonance.domain.sides import Side
from concord_dissonance.domain.verdicts import Abstention, Judge, Verdict

T = TypeVar("T")


class TextJudge(Protocol):
    """A model that judges pairs of texts. Swapping a pair swaps the verdict; it may abstain."""

    @property
    def kind(self) -> Judge:
        """The kind of the judge."""
        ...

    def questions(self, first: Side, second: Side) -> Sequence[int]:
        """The most tokens of each question about a pair; a local model has no questions."""
        ...

    async def judge(self, first: Side, second: Side, budget: Budget) -> Verdict | Abstention:
        """Judge two texts. Raises `JudgeUnavailable`, and `BudgetSpent` before it asks."""
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


class FactModel(Protocol):
    """A model that names the facts of a text. Nothing that it names is known to stand there."""

    async def claims(self, said: Said, budget: Budget) -> Sequence[Claim]:
        """Name facts. Raises `JudgeUnavailable`, and `BudgetSpent` before it asks."""
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """A model's answer or failure. `cost`: an estimate if nobody counted it."""

    said: T | ModelFailure
    cost: Cost
    is_cached: bool = False


class ModelReviewer(Protocol):
    """A model that reviews answers. It sees the task alone, and returns only scores and words."""

    @property
    def reviewer(self) -> Reviewer:
        """The model as a reviewer."""
        ...

    def cost(self, task: ReviewTask) -> Cost:
        """Estimate the most that a review costs; a cached one costs nothing."""
        ...

    async def review(self, task: ReviewTask) -> Asked[PeerReview]:
        """Review an answer. A model that does not answer in time has failed."""
        ...


class ModelReviser(Protocol):
    """A model that revises answers."""

    def cost(self, task: ReviewTask, weaknesses: Sequence[str]) -> Cost:
        """Estimate the most that a revision costs."""
        ...

    async def revise(self, task: ReviewTask, weaknesses: Sequence[str]) -> Asked[str]:
        """Revise the answer of a task by its weaknesses; returns the new answer."""
        ...


class ModelSynthesizer(Protocol):
    """A model that extracts theses, finds contradictions and words a synthesis.

    The indices and enums of its answers are checked against its task; whether the sources support
    an answer is not.
    """

    @property
    def name(self) -> str:
        """Its name in the settings."""
        ...

    def cost(self, task: SynthesisTask, texts: Sequence[SourceText]) -> Cost:
        """Estimate the cost of all steps, of later ones from the theses and contradictions by rule;
        cached answers cost nothing."""
        ...

    async def theses(self, task: SynthesisTask, text: SourceText) -> Asked[Sequence[ThesisClaim]]:
        """The claims of a source's text: at most three, with quotes as evidence."""
        ...

    async def contradictions(self, task: SynthesisTask) -> Asked[Sequence[SaidContradiction]]:
        """The contradictions between theses, each pair once."""
        ...

    async def synthesis(self, task: SynthesisTask) -> Asked[SaidSynthesis]:
        """A synthesis, with a resolution of each contradiction."""
        ...


class Council(Protocol):
    """The models that are set up to review and to write syntheses."""

    @property
    def reviewers(self) -> Sequence[ModelReviewer]:
        """All of them, different models."""
        ...

    @property
    def reviser(self) -> ModelReviser | None:
        """The model that revises answers; None: none is set up."""
        ...

    @property
    def synthesizer(self) -> ModelSynthesizer | None:
        """The model that synthesizes; None: none is set up."""
        ...

    @property
    def quorum(self) -> int:
        """The number of reviews that a verdict needs unless the request states another."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...
