"""Sources with their claims and texts, and the theses that are extracted from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from concord_dissonance.domain.sides import Micros
from concord_dissonance.domain.statements import Statement


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as its source states it; None or empty: not stated."""

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
    """The claims and the text of one agent, or of one memory."""

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
    UNSUPPORTED = 3
    """A model said it, and the source's own words do not support it."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """A text that is no thesis."""

    agent: str
    text: str
    reason: WhyAside


@dataclass(slots=True)
class Batch:
    """The theses of one source, and its texts set aside. `first`: the place of its first thesis."""

    agent: str
    first: int = 0
    theses: list[Thesis] = field(default_factory=list)
    set_aside: list[SetAside] = field(default_factory=list)
