"""Compares two claims as answers to one question, whatever words each of them chooses.

The question names what both speak of: what is left of their subjects tells whether they speak of
the same thing. Claims differ by an amount, by a date, or by what they allow, require or affirm.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from concord_reading.frame import Frame, Kind, Mood, Passage, Role
from concord_reading.lexicon import Lexicon, lexicon
from concord_reading.quantities import Date, Quantity, Same, same_value
from concord_reading.reader import reader
from concord_reading.reading import language_of
from concord_reading.tokens import Token, content_of, tokens_of

from concord_dissonance.domain.dialectic.numerals import in_figures
from concord_dissonance.domain.dialectic.phrases import PHRASES
from concord_dissonance.domain.judges.opposites import antonyms
from concord_dissonance.domain.verdicts import Reason

_AKIN = 7
"""Letters that words of one thing share: "Baugenehmigung", "genehmigungsfrei"."""
_GERMAN = re.compile(r"\b(?i:die|das|der|den|dem|eine[mnrs]?|am|im|zum|zur)\s+[A-ZÄÖÜ][a-zäöüß]")
_MONTH = 365.2425 / 12 * 86_400
_NOUNS = (Kind.NOUN, Kind.NAME)
_MAIN = frozenset({Mood.ASSERTED, Mood.ASKED, Mood.PLANNED, Mood.ORDERED})


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
_OPPOSED = frozenset(
    {
        frozenset({Stance.REQUIRES, Stance.FREES}),
        frozenset({Stance.REQUIRES, Stance.FORBIDS}),
        frozenset({Stance.ALLOWS, Stance.FORBIDS}),
        frozenset({Stance.AFFIRMS, Stance.DENIES}),
        frozenset({Stance.AFFIRMS, Stance.FORBIDS}),
        frozenset({Stance.ALLOWS, Stance.DENIES}),
    }
)
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

    def excludes(self, other: Amount, error: float) -> bool:
        """Whether only one of two amounts can be meant."""
        if abs(self.value - other.value) <= error:
            return False
        low, high = sorted((self, other), key=lambda each: each.value)
        bounds = (self.is_least or self.is_most, other.is_least or other.is_most)
        if all(bounds):
            return not (low.is_least and high.is_most)
        return not (low.is_least or high.is_most)


@dataclass(frozen=True)
class Read:
    """A text with its words and frames."""

    text: str
    language: str

    @cached_property
    def words(self) -> Lexicon:
        """The words of its language."""
        return lexicon(self.language)

    @cached_property
    def figures(self) -> str:
        """Its text with numbers in figures."""
        return in_figures(self.text, self.language)

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """What its sentences say."""
        return tuple(reader().read(Passage(self.figures, language=self.language)).frames)

    @cached_property
    def tokens(self) -> list[Token]:
        """Its words."""
        return tokens_of(self.figures, self.words)

    @cached_property
    def content(self) -> Set[str]:
        """The stems of its words of content, without numbers."""
        return frozenset(e for e in content_of(self.tokens, self.words) if not e[0].isdecimal())

    def stems_of(self, frame: Frame, *roles: Role) -> frozenset[str]:
        """Return the stems of the words of a frame that have one of some roles; else of all."""
        return frozenset(token.stem for token in self.tokens_of(frame, *roles))

    def tokens_of(self, frame: Frame, *roles: Role) -> list[Token]:
        """Return the words of content of a frame that have one of some roles; else all."""
        spans = [(e.start, e.end) for e in frame.words if not roles or e.role in roles]
        return [
            token
            for token in self.tokens
            if token.word not in self.words.function
            and any(start <= token.start < end for start, end in spans)
        ]


class Question(Read):
    """What claims answer; its text is empty where nobody asked."""

    @cached_property
    def is_polar(self) -> bool:
        """Whether yes or no answers it."""
        begin = " ".join(self.text.split()[:3])
        return self.text.rstrip().endswith("?") and not PHRASES.has("asks", begin)

    @cached_property
    def predicate(self) -> Set[str]:
        """The stems of what it asks about its subject, if yes or no answers it."""
        if not self.is_polar or not self.frames:
            return frozenset()
        frame = self.frames[0]
        told = self.stems_of(frame, Role.PREDICATE, Role.COMPLEMENT)
        return told - self.stems_of(frame, Role.SUBJECT) or self._told(frame)

    def _told(self, frame: Frame) -> Set[str]:
        """Return the stems of verbs, and of adjectives that stand before no noun."""
        following = [*frame.words[1:], None]
        spans = [
            (word.start, word.end)
            for word, after in zip(frame.words, following, strict=True)
            if word.kind is Kind.VERB
            or (
                word.kind is Kind.ADJECTIVE
                and (after is None or after.start - word.end > 1 or after.kind not in _NOUNS)
            )
        ]
        return frozenset(
            token.stem
            for token in self.tokens
            if token.word not in self.words.function
            and any(start <= token.start < end for start, end in spans)
        )

    @cached_property
    def is_evaluation(self) -> bool:
        """Whether it asks how good something is: for whom, answers tell."""
        return PHRASES.has("evaluation", self.text)


NO_QUESTION = Question("", "en")


def asked(question: str) -> Question:
    """Return a question as it is read."""
    return Question(question, spoken(question)) if question else NO_QUESTION


def spoken(text: str) -> str:
    """Return the language of a text; German also shows by an article and a noun's capital."""
    return "de" if _GERMAN.search(text) else language_of(text)


@dataclass(frozen=True)
class Answer(Read):
    """A claim without its scope, as an answer."""

    question: Question
    claim: str
    """As it is written."""

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
            if frame.mood in _MAIN
            for word in frame.words
            if isinstance(word.value, Date)
        ]

    @cached_property
    def stance(self) -> Stance | None:
        """What its first clause that takes a stance does; None: none does."""
        found = (self._stance(frame) for frame in self.frames)
        return next((each for each in found if each is not None), None)

    @cached_property
    def topic(self) -> frozenset[str]:
        """The stems of its content, without the words of its stance."""
        return frozenset(
            token.stem
            for token in self.tokens
            if token.stem in self.content
            and not any(PHRASES.has(name, token.word) for name in (*_CLASSES, "attribute"))
        )

    @cached_property
    def is_procedural(self) -> bool:
        """Whether it speaks of a permit, or of doing without one."""
        return PHRASES.within("procedure", self.text)

    @cached_property
    def terms(self) -> frozenset[str]:
        """By what it can differ from others."""
        found = {amount.dimension for amount, _ in self.amounts}
        return frozenset(found | {"stance"} if self.stance else found)

    def subject(self, frame: Frame) -> frozenset[str]:
        """Return the stems of a frame's subject that its question does not name, and numbers."""
        return frozenset(
            token.stem
            for token in self.tokens_of(frame, Role.SUBJECT)
            if not share([token.stem], self.question.content)
            and not PHRASES.has("attribute", token.word)
        )

    def asked(self) -> bool:
        """Whether it speaks of what the question names."""
        asks_permit = PHRASES.within("procedure", self.question.text)
        return (self.is_procedural and asks_permit) or share(self.content, self.question.content)

    def _amounts(self, frame: Frame) -> Iterator[Amount]:
        if frame.mood not in _MAIN and not self._is_sole(frame):
            return
        end = frame.span.start
        for at, word in enumerate(frame.words):
            value = word.value
            if not isinstance(value, Quantity):
                continue
            if word.role is Role.SUBJECT and not value.dimension:  # "Room 3" is a name
                continue
            written = self.figures[word.start : word.end]
            if value.dimension in ("ordinal", "version") or _is_article(written):
                continue
            unit, size = value.dimension, value.value
            if not unit:
                following = frame.words[at + 1] if at + 1 < len(frame.words) else None
                near = following is not None and following.start - word.end <= 1
                unit = following.key if near and following is not None else ""
            elif unit == "months":
                unit, size = "time", size * _MONTH
            before = self.figures[end : word.end]
            yield Amount(
                unit, size, PHRASES.has("at least", before), PHRASES.has("at most", before)
            )
            end = word.end

    def _is_sole(self, frame: Frame) -> bool:
        return len(self.frames) == 1 and frame is self.frames[0]

    def _stance(self, frame: Frame) -> Stance | None:
        text = self.figures[slice(*frame.span)]
        if frame.quantifier in ("some", "most") or PHRASES.has("only", text):
            return None
        stems = self.stems_of(frame)
        if (found := self._affirmed(frame, stems)) is not None:
            return found
        if frame.mood is Mood.SUPPOSED and not frame.is_denied:
            return None
        for name, stance in _CLASSES.items():
            if PHRASES.has(name, text):
                if not frame.is_denied:
                    return stance
                return Stance.FORBIDS if name == "obliges" else _DENIED[stance]
        return None

    def _affirmed(self, frame: Frame, stems: Set[str]) -> Stance | None:
        """Return whether a frame says yes or no to what the question asks about its subject."""
        asked = self.question.predicate
        if not asked or self.question.is_evaluation:
            return None
        opposed = {
            other for one, other in antonyms(self.language) if one in asked and other in stems
        } | {each for each in asked if PHRASES.negated(each) & stems}
        if not opposed and not asked & stems:
            return None
        return Stance.DENIES if bool(opposed) != frame.is_denied else Stance.AFFIRMS


def differ(one: Answer, other: Answer, *, is_apart: bool) -> Reason | None:
    """Return by what two answers exclude each other; None: by nothing that is seen.

    `is_apart`: whether they hold for different regions or times, or by law of different rank. That
    explains a difference, so that their subjects may be told in different words.
    """
    if (reason := _by_amount(one, other, is_apart=is_apart)) is not None:
        return reason
    if one.stance and other.stance and frozenset({one.stance, other.stance}) in _OPPOSED:
        return Reason.NEGATION if _is_one_topic(one, other, is_apart=is_apart) else None
    return _by_date(one, other) or _by_denial(one, other) or _by_duty(one, other)


def agree(one: Answer, other: Answer) -> bool:
    """Whether two answers take the same stance, or name the same amount."""
    if one.stance is not None and one.stance is other.stance:
        return True
    shared = {a.dimension for a, _ in one.amounts} & {a.dimension for a, _ in other.amounts}
    return bool(shared)


def share(one: Iterable[str], other: Iterable[str]) -> bool:
    """Whether two sets of stems have akin ones."""
    others = list(other)
    return any(are_akin(each, stem) for each in one for stem in others)


def are_akin(one: str, other: str) -> bool:
    """Whether two stems are of one word, or parts of one compound."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return any(
        short[at : at + _AKIN] in long for at in range(len(short) - _AKIN + 1)
    ) or (len(short) >= 5 and long.startswith(short))


def _is_article(written: str) -> bool:
    """Whether a number is none: "ein in Fett gebackenes"."""
    return not any(map(str.isdecimal, written)) and written.endswith(" in")


def _by_amount(one: Answer, other: Answer, *, is_apart: bool) -> Reason | None:
    asks_bound = PHRASES.has("asks bound", one.question.text)
    for dimension in sorted({a.dimension for a, _ in one.amounts}):
        mine = [each for each in one.amounts if each[0].dimension == dimension]
        yours = [each for each in other.amounts if each[0].dimension == dimension]
        if not yours or not _are_disjoint(mine, yours, asks_bound=asks_bound):
            continue
        if is_apart or one.subject(mine[0][1]) == other.subject(yours[0][1]):
            if one.question.text or _are_of_one_clause(one, other, mine[0][1], yours[0][1]):
                return Reason.QUANTITY if dimension else Reason.NUMBER
    return None


def _are_disjoint(
    mine: list[tuple[Amount, Frame]], yours: list[tuple[Amount, Frame]], *, asks_bound: bool
) -> bool:
    """Whether no amount of one fits one of the other; two amounts are a range."""
    for at, (one, _) in enumerate(mine):
        for place, (other, _) in enumerate(yours):
            if asks_bound and not (at or place):
                one = Amount(one.dimension, one.value)
                other = Amount(other.dimension, other.value)
            if not one.excludes(other, 0.001 * max(one.value, other.value)):
                return False
    low, high = (
        (min(a.value for a, _ in side), max(a.value for a, _ in side)) for side in (mine, yours)
    )
    return low[1] < high[0] or high[1] < low[0]


def _are_of_one_clause(one: Answer, other: Answer, first: Frame, second: Frame) -> bool:
    """Whether two clauses share their subject and verb, or their claims all words but amounts."""
    if one.topic and one.topic == other.topic:
        return True
    subjects = one.stems_of(first, Role.SUBJECT), other.stems_of(second, Role.SUBJECT)
    verbs = one.stems_of(first, Role.PREDICATE), other.stems_of(second, Role.PREDICATE)
    return bool(subjects[0]) and subjects[0] == subjects[1] and verbs[0] == verbs[1]


def _by_date(one: Answer, other: Answer) -> Reason | None:
    asks = PHRASES.has("asks date", one.question.text)
    for mine, first in one.dates:
        for yours, second in other.dates:
            if same_value(mine, yours) is not Same.NO:
                return None
            is_same = one.subject(first) == other.subject(second) if asks else False
            if is_same or _are_of_one_clause(one, other, first, second):
                return Reason.DATE
    return None


def _by_denial(one: Answer, other: Answer) -> Reason | None:
    """Return NEGATION if a clause denies all that one of the other claim says."""
    for first in one.frames:
        for second in other.frames:
            stems = one.stems_of(first)
            if len(stems) > 1 and stems == other.stems_of(second):
                if {first.mood, second.mood} <= _MAIN and first.is_denied != second.is_denied:
                    return Reason.NEGATION
    return None


def _by_duty(one: Answer, other: Answer) -> Reason | None:
    """Return TWO_VALUES if two claims name two holders of a duty or office that a question asks for."""
    asked = one.question
    if not (PHRASES.has("asks holder", asked.text) and PHRASES.has("duty", asked.text)):
        return None
    rests = []
    for each in (one, other):
        rests.append({stem for stem in each.topic if not share([stem], asked.content)})
        if any(not share([stem], each.content) for stem in asked.content):
            return None
    return Reason.TWO_VALUES if all(rests) and rests[0].isdisjoint(rests[1]) else None


def _is_one_topic(one: Answer, other: Answer, *, is_apart: bool) -> bool:
    stances = {one.stance, other.stance}
    if stances == {Stance.REQUIRES, Stance.FREES} and one.is_procedural != other.is_procedural:
        return False
    if one.topic and (one.topic <= other.topic or other.topic <= one.topic) and other.topic:
        return True
    if not one.question.text or not (one.asked() and other.asked()):
        return False
    return is_apart or share(one.content, other.content)
