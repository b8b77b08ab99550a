"""Words by which a clause is more or less than a fact."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from concord_reading.lexicon import read_classes


@cache
def words_of(language: str) -> Mapping[str, frozenset[str]]:
    """Return the words by class."""
    classes = read_classes(f"words.{language}.txt", __package__)
    return {name: frozenset(body.split()) for name, body in classes}
