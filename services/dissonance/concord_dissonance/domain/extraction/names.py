"""Whom and what clauses are about, by names that mean the same elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from concord_concepts.normal_form import fold
from concord_reading.frame import Aspect, Frame, Kind, Role, Unread, Word
from concord_reading.people import person

from concord_dissonance.domain.extraction.candidate import LIKELY, LONGEST, SURE, UNSURE, Said
from concord_dissonance.domain.extraction.words import words_of

EDGES = " \t\r\n,.;:!?-–—()\"“”„'’*_"
_TOLD = re.compile(r"[^\W\d]:\s")
_NO_NAME = re.compile(r"[=<>{}|\\]|\d:\d\d|\b(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b")
"""Signs and words of log lines and settings."""
_BEFORE = 8
"""Characters before a noun that can hold "this"."""


class Subject(NamedTuple):
    """Whom or what a clause is about, and where it says so; an elided "I" is an empty range."""

    name: str
    confidence: float
    start: int
    end: int


@dataclass
class Names:
    """The names in one text; `subject_of` is asked about its frames in order."""

    said: Said
    written: dict[str, str] = field(default_factory=dict)
    """How subjects are written, by the key of their head."""

    def subject_of(self, frame: Frame) -> Subject | None:
        """Return whom or what a frame is about; None where it is pointed at, or joined of two."""
        verb = frame.words[frame.verb].start if frame.verb >= 0 else frame.span.end
        words = [e for e in frame.words if e.role is Role.SUBJECT and e.end <= verb]
        if not words:
            return self._elided(frame)
        if any(each.kind is Kind.PERSON and not each.key for each in words):
            return None
        start, end = min(e.start for e in words), max(e.end for e in words)
        spelt = self.said.text[start:end]
        if len(words) == 1 and (whom := person(fold(spelt))) is not None:
            if fold(spelt) in words_of(frame.language)["objective"]:
                return None
            return self._pronoun(words[0], whom.name, start, end)
        return self._noun(frame, words, start, end)

    def _noun(self, frame: Frame, words: list[Word], start: int, end: int) -> Subject | None:
        known = words_of(frame.language)
        name, confidence = self.resolved(self.said.text[start:end], frame.language)
        if not name or len(name) > LONGEST or "," in name or known["or"] & {*fold(name).split()}:
            return None
        if _NO_NAME.search(self.said.text[self.said.text.rfind("\n", 0, start) + 1 : end]):
            return None
        if "\n" in self.said.text[start:end]:  # a list, which the parse runs together
            return None
        head = frame.subject if frame.subject in words else words[-1]
        self.written[head.key] = name
        before = fold(self.said.text[max(0, start - _BEFORE) : start]).split()
        is_pointed_at = bool(before) and before[-1] in known["demonstrative"]
        is_part = before[-1:] == ["of"]
        if (
            is_pointed_at
            or is_part
            or not (head.is_definite or any(e.kind is Kind.NAME for e in words))
        ):
            confidence = UNSURE
        elif head.kind is not Kind.NAME:
            confidence = min(confidence, LIKELY)
        return Subject(name, confidence, start, end)

    def _pronoun(self, word: Word, whom: str, start: int, end: int) -> Subject | None:
        if word.kind is not Kind.PERSON:
            known = self.written.get(word.key)
            sure = LIKELY if whom == "he" else UNSURE
            return Subject(known, sure, start, end) if known else None
        name = self.said.addressee if whom == "you" else self.said.speaker
        # behind "She told me: …" somebody else may still speak
        is_own = whom == "i" and not _TOLD.search(self.said.text, 0, start)
        return Subject(name, SURE if is_own else UNSURE, start, end) if name else None

    def _elided(self, frame: Frame) -> Subject | None:
        """Return the speaker where a clause begins with a verb in the past: "Took a trip"."""
        if frame.verb < 0 or frame.unread is not Unread.NO_SUBJECT or not self.said.speaker:
            return None
        known, verb = words_of(frame.language), frame.words[frame.verb]
        is_past = frame.aspect in (Aspect.EVENT, Aspect.PAST_STATE, Aspect.CHANGE)
        before = re.findall(r"\w+", fold(self.said.text[frame.span.start : verb.start]))
        spelt = fold(self.said.text[verb.start : verb.end])
        if not is_past or spelt in known["finite"] or not {*before} <= known["opening"]:
            return None
        return Subject(self.said.speaker, UNSURE, frame.span.start, frame.span.start)

    def resolved(self, spelt: str, language: str) -> tuple[str, float]:
        """Return words without an article before them and with "my" as the speaker's name, and
        how sure it is that they mean the same elsewhere."""
        words = re.sub(r"\s+", " ", spelt).strip(EDGES)
        known = words_of(language)
        first, _, rest = words.partition(" ")
        if fold(first) in known["article"] and rest:
            words = rest.lstrip(EDGES)
        confidence = SURE
        owners = {"my": self.said.speaker, "our": self.said.speaker, "your": self.said.addressee}
        for pronoun, name in owners.items() if language == "en" else ():
            pattern = rf"(?i)\b{pronoun}\b(?: own\b)?"
            if re.search(pattern, words):
                confidence = SURE if pronoun == "my" and name and confidence == SURE else UNSURE
                words = re.sub(pattern, f"{name}'s".replace("\\", r"\\"), words) if name else words
        parts = {fold(each) for each in re.findall(r"\w+", words)}
        points = parts & known["pointing"] or any(person(each) is not None for each in parts)
        return words, UNSURE if points else confidence

    def is_something(self, name: str, language: str) -> bool:
        """Whether a name names more than what was pointed at."""
        known = words_of(language)
        parts = {fold(each) for each in re.findall(r"\w+", name)}
        empty = known["pointing"] | known["article"] | known["joint"]
        return any(each not in empty and person(each) is None for each in parts)
