"""Stated facts and parts of words as terms of the sparse vector (S11).

Of a fact each name beside its relation.
A relation's words are no terms by themselves: "where does Mira live?" would find the home of
whoever states one. A term stands for one name and one relation, or for no name and the relation.
Relations that `relation_words.txt` takes together have one term.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from concord_concepts.stop_words import STOP_WORDS

from concord_search.adapters.qdrant.columns import Columns
from concord_search.adapters.qdrant.shard import Sparse, Words
from concord_search.domain import stated
from concord_search.domain.candidates import Bools, Ints
from concord_search.domain.memory import MemoryState
from concord_search.domain.stated import Triple

WEIGHT = 2.2 / 1.3
"""That of a word which stands once in a text of no length, by BM25's k = 1.2 and b = .75."""

MOST_NAMES = 20
"""So many words of a fact's subject and object are its names."""

MOST_TERMS = 200
"""Of a longer query only so many terms are looked for as names and relations of facts."""

_NO_NAME = 0
_IN_A_WORD = np.ones(1, dtype=np.int64)
"""In place of a relation: the name is the begin or the end of a word."""
_NAME_FACTOR, _RELATION_FACTOR, _LAST_FACTOR = (
    np.uint64(each) for each in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93)
)
_BITS = np.uint64((1 << 31) - 1)
_SHIFT = np.uint64(32)


def with_facts(words: Words, text: str, facts: Sequence[Triple], speaker: str) -> Sparse:
    """The weights of an indexed text and of the facts that it states."""
    terms: set[int] = set()
    for fact in facts:
        names, relation = (
            _numbers(words.terms_of(words.of_document(" ".join(each))))
            for each in (stated.names(fact, speaker)[:MOST_NAMES], stated.relation_words(fact[1]))
        )
        terms.update(_pairs(np.append(names, _NO_NAME), relation).ravel().tolist())
    weights = words.of_document(text)
    return words.joined(weights, dict.fromkeys(sorted(terms), WEIGHT)) if terms else weights


def indexed(words: Words, text: str, state: MemoryState) -> tuple[Sparse, int]:
    """The weights of an indexed text, of its facts and of parts of its words; how many of its terms
    are none of such parts."""
    weights = with_facts(words, text, state.facts, state.speaker)
    terms = {*_pairs(_numbers(words.parts_of(text)), _IN_A_WORD).ravel().tolist()}
    made = words.joined(weights, dict.fromkeys(sorted(terms), WEIGHT)) if terms else weights
    return made, len(words.terms_of(weights))


@dataclass(frozen=True, slots=True)
class StatedTerms:
    """The terms of facts and parts of words that a query asks for, and for which of the query's
    terms each stands.

    `numbers` and `places`, of one length: the term, and the place of the query's term.
    """

    numbers: Ints
    places: Ints

    def weights(self) -> Mapping[int, float]:
        """Together those for one of the query's terms weigh as much as a word."""
        for_each, weights = Counter(self.places.tolist()), dict[int, float]()
        for number, place in zip(self.numbers.tolist(), self.places.tolist(), strict=True):
            weights[number] = weights.get(number, 0.0) + 1.0 / for_each[place]
        return weights

    def holds(self, columns: Columns, rows: Ints, terms: Ints) -> Bools:
        """Whether each row holds each of the query's terms, by text, fact or part of a word;
        (rows, terms)."""
        held = columns.holds(rows, np.concatenate([terms, self.numbers]))
        found = held[:, : len(terms)]
        for at, place in enumerate(self.places.tolist(), len(terms)):
            found[:, place] |= held[:, at]
        return found


NOTHING = StatedTerms(*(np.zeros(0, dtype=np.int64) for _ in range(2)))
"""Of a query that asks for none."""


def asked(words: Words, text: str, terms: Ints, columns: Columns) -> StatedTerms:
    """The terms of facts and parts of words that a query with these terms asks for; reads the
    columns.

    A relation is asked for beside a name of its facts; by itself only where the query names nothing
    else that the space knows: "what is home?" A word that no text has is asked for within longer
    ones: "Pumpe" in "Wärmepumpe".
    """
    some, relations = terms[:MOST_TERMS], _relations(words)
    heads = [(term, *relations.get(term, ())) for term in some.tolist()]
    places = np.repeat(np.arange(len(some)), [len(each) for each in heads])
    pairs = _pairs(np.append(some, _NO_NAME), _numbers([head for each in heads for head in each]))
    there = columns.documents(pairs) > 0
    there[:-1] &= some[:, np.newaxis] != some[places]
    known = some[columns.documents(some) > 0].tolist()
    others = {*known} - relations.keys() - _stop_terms(words, text)
    beside_none = [not others - {term} for term in some[places].tolist()]
    there[-1] &= ~there[:-1].any(axis=0) & np.array(beside_none, dtype=np.bool_)
    numbers, at = pairs[there], np.broadcast_to(places, there.shape)[there]
    parts = _pairs(some, _IN_A_WORD).ravel()
    inside = np.flatnonzero((columns.documents(some) == 0) & (columns.documents(parts) > 0))
    return StatedTerms(np.append(numbers, parts[inside]), np.append(at, inside))


@lru_cache(maxsize=4)
def _relations(words: Words) -> Mapping[int, set[int]]:
    """By each term of a word that stands for relations: the terms that facts are indexed by."""
    found: dict[int, set[int]] = {}
    for phrase in stated.phrases():
        heads, terms = (
            words.terms_of(words.of_document(each))
            for each in (" ".join(stated.relation_words(phrase)), phrase)
        )
        for term in terms:
            found.setdefault(term, set()).update({*heads} - {term})
    return found


def _stop_terms(words: Words, text: str) -> set[int]:
    """The terms of a query's words that say nothing about its subject, in any language."""
    said = [each for each in re.findall(r"\w+", text) if each.casefold() in STOP_WORDS]
    weights = words.of_query(" ".join(said))
    return set() if weights is None else {*words.terms_of(weights)}


def _numbers(terms: Sequence[int]) -> Ints:
    return np.array(terms, dtype=np.int64)


def _pairs(names: Ints, relations: Ints) -> Ints:
    """The term of each name beside each relation, above 0; shape (names, relations)."""
    left = names.astype(np.uint64)[:, np.newaxis] * _NAME_FACTOR
    mixed = left + relations.astype(np.uint64) * _RELATION_FACTOR
    mixed = (mixed ^ (mixed >> _SHIFT)) * _LAST_FACTOR
    found: Ints = np.maximum((mixed >> _SHIFT) & _BITS, 1).astype(np.int64)
    return found
