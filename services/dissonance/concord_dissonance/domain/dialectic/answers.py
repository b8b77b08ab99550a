"""Compares two claims as answers to one question, whatever words each of them chooses.

The question names what both speak of: what is left of their subjects tells whether they speak of
the same thing. Claims differ by an amount, by a date, or by what they allow, require or affirm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from concord_reading.frame import Frame, Kind, Mood, Role
from concord_reading.quantities import Date, Quantity

from concord_dissonance.domain.dialectic.numerals import in_figures
from concord_dissonance.domain.dialectic.questions import (
    NOUNS,
    Question,
    Read,
    are_akin,
    plain,
    share,
)
from concord_dissonance.domain.judges.opposites import antonyms

_TO_DO = re.compile(r"\b(?i:ist|sind|hat|haben)\b.*\b(?:zu\s+\w+e[rl]?n|\w{2,}zu\w{3,}e[rl]?n)\b")
"""What is to be done in German: "ist anzuzeigen", "hat zu räumen"."""
_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_A_NOUN = re.compile(r"\b(?:an?|one|eine?[nmrs]?)\s+(?P<noun>[^\W\d_]+)", re.IGNORECASE)
_MONTH = 365.2425 / 12 * 86_400
_ROUNDING = 0.001
_NEAR = 7
"""Words before and of an amount that can bound it."""
MAIN = frozenset({Mood.ASSERTED, Mood.ASKED, Mood.PLANNED, Mood.ORDERED})


class Stance(Enum):
    """What a claim does with what it speaks of."""

    REQUIRES = 1
    FREES = 2
    """It says that something is not required."""
    ALLOWS = 3
    FORBIDS = 4
    AFFIRMS = 5
    """It says what a question asks for, yes or no."""
    DENIES = 6


_DENIED = {
    Stance.REQUIRES: Stance.FREES,
    Stance.FREES: Stance.REQUIRES,
    Stance.ALLOWS: Stance.FORBIDS,
    Stance.FORBIDS: Stance.ALLOWS,
}
_CLASSES = {
    "obliges": Stance.REQUIRES,
    "requires": Stance.REQUIRES,
    "allows": Stance.ALLOWS,
    "forbids": Stance.FORBIDS,
    "frees": Stance.FREES,
}


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of one unit, and whether less or more is meant, too."""

    dimension: str
    value: float
    is_least: bool = False
    is_most: bool = False
    is_subject: bool = False
    """Whether its clause speaks of it: "two rooms are free"."""

    def excludes(self, other: Amount) -> bool:
        """Whether only one of two amounts can be meant."""
        if abs(self.value - other.value) <= _ROUNDING * max(self.value, other.value):
            return False
        low, high = sorted((self, other), key=lambda each: each.value)
        bounds = (self.is_least or self.is_most, other.is_least or other.is_most)
        if all(bounds):
            return not (low.is_least and high.is_most)
        return not (low.is_least or high.is_most)


@dataclass(frozen=True)
class Answer(Read):
    """A claim without its scope, as an answer."""

    question: Question
    claim: str
    """As it is written."""

    @cached_property
    def figures(self) -> str:
        """Its text with numbers in figures, also the "a" of what its question counts."""
        counted = self.question.counted

        def one(found: re.Match[str]) -> str:
            is_counted = are_akin(self.words.stem(found["noun"].casefold()), counted)
            return f"1 {found['noun']}" if is_counted else found.group()

        text = in_figures(self.text, self.language)
        return _A_NOUN.sub(one, text) if counted else text

    @cached_property
    def amounts(self) -> list[tuple[Amount, Frame]]:
        """The amounts that its main clauses name."""
        return [(each, frame) for frame in self.frames for each in self._amounts(frame)]

    @cached_property
    def dates(self) -> list[tuple[Date, Frame]]:
        """The dates that its main clauses name, as it is written."""
        frames = Read(self.claim, self.language).frames
        return [
            (word.value, frame)
            for frame in frames
            if frame.mood in MAIN
            for word in frame.words
            if isinstance(word.value, Date)
        ]

    @cached_property
    def stance(self) -> Stance | None:
        """What its first clause that takes a stance does; None: none does.

        Yes to whether one has to requires, and no frees; yes to whether one may allows.
        """
        found = (self._stance(frame) for frame in self.frames)
        stance = next((each for each in found if each is not None), None)
        return self._meant.get(stance, stance) if stance else None

    @property
    def _meant(self) -> Mapping[Stance, Stance]:
        """What yes and no mean by what the question asks."""
        if self.question.asks_leave:
            return {Stance.AFFIRMS: Stance.ALLOWS, Stance.DENIES: Stance.FORBIDS}
        if self.question.asks_duty:
            return {Stance.AFFIRMS: Stance.REQUIRES, Stance.DENIES: Stance.FREES}
        return {}

    @cached_property
    def topic(self) -> frozenset[str]:
        """The stems of its content, without the words of its stance."""
        return frozenset(
            token.stem
            for token in self.tokens
            if token.stem in self.content
            and not any(self.phrases.has(name, token.word) for name in (*_CLASSES, "attribute"))
        )

    @cached_property
    def acts(self) -> frozenset[str]:
        """The stems of the verbs of its main clauses."""
        verbs = {
            (word.start, word.end)
            for frame in self.frames
            for word in frame.words
            if word.kind is Kind.VERB
        }
        return frozenset(
            token.stem
            for token in self.tokens
            if token.stem in self.topic and (token.start, token.end) in verbs
        )

    @cached_property
    def subjects(self) -> frozenset[str]:
        """The stems of the subjects of its main clauses."""
        found = (self.stems_of(e, Role.SUBJECT) for e in self.frames if e.mood in MAIN)
        return frozenset().union(*found)

    @cached_property
    def others(self) -> frozenset[str]:
        """The names and nouns that its question does not name, and that are no holder's title."""
        words = (
            word
            for frame in self.frames
            for word in frame.words
            if word.kind in NOUNS
            and not self.phrases.has("duty", self.figures[word.start : word.end])
        )
        parts = (
            self.words.stem(part) for w in words if w.value is None for part in [w.key.split()[-1]]
        )
        return frozenset(
            part
            for part in parts
            if not share([part], self.question.content) and not self.phrases.has("title", part)
        )

    @cached_property
    def _circumstances(self) -> frozenset[str]:
        """The folded words of its circumstances, which a reading can take for its subject."""
        named = self.phrases.circumstances(self.text)
        return frozenset(word.strip(",") for each in named for word in each.split())

    @cached_property
    def places(self) -> frozenset[str]:
        """The stems of the places, and other circumstances, that it names and its question not."""
        named = " ".join(self.phrases.circumstances(self.claim))
        return frozenset(Read(named, self.language).content - self.question.content)

    @cached_property
    def is_sole(self) -> bool:
        """Whether it says that it holds of what it names alone."""
        return self.phrases.has("only", self.claim)

    @cached_property
    def objects(self) -> bool:
        """Whether some thing is the subject of a main clause."""
        return any(
            word.role is Role.SUBJECT and word.kind in NOUNS
            for frame in self.frames
            for word in frame.words
        )

    @cached_property
    def is_procedural(self) -> bool:
        """Whether it speaks of a permit, or of doing without one; "a permit-free hut" does not."""
        freed = [each.word for each in self.tokens if self.phrases.begins_with("frees", each.word)]
        if freed and self.stance is Stance.FREES:
            return True
        others = " ".join(each.word for each in self.tokens if each.word not in freed)
        return self.phrases.within("procedure", others)

    @cached_property
    def terms(self) -> frozenset[str]:
        """By what it can differ from others."""
        found = {amount.dimension for amount, _ in self.amounts}
        return frozenset(found | {"stance"} if self.stance else found)

    def subject(self, frame: Frame) -> frozenset[str]:
        """Return the stems of a frame's subject that its question does not name.

        A rule that says so is none, nor is who tells or sets a value: "the guideline of 2003
        advises", "the council has fixed the fee".
        """
        text = self._text_of(frame)
        is_set = self.phrases.has("sets", text) and share(
            self.stems_of(frame, Role.COMPLEMENT), self.question.content
        )
        if is_set or self.phrases.has("tells", text):
            return frozenset()
        return frozenset(
            token.stem
            for token in self.tokens_of(frame, Role.SUBJECT)
            if not _YEAR.fullmatch(token.word)
            and token.word not in self._circumstances
            and not share([token.stem], self.question.content)
            and not any(
                self.phrases.has(name, token.word) for name in ("attribute", "rule", "adds")
            )
        )

    def asked(self) -> bool:
        """Whether it speaks of what the question names, or of "it"."""
        if self.frames and not self.subjects and not self.objects:
            return True
        asks_permit = self.phrases.within("procedure", self.question.text)
        return (self.is_procedural and asks_permit) or share(self.content, self.question.content)

    def _amounts(self, frame: Frame) -> Iterator[Amount]:
        if not (frame.mood in MAIN or frame.mood is Mood.SUPPOSED or self._is_sole(frame)):
            return
        end = frame.span.start
        for at, word in enumerate(frame.words):
            value = word.value
            if not isinstance(value, Quantity):
                continue
            written = self.figures[word.start : word.end]
            if value.dimension in ("ordinal", "version") or _is_article(written):
                continue
            unit, size = value.dimension, value.value
            if not unit:
                following = frame.words[at + 1] if at + 1 < len(frame.words) else None
                near = (
                    following is not None
                    and following.start - word.end <= 1
                    and (word.role is not Role.SUBJECT or following.role is Role.SUBJECT)
                )
                unit = self._stem_at(following.start) if near and following is not None else ""
                if word.role is Role.SUBJECT and not unit:  # "Room 3" is a name
                    continue
                counted = self.question.counted
                unit = counted if not unit or (counted and are_akin(unit, counted)) else unit
            elif unit == "months":
                unit, size = "time", size * _MONTH
            before = " ".join(self.figures[end : word.end].split()[-_NEAR:])
            bounds = self.phrases.has("at least", before), self.phrases.has("at most", before)
            if frame.is_denied:  # "must not weigh more than"
                bounds = bounds[::-1]
            yield Amount(unit, size, *bounds, word.role is Role.SUBJECT)
            end = word.end

    def _stem_at(self, start: int) -> str:
        return next((each.stem for each in self.tokens if each.start == start), "")

    def _is_sole(self, frame: Frame) -> bool:
        return len(self.frames) == 1 and frame is self.frames[0]

    def _stance(self, frame: Frame) -> Stance | None:
        text = self._text_of(frame)
        if frame.quantifier in ("some", "most") or self.phrases.has("only", text):
            return None
        asks_norm = self.question.asks_leave or self.question.asks_duty
        if self.question.asks_duty and self.phrases.has("advises", text):
            return None
        if self.phrases.has("can be", text) and self.phrases.has("requires", text):
            return None  # "may require a permit"
        said = self._affirmed(frame, self.stems_of(frame))
        ruled = self._ruled(frame, text)
        return ruled or said if asks_norm else said or ruled

    def _ruled(self, frame: Frame, text: str) -> Stance | None:
        """Return what a frame requires, frees of, allows or forbids."""
        if frame.mood is Mood.SUPPOSED and not frame.is_denied and not self.question.asks_leave:
            return None
        if self.language == "de" and _TO_DO.search(text):
            to_refuse = self.phrases.has("refuses", text)
            return Stance.FORBIDS if to_refuse != frame.is_denied else Stance.REQUIRES
        for name, stance in _CLASSES.items():
            if self.phrases.has(name, text):
                if not frame.is_denied:
                    return stance
                return Stance.FORBIDS if name == "obliges" else _DENIED[stance]
        return None

    def _text_of(self, frame: Frame) -> str:
        """Return the text of a frame without the clauses within it."""
        text, (begin, end) = self.figures, frame.span
        for start, stop in (each.span for each in self.frames):
            if begin < start <= stop <= end:
                text = f"{text[:start]}{' ' * (stop - start)}{text[stop:]}"
        return text[begin:end]

    def _affirmed(self, frame: Frame, stems: Set[str]) -> Stance | None:
        """Return whether a frame says yes or no to what the question asks about its subject."""
        asked = plain(self.question.predicate)
        if not asked or self.question.is_evaluation:
            return None
        stems = plain(stems)
        opposed = {
            other for one, other in antonyms(self.language) if one in asked and other in stems
        } | {each for each in asked if self.phrases.negated(each) & stems}
        if not opposed and not asked & stems:
            return None
        return Stance.DENIES if bool(opposed) != frame.is_denied else Stance.AFFIRMS


def _is_article(written: str) -> bool:
    """Whether a number is none: "ein in Fett gebackenes"."""
    return not any(map(str.isdecimal, written)) and written.endswith(" in")
