"""Fits the weights of a profile's signals, so that evidence comes before what is none."""

from collections.abc import Mapping, Sequence

import numpy as np
from concord_search.domain import signals
from concord_search.domain.candidates import Floats

from tests.fitting.samples import Sample

STEPS, RATE, MOMENTUM = 600, 0.05, 0.9

CHOSEN = {
    "domain_match": 0.15,
    "coactivation": 0.15,
    "authority": 0.03,
    "temporal": 0.03,
    "window": 0.10,
    "head_of_chain": 0.05,
}
"""What the data cannot tell: beside fitted weights that sum to 1. Reading must not lift by much
what is read because it ranks well."""


def fit(samples: Sequence[Sample], names: Sequence[str], ridge: float) -> Mapping[str, float]:
    """Weights by signal, at least 0, that sum to 1.

    They maximise the mean log-likelihood of the evidence among each question's candidates
    (softmax over the composite), less `ridge` for large ones, by projected gradient.
    """
    usable = [each for each in samples if each.right.any()]
    tables = [_table(each, names) for each in usable]
    scale = np.concatenate(tables).std(axis=0) + 1e-6
    weights, speed = np.full(len(names), 0.3), np.zeros(len(names))
    for _ in range(STEPS):
        slope = ridge * weights
        for table, sample in zip(tables, usable, strict=True):
            scaled = table / scale
            wanted = sample.right / sample.right.sum()
            slope += scaled.T @ (_softmax(scaled @ weights) - wanted) / len(usable)
        speed = MOMENTUM * speed + slope
        weights = np.maximum(weights - RATE * speed, 0.0)
    fitted = weights / scale
    return dict(zip(names, (fitted / fitted.sum()).round(4).tolist(), strict=True))


def _table(sample: Sample, names: Sequence[str]) -> np.ndarray:
    scores = signals.scores(sample.found, sample.facts)
    return np.nan_to_num(np.stack([scores[name] for name in names], axis=1))


def _softmax(values: Floats) -> Floats:
    raised: Floats = np.exp(values - values.max())
    shares: Floats = raised / raised.sum()
    return shares
