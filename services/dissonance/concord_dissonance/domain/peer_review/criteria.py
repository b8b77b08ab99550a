"""The criteria by which an answer is scored, with weights that sum to one (D9)."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from concord_dissonance.domain.errors import FieldInvalid

WHOLE = 1_000_000
"""The sum of weights, in millionths."""
SETS = ("general", "legal", "technical")


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion; `weight` is its share of the whole score, in millionths."""

    name: str
    weight: int
    description: str = ""


def criteria_set(name: str, language: str) -> tuple[Criterion, ...]:
    """Return the criteria of one of `SETS`, described in "en" or "de"."""
    found = _file()[name].items()
    return checked([Criterion(each, said["weight"], said[language]) for each, said in found])


def checked(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """Return criteria if their names differ, and their weights are positive and sum to 1.

    Each weight was rounded once, so that the sum of n of them may be n/2 millionths off. Raises
    `FieldInvalid` for others.
    """
    names = {each.name.casefold() for each in criteria}
    if not criteria or len(names) < len(criteria):
        raise FieldInvalid("criteria", "need names that differ")
    if any(each.weight <= 0 for each in criteria):
        raise FieldInvalid("criteria", "need weights above 0")
    total = sum(each.weight for each in criteria)
    if 2 * abs(total - WHOLE) > len(criteria):
        raise FieldInvalid("criteria", f"need weights that sum to 1, not to {total / WHOLE}")
    return tuple(criteria)


@cache
def _file() -> dict[str, dict[str, dict[str, Any]]]:
    text = resources.files(__package__).joinpath("criteria.toml").read_text("utf-8")
    return tomllib.loads(text)
