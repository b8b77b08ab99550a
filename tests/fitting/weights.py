"""Fits the weights of a profile's signals, so that evidence comes before what is none."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from concord_search.domain import signals
from concord_search.domain.candidates import Floats

from tests.fitting.samples import Sample

STEPS, RATE, MOMENTUM = 300, 0.05, 0.9

OF_TURNS = {
    "domain_match": 0.15,
    "coactivation": 0.15,
    "authority": 0.03,
    "temporal": 0.03,
    "window": 0.10,
    "head_of_chain": 0.05,
}
CHOSEN = {
    "plain": {
        "length": 0.015,
        "domain_match": 0.01,
        "coactivation": 0.006,
        "authority": 0.006,
        "temporal": 0.006,
        "head_of_chain": 0.006,
        "concept_overlap": 0.003,
        "window": 0.10,
    },
    "people": OF_TURNS,
    "assistant": OF_TURNS,
}
"""What the data cannot tell: beside fitted weights that sum to 1. Reading must not lift by much
what is read because it ranks well; of plain memories all together stay below what S3 allows."""


def fit(samples: Sequence[Sample], names: Sequence[str], ridge: float) -> Mapping[str, float]:
    """Weights by signal, at least 0, that sum to 1.

    They maximise the mean log-likelihood of the evidence among each question's candidates
    (softmax over the composite), less `ridge` for large ones, by projected gradient. Each
    collection counts as much as any other.
    """
    usable = [each for each in samples if each.right.any()]
    sizes = Counter(each.collection for each in usable)
    share = np.array([1 / sizes[each.collection] for each in usable])
    rows = max(len(each.found) for each in usable)
    tables = np.zeros((len(usable), rows, len(names)))
    beside = np.full((len(usable), rows), -np.inf)
    wanted = np.zeros((len(usable), rows))
    for at, each in enumerate(usable):
        count = len(each.found)
        tables[at, :count], beside[at, :count] = _table(each, names), 0.0
        wanted[at, :count] = each.right / each.right.sum()
    scale = tables[beside == 0].std(axis=0) + 1e-6
    tables /= scale
    share = (share / share.sum())[:, np.newaxis]
    weights, speed = np.full(len(names), 0.3), np.zeros(len(names))
    for _ in range(STEPS):
        apart = (_softmax(tables @ weights + beside) - wanted) * share
        speed = MOMENTUM * speed + ridge * weights + np.tensordot(apart, tables, axes=2)
        weights = np.maximum(weights - RATE * speed, 0.0)
    fitted = weights / scale
    return dict(zip(names, (fitted / fitted.sum()).round(4).tolist(), strict=True))


def _table(sample: Sample, names: Sequence[str]) -> np.ndarray:
    scores = signals.scores(sample.found, sample.facts)
    return np.nan_to_num(np.stack([scores[name] for name in names], axis=1))


def _softmax(values: Floats) -> Floats:
    raised: Floats = np.exp(values - values.max(axis=1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=1, keepdims=True)
    return shares
