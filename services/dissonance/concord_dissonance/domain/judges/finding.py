"""A finding of the lexical judge: two clauses, and how they disagree."""

from __future__ import annotations

from dataclasses import dataclass

from concord_reading.clauses import Clause
from concord_dissonance.domain.verdicts import Older, Reason


@dataclass(frozen=True, slots=True)
class Finding:
    """Two clauses that cannot both hold if they are about the same time."""

    reason: Reason
    pattern: str
    """The pattern that found it; `language/lexicon/precision.txt` lists each one's precision."""
    first: Clause
    second: Clause
    denies_experience: Older = Older.NEITHER
    """The side that denies an experience: for all the time before it was said."""
