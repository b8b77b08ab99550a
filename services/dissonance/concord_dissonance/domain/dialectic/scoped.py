"""A thesis with its region, time and circumstances, and its claim without them."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from concord_dissonance.domain.dialectic.answers import Answer
from concord_dissonance.domain.dialectic.legal import edition, rank, regions, without_references
from concord_dissonance.domain.dialectic.numerals import in_figures
from concord_dissonance.domain.dialectic.phrases import PHRASES, PHRASES_OF, Phrases
from concord_dissonance.domain.dialectic.questions import NO_QUESTION, Question, Read, spoken
from concord_dissonance.domain.dialectic.theses import Thesis
from concord_dissonance.domain.sides import Kind, Micros, Side

_WORD = re.compile(r"[^\W\d_]+")
PREFIXED = re.compile(
    r"\b(?:un|in|im|ir|il|dis|non-?|nicht)(?P<root>[^\W\d_]{4,})\b", re.IGNORECASE
)
"""A word with a prefix that can negate it."""


@dataclass(frozen=True)
class Scoped:
    """A thesis with its region, time and circumstances: as stated, else as its words name them."""

    thesis: Thesis
    question: Question = NO_QUESTION
    """What it answers."""

    @cached_property
    def answer(self) -> Answer:
        """Its claim as an answer."""
        text, language = self.thesis.claim, self.language
        return Answer(_tidy(self._core, language), language, self.question, text)

    @cached_property
    def language(self) -> str:
        """The language of its claim: its question's, if there is one."""
        return self.question.language if self.question.text else spoken(self.thesis.claim)

    @property
    def _phrases(self) -> Phrases:
        return PHRASES_OF[self.language]

    @cached_property
    def regions(self) -> frozenset[str]:
        """The regions, folded: those stated or named, else those of the statutes in its basis."""
        if self.thesis.region:
            return frozenset({PHRASES.region(self.thesis.region)})
        named = frozenset() if self.question.asks_place else PHRASES.regions(self.thesis.claim)
        return named or regions(self.thesis.legal_basis)

    @cached_property
    def time(self) -> Micros | None:
        """The time from which it holds; None: unknown."""
        stated = self.thesis.valid_from
        return PHRASES.time(self.thesis.claim) if stated is None else stated

    @cached_property
    def version(self) -> tuple[int, ...] | None:
        """The version of what it speaks of; None: unknown."""
        return self._phrases.version(self.thesis.claim)

    @cached_property
    def edition(self) -> tuple[str, int]:
        """The statute in its basis, and the year of its edition."""
        return edition(self.thesis.legal_basis)

    @cached_property
    def begins(self) -> bool:
        """Whether it says from when, or that something holds now."""
        return self._phrases.begins(self.thesis.claim)

    @cached_property
    def ends(self) -> bool:
        """Whether it says until when, or that something held once, or rests on repealed law."""
        return self.is_past or self._phrases.ends(self.thesis.claim)

    @cached_property
    def is_changed(self) -> bool:
        """Whether it says that it was otherwise before: "since", "no longer"."""
        return self._phrases.has("changed", in_figures(self.thesis.claim, self.language))

    @cached_property
    def circumstances(self) -> frozenset[str]:
        """The circumstances under which it holds, folded."""
        stated = self.thesis.context.casefold().strip()
        return frozenset({stated}) if stated else self.named_circumstances

    @cached_property
    def named_circumstances(self) -> frozenset[str]:
        """The circumstances that its claim names, without those that its question names."""
        if self.question.asks_place:
            return frozenset()
        named = self._phrases.circumstances(self._core)
        asked = self.question.content
        if not asked:
            return named
        return frozenset(e for e in named if not Read(e, self.language).content <= asked)

    def is_beside(self, other: Scoped) -> bool:
        """Whether it names a circumstance of which the other one does not speak."""
        named = (Read(each, self.language).content for each in self.circumstances)
        return any(not each <= other.answer.content for each in named)

    @cached_property
    def perspective(self) -> str:
        """The point of view that it names; else empty."""
        return self._phrases.perspective(f"{self.thesis.claim} {self.thesis.context}")

    @cached_property
    def rank(self) -> int | None:
        """The highest rank in its legal basis; None: unknown."""
        return rank(self.thesis.legal_basis)

    @cached_property
    def weight(self) -> int:
        """How much its source weighs by what it is called: 1 for an accredited laboratory, -1 for
        a rumour, else 0."""
        return self._phrases.within("weighty", self.thesis.claim) - self._phrases.within(
            "slight", self.thesis.claim
        )

    @cached_property
    def is_partial(self) -> bool:
        """Whether it claims something of some cases only."""
        return self._phrases.is_partial(self.thesis.claim)

    @cached_property
    def is_of_most(self) -> bool:
        """Whether it claims something of most cases."""
        return self._phrases.has("most", self.thesis.claim)

    @cached_property
    def is_added(self) -> bool:
        """Whether it says that it holds besides something else."""
        return self._phrases.has("adds", self.thesis.claim)

    @property
    def is_superseded(self) -> bool:
        """Whether the memory that states it is superseded."""
        return self.thesis.memory is not None and self.thesis.memory.is_superseded

    @cached_property
    def is_past(self) -> bool:
        """Whether it speaks of the past."""
        if self._phrases.has("repealed", " ".join(self.thesis.legal_basis)):
            return True
        return not self.question.is_past and self._phrases.is_past(self.thesis.claim)

    @cached_property
    def is_legal(self) -> bool:
        """Whether it has a legal basis, or speaks of law."""
        return bool(self.thesis.legal_basis) or self._phrases.is_legal(self.thesis.claim)

    @cached_property
    def is_of_method(self) -> bool:
        """Whether it says how it was found out."""
        return self._phrases.is_of_method(f"{self.thesis.claim} {self.thesis.context}")

    @cached_property
    def methods(self) -> frozenset[str]:
        """The methods that it names by which it was found out."""
        found = self._phrases.methods(f"{self.thesis.claim} {self.thesis.context}")
        return found | {each for each in self.circumstances if self._phrases.is_of_method(each)}

    @cached_property
    def views(self) -> Sequence[Side]:
        """The claim as written, without its scope, and also without its circumstances."""
        core = self._core
        texts = [
            in_figures(text, self.language)
            for text in (self.thesis.claim, core, self._phrases.without_circumstances(core))
        ]
        worded = [_tidy(self._phrases.in_one_word(text), self.language) for text in texts]
        sides = {text: Side("", Kind.FACT, text) for text in worded}
        return [sides[text] for text in worded]

    @cached_property
    def words(self) -> Set[str]:
        """The words of its claim, folded."""
        return {each.casefold() for view in self.views for each in _WORD.findall(view.text)}

    @cached_property
    def opposites(self) -> Set[str]:
        """The roots of its words with a negating prefix: "safe" for "unsafe"."""
        found = (PREFIXED.fullmatch(word) for word in self.words)
        return {each["root"] for each in found if each}

    @cached_property
    def _core(self) -> str:
        text = self._phrases.without_attribution(without_references(self.thesis.claim))
        text = self._phrases.without("now and then", self._phrases.without_times(text))
        return PHRASES.without_regions(text)


def _tidy(text: str, language: str) -> str:
    """Return a text without the blanks and commas that omissions leave.

    In German the verb comes first once the words before it, such as a region, are left out.
    """
    text = " ".join(text.split()).strip(" ,")
    return f"Dort {text}" if language == "de" and text[:1].islower() else text
