"""Who judges whether two texts disagree."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from concord_search.ports.graph import Statement


@dataclass(frozen=True, slots=True)
class Compared:
    """A result beside a constitutive statement: its text, the one triple that it states (None:
    none or several), and who alone said it (empty: unknown or several)."""

    text: str
    fact: tuple[str, str, str] | None
    speaker: str
    statement: Statement


@dataclass(frozen=True, slots=True)
class Verdict:
    """How two texts disagree: the contract's class, 0 where they do not; `judged` says whether a
    judge decided, `is_of_text` whether it went by words: typed facts are compared exactly. A check
    would not record what is `unsure`."""

    conflict_class: int
    confidence: float
    judged: bool
    is_of_text: bool
    unsure: bool = False


class CheckStatus(Enum):
    """How a check ended, by the contract's names."""

    COMPLETE = "complete"
    NOTHING_TO_CHECK = "nothing to check"
    DEGRADED = "degraded"
    """A judge did not answer."""
    TIMED_OUT = "timed out"
    """The time was over before the last ones' turn, so they are not judged."""
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Verdicts:
    """How the judging ended, and the verdicts in the order of what was compared, if any came."""

    status: CheckStatus
    verdicts: Sequence[Verdict] = ()


class Judges(Protocol):
    """Who compares results with constitutive statements; records nothing."""

    async def verdicts(
        self, space: str, pairs: Sequence[Compared], seconds: float, *, use_models: bool
    ) -> Verdicts:
        """Judges at most 256 pairs, the first ones first, within so many seconds."""
        ...

    async def unread(self, space: str) -> int | None:
        """How many changed texts of a space the judges have not read yet; None: nobody knows."""
        ...
