"""Facts that texts state, as candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from concord_models.budget import Cost
from concord_reading.tokens import Span

from concord_dissonance.domain.sides import Micros

LONGEST = 120
"""Characters of the longest subject and object; longer ones are no names of anything."""
SURE, LIKELY, UNSURE = 0.95, 0.85, 0.6
"""How sure candidates by reading are: `python -m tests.bench extraction` prints how many are."""
TAKEN_FROM = LIKELY
"""The least confidence of a candidate that is taken without being looked at."""
_TWO = 2


class Arm(Enum):
    """What found a candidate."""

    READING = "reading"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Said:
    """A text, or a turn of a dialogue. `time`: its own; None where nobody knows."""

    text: str
    speaker: str = ""
    addressee: str = ""
    time: Micros | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that a text states. `span`: where, in characters; its words are the quote."""

    text: int
    """Which of the texts, from 0."""
    subject: str
    relation: str
    object: str
    span: Span
    confidence: float
    arm: Arm = Arm.READING
    valid_from: Micros | None = None
    valid_until: Micros | None = None
    """Exclusive. None: the text states none."""


class Outcome(Enum):
    """How an extraction ended."""

    FOUND = "found"
    NO_FACTS = "no facts"
    BUDGET_SPENT = "budget spent"
    INVALID_REPLY = "invalid reply"


@dataclass(slots=True)
class Extracted:
    """The candidates from texts, and what was covered."""

    candidates: list[Candidate] = field(default_factory=list)
    texts: int = 0
    texts_left: int = 0
    """Texts that were not read: no time was left, or no parser is installed."""

    dropped: int = 0
    """A model's facts that the text does not bear out."""
    budget_spent: int = 0
    """Texts about which no model was asked, since its budget was spent."""
    invalid_replies: int = 0
    """Texts about which a model that was to be asked gave no usable reply."""
    cost: Cost = field(default_factory=Cost)

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        if self.invalid_replies:
            return Outcome.INVALID_REPLY
        if self.texts_left or self.budget_spent:
            return Outcome.BUDGET_SPENT
        return Outcome.FOUND if self.candidates else Outcome.NO_FACTS


def dialogue(said: Sequence[Said]) -> list[Said]:
    """Return turns with whom each speaks to, where two people speak in all."""
    speakers = {each.speaker for each in said} - {""}
    if len(speakers) != _TWO:
        return [*said]
    others = {each: (speakers - {each}).pop() for each in speakers}
    return [replace(each, addressee=others.get(each.speaker, "")) for each in said]
