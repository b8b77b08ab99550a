"""STAC: bands, next actions and lines."""

import pytest
from concord_search.domain.errors import SettingsInvalid
from concord_search.domain.ranking import Breakdown, SignalPart
from concord_search.domain.stac import (
    Band,
    NextAction,
    Preference,
    StacOptions,
    Thresholds,
    band,
    is_second_preferred,
    lines,
    next_action,
)

LIMITS = Thresholds()


def result(composite: float = 0.5, **scores: float) -> Breakdown:
    """A result with the signals named."""
    parts = tuple(SignalPart(name, score, 0.1) for name, score in scores.items())
    return Breakdown(composite, parts, ())


@pytest.mark.parametrize(
    ("composite", "scores", "expected"),
    [
        (0.60, {"authority": 0.85, "temporal": 0.90}, Band.HIGH),
        (0.60, {"authority": 0.85, "concept_overlap": 0.01}, Band.HIGH),
        (0.60, {"temporal": 0.90, "concept_overlap": 0.01}, Band.HIGH),
        (0.99, {"temporal": 0.90}, Band.MEDIUM),
        (0.99, {"authority": 0.849, "temporal": 0.90, "concept_overlap": 0.0}, Band.MEDIUM),
        (0.599, {"authority": 1.0, "temporal": 1.0}, Band.MEDIUM),
        (0.45, {}, Band.MEDIUM),
        (0.449, {"authority": 1.0, "temporal": 1.0, "concept_overlap": 1.0}, Band.LOW),
    ],
)
def test_the_band_follows_composite_and_strong_supports(
    composite: float, scores: dict[str, float], expected: Band
) -> None:
    """S5 high needs .60 and two strong supports, medium .45."""
    assert band(result(composite, **scores), LIMITS) is expected


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([], NextAction.REFINE),
        (
            [result(vector_similarity=0.85, authority=0.80, concept_overlap=0.2)],
            NextAction.ACCEPT,
        ),
        (
            [result(vector_similarity=0.85, temporal=0.90, concept_overlap=0.2)],
            NextAction.ACCEPT,
        ),
        (
            [result(vector_similarity=0.91, authority=0.88, temporal=0.96, concept_overlap=0.0)],
            NextAction.ASK,
        ),
        (
            [result(vector_similarity=0.91, authority=0.88, concept_overlap=0.0, domain_match=1.0)],
            NextAction.ACCEPT,
        ),
        (
            [result(vector_similarity=0.5, concept_overlap=0.0)] * 3
            + [result(concept_overlap=1.0)],
            NextAction.REFINE,
        ),
        (
            [result(vector_similarity=0.5, concept_overlap=0.0), result(concept_overlap=0.1)],
            NextAction.CAVEAT,
        ),
        (
            [result(vector_similarity=0.86, authority=0.7, temporal=0.8, concept_overlap=0.3)],
            NextAction.CAVEAT,
        ),
        ([result(0.7, temporal=0.95, concept_overlap=0.3)], NextAction.STATE),
        ([result(0.4, temporal=0.95, concept_overlap=0.3)], NextAction.SUMMARISE),
    ],
)
def test_the_next_action_follows_the_rules(results: list[Breakdown], expected: NextAction) -> None:
    """S5 accept, ask, refine, else what the confidence band says."""
    assert next_action(results, LIMITS) is expected


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([result(vector_similarity=0.9, authority=0.9, concept_overlap=0.2)], NextAction.SUMMARISE),
        ([result(0.7, temporal=0.95, concept_overlap=0.3)], NextAction.SUMMARISE),
        ([result(0.5, concept_overlap=0.3)], NextAction.SUMMARISE),
        ([result(vector_similarity=0.8, concept_overlap=0.0)], NextAction.ASK),
        ([], NextAction.REFINE),
    ],
)
def test_what_no_longer_holds_is_not_stated(results: list[Breakdown], expected: NextAction) -> None:
    """S5 T4 However well it matches, nobody is told to use or to state it."""
    said = lines(results, "", "x", StacOptions(), LIMITS, current=False)

    assert next_action(results, LIMITS, current=False) is expected
    assert not any(word in said[-1] for word in ("use ", "state it", "caveat"))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (result(authority=0.8, temporal=0.2), result(authority=1.0, temporal=0.2), True),
        (result(authority=0.8, temporal=0.2), result(authority=0.99, temporal=0.2), False),
        (result(authority=1.0, temporal=0.2), result(authority=0.8, temporal=0.95), False),
        (result(authority=0.9, temporal=0.89), result(authority=0.8, temporal=0.9), True),
        (result(authority=0.8, temporal=0.9), result(authority=0.9, temporal=1.0), False),
        (result(temporal=0.1), result(temporal=0.89), False),
    ],
)
def test_of_two_in_conflict_authority_then_recency_is_preferred(
    first: Breakdown, second: Breakdown, expected: bool
) -> None:
    """S5 temporal >= .90 is preferred unless authority differs by >= .20; else the better one."""
    assert is_second_preferred(first, second, LIMITS) is expected


def test_results_in_conflict_are_never_simply_used() -> None:
    """S5 PREFER names the preferred, also where the best alone would be accepted."""
    top = result(vector_similarity=0.9, authority=0.9, concept_overlap=0.2)
    chosen = Preference("kept", "other")

    said = lines([top], "", "x", StacOptions(), LIMITS, preference=chosen)

    assert next_action([top], LIMITS, preference=chosen) is NextAction.PREFER
    assert said[-1] == "Next: prefer kept, and say that other conflicts with it."


def test_there_are_three_lines_in_the_agreed_words() -> None:
    """S5 why surfaced, relevance, next action."""
    top = result(0.7, vector_similarity=0.91, authority=0.88, temporal=0.96, concept_overlap=0.5)

    said = lines([top], "project", "It surfaced.", StacOptions(), LIMITS)

    assert said == [
        "Why: vector 0.91, authority 0.88, temporal 0.96; concept overlap: strong; domain: project",
        "Relevance: 0.70, it surfaced.",
        "Next: use the top result.",
    ]


@pytest.mark.parametrize(
    ("overlap", "word"), [(0.0, "none"), (0.01, "some"), (0.499, "some"), (0.5, "strong")]
)
def test_overlap_is_told_in_a_word(overlap: float, word: str) -> None:
    """S5 strong from .5."""
    top = result(concept_overlap=overlap)

    assert f"concept overlap: {word};" in lines([top], "", "x", StacOptions(), LIMITS)[0]


@pytest.mark.parametrize(
    ("wanted", "starts"),
    [
        (StacOptions(), ["Why", "Relevance", "Next"]),
        (StacOptions(max_lines=2), ["Why", "Relevance"]),
        (StacOptions(max_lines=1), ["Why"]),
        (StacOptions(show_why=False), ["Relevance", "Next"]),
        (StacOptions(show_next=False), ["Why", "Relevance"]),
        (StacOptions(max_lines=1, show_why=False), ["Relevance"]),
    ],
)
def test_the_caller_chooses_the_lines(wanted: StacOptions, starts: list[str]) -> None:
    """S5 max_lines, show_why, show_next."""
    said = lines([result()], "", "x", wanted, LIMITS)

    assert [line.split(":")[0] for line in said] == starts


def test_nothing_found_says_what_to_do() -> None:
    """S5 an empty reply still has its next line."""
    assert [line.split(":")[0] for line in lines([], "", "", StacOptions(), LIMITS)] == ["Next"]


@pytest.mark.parametrize(
    "thresholds", [{"band_high": 1.1}, {"ask_domain": -0.1}, {"band_high": 0.4}]
)
def test_thresholds_that_contradict_themselves_are_refused(thresholds: dict[str, float]) -> None:
    """S5 thresholds are configuration, validated at start."""
    with pytest.raises(SettingsInvalid):
        Thresholds(**thresholds)


def test_a_threshold_moves_its_band() -> None:
    """S5 thresholds are used."""
    assert band(result(0.3), Thresholds(band_medium=0.3)) is Band.MEDIUM
