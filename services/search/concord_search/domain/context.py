"""Signals from a turn's conversation: its neighbours, session, speaker and question (S1).

Every score is in [0, 1]; NaN for a memory without a session.
"""

from collections.abc import Mapping

import numpy as np

from concord_search.domain.candidates import Candidates, Floats
from concord_search.domain.memory import Talk
from concord_search.domain.speech import Asked

MOST_FUSED = 4.0
"""A fused score that is hardly ever reached: the highest of 240 questions' was 3.9."""

SESSION_BEST = 3
"""A session's score is the mean of so many of its best candidates."""


def signals(found: Candidates, asked: Asked, apart: Floats) -> Mapping[str, Floats]:
    """The context signals of every candidate, by name; `apart` is its `fusion_apart`."""
    talk = found.talk
    before, after = (standing(each.fusion) for each in (talk.before, talk.after))
    named = talk.speaker_named | (asked.first_person & (talk.kind == Talk.OF_USER))
    answers = talk.before.asks & ~talk.asks
    scores = {
        "context_window": share(found, talk.window),
        "context_passage": share(found, talk.passage),
        "context_neighbours": np.maximum(before, after),
        "context_session": _sessions(found, apart),
        "context_speaker": named.astype(np.float64),
        "context_answer": np.where(answers, before, 0.0),
    }
    return {name: np.where(talk.session == 0, np.nan, each) for name, each in scores.items()}


def standing(fused: Floats) -> Floats:
    """The sum of two branches' normalised scores, brought into [0, 1].

    A score of 1 in one branch is three deviations above its mean. The best candidate often has
    more in both, and must not be level with the next one.
    """
    return np.clip(fused / MOST_FUSED, 0.0, 1.0)


def share(found: Candidates, held: np.ndarray) -> Floats:
    """The share of the query's terms, by weight, that each row holds; `held`: shape (n, terms)."""
    total = float(found.term_weights.sum())
    shares: Floats = held @ found.term_weights / total if total > 0 else np.zeros(len(found))
    return shares


def _sessions(found: Candidates, fused: Floats) -> Floats:
    """For each candidate, the mean score of its session's best candidates."""
    scores = np.zeros(len(found))
    for session in {*found.talk.session.tolist()} - {0}:
        members = found.talk.session == session
        scores[members] = np.sort(fused[members])[-SESSION_BEST:].mean()
    return scores
