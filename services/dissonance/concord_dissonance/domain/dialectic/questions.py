"""Reads questions and texts: their words, their frames, and what a question asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cached_property

from concord_reading.frame import Frame, Kind, Passage, Role
from concord_reading.language import language_of
from concord_reading.lexicon import Lexicon, lexicon
from concord_reading.reader import reader
from concord_reading.tokens import Token, content_of, tokens_of

from concord_dissonance.domain.dialectic.numerals import in_figures
from concord_dissonance.domain.dialectic.phrases import PHRASES_OF, Phrases

_AKIN = 7
"""Letters that words of one thing share: "Baugenehmigung", "genehmigungsfrei"."""
LEAST_PART = 4
"""Letters of a part of a compound."""
_GERMAN = re.compile(r"\b(?i:die|das|der|den|dem|eine[mnrs]?|am|im|zum|zur)\s+[A-ZÄÖÜ][a-zäöüß]")
_COLON = re.compile(r":(?=\s+[A-ZÄÖÜ])")
"""What follows is a sentence of its own."""
_SEPARABLE = re.compile(
    r"^(ab|an|auf|aus|bei|ein|fest|her|hin|los|mit|nach|um|vor|weg|zu|zurück)(?:ge|zu)(?=\w{3})"
)
NOUNS = (Kind.NOUN, Kind.NAME)


@dataclass(frozen=True)
class Read:
    """A text with its words and frames."""

    text: str
    language: str

    @cached_property
    def words(self) -> Lexicon:
        """The words of its language."""
        return lexicon(self.language)

    @property
    def phrases(self) -> Phrases:
        """The phrases of its language."""
        return PHRASES_OF[self.language]

    @cached_property
    def figures(self) -> str:
        """Its text with numbers in figures."""
        return in_figures(self.text, self.language)

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """What its sentences say."""
        text = _COLON.sub(".", self.figures)
        return tuple(reader().read(Passage(text, language=self.language)).frames)

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
        return self.text.rstrip().endswith("?") and not self.phrases.has("asks", begin)

    @cached_property
    def predicate(self) -> Set[str]:
        """The stems of what it asks about its subject, if yes or no answers it."""
        if not self.is_polar or not self.frames:
            return frozenset()
        frame = self.frames[0]
        said = self.stems_of(frame, Role.PREDICATE, Role.COMPLEMENT)
        others = said - self.stems_of(frame, Role.SUBJECT)
        return self._told(frame) or others or self._last

    @property
    def _last(self) -> Set[str]:
        """The stem of its last word of content."""
        stems = [each.stem for each in self.tokens if each.stem in self.content]
        return frozenset(stems[-1:])

    def _told(self, frame: Frame) -> Set[str]:
        """Return the stems of verbs, and of adjectives that stand before no noun."""
        following = [*frame.words[1:], None]
        spans = [
            (word.start, word.end)
            for word, after in zip(frame.words, following, strict=True)
            if word.kind is Kind.VERB
            or (
                word.key.isalpha()  # "m³" is none
                and word.kind is Kind.ADJECTIVE
                and (after is None or after.start - word.end > 1 or after.kind not in NOUNS)
            )
        ]
        return frozenset(
            token.stem
            for token in self.tokens
            if token.word not in self.words.function
            and any(start <= token.start < end for start, end in spans)
        )

    @cached_property
    def is_past(self) -> bool:
        """Whether it asks what was, or has come about."""
        last = self.text.rstrip(" ?").rpartition(" ")[2]
        if self.language == "de" and last[:1].isupper():  # "has" is no auxiliary before a noun
            return self.phrases.is_past(self.text)
        return self.phrases.has("asks past", self.text)

    @cached_property
    def counted(self) -> str:
        """The stem of what it asks the number of; empty: it asks for none."""
        found = self.phrases.after("asks count", self.text)
        words = [each.stem for each in self.tokens if each.start >= found >= 0]
        return words[0] if words else ""

    @cached_property
    def things(self) -> frozenset[str]:
        """The stems of its nouns and names; of all its content, if it has none."""
        spans = {w.start for frame in self.frames for w in frame.words if w.kind in NOUNS}
        found = {e.stem for e in self.tokens if e.start in spans}
        return frozenset(found & self.content or self.content)

    @cached_property
    def asks_leave(self) -> bool:
        """Whether it asks what is allowed."""
        return self.phrases.has("allows", self.text)

    @cached_property
    def asks_duty(self) -> bool:
        """Whether it asks what is required."""
        return any(self.phrases.has(name, self.text) for name in ("obliges", "requires"))

    @cached_property
    def asks_date(self) -> bool:
        """Whether it asks when something is."""
        return self.phrases.has("asks date", self.text)

    @cached_property
    def asks_place(self) -> bool:
        """Whether it asks where something is: places are answers then, and no scope of them."""
        return self.phrases.has("asks place", self.text) and not self.asks_date

    @cached_property
    def is_evaluation(self) -> bool:
        """Whether it asks how good something is: for whom, answers tell."""
        return self.phrases.has("evaluation", self.text)


NO_QUESTION = Question("", "en")


def asked(question: str) -> Question:
    """Return a question as it is read."""
    return Question(question, spoken(question)) if question else NO_QUESTION


def spoken(text: str) -> str:
    """Return the language of a text; German also shows by an article and a noun's capital."""
    return "de" if _GERMAN.search(text) else language_of(text)


def plain(stems: Iterable[str]) -> frozenset[str]:
    """Return stems of German verbs as their infinitive has them: "ausstell" for "ausgestell"."""
    return frozenset(_SEPARABLE.sub(r"\1", each) for each in stems)


def share(one: Iterable[str], other: Iterable[str]) -> bool:
    """Whether two sets of stems have akin ones."""
    others = list(other)
    return any(are_akin(each, stem) for each in one for stem in others)


def are_akin(one: str, other: str) -> bool:
    """Whether two stems are of one word, or parts of one compound."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return any(short[at : at + _AKIN] in long for at in range(len(short) - _AKIN + 1)) or (
        len(short) >= LEAST_PART and (long.startswith(short) or long.endswith(short))
    )
