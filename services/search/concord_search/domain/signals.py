"""The signals of the composite score and their weights (spec S3, T4)."""

from dataclasses import dataclass, fields
from math import log

import numpy as np

from concord_search.domain.candidates import Candidates, Floats
from concord_search.domain.errors import SettingsInvalid
from concord_search.domain.instants import DAY, Micros

IMPORTANCE_NUMBER = {0: 0.6, 1: 0.3, 2: 0.6, 3: 1.0}
"""Importance as a number (spec G8), by the contract's enum value; unset counts as medium."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Relative weights of the signals, each at least 0; those with data are normalised to sum 1.

    The first six are spec S3's. `lexical` was chosen by measurement, `context` waits for its data,
    `head_of_chain` is the boost of T4: see services/decisions/0003.
    """

    vector_similarity: float = 0.30
    concept_overlap: float = 0.20
    domain_match: float = 0.15
    coactivation: float = 0.15
    authority: float = 0.10
    temporal: float = 0.10
    lexical: float = 0.20
    context: float = 0.20
    head_of_chain: float = 0.05

    def __post_init__(self) -> None:
        for name, value in self.items():
            if not 0.0 <= value < float("inf"):
                raise SettingsInvalid(f"the weight {name} is {value}; it must be 0 or more")
        if self.vector_similarity + self.lexical <= 0:
            raise SettingsInvalid("vector_similarity and lexical cannot both weigh nothing")

    def items(self) -> list[tuple[str, float]]:
        """The signals' names with their weights, in the order they are explained."""
        return [(field.name, getattr(self, field.name)) for field in fields(self)]


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """What signals need to know of the query."""

    now: Micros
    has_domain: bool
    has_concepts: bool
    has_words: bool


@dataclass(frozen=True, slots=True)
class SignalColumn:
    """One signal over n candidates: scores in [0, 1]; NaN where it has no data."""

    name: str
    weight: float
    scores: Floats


NO_DATA = {
    "domain_match": "the query names no domain",
    "concept_overlap": "no concepts were found in the query",
    "lexical": "the query holds no word that is searched for",
    "coactivation": "reads are not yet counted by session",
    "context": "neighbouring dialogue turns are not yet looked at",
    "head_of_chain": "it replaces no other memory",
}
"""Why a signal dropped out, by its name."""


def columns(found: Candidates, query: QueryFacts, weights: Weights) -> list[SignalColumn]:
    """Computes every signal for every candidate, in the order of `Weights.items`."""
    nothing = np.full(len(found), np.nan)
    scores = {
        "vector_similarity": np.clip(found.cosine, 0.0, 1.0),
        "concept_overlap": overlap(found) if query.has_concepts else nothing,
        "domain_match": found.domain_match if query.has_domain else nothing,
        "authority": authority(found),
        "temporal": temporal(found, query.now),
        "lexical": lexical(found) if query.has_words else nothing,
        "head_of_chain": np.where(found.is_head, 1.0, np.nan),
    }
    return [
        SignalColumn(name, weight, scores.get(name, nothing)) for name, weight in weights.items()
    ]


def overlap(found: Candidates) -> Floats:
    """Jaccard of the query's and the memory's concepts."""
    return found.shared_concepts / np.maximum(found.all_concepts, 1)


def authority(found: Candidates) -> Floats:
    """0.6 · importance + 0.4 · min(1, ln(1 + reads) / ln 50)."""
    return 0.6 * found.importance + 0.4 * np.minimum(1.0, np.log1p(found.access_count) / log(50))


def temporal(found: Candidates, now: Micros) -> Floats:
    """0.6 · e^(-0.05 · days since access) + 0.4 · e^(-0.007 · days since creation)."""
    accessed = np.maximum(now - found.last_access, 0) / DAY
    created = np.maximum(now - found.created, 0) / DAY
    return 0.6 * np.exp(-0.05 * accessed) + 0.4 * np.exp(-0.007 * created)


def lexical(found: Candidates) -> Floats:
    """BM25 as a share of the best candidate's; 0 for all where none shares a word."""
    best = float(found.lexical.max(initial=0.0))
    return found.lexical / best if best > 0 else np.zeros(len(found))
