"""Who judges whether two texts disagree."""

from collections.abc import Sequence
from dataclasses import dataclass
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
    judge decided."""

    conflict_class: int
    confidence: float
    judged: bool


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Verdicts in the order of what was compared; `is_degraded` where a judge did not answer.

    `is_cut`: the time was over before the last ones' turn, so they are not judged.
    """

    verdicts: Sequence[Verdict]
    is_degraded: bool = False
    is_cut: bool = False


class Judges(Protocol):
    """Who compares results with constitutive statements; records nothing."""

    async def verdicts(
        self, space: str, pairs: Sequence[Compared], seconds: float, *, use_models: bool
    ) -> Verdicts:
        """Judges at most 256 pairs, the first ones first.

        Raises `JudgesUnavailable`, and `TimeoutError` without any answer after so many seconds.
        """
        ...
