"""What follows from several reviews: counted in whole numbers, and believed of nobody (D9)."""

from itertools import product

import pytest
from concord_dissonance.domain.errors import FieldInvalid
from concord_dissonance.domain.peer_review.council import Approval, conclude, consensus
from concord_dissonance.domain.peer_review.criteria import (
    SETS,
    WHOLE,
    Criterion,
    checked,
    criteria_set,
)
from concord_dissonance.domain.peer_review.report import ReviewRound, summary, warnings
from concord_dissonance.domain.peer_review.review import (
    CriterionScore,
    FailedReviewer,
    FailureKind,
    PeerReview,
    Recommendation,
    Reviewer,
    Role,
)
from concord_dissonance.domain.sides import Micros

GENERAL = criteria_set("general", "en")
APPROVE, REVISE, REJECT = Recommendation


def reviewer(name: str, vendor: str = "") -> Reviewer:
    """A reviewer of a vendor of its own."""
    return Reviewer(name, f"model-{name}", vendor or name, Role.BALANCED)


def review(
    name: str,
    said: Recommendation = APPROVE,
    scores: tuple[float, ...] = (8, 8, 8, 8, 8),
    *,
    told: float = 8,
    weaknesses: tuple[str, ...] = (),
    vendor: str = "",
) -> PeerReview:
    """A review with these criterion scores."""
    return PeerReview(
        reviewer(name, vendor),
        tuple(
            CriterionScore(criterion, round(score * 1000), "")
            for criterion, score in zip(GENERAL, scores, strict=True)
        ),
        (),
        weaknesses,
        "",
        said,
        round(told * 1000),
        Micros(0),
    )


def failed(name: str) -> FailedReviewer:
    """A reviewer that gave none."""
    return FailedReviewer(reviewer(name), FailureKind.TIMEOUT, "no answer in time")


def approval(*said: Recommendation, critical: bool = False) -> Approval:
    """Return what recommendations come to."""
    reviews = [review(str(place), each) for place, each in enumerate(said)]
    return conclude(reviews, (), quorum=2, has_critical=critical).approval


THREE = {
    (3, 0, 0): "approved", (2, 1, 0): "approved", (2, 0, 1): "approved",
    (1, 2, 0): "conditional", (1, 1, 1): "conditional", (0, 3, 0): "conditional",
    (0, 2, 1): "conditional", (1, 0, 2): "rejected", (0, 1, 2): "rejected", (0, 0, 3): "rejected",
}  # fmt: skip
FOUR = {
    (4, 0, 0): "approved", (3, 1, 0): "approved", (3, 0, 1): "approved",
    (2, 2, 0): "conditional", (2, 1, 1): "conditional", (2, 0, 2): "conditional",
    (1, 3, 0): "conditional", (1, 2, 1): "conditional", (1, 1, 2): "conditional",
    (0, 4, 0): "conditional", (0, 3, 1): "conditional", (0, 2, 2): "conditional",
    (1, 0, 3): "rejected", (0, 1, 3): "rejected", (0, 0, 4): "rejected",
}  # fmt: skip


@pytest.mark.parametrize(("reviewers", "table"), [(3, THREE), (4, FOUR)])
def test_every_combination_of_recommendations_has_its_verdict(
    reviewers: int, table: dict[tuple[int, int, int], str]
) -> None:
    """D9 Two thirds approve, more than half reject, and what lies between is conditional."""
    for said in product(Recommendation, repeat=reviewers):
        counts = (said.count(APPROVE), said.count(REVISE), said.count(REJECT))
        assert approval(*said).value == table[counts], counts


def test_a_critical_contradiction_is_never_approved() -> None:
    """D9 Whoever approves: it is conditional, and a rejection stays one."""
    assert approval(APPROVE, APPROVE, APPROVE, critical=True) is Approval.CONDITIONAL
    assert approval(REJECT, REJECT, APPROVE, critical=True) is Approval.REJECTED


@pytest.mark.parametrize(
    ("points", "agreement"),
    [((8, 8, 8), 1.0), ((0, 10), 0.0), ((2, 2, 2), 1.0), ((7, 9), 0.8), ((0, 0, 10, 10), 0.0)],
)
def test_consensus_is_the_spread_of_the_weighted_scores(
    points: tuple[float, ...], agreement: float
) -> None:
    """D9 Equal scores agree wholly, extremes not at all."""
    reviews = [review(str(place), scores=(each,) * 5) for place, each in enumerate(points)]

    assert consensus([each.points for each in reviews]) == pytest.approx(agreement, abs=1e-12)


def test_criteria_weigh_as_they_should_and_the_reviewers_own_score_counts_for_nothing() -> None:
    """D9 9, 7.5, 9.5, 8 and 8 come to 8.475 exactly; what the model told of the whole is shown."""
    said = review("a", scores=(9, 7.5, 9.5, 8, 8), told=1)
    verdict = conclude([said, review("b"), review("c")], (), quorum=3, has_critical=False)

    assert said.points * 1000 == 8475
    assert verdict.average == pytest.approx((8.475 + 8 + 8) / 3)
    assert said.told_score == 1000


def test_scores_three_points_apart_are_a_conflict() -> None:
    """D9 9 against 6 is one, 9 against 6.1 none; it names both, their scores and the difference."""
    reviews = [
        review("a", scores=(9, 9, 8, 8, 8)),
        review("b", scores=(6, 6.1, 8, 8, 8)),
        review("c", scores=(7, 7, 8, 8, 3)),
    ]
    verdict = conclude(reviews, (), quorum=3, has_critical=False)

    found = [
        (each.first_score.criterion.name, each.first.name, each.second.name, each.difference)
        for each in verdict.conflicts
    ]
    assert found == [
        ("source_coverage", "a", "c", 5000),
        ("source_coverage", "b", "c", 5000),
        ("factual_accuracy", "a", "b", 3000),
    ]


def test_confidence_is_consensus_times_who_answered() -> None:
    """D9 Four of five whose consensus is 0.8 are 0.64 sure."""
    reviews = [
        review(name, scores=(each,) * 5) for name, each in zip("abcd", (7, 9) * 2, strict=True)
    ]
    verdict = conclude(reviews, [failed("e")], quorum=3, has_critical=False)

    assert verdict.confidence == pytest.approx(0.64)


@pytest.mark.parametrize("name", SETS)
def test_the_weights_of_each_set_sum_to_one(name: str) -> None:
    """D9 In both languages, with the same names."""
    english, german = criteria_set(name, "en"), criteria_set(name, "de")

    assert sum(each.weight for each in english) == WHOLE
    assert [each.name for each in english] == [each.name for each in german]
    assert all(
        one.description != other.description for one, other in zip(english, german, strict=True)
    )


def test_the_general_set_is_the_sources() -> None:
    """D9 Accuracy .30, completeness .25, legal .20, coherence .15, sources .10."""
    assert {each.name: each.weight for each in GENERAL} == {
        "factual_accuracy": 300_000,
        "completeness": 250_000,
        "legal_compliance": 200_000,
        "coherence": 150_000,
        "source_coverage": 100_000,
    }


@pytest.mark.parametrize(
    "weights",
    [
        {},
        {"a": WHOLE, "b": 0},
        {"a": 500_000, "b": 400_000},
        {"a": 2 * WHOLE, "b": -WHOLE},
        {"a": 500_000, "A": 500_000},
    ],
)
def test_criteria_that_cannot_be_scored_by_are_refused(weights: dict[str, int]) -> None:
    """D9 None, weights that are not positive or do not sum to 1, names that do not differ."""
    with pytest.raises(FieldInvalid, match="criteria"):
        checked([Criterion(name, weight) for name, weight in weights.items()])


def test_thirds_are_criteria() -> None:
    """D9 What no decimal says exactly may be rounded."""
    assert checked([Criterion(name, 333_333) for name in "abc"])


def test_what_most_reviewers_miss_is_recommended_first() -> None:
    """D9 Weaknesses once each, however they are written."""
    reviews = [
        review("a", weaknesses=("No source.", "Too long.")),
        review("b", weaknesses=("no  source.",)),
        review("c"),
    ]
    verdict = conclude(reviews, (), quorum=3, has_critical=False)

    assert verdict.recommendations == ("No source.", "Too long.")


def test_a_report_says_what_to_know_before_believing_it() -> None:
    """D9 A degraded council, one vendor, and a recommendation against its own scores."""
    reviews = (
        review("a", APPROVE, (2,) * 5, vendor="v"),
        review("b", REJECT, (9,) * 5, vendor="v"),
        review("c", REJECT, vendor="v"),
    )
    last = ReviewRound(
        "", reviews, (failed("d"),), conclude(reviews, [failed("d")], quorum=3, has_critical=True)
    )
    told = warnings(last, "en", critical=1, not_revised="{nobody}")

    assert told == (
        "a says APPROVE, and its scores come to 2.0 of 10.",
        "b says REJECT, and its scores come to 9.0 of 10.",
        "c says REJECT, and its scores come to 8.0 of 10.",
        "1 of 4 reviewers gave no review.",
        "All reviewers are models of one vendor, v: they may share its faults.",
        "1 critical contradictions are unresolved: the answer cannot be approved.",
        "The answer could not be revised: {nobody}",
    )
    assert summary(last, "en").startswith("3 of 4 reviewers: rejected, consensus 0.")
    assert summary(last, "de").startswith("3 von 4 Prüfern: abgelehnt, Konsens 0.")
