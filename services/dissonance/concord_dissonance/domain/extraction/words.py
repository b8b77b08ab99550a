"""Words by which a clause is more or less than a fact, and base forms of verbs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from concord_reading.lexicon import lexicon, read_classes

_SILENT = re.compile(
    r"([aeiou][cvz]|[aeiou]u|[^aeiou]u|[^i]iv|[^aeiou][aiu]g|[rl]g|chang|[aeiou][^aeiou]+i[rtdz]|gu?id"
    r"|[rln][cvs]|[bcdfgkpstz]l|[^aeo]at|reat|plor|quir|com|[^aeiou]clud|mot|u[rt]|tak|[mav]is|bin|gin|vit|ever|[^aeio]ar)\Z"
)
"""Ends of stems whose base form most often ends in "e"."""
_SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]\Z")
"""One short syllable: without a doubled consonant its base form ends in "e"."""
_NO_SILENT = re.compile(r"(it|us)\Z")


@cache
def words_of(language: str) -> Mapping[str, frozenset[str]]:
    """Return the words by class."""
    classes = read_classes(f"words.{language}.txt", __package__)
    return {name: frozenset(body.split()) for name, body in classes}


def base_form(word: str, language: str) -> str:
    """Return the base form of a folded verb, by rule; of a German one the word itself."""
    if language != "en":
        return word
    if (known := _irregular().get(word)) is not None:
        return known
    for ending in ("ies", "ied"):
        if word.endswith(ending) and len(word) > len("tied"):
            return word.removesuffix(ending) + "y"
    if word.endswith(("ses", "shes", "ches", "xes", "zzes", "oes")):
        return word.removesuffix("s" if word.endswith(("ases", "ises", "oses", "uses")) else "es")
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and re.search(r"[aeiouy]", stem) and not word.endswith("eed"):
            return _with_end(stem)
    return word


def _with_end(stem: str) -> str:
    """Return the base form that "ing" or "ed" left this of: "mov", "stopp", "visit"."""
    if stem[-1] == stem[-2:-1] and stem[-1] not in "lszfe":
        return stem[:-1]
    if stem.endswith(("ee", "fre", "agre")):
        return stem.removesuffix("e") + "e" if stem.endswith("ee") else stem + "e"
    if _SHORT.match(stem):
        return stem + "e"
    return stem if _NO_SILENT.search(stem) or not _SILENT.search(stem) else stem + "e"


@cache
def _irregular() -> Mapping[str, str]:
    own = (pair.split("/") for pair in words_of("en")["base"])
    return {**lexicon("en").irregular, **dict(own)}
