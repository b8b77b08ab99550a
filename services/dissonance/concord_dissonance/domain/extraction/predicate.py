"""What a clause says of its subject: a relation, an object, and when."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from concord_concepts.normal_form import fold
from concord_reading.frame import Aspect, Frame, Mood, Word
from concord_reading.lexicon import lexicon
from concord_reading.tokens import Span

from concord_dissonance.domain.extraction.candidate import (
    LIKELY,
    LONGEST,
    SURE,
    UNSURE,
    Candidate,
)
from concord_dissonance.domain.extraction.names import EDGES, Names, Subject
from concord_dissonance.domain.extraction.stated_time import Period, stated_times
from concord_dissonance.domain.extraction.words import words_of
from concord_dissonance.domain.judges.attributes import Phase, Values, named_by

_NEAR = 3
"""Words before a verb that show whether it is in the passive."""


@dataclass
class Predicate:
    """The predicate of one frame. `frames`: all of the text."""

    names: Names
    frame: Frame
    frames: Sequence[Frame]
    subject: Subject

    def fact(self, text: int) -> Candidate | None:
        """Return the fact; None where the clause asserts none, or names no object."""
        end, is_whole = self._end()
        is_told = (
            self.frame.unread is None or self._is_wish or self.subject.start == self.subject.end
        )
        if not is_told or self.frame.is_denied or end <= self._verb.end:
            return None
        times = stated_times(self._text, self.frame, self.names.said.time)
        period = times[0] if len(times) == 1 and not self._is_of_time else None
        start, rest_end = self._without_time(self._verb.end, end, period)
        if re.search(r"\w", self._text[start:rest_end]):
            end = rest_end
        else:  # "born in 1980": the time is what it tells
            start, period = self._verb.end, None
        relation, start, value_end = self._relation(start, end)
        spelt = self._without_address(self._text[start : value_end or end])
        name, confidence = self.names.resolved(spelt, self.frame.language)
        if not self.names.is_something(name, self.frame.language) or len(name) > LONGEST:
            return None
        is_sure = is_whole and len(times) <= 1 and self._is_plain(period)
        if value_end is None and self.frame.language == "de" and not self._is_copula:
            is_sure = False  # rules know no base forms of German verbs
        own = (SURE if self.frame.unread is None else LIKELY) if is_sure else UNSURE
        return Candidate(
            text,
            self.subject.name,
            relation,
            name,
            self._quote(end, period),
            min(self.subject.confidence, confidence, own),
            valid_from=period.since if period else None,
            valid_until=period.until if period and not self._lasts else None,
        )

    # -- its words

    @property
    def _text(self) -> str:
        return self.names.said.text

    @property
    def _verb(self) -> Word:
        return self.frame.words[self.frame.verb]

    @property
    def _known(self) -> Mapping[str, frozenset[str]]:
        return words_of(self.frame.language)

    @cached_property
    def _spelt(self) -> str:
        return fold(self._text[self._verb.start : self._verb.end])

    @property
    def _is_copula(self) -> bool:
        return self._spelt in self._known["be"]

    @cached_property
    def _base(self) -> str:
        return "be" if self._is_copula else self._verb.lemma or self._spelt

    @cached_property
    def _between(self) -> list[str]:
        """The words between subject and verb, commas and colons."""
        between = fold(self._text[self.subject.end : self._verb.start])
        return re.findall(r"\w+|['’]\w+|[,:]", between)

    @cached_property
    def _is_wish(self) -> bool:
        """Whether it states that its subject wants something."""
        doubting = lexicon(self.frame.language).words.get("doubting", frozenset())
        is_wish = self.frame.mood is Mood.WISHED and not self.frame.adverbs & doubting
        return is_wish and self._base in self._known["wanting"]

    # -- the object

    def _end(self) -> tuple[int, bool]:
        """Return where what it says ends, with the clauses that its last words open, and whether
        nothing that belongs to it was left out."""
        end = max((each.end for each in self.frame.words), default=0)
        for span in sorted(e.span for e in self.frames if e.span.start >= self._verb.end):
            between = self._text[end : span.start].strip(" ")
            opening = fold(self._text[slice(*span)].lstrip(EDGES)).split(" ")[0]
            is_next = between or self._text[span.start] in EDGES or opening in self._known["joint"]
            if span.end <= end or (span.start >= end and is_next):
                continue
            longer = span.start + len(self._text[slice(*span)].rstrip(EDGES))
            if longer - self._verb.end > LONGEST:
                return end, False
            end = max(end, longer)
        goes_on = re.match(r"[ \t]*([\w&]+)", self._text[end:])
        return end, goes_on is None or fold(goes_on[1]) in self._known["follows"]

    def _without_time(self, start: int, end: int, period: Period | None) -> tuple[int, int]:
        """Leave out a stated time that stands before or behind the rest."""
        if period is None or period.start < start:
            return start, end
        if not re.search(r"\w", self._text[period.end : end]):
            return start, period.start
        is_first = not re.search(r"\w", self._text[start : period.start])
        return (period.end, end) if is_first else (start, end)

    def _without_address(self, spelt: str) -> str:
        """Leave out ", Jon" behind what is said to Jon."""
        rest, comma, last = spelt.rstrip(EDGES).rpartition(",")
        asides = {fold(self.names.said.addressee), *self._known["aside"]} - {""}
        return rest if comma and fold(last.strip(EDGES)) in asides else spelt

    # -- the relation

    def _relation(self, start: int, end: int) -> tuple[str, int, int | None]:
        """Return the relation, where its object begins, and where an attribute's value ends."""
        own = [e for e in self.frame.words if e.start >= start and e.head == self.frame.verb]
        first = re.match(r"\W*(\w+)\W+(?=\w)", self._text[start:end])
        links = {self.frame.particle, *(each.link for each in own[:1])} - {""}
        link = fold(first[1]) if first is not None and fold(first[1]) in links else ""
        if first is not None and link:
            start += first.end()
        is_value = bool(link) and not self._is_copula and bool(own) and own[0].link == link
        if is_value and (attribute := self._attribute()):
            return attribute, start, self._phrase_end(own[0])
        base = self._spelt if self._is_passive and not self._is_copula else self._base
        if base == "be" and not link:
            base = "is"
        return "_".join([base, *([link] if link else [])]).upper(), start, None

    def _attribute(self) -> str:
        """Return the attribute of which the verb and its preposition name the value; "": none, or
        several."""
        found = {
            each.attribute
            for each in named_by(self._verb, self.frame)
            if each.values in (Values.OBJECT, Values.KIND) and each.phase is Phase.HOLDS
        }
        return found.pop().upper() if len(found) == 1 else ""

    def _phrase_end(self, value: Word) -> int:
        """Return where the phrase of a word ends, without what hangs on it by a preposition."""
        place = next(at for at, each in enumerate(self.frame.words) if each is value)
        own = [e for e in self.frame.words if e.head == place and e.link in ("", "of")]
        numbers = [e for e in self.frame.words if e.value and e.start == value.end + 1]
        return max([value.end, *(each.end for each in (*own, *numbers))])

    @cached_property
    def _is_passive(self) -> bool:
        is_participle = self.frame.language == "en" and not self._spelt.endswith("ing")
        return is_participle and bool({*self._between[-_NEAR:]} & self._known["be"])

    # -- how sure, and when

    def _is_plain(self, period: Period | None) -> bool:
        """Whether nothing limits, dates or hedges what it says but what the fact has."""
        frame, known, between = self.frame, self._known, {*self._between}
        whole = {*re.findall(r"\w+", fold(self._text[slice(*frame.span)]))}
        limits = frame.adverbs & lexicon(frame.language).words.get("limiting", frozenset())
        is_part = frame.quantifier in ("none", "some", "most", "only") and not between
        is_past = frame.aspect is Aspect.PAST_STATE and period is None
        is_later = bool(whole & known["later"]) or self._spelt == "going"
        shares_be = between & known["be"] and between & known["or"] and self._spelt.endswith("ed")
        is_hedged = between & known["modal"] or between & {",", ":"}
        is_cut = self._between[:1] and self._between[0] in known["attached"]
        after = fold(self._text[self._verb.end :]).split()[:1]
        is_owed = self._base == "have" and after and after[0] in known["owed"]
        unsure = (limits, is_part, is_past, is_later, shares_be, is_hedged, is_cut, is_owed)
        return not any(unsure) and not self._is_attitude and not self._joins_clauses

    @cached_property
    def _is_attitude(self) -> bool:
        """Whether somebody thinks, tells or supposes it, or is meant to do it."""
        words = lexicon(self.frame.language)
        before = self._text[: self.subject.start]
        lead = re.split(r"[.!?\n]", before)[-1] if self.subject.start else ""
        name = "unasserted phrases"
        supposed = name in words.phrases and words.has_phrase(name, re.findall(r"\w+", fold(lead)))
        is_told = self._base in words.words.get("reports verbs", ())
        to_do = re.match(r"\s*to\s", self._text[self._verb.end :])
        return supposed or is_told or (self._is_passive and to_do is not None)

    @cached_property
    def _joins_clauses(self) -> bool:
        """Whether a further clause with "be" of its own stands behind what it says."""
        rest = re.split(
            r"\W+(?:and|but|und|aber)\W+", fold(self._text[self._verb.end : self._end()[0]])
        )
        return any({*re.findall(r"['’]?\w+", each)} & self._known["be"] for each in rest[1:])

    @property
    def _is_of_time(self) -> bool:
        """Whether a time is what it tells, and not when it held: "The fair is on 3 May 2024"."""
        return self._spelt in self._known["be"] and self.frame.aspect is Aspect.STATE

    @property
    def _lasts(self) -> bool:
        """Whether it goes on after the stated time."""
        is_change = self.frame.aspect is Aspect.CHANGE and self._spelt not in self._known["be"]
        return is_change or self.frame.aspect is Aspect.STATE

    def _quote(self, end: int, period: Period | None) -> Span:
        start = min(self.frame.span.start, self.subject.start)
        if period is not None:
            start, end = min(start, period.start), max(end, period.end)
        words = self._text[start:end]
        start += len(words) - len(words.lstrip(EDGES))
        return Span(start, start + len(self._text[start:end].rstrip(EDGES)))
