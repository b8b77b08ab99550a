"""The signals of the composite score and their weights (spec S3, T4)."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from math import log
from operator import attrgetter

import numpy as np

from concord_search.domain import context, fusion
from concord_search.domain.asked_times import Within, window_fit
from concord_search.domain.candidates import Candidates, Floats
from concord_search.domain.errors import SettingsInvalid
from concord_search.domain.instants import DAY, Micros
from concord_search.domain.memory import Talk
from concord_search.domain.speech import NOTHING_ASKED, Asked

TEXT = frozenset(["vector_similarity", "lexical", "fusion", "fusion_apart"])
"""The signals that compare the query's text with a memory's."""

ASKED = TEXT | {"window"}
"""Those, and the one that compares the time that the query names."""

IMPORTANCE_NUMBER = {0: 0.6, 1: 0.3, 2: 0.6, 3: 1.0}
"""Importance as a number (spec G8), by the contract's enum value; unset counts as medium."""


LONG = 32
"""A text with so many different terms counts as long."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Relative weights of the signals, each at least 0; those with data are normalised to sum 1.

    The first six are spec S3's. The others were chosen or fitted by measurement: see
    services/decisions/0045 and 0101; `window`: 0102.
    """

    vector_similarity: float = 0.30
    concept_overlap: float = 0.20
    domain_match: float = 0.15
    coactivation: float = 0.15
    authority: float = 0.10
    temporal: float = 0.10
    lexical: float = 0.20
    fusion: float = 0.0
    fusion_apart: float = 0.0
    context_window: float = 0.10
    context_passage: float = 0.0
    context_neighbours: float = 0.05
    context_session: float = 0.05
    context_speaker: float = 0.0
    context_answer: float = 0.0
    statement: float = 0.0
    says_when: float = 0.0
    length: float = 0.0
    window: float = 0.10
    head_of_chain: float = 0.05

    def __post_init__(self) -> None:
        for name, value in self.items():
            if not 0.0 <= value < float("inf"):
                raise SettingsInvalid(f"the weight {name} is {value}; it must be 0 or more")
        if not any(self.values(TEXT)):
            raise SettingsInvalid(f"of {', '.join(sorted(TEXT))} not all can weigh nothing")

    def items(self) -> list[tuple[str, float]]:
        """The signals' names with their weights, in the order they are explained."""
        return [(field.name, getattr(self, field.name)) for field in fields(self)]

    def values(self, names: Iterable[str]) -> list[float]:
        """The weights of some signals, in their order."""
        return list(attrgetter(*names)(self))


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """The facts about the query that signals depend on."""

    now: Micros
    has_domain: bool
    has_concepts: bool
    asked: Asked = NOTHING_ASKED
    within: Within | None = None
    knows_words: bool = True
    """Whether the embedder knows a word of the query."""


NO_SESSION = "it belongs to no session"
NO_DATA = {
    "vector_similarity": "the embedder cannot read the signs of the query or the memory",
    "domain_match": "the query names no domain",
    "concept_overlap": "no concepts were found in the query",
    "lexical": "the query holds no word that is searched for",
    "coactivation": "the query names no session in which something was read with it",
    "context_window": NO_SESSION,
    "context_passage": NO_SESSION,
    "context_neighbours": NO_SESSION,
    "context_session": NO_SESSION,
    "context_speaker": NO_SESSION,
    "context_answer": NO_SESSION,
    "statement": "it is no turn of a conversation",
    "says_when": "the query asks for no time",
    "window": "the query names no time, or none that is known",
    "head_of_chain": "it replaces no other memory",
}
"""Why a signal has no data, by its name."""


def scores(found: Candidates, query: QueryFacts) -> dict[str, Floats]:
    """Computes every signal for every candidate, in [0, 1]; NaN where it has no data."""
    nothing = np.full(len(found), np.nan)
    is_turn = found.talk.kind != Talk.NONE
    apart = context.standing(
        fusion.apart(found.cosine, found.lexical, found.holds, found.term_weights)
    )
    return {
        "vector_similarity": np.clip(found.cosine, 0.0, 1.0),
        "concept_overlap": overlap(found) if query.has_concepts else nothing,
        "domain_match": found.domain_match if query.has_domain else nothing,
        "coactivation": found.coactivation,
        "authority": authority(found),
        "temporal": temporal(found, query.now),
        "lexical": context.share(found, found.holds) if found.has_words else nothing,
        "fusion": context.standing(found.fusion),
        "fusion_apart": apart,
        **context.signals(found, query.asked, apart),
        "statement": np.where(is_turn, 1.0 - found.talk.asks, np.nan),
        "says_when": found.talk.says_when.astype(np.float64) if query.asked.when else nothing,
        "length": np.minimum(1.0, found.lengths / LONG),
        "window": window_fit(found, query.within, query.now) if query.within else nothing,
        "head_of_chain": np.where(found.is_head, 1.0, np.nan),
    }


def overlap(found: Candidates) -> Floats:
    """The Jaccard index of the query's and each memory's concepts."""
    return found.shared_concepts / np.maximum(found.all_concepts, 1)


def authority(found: Candidates) -> Floats:
    """0.6 · importance + 0.4 · min(1, ln(1 + reads) / ln 50)."""
    return 0.6 * found.importance + 0.4 * np.minimum(1.0, np.log1p(found.access_count) / log(50))


def temporal(found: Candidates, now: Micros) -> Floats:
    """0.6 · e^(-0.05 · days since access) + 0.4 · e^(-0.007 · days since creation).

    A memory's stated valid time counts as its creation, and an unread memory's creation as its last
    access: so an imported memory is as old as it says.
    """
    created = np.minimum(found.valid_from, now)
    accessed = np.where(found.access_count > 0, np.minimum(found.last_access, now), created)
    since_access, since_creation = (now - accessed) / DAY, (now - created) / DAY
    return 0.6 * np.exp(-0.05 * since_access) + 0.4 * np.exp(-0.007 * since_creation)
