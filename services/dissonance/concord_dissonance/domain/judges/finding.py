"""What a finder of the lexical judge hands on: two clauses, and how they disagree."""

from __future__ import annotations

from dataclasses import dataclass

from concord_dissonance.domain.language.clauses import Clause
from concord_dissonance.domain.verdicts import Older, Reason


@dataclass(frozen=True, slots=True)
class Finding:
    """That two clauses cannot both hold, if they speak of one time."""

    reason: Reason
    pattern: str
    """By what it was found; `language/lexicon/precision.txt` says how often such were right."""
    first: Clause
    second: Clause
    denies_experience: Older = Older.NEITHER
    """Which side says "never", of all the time before it was said."""
