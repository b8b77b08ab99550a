"""Fits one profile, and measures it on conversations that a fit left out."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from concord_search.domain.candidates import Bools, Floats
from concord_search.domain.confidence import Confidence, Logit
from concord_search.domain.profiles import Profile, Profiles
from concord_search.domain.ranking import Ranking
from concord_search.domain.signals import Weights

from tests.fitting import calibration, weights
from tests.fitting.samples import Sample, Samples

TOP = 10
SIGNALS = {
    "plain": ("vector_similarity", "lexical", "fusion_apart"),
    "people": (
        *("fusion_apart", "context_window", "context_passage", "context_session"),
        *("context_speaker", "context_answer", "says_when", "length"),
    ),
    "assistant": (
        *("vector_similarity", "concept_overlap", "lexical", "fusion", "fusion_apart"),
        *("context_neighbours", "context_session", "context_speaker"),
    ),
}
RIDGE = {"plain": 1.0, "people": 0.001, "assistant": 0.2}
"""Five chats tell little, as do the facts of two dialogues: their weights are kept few and near to
one another. People's are those that help in dialogues and in their messages, or hurt in neither."""

UNKNOWN = Logit(0.0, {})
UNSURE = Confidence(UNKNOWN, UNKNOWN, 0.0, 1.0)


@dataclass(frozen=True)
class Fitted:
    """A profile, and what it reached on conversations left out."""

    profile: Profile
    figures: Mapping[str, Mapping[str, float]]


ANSWERABLE = (
    *("cosine", "best_cosine", "mean_cosine", "composite", "coverage_cosine"),
    *("best_coverage", "mean_coverage", "best_concepts"),
)
"""The evidence that the memory can answer the query."""

RIGHT = (
    *("stands_out", "beats_next", "composite", "composite_lead"),
    *("coverage_cosine", "held", "lexical", "ranks", "says_when"),
)
"""The evidence that a result is right."""

SIZES = {"plain": (5, 20, 60)}
"""Of plain memories there may be few: so many others, in spaces that bands are fitted on, too; and
all but those that answer. What answers a turn's question also stands in the turns around it."""


@dataclass(frozen=True)
class First:
    """The first result of a question about a conversation: how probably its memory can answer and
    it is right, by what is said of it, and both in truth."""

    conversation: str
    said_answerable: float
    said_right: float
    right: bool
    answerable: bool


@dataclass(frozen=True)
class LeftOut:
    """What fits without a conversation reach on it: (any, coverage) of each question asked of its
    own conversation and of all in one space, by collection, the profile by conversation, and the
    first results of all questions; `near`: and of those whose answers are taken out."""

    margin: calibration.Margin
    own: dict[str, list[tuple[float, float]]]
    together: dict[str, list[tuple[float, float]]]
    profiles: dict[str, Profile]
    firsts: list[First]
    near: list[First]

    def bounds(self) -> tuple[float, float]:
        """Below which a result is LOW, and from which HIGH; the worst conversation counts, too."""
        can, sure, right, answerable = self._columns()
        lows = [
            calibration.low_bound(can[~answerable], self.margin.together),
            calibration.low_bound(can[right], self.margin.right_low),
        ]
        for conversation in self._conversations():
            can_here, _, _, answerable_here = self._columns(conversation)
            lows.append(calibration.low_bound(can_here[~answerable_here], self.margin.worst))
        return max(lows), calibration.high_bound(sure, answerable, self.margin.high)

    def bands(self, low: float, high: float) -> Mapping[str, float]:
        """How the bands come out: the shares that spec S5 bounds, and of MEDIUM the right ones.

        Each of all questions together; of two also that of the worst conversation.
        """
        worst = {
            f"worst {name}": min(
                self._bands(low, high, each)[name] for each in self._conversations()
            )
            for name in ("HIGH right", "unanswerable LOW")
        }
        near = [each.said_answerable < low for each in self.near]
        beside = {"near LOW": round(sum(near) / len(near), 3)} if near else {}
        return {**self._bands(low, high), **worst, **beside}

    def _bands(self, low: float, high: float, conversation: str = "") -> Mapping[str, float]:
        can, sure, right, answerable = self._columns(conversation)
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
            low = calibration.low_bound(can[~answerable], 1 - share)
            high = calibration.high_bound(sure, answerable, share)
            seen = self.bands(low, high)
            curve.append((share, seen["HIGH right"], seen["right LOW"]))
        return curve

    def _conversations(self) -> Sequence[str]:
        return sorted({each.conversation for each in self.firsts})

    def _columns(self, conversation: str = "") -> tuple[Floats, Floats, Bools, Bools]:
        """Of the questions about a conversation, or of all."""
        names = ("said_answerable", "said_right", "right", "answerable")
        some = [each for each in self.firsts if conversation in {"", each.conversation}]
        can, sure, right, answerable = (
            np.array([getattr(each, name) for each in some]) for name in names
        )
        return can, sure, right, answerable


def _mean(values: Floats | Bools) -> float:
    """Their mean; of none 1."""
    return float(values.mean()) if len(values) else 1.0


def left_out(name: str, samples: Samples) -> LeftOut:
    """Each conversation by a fit on the others."""
    seen = LeftOut(calibration.MARGINS[name], defaultdict(list), defaultdict(list), {}, [], [])
    for conversation in samples.conversations:
        profile = profile_of(name, samples.without(conversation))
        tested = samples.only(conversation)
        for some, figures in ((tested.own, seen.own), (tested.together, seen.together)):
            for each in some:
                figures[each.collection].append(found(each, profile))
        seen.profiles[conversation] = profile
        for some, answerable in ((tested.own, True), (tested.elsewhere, False)):
            seen.firsts.extend(_first(profile, each, answerable) for each in some)
        seen.near.extend(_first(profile, each, False) for each in _near(name, tested))
    return seen


def fit(name: str, samples: Samples) -> Fitted:
    """Fits on all; the bounds of the bands are those of conversations left out."""
    seen = left_out(name, samples)
    low, high = seen.bounds()
    whole = profile_of(name, samples)
    bounded = replace(whole, confidence=replace(whole.confidence, low=low, high=high))
    found_of = {each: _found(figures) for each, figures in seen.own.items()}
    return Fitted(bounded, {**found_of, "bands": seen.bands(low, high)})


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
    ranked = Profile(Weights(**{**none, **weights.CHOSEN[name], **fitted}), UNSURE)
    others = len(samples.elsewhere) / len(samples.own)
    chance = random.Random(0)
    firsts = [
        (
            *calibration.first_result(each, of_all(ranked)),
            answerable,
            count,
        )
        for some, answerable, count in (
            (samples.own, True, 1.0),
            (samples.elsewhere, False, 1 / others),
            (_near(name, samples), False, 1.0),
        )
        for whole in some
        if len(whole.found)
        for each in (whole, *(whole.smaller(size, chance) for size in SIZES.get(name, ())))
    ]
    shown, right, answerable, counts = zip(*firsts, strict=True)
    confidence = Confidence(
        answerable=calibration.fit(shown, answerable, ANSWERABLE, np.array(counts)),
        right=calibration.fit(shown, right, RIGHT, np.array(counts)),
        low=0.0,
        high=1.0,
    )
    return replace(ranked, confidence=confidence)


def _near(name: str, samples: Samples) -> list[Sample]:
    """Of plain memories, the questions with their answers taken out."""
    return [each.unanswered() for each in samples.own if name in SIZES and not each.right.all()]


def _first(profile: Profile, sample: Sample, answerable: bool) -> First:
    evidence, right = calibration.first_result(sample, of_all(profile))
    columns = {name: np.array([value]) for name, value in evidence.items()}
    can = profile.confidence.answerable.probability(columns)
    sure = profile.confidence.right.probability(columns)
    return First(sample.conversation, float(can[0]), float(sure[0]), right, answerable)


def _found(figures: Sequence[tuple[float, float]]) -> Mapping[str, float]:
    any_, coverage = np.mean(figures, axis=0).round(3).tolist()
    return {"questions": len(figures), "any@10": any_, "coverage@10": coverage}
