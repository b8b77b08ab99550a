"""Finds which theses contradict each other, and which are merely open to interpretation.

Claims are judged without their times, sources and scopes, as dissonance's judges compare texts:
first as they stand, then without the regions, times and statutes that they name, then without the
circumstances. What was left out decides how a contradiction is resolved, not whether it is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from concord_dissonance.domain.dialectic.legal import rank, without_references
from concord_dissonance.domain.dialectic.phrases import Phrases
from concord_dissonance.domain.dialectic.theses import Thesis
from concord_dissonance.domain.judging import judge
from concord_dissonance.domain.sides import Kind, Micros, Rules, Side
from concord_dissonance.domain.verdicts import Abstained, Abstention, ConflictClass, Reason, Verdict


@dataclass(frozen=True)
class Scoped:
    """A thesis with where, when and how it claims to hold: as stated, else as its words say."""

    thesis: Thesis
    phrases: Phrases

    @cached_property
    def regions(self) -> frozenset[str]:
        """The regions, folded."""
        stated = self.thesis.region.casefold()
        return frozenset({stated}) if stated else self.phrases.regions(self.thesis.claim)

    @cached_property
    def time(self) -> Micros | None:
        """From when."""
        stated = self.thesis.valid_from
        return self.phrases.time(self.thesis.claim) if stated is None else stated

    @cached_property
    def circumstances(self) -> frozenset[str]:
        """Under which circumstances."""
        stated = self.thesis.context.casefold().strip()
        return frozenset({stated}) if stated else self.phrases.circumstances(self._core)

    @cached_property
    def perspective(self) -> str:
        """From which point of view it speaks; empty when it does not say."""
        return self.phrases.perspective(f"{self.thesis.claim} {self.thesis.context}")

    @cached_property
    def rank(self) -> int | None:
        """The highest legal rank that it rests on."""
        return rank(self.thesis.legal_basis)

    @cached_property
    def is_partial(self) -> bool:
        """Whether it speaks of some cases alone."""
        return self.phrases.is_partial(self.thesis.claim)

    @cached_property
    def views(self) -> Sequence[Side]:
        """The claim as it stands, without scope, and without circumstances."""
        texts = (self.thesis.claim, self._core, self.phrases.without_circumstances(self._core))
        return [Side("", 0, Kind.FACT, text.strip(" ,")) for text in texts]

    @cached_property
    def _core(self) -> str:
        text = without_references(self.thesis.claim)
        return self.phrases.without_regions(self.phrases.without_times(text))


@dataclass(frozen=True, slots=True)
class Clash:
    """That two theses, by their places, cannot both hold as they stand; `first` < `second`."""

    first: int
    second: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """That two theses, by their places, say something else of one thing, which may both hold."""

    first: int
    second: int


def compare_all(theses: Sequence[Scoped], rules: Rules) -> Iterator[Clash | Ambiguity]:
    """Yield what is found among all pairs of theses, in their order."""
    for (one, first), (other, second) in combinations(enumerate(theses), 2):
        said = compare(first, second, rules)
        if isinstance(said, Verdict):
            yield Clash(one, other, said)
        elif said:
            yield Ambiguity(one, other)


def compare(one: Scoped, other: Scoped, rules: Rules) -> Verdict | bool:
    """Return the verdict by which two theses contradict each other, else whether they may.

    Two points of view are no contradiction.
    """
    if one.perspective != other.perspective and one.perspective and other.perspective:
        return False
    may = False
    for first, second in zip(one.views, other.views, strict=True):
        if not (first.text and second.text):
            continue
        said = judge(first, second, rules)
        if isinstance(said, Abstention):
            may = may or said.reason is Abstained.UNKNOWN_FILLERS
        elif said.conflict is not ConflictClass.NONE:
            return said
        elif said.reason is Reason.SAME_STATEMENT:
            return False
    return may
