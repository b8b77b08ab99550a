"""A synthesis: theses, their resolved and open contradictions, and the confidence in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from concord_dissonance.domain.dialectic.contradictions import Ambiguity
from concord_dissonance.domain.dialectic.resolutions import Contradiction, Strategy
from concord_dissonance.domain.dialectic.theses import SetAside, Thesis


@dataclass(frozen=True, slots=True)
class Described:
    """A contradiction in words: its description, and its applied and possible resolutions."""

    contradiction: Contradiction
    description: str
    resolutions: Sequence[str]


@dataclass(frozen=True)
class Conclusions:
    """All theses, contradictions and ambiguities, by their places."""

    theses: Sequence[Thesis]
    set_aside: Sequence[SetAside] = ()
    contradictions: Sequence[Contradiction] = ()
    ambiguities: Sequence[Ambiguity] = ()
    sources: int = 0
    memories: int = 0
    pairs: int = 0
    """Pairs of theses that were judged."""

    @property
    def unresolved(self) -> list[int]:
        """The places of the contradictions that nothing resolves."""
        return [at for at, each in enumerate(self.contradictions) if each.strategy is None]

    @property
    def strategies(self) -> list[Strategy]:
        """The strategies that were used, each once, in their order.

        Two theses or more without a contradiction are united, as parts of one answer.
        """
        used = {each.strategy for each in self.contradictions}
        if self.is_united:
            used.add(Strategy.SYNTHESIS)
        return [each for each in Strategy if each in used]

    @property
    def is_united(self) -> bool:
        """Whether it unites theses that do not contradict each other."""
        return len(self.theses) > 1 and not self.contradictions

    @property
    def kept(self) -> list[int]:
        """The places of the theses that none of higher rank overrides."""
        gone = {each.subordinate for each in self.contradictions}
        return [at for at in range(len(self.theses)) if at not in gone]

    @property
    def share_resolved(self) -> float:
        """The share of the contradictions that are resolved; 1 without any."""
        count = len(self.contradictions)
        return 1 - len(self.unresolved) / count if count else 1.0

    @property
    def mean_confidence(self) -> float:
        """The mean confidence of the theses that are kept; 0 without any."""
        return fmean(self.theses[at].confidence for at in self.kept) if self.kept else 0.0

    @property
    def confidence(self) -> float:
        """`share_resolved` times `mean_confidence`, in [0, 1]."""
        return self.share_resolved * self.mean_confidence


@dataclass(frozen=True)
class Synthesis:
    """Conclusions in words, in a language."""

    conclusions: Conclusions
    described: Sequence[Described]
    ambiguities: Sequence[str]
    """Each ambiguity in words."""
    text: str
    reasoning: str
    summary: str
    language: str
