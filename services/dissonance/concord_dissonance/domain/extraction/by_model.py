"""Checks the facts that a model names against the text: what stands there is left (D13).

Neither its times nor its certainty are taken: a time is what the quote states, by rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from concord_reading.frame import Frame, Passage, Unread
from concord_reading.lexicon import Lexicon, lexicon
from concord_reading.reader import reader
from concord_reading.tokens import Span, content_of, tokens_of

from concord_dissonance.domain.extraction.candidate import Arm, Candidate, Said
from concord_dissonance.domain.extraction.stated_time import Period, stated_times
from concord_dissonance.domain.judges.attributes import attributes

CONFIDENCE = 0.75
"""Of a model's fact that passed. Concord has no model, so none was calibrated: none is sure."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A fact as a model names it, and the words of the text that it says state it."""

    subject: str
    relation: str
    object: str
    quote: str


def checked(at: int, said: Said, claims: Sequence[Claim]) -> tuple[list[Candidate], int]:
    """Return the claims that the text bears out as candidates, and the number of others.

    A quote must stand in the text, in a clause that is asserted as far as reading shows. Subject
    and object must have words, numbers and names of the text or its speakers alone; the relation
    those of the quote, unless it is an attribute.
    """
    reading = reader().read(Passage(said.text, said.speaker, said.addressee))
    words = lexicon(reading.language)
    found = [_checked(at, said, each, reading.frames, words) for each in claims]
    kept = [each for each in found if each is not None]
    return kept, len(found) - len(kept)


def _checked(
    at: int, said: Said, claim: Claim, frames: Sequence[Frame], words: Lexicon
) -> Candidate | None:
    start = said.text.find(claim.quote.strip())
    span = Span(start, start + len(claim.quote.strip()))
    own = [e for e in frames if e.span.start < span.end and span.start < e.span.end]
    if start < 0 or (own and not any(map(_is_stated, own))):
        return None
    if not _is_borne_out(said, claim, words):
        return None
    period = _period(said, own, span)
    return Candidate(
        at,
        _spaced(claim.subject),
        _relation(claim),
        _spaced(claim.object),
        span,
        CONFIDENCE,
        Arm.MODEL,
        period.since if period else None,
        period.until if period else None,
    )


def _is_borne_out(said: Said, claim: Claim, words: Lexicon) -> bool:
    """Whether a claim has no words, numbers and names but those that it may have."""
    given = _words(f"{said.text} {said.speaker} {said.addressee}", words)
    names = [_words(each, words) for each in (claim.subject, claim.object)]
    spelt, quoted = (
        {each.stem for each in tokens_of(text, words)} for text in (claim.relation, claim.quote)
    )
    is_named = _relation(claim) in _attributes(words.language) or (bool(spelt) and spelt <= quoted)
    return is_named and all(each and each <= given for each in names)


def _relation(claim: Claim) -> str:
    return "_".join(re.findall(r"\w+", claim.relation)).upper()


def _is_stated(frame: Frame) -> bool:
    return frame.unread is not Unread.NOT_ASSERTED and not frame.is_denied


def _words(text: str, words: Lexicon) -> set[str]:
    """Return the stems of a text's words of content."""
    return {*content_of(tokens_of(text, words), words)}


def _period(said: Said, frames: Iterable[Frame], span: Span) -> Period | None:
    """Return the one time that a quote states; None: none, or several."""
    found = {
        each
        for frame in frames
        for each in stated_times(said.text, frame, said.time)
        if span.start <= each.start and each.end <= span.end
    }
    return found.pop() if len(found) == 1 else None


@cache
def _attributes(language: str) -> frozenset[str]:
    named = (each for entry in attributes(language).values() for each in entry)
    return frozenset(each.attribute.upper() for each in named)


def _spaced(name: str) -> str:
    return re.sub(r"\s+", " ", name).strip()
