"""Finds which theses contradict each other, and which are merely open to interpretation.

Claims are judged without their times, sources and scopes, as dissonance's judges compare texts:
first as they stand, then without the regions, times and statutes that they name, then without the
circumstances. What was left out decides how a contradiction is resolved, not whether it is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from concord_dissonance.domain.dialectic.legal import rank, without_references
from concord_dissonance.domain.dialectic.phrases import Phrases
from concord_dissonance.domain.dialectic.theses import Thesis
from concord_dissonance.domain.judging import judge
from concord_dissonance.domain.reading import read
from concord_dissonance.domain.sides import Kind, Micros, Rules, Side
from concord_dissonance.domain.verdicts import Abstained, Abstention, ConflictClass, Reason, Verdict

_WORD = re.compile(r"[^\W\d_]+")
_PREFIXED = re.compile(
    r"\b(?:un|in|im|ir|il|dis|non-?|nicht)(?P<root>[^\W\d_]{4,})\b", re.IGNORECASE
)


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
    def is_past(self) -> bool:
        """Whether it speaks of the past."""
        return self.phrases.is_past(self.thesis.claim)

    @cached_property
    def is_legal(self) -> bool:
        """Whether it rests on a statute, or speaks of law."""
        return bool(self.thesis.legal_basis) or self.phrases.is_legal(self.thesis.claim)

    @cached_property
    def is_of_method(self) -> bool:
        """Whether it says how it was found out."""
        return self.phrases.is_of_method(f"{self.thesis.claim} {self.thesis.context}")

    @cached_property
    def views(self) -> Sequence[str]:
        """The claim as it stands, without scope, and without circumstances."""
        core = self._core
        texts = (self.thesis.claim, core, self.phrases.without_circumstances(core))
        return [self.phrases.in_one_word(text).strip(" ,") for text in texts]

    @cached_property
    def _core(self) -> str:
        text = without_references(self.thesis.claim)
        return self.phrases.without_regions(self.phrases.without_times(text))


@dataclass(frozen=True, slots=True)
class Clash:
    """That two theses, by their places, cannot both hold as they stand; `first` < `second`.

    Where what they name of a scope, or of circumstances, is what they differ in, they do not clash
    without it.
    """

    first: int
    second: int
    verdict: Verdict
    without_scope: bool = True
    without_circumstances: bool = True


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """That two theses, by their places, say something else of one thing, which may both hold."""

    first: int
    second: int


def compare_all(theses: Sequence[Scoped], rules: Rules) -> Iterator[Clash | Ambiguity]:
    """Yield what is found among all pairs of theses, in their order."""
    for (one, first), (other, second) in combinations(enumerate(theses), 2):
        said = compare(first, second, rules)
        if isinstance(said, Clash):
            yield replace(said, first=one, second=other)
        elif said:
            yield Ambiguity(one, other)


def compare(one: Scoped, other: Scoped, rules: Rules) -> Clash | bool:
    """Return how two theses clash, else whether they may.

    Two points of view are no contradiction.
    """
    if one.perspective != other.perspective and one.perspective and other.perspective:
        return False
    pairs = zip(one.views, other.views, strict=True)
    said = [_judged(first, second, rules) for first, second in pairs]
    verdicts = [each if isinstance(each, Verdict) else None for each in said]
    clashing = [each for each in verdicts if each and each.conflict is not ConflictClass.NONE]
    if clashing and not _is_same(said[0]):
        _, scopeless, bare = (each in clashing for each in verdicts)
        return Clash(0, 1, clashing[0], scopeless, bare)
    return any(_is_open(each) for each in said)


def _judged(first: str, second: str, rules: Rules) -> Verdict | Abstention:
    if not (first and second):
        return Abstention(Abstained.NOTHING_TO_COMPARE)
    one, other = (Side("", 0, Kind.FACT, text) for text in in_other_words(first, second))
    return judge(one, other, rules)


def _is_same(said: Verdict | Abstention) -> bool:
    return isinstance(said, Verdict) and said.reason is Reason.SAME_STATEMENT


def _is_open(said: Verdict | Abstention) -> bool:
    return isinstance(said, Abstention) and said.reason is Abstained.UNKNOWN_FILLERS


def in_other_words(first: str, second: str) -> tuple[str, str]:
    """Return two texts where "unsafe" is "not safe", if the other one says "safe"."""
    words = [{each.casefold() for each in _WORD.findall(text)} for text in (first, second)]
    return _prefix_apart(first, words[1]), _prefix_apart(second, words[0])


def _prefix_apart(text: str, words: Set[str]) -> str:
    negation = "nicht" if read(text).language == "de" else "not"

    def apart(found: re.Match[str]) -> str:
        root = found["root"]
        return f"{negation} {root}" if root.casefold() in words else found.group()

    return _PREFIXED.sub(apart, text)
