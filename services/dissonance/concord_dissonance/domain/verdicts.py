"""A judge's decision about a pair: a verdict or an abstention, each with a reason.

A verdict points into the two texts and holds none of their words, so an erased side leaves none.
"""

from dataclasses import dataclass, replace
from enum import Enum

from concord_reading.tokens import Span

JUDGES = 6
"""The version of candidates and judges. After a change of it every space is judged anew, and what
former judges found in texts ends."""


class ConflictClass(Enum):
    """How the two sides disagree (D2)."""

    EVOLUTION = "evolution"
    """One held before, the other holds now."""
    CONTRADICTION = "contradiction"
    """Both claim to hold now, and cannot."""
    NUANCE = "nuance"
    """A tension that may stand."""
    UNDECIDED = "undecided"
    """Flagged, and nobody could say how: it stands in lists of conflicts alone."""
    NONE = "none"
    """They agree, say the same, or can both hold."""


class Older(Enum):
    """Which side of an evolution is the former state."""

    NEITHER = "neither"
    FIRST = "first"
    SECOND = "second"


class ConflictType(Enum):
    """The subject of a disagreement (D2)."""

    LEGAL = "legal"
    FACTUAL = "factual"
    TEMPORAL = "temporal"
    REGIONAL = "regional"
    METHODOLOGICAL = "methodological"


class Severity(Enum):
    """How grave a conflict is."""

    CRITICAL = "critical"
    """A constitutive side."""
    MODERATE = "moderate"
    MINOR = "minor"


class Judge(Enum):
    """Who decided."""

    STRUCTURAL = "structural"
    LEXICAL = "lexical"
    NLI = "nli"
    LLM = "llm"


class Reason(Enum):
    """The reason of a verdict."""

    SAME_STATEMENT = "same statement"
    SAME_VALUE = "same value"
    LATER_STATE = "one value at a time, and the other begins later"
    SUCCEEDED = "one value at a time, and one had ended when the other began: nothing to settle"
    TWO_VALUES = "one value at a time, and two that hold together"
    EXCLUSIVE_VALUES = "two values of an exclusive set"
    MANY_VALUES = "the relation holds many values"
    EVENTS = "what happened once does not end what happened before"
    CONTAINED = "one value lies within the other"
    NEGATION = "one side denies what the other asserts"
    NUMBER = "another number"
    QUANTITY = "another quantity of the same dimension"
    DATE = "another date"
    ANTONYM = "words of opposite meaning"
    EXCLUSIVE_WORDS = "words of which only one can hold"
    WORDS_OF_CHANGE = "words of change, and one side is later"
    RESTATED = "the same source said it anew later"
    UNKNOWN_VALUES = "they say the same but for two amounts that cannot be compared"
    TEMPLATE = "a frame that stands in more than three memories"
    OPINIONS = "a model says otherwise than the rules"
    MODEL = "a model's judgement"

    @property
    def rule(self) -> str:
        """The rule's name in contracts, e.g. "later-state"."""
        return self.name.lower().replace("_", "-")


class Abstained(Enum):
    """Why a judge does not decide."""

    NOTHING_TO_COMPARE = "nothing to compare"
    NO_COMPARABLE_SUBJECT = "no comparable subject"
    NO_COMPARABLE_ATTRIBUTE = "no comparable attribute"
    OTHER_TIME = "their times cannot be compared"
    OTHER_SCOPE = "another region, version or environment"
    NOT_ASSERTED = "not asserted: a question, wish, plan, condition or quotation"
    UNDECLARED = "nothing is declared about the relation"
    UNKNOWN_FILLERS = "nothing is known about what differs"
    TOO_DIFFERENT = "more differs than one thing"
    TOO_LONG = "too long to ask a model about"
    UNSURE = "not surely enough decided"
    ORDER_DEPENDENT = "a model said something else of the pair in the other order"
    OUT_OF_TIME = "the caller's deadline came before its turn"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision. Swapping the pair swaps `older`, `first` and `second`, and nothing else."""

    conflict: ConflictClass
    judge: Judge
    reason: Reason
    confidence: float
    """In [0, 1]: how often such verdicts were right on development data; 1 for exact ones."""
    older: Older = Older.NEITHER
    """Set for an evolution alone."""
    type: ConflictType | None = None
    severity: Severity | None = None
    """None where there is no conflict."""
    first: tuple[Span, ...] = ()
    """The ranges of the first side's text that show it."""
    second: tuple[Span, ...] = ()

    @property
    def is_finding(self) -> bool:
        """Whether a check records it: the two disagree, and nothing has settled that yet."""
        return self.conflict is not ConflictClass.NONE and self.reason is not Reason.SUCCEEDED

    def swapped(self) -> "Verdict":
        """Return the verdict on the same pair in the other order."""
        return replace(self, older=_SWAPPED[self.older], first=self.second, second=self.first)


@dataclass(frozen=True, slots=True)
class Abstention:
    """No decision, which counts neither as agreement nor as disagreement."""

    reason: Abstained


_SWAPPED = {
    Older.NEITHER: Older.NEITHER,
    Older.FIRST: Older.SECOND,
    Older.SECOND: Older.FIRST,
}
