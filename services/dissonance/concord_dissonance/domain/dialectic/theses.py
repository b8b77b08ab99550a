"""Extracts theses from what agents and memories say; what is no thesis is set aside, with why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from concord_dissonance.domain.dialectic.legal import legal_references, states_basis
from concord_dissonance.domain.dialectic.phrases import Phrases
from concord_dissonance.domain.sides import Micros
from concord_dissonance.domain.statements import Statement

MOST_OF_A_TEXT = 3
"""Theses that are taken from one text."""
_BOUNDARY = re.compile(r"(?<=[.!?])[\"”“»)]*\s+(?=[\"„“«(]*[A-ZÄÖÜ0-9§])|\s*\n\s*")
_BULLET = re.compile(r"(?:[-*•]|\d{1,2}[.)])\s+")
_ABBREVIATED = re.compile(
    r"(?:\b\w\.|\d\.|\b(?:Art|Abs|Nr|Ziff|Sec|No|Dr|Prof|vgl|bzw|ca|lit|Vol|St|Mr|Mrs)\.)$"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as its source states it; None and empty for what it does not say."""

    text: str
    evidence: tuple[str, ...] = ()
    confidence: float | None = None
    legal_basis: tuple[str, ...] = ()
    context: str = ""
    region: str = ""
    valid_from: Micros | None = None
    authority: float | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """What one agent, or one memory, says."""

    agent: str
    claims: Sequence[Claim] = ()
    text: str = ""
    confidence: float | None = None
    """How sure it is of its text, in [0, 1]."""
    memory: Statement | None = None
    authority: float | None = None


@dataclass(frozen=True, slots=True)
class Thesis:
    """A claim with what supports it, in the source's own words."""

    agent: str
    claim: str
    confidence: float
    evidence: tuple[str, ...] = ()
    legal_basis: tuple[str, ...] = ()
    context: str = ""
    region: str = ""
    valid_from: Micros | None = None
    authority: float | None = None
    memory: Statement | None = None


class WhyAside(Enum):
    """Why something is no thesis."""

    SPECULATION = 1
    UNSTATED_LEGAL_BASIS = 2


@dataclass(frozen=True, slots=True)
class SetAside:
    """A text that is no thesis."""

    agent: str
    text: str
    reason: WhyAside


@dataclass(slots=True)
class Batch:
    """The theses of one source, and what is none; `first` is the place of its first thesis."""

    agent: str
    first: int = 0
    theses: list[Thesis] = field(default_factory=list)
    set_aside: list[SetAside] = field(default_factory=list)


def extract(source: Source, phrases: Phrases) -> Batch:
    """Return the theses of a source: every claim that it states, and up to three of its text.

    `phrases` tells suppositions, and which of two sentences deny each other is not asked here:
    the sentences with a legal basis or a number come first, then as they stand.
    """
    batch = Batch(source.agent)
    own_words = [source.text, *(word for each in source.claims for word in _words(each))]
    for claim in source.claims:
        _add(batch, source, claim, own_words, phrases)
    sentences = [each for each in sentences_of(source.text) if not phrases.supposes(each)]
    batch.set_aside += [
        SetAside(source.agent, each, WhyAside.SPECULATION)
        for each in sentences_of(source.text)
        if phrases.supposes(each)
    ]
    for sentence in _foremost(sentences):
        claim = Claim(
            sentence,
            confidence=source.confidence,
            legal_basis=tuple(legal_references(sentence)),
            authority=source.authority,
        )
        _add(batch, source, claim, [sentence], phrases)
    return batch


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, in order, in their own words."""
    found: list[str] = []
    for piece in _BOUNDARY.split(text):
        part = _BULLET.sub("", piece.strip(), count=1)
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] = f"{found[-1]} {part}"
        elif any(map(str.isalpha, part)):
            found.append(part)
    return found


def confidence_of(stated: float | None, supports: int) -> float:
    """Return a confidence as stated, else 1 - 0.5^(1 + n) for n pieces of support."""
    return 1 - 0.5 ** (1 + supports) if stated is None else stated


def _foremost(sentences: Sequence[str]) -> list[str]:
    """Return the sentences that become theses, in their order."""
    ranked = sorted(sentences, key=lambda each: -_weight(each))[:MOST_OF_A_TEXT]
    return [each for each in dict.fromkeys(sentences) if each in ranked]


def _weight(sentence: str) -> int:
    return 2 * bool(legal_references(sentence)) + any(map(str.isdecimal, sentence))


def _add(
    batch: Batch, source: Source, claim: Claim, own_words: Iterable[str], phrases: Phrases
) -> None:
    if phrases.supposes(claim.text):
        batch.set_aside.append(SetAside(source.agent, claim.text, WhyAside.SPECULATION))
        return
    stated, unstated = _stated_basis(claim.legal_basis, [*own_words])
    batch.set_aside += [
        SetAside(source.agent, each, WhyAside.UNSTATED_LEGAL_BASIS) for each in unstated
    ]
    of_memory = source.memory.side if source.memory else None
    batch.theses.append(
        Thesis(
            source.agent,
            claim.text,
            confidence_of(claim.confidence, len(claim.evidence) + len(stated)),
            claim.evidence,
            tuple(stated),
            claim.context,
            claim.region or (of_memory.scope.get("region", "") if of_memory else ""),
            claim.valid_from or (of_memory.valid_from if of_memory else None),
            source.authority if claim.authority is None else claim.authority,
            source.memory,
        )
    )


def _stated_basis(bases: Sequence[str], own_words: Sequence[str]) -> tuple[list[str], list[str]]:
    stated = [each for each in bases if states_basis(own_words, each)]
    return stated, [each for each in bases if each not in stated]


def _words(claim: Claim) -> Iterator[str]:
    yield claim.text
    yield from claim.evidence
    yield claim.context
