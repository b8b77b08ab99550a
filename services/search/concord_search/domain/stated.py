"""What a memory states, in words that people ask with (spec S11)."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from concord_concepts import extract
from concord_concepts.stop_words import STOP_WORDS

Triple = tuple[str, str, str]
"""Subject, relation, object."""

_MOST_CONCEPTS = 50
_HUMP = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])")
_WORD = re.compile(r"[^\W_]+")


def in_words(fact: Triple) -> str:
    """A fact as words: "Ada LIVES_IN Bremen" is "Ada lives in Bremen", with "home address …"."""
    subject, relation, target = fact
    said = " ".join(words_of(relation))
    return " ".join([subject, said, target, *_other_names(said)])


def matched(facts: Sequence[Triple], concepts: Sequence[str]) -> Triple | None:
    """The fact that shares most concepts with a query, besides its subject; None: none does.

    The first of equals. `concepts` are the query's, in normal form.
    """
    asked = frozenset(concepts)
    best, most = None, 0
    for each in facts:
        subject = asked.intersection(extract(each[0], _MOST_CONCEPTS))
        shared = asked.intersection(extract(in_words(each), _MOST_CONCEPTS))
        if len(shared) > most and shared - subject:
            best, most = each, len(shared)
    return best


def words_of(relation: str) -> Sequence[str]:
    """The words of a relation's name: LIVES_IN and livesIn are "lives", "in"."""
    return _WORD.findall(_HUMP.sub(" ", relation).casefold())


def _other_names(relation: str) -> Sequence[str]:
    """Other words for a relation, in English and German."""
    words = " ".join(each for each in relation.split() if each not in STOP_WORDS)
    return _named().get(words, ())


@cache
def _named() -> Mapping[str, Sequence[str]]:
    """The groups of `relation_words.txt`, by each phrase of theirs."""
    lines = files("concord_search").joinpath("relation_words.txt").read_text("utf-8").splitlines()
    groups = [line.split(", ") for line in lines if line and not line.startswith("#")]
    return {phrase: group for group in groups for phrase in group}
