"""Fits one profile, and measures it on conversations that a fit left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from concord_search.domain.candidates import Bools, Floats
from concord_search.domain.confidence import ANSWERABLE, RIGHT, Confidence, Logit
from concord_search.domain.profiles import Profile, Profiles
from concord_search.domain.ranking import Ranking
from concord_search.domain.signals import Weights

from tests.fitting import calibration, weights
from tests.fitting.samples import Sample, Samples

TOP = 10
OWN_SCORES = ("vector_similarity", "concept_overlap", "lexical", "fusion")
SIGNALS = {
    "people": (
        *OWN_SCORES,
        *("context_window", "context_neighbours", "context_session", "context_speaker"),
        *("context_answer", "statement", "says_when", "length"),
    ),
    "assistant": (*OWN_SCORES, "context_neighbours", "context_session", "context_speaker"),
}
RIDGE = {"people": 0.001, "assistant": 0.1}
"""Five chats tell little: their weights are kept few and near to one another."""

UNKNOWN = Logit(0.0, {})
UNSURE = Confidence(UNKNOWN, UNKNOWN, 0.0, 1.0)


@dataclass(frozen=True)
class Fitted:
    """A profile, and what it reached on conversations left out."""

    profile: Profile
    figures: Mapping[str, float]


@dataclass(frozen=True)
class First:
    """The first result of a question: how probably its memory can answer and it is right, by what
    is said of it, and both in truth."""

    said_answerable: float
    said_right: float
    right: bool
    answerable: bool


@dataclass(frozen=True)
class LeftOut:
    """What fits without a conversation reach on it: (any, coverage) of each question asked of its
    own conversation and of all in one space, and the first results of all questions."""

    own: list[tuple[float, float]]
    together: list[tuple[float, float]]
    firsts: list[First]

    def bounds(self) -> tuple[float, float]:
        """Below which a result is LOW, and from which HIGH."""
        can, sure, _, answerable = self._columns()
        return calibration.low_bound(can, answerable), calibration.high_bound(sure, answerable)

    def bands(self, low: float, high: float) -> Mapping[str, float]:
        """How the bands come out: the shares that spec S5 bounds, and of MEDIUM the right ones."""
        can, sure, right, answerable = self._columns()
        is_low = can < low
        is_high = ~is_low & (sure >= high)
        shares = {
            "HIGH right": _mean(right[is_high]),
            "answerable HIGH": _mean(is_high[answerable]),
            "unanswerable LOW": _mean(is_low[~answerable]),
            "right LOW": _mean(is_low[right]),
            "MEDIUM right": _mean(right[~is_low & ~is_high]),
        }
        return {name: round(value, 3) for name, value in shares.items()}

    def trade_off(self, shares: Sequence[float]) -> Sequence[tuple[float, float, float]]:
        """By shares of the answerable that are to come out HIGH, and of the unanswerable that are
        not to come out LOW: that share, HIGH right, and right LOW."""
        can, sure, _, answerable = self._columns()
        curve = []
        for share in shares:
            low = calibration.low_bound(can, answerable, 1 - share)
            high = calibration.high_bound(sure, answerable, share)
            seen = self.bands(low, high)
            curve.append((share, seen["HIGH right"], seen["right LOW"]))
        return curve

    def _columns(self) -> tuple[Floats, Floats, Bools, Bools]:
        names = ("said_answerable", "said_right", "right", "answerable")
        can, sure, right, answerable = (
            np.array([getattr(each, name) for each in self.firsts]) for name in names
        )
        return can, sure, right, answerable


def _mean(values: Floats | Bools) -> float:
    """Their mean; of none 1."""
    return float(values.mean()) if len(values) else 1.0


def left_out(name: str, samples: Samples) -> LeftOut:
    """Each conversation by a fit on the others."""
    seen = LeftOut([], [], [])
    for conversation in sorted({each.conversation for each in samples.own}):
        profile = profile_of(name, samples.without(conversation))
        tested = samples.only(conversation)
        seen.own.extend(found(each, profile) for each in tested.own)
        seen.together.extend(found(each, profile) for each in tested.together)
        seen.firsts.extend(_firsts(profile, tested))
    return seen


def fit(name: str, samples: Samples) -> Fitted:
    """Fits on all; the bounds of the bands are those of conversations left out."""
    seen = left_out(name, samples)
    low, high = seen.bounds()
    whole = profile_of(name, samples)
    bounded = replace(whole, confidence=replace(whole.confidence, low=low, high=high))
    return Fitted(bounded, {**_found(seen.own), **seen.bands(low, high)})


def found(sample: Sample, profile: Profile) -> tuple[float, float]:
    """Whether any evidence is among the first ten, and the share of it that is."""
    ranking = Ranking(sample.found, sample.facts, of_all(profile))
    hits = int(sample.right[ranking.order[:TOP]].sum())
    return float(hits > 0), hits / sample.evidence


def of_all(profile: Profile) -> Profiles:
    """One profile for whatever is found."""
    return Profiles(profile, profile, profile)


def profile_of(name: str, samples: Samples) -> Profile:
    """Fits the weights, then how sure the first results by these weights are."""
    fitted = weights.fit(samples.own, SIGNALS[name], RIDGE[name])
    none = dict.fromkeys((each for each, _ in Weights().items()), 0.0)
    ranked = Profile(Weights(**{**none, **weights.CHOSEN, **fitted}), UNSURE)
    others = len(samples.elsewhere) / len(samples.own)
    firsts = [
        (
            *calibration.first_result(each, of_all(ranked)),
            answerable,
            1.0 if answerable else 1 / others,
        )
        for some, answerable in ((samples.own, True), (samples.elsewhere, False))
        for each in some
        if len(each.found)
    ]
    shown, right, answerable, counts = zip(*firsts, strict=True)
    confidence = Confidence(
        answerable=calibration.fit(shown, answerable, ANSWERABLE, np.array(counts)),
        right=calibration.fit(shown, right, RIGHT, np.array(counts)),
        low=0.0,
        high=1.0,
    )
    return replace(ranked, confidence=confidence)


def _firsts(profile: Profile, samples: Samples) -> list[First]:
    said = []
    for some, answerable in ((samples.own, True), (samples.elsewhere, False)):
        for sample in some:
            evidence, right = calibration.first_result(sample, of_all(profile))
            columns = {name: np.array([value]) for name, value in evidence.items()}
            can = profile.confidence.answerable.probability(columns)
            sure = profile.confidence.right.probability(columns)
            said.append(First(float(can[0]), float(sure[0]), right, answerable))
    return said


def _found(figures: Sequence[tuple[float, float]]) -> Mapping[str, float]:
    any_, coverage = np.mean(figures, axis=0).round(3).tolist()
    return {"questions": len(figures), "any@10": any_, "coverage@10": coverage}
