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


def names(fact: Triple, speaker: str = "") -> Sequence[str]:
    """The words of its subject and object; of "I" as the subject, the speaker's."""
    subject, _, target = fact
    return [*(_telling(subject) or _telling(speaker)), *_telling(target)]


def relation_words(relation: str) -> Sequence[str]:
    """The word that stands for a relation and all else that it is called; else its own words."""
    words = words_of(relation)
    return _other_names(" ".join(words))[:1] or words


def phrases() -> Sequence[str]:
    """All that relations with several names are called."""
    return [*_named()]


def matched(facts: Sequence[Triple], concepts: Sequence[str]) -> Triple | None:
    """The fact that shares most concepts with a query, besides its subject; None: none does.

    The first of equals. It names its subject or object, or nothing else: the home of another is no
    answer. `concepts` are the query's, in normal form.
    """
    asked = frozenset(concepts)
    best, most = None, 0
    for each in facts:
        subject, target, shared = (
            asked.intersection(extract(text, _MOST_CONCEPTS))
            for text in (each[0], each[2], in_words(each))
        )
        is_meant = bool(subject or target) or shared == asked
        if len(shared) > most and shared - subject and is_meant:
            best, most = each, len(shared)
    return best


def _telling(text: str) -> Sequence[str]:
    return [each for each in text.split() if each.casefold() not in STOP_WORDS]


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
