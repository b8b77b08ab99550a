"""STAC: bands, next actions and lines."""

from enum import Enum
from math import log

import numpy as np
import pytest
from concord.search.v1 import search_pb2
from concord_search.domain.confidence import Band, Confidence, Logit
from concord_search.domain.errors import SettingsInvalid
from concord_search.domain.ranking import Breakdown, SignalPart
from concord_search.domain.speech import asks_of_the_past
from concord_search.domain.stac import (
    Case,
    NextAction,
    Preference,
    StacOptions,
    Thresholds,
    is_second_preferred,
    lines,
    next_action,
)
from concord_search.ports.index import Version
from concord_search.ports.judges import CheckStatus
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

ENUMS = [
    (Band, search_pb2.ConfidenceBand),
    (NextAction, search_pb2.NextAction),
    (CheckStatus, search_pb2.StatementCheckStatus),
    (Version, search_pb2.IndexVersionRole),
]
LIMITS = Thresholds()
PLAIN = Case(Band.MEDIUM)


def result(composite: float = 0.5, **scores: float) -> Breakdown:
    """A result with the signals named."""
    parts = tuple(SignalPart(name, score, 0.1) for name, score in scores.items())
    return Breakdown(composite, parts, ())


@pytest.mark.parametrize(("ours", "contract"), ENUMS)
def test_each_member_has_the_name_of_the_contracts(
    ours: type[Enum], contract: EnumTypeWrapper
) -> None:
    """S5 S6 S10 Replies name members by it; none is sent as UNSPECIFIED."""
    first, *others = contract.keys()

    assert {each.removeprefix(first.removesuffix("UNSPECIFIED")) for each in others} == {
        each.name for each in ours
    }


def test_the_band_follows_the_calibrated_probabilities() -> None:
    """S5 LOW where the memory hardly can answer, however right it looks; else HIGH from `high`."""
    can, sure = Logit(0.0, {"near": 1.0}), Logit(0.0, {"clear": 1.0})
    calibrated = Confidence(can, sure, low=0.2, high=0.7)
    near, clear = (
        np.array([log(each / (1 - each)) for each in said])
        for said in ((0.19, 0.21, 0.21, 0.9), (0.9, 0.69, 0.71, 0.1))
    )

    bands = calibrated.bands({"near": near, "clear": clear})

    assert bands == [Band.LOW, Band.MEDIUM, Band.HIGH, Band.MEDIUM]


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
    ],
)
def test_the_next_action_follows_the_rules(results: list[Breakdown], expected: NextAction) -> None:
    """S5 accept, ask, refine, else what the confidence band says."""
    assert next_action(results, LIMITS, Case(Band.MEDIUM)) is expected


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (Case(Band.HIGH), NextAction.STATE),
        (Case(Band.MEDIUM), NextAction.CAVEAT),
        (Case(Band.LOW), NextAction.SUMMARISE),
        (Case(Band.HIGH, asks=True), NextAction.CAVEAT),
        (Case(Band.HIGH, lacks_rarest=True), NextAction.CAVEAT),
        (Case(Band.HIGH, disputed_by="m2"), NextAction.CAVEAT),
        (Case(Band.HIGH, current=False), NextAction.SUMMARISE),
    ],
)
def test_what_asks_lacks_the_rarest_words_or_is_over_is_never_stated(
    case: Case, expected: NextAction
) -> None:
    """S5 the band gives the action, and a question is no answer."""
    top = [result(0.7, vector_similarity=0.5, concept_overlap=0.3)]

    assert next_action(top, LIMITS, case) is expected


@pytest.mark.parametrize(
    "case",
    [
        Case(Band.LOW),
        Case(Band.HIGH, asks=True),
        Case(Band.HIGH, lacks_rarest=True),
        Case(Band.HIGH, disputed_by="m2"),
    ],
)
def test_what_is_hardly_sure_is_not_accepted(case: Case) -> None:
    """S5 accept is never said of a question, nor when the query's rarest terms are missing."""
    near = [result(vector_similarity=0.9, authority=0.9, concept_overlap=0.2)]

    assert next_action(near, LIMITS, Case(Band.HIGH)) is NextAction.ACCEPT
    assert next_action(near, LIMITS, case) is not NextAction.ACCEPT


def test_an_index_that_lags_is_waited_for() -> None:
    """S5 nothing found is no reason to refine while the index lacks changes."""
    lagging = Case(lag=3)

    assert next_action([], LIMITS, lagging) is NextAction.WAIT
    assert "lacks the last 3 changes" in lines([], "", "", StacOptions(), LIMITS, lagging)[0]


def test_a_refinement_names_words_of_near_results() -> None:
    """S5 which words to add is taken from concepts and domains of near results."""
    case = Case(Band.LOW, words=("invoice", "work.billing"))

    said = lines([result(concept_overlap=0.0)], "", "x", StacOptions(), LIMITS, case)

    assert said[-1].endswith("or add words: invoice, work.billing.")


def test_a_question_for_the_past_is_shown_the_history() -> None:
    """S5 T4 history mode is named, never switched to."""
    said = lines([result()], "", "x", StacOptions(), LIMITS, Case(Band.MEDIUM, of_past=True))

    assert said[-1].endswith("search in history mode.")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Where did we have our office before?", True),
        ("What did Ada do before the move?", True),
        ("Who was the former owner?", True),
        ("Wo war unser Büro früher?", True),
        ("Was war der ursprüngliche Name?", True),
        ("Do it before noon", False),
        ("Wo ist das Büro?", False),
    ],
)
def test_a_question_for_the_past_is_known_by_its_words(query: str, expected: bool) -> None:
    """S5 T4 in English and in German."""
    assert asks_of_the_past(query, 1_760_000_000_000_000) is expected


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
    over = Case(Band.HIGH, current=False)

    said = lines(results, "", "x", StacOptions(), LIMITS, over)

    assert next_action(results, LIMITS, over) is expected
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

    said = lines([top], "", "x", StacOptions(), LIMITS, Case(Band.MEDIUM, preference=chosen))

    assert next_action([top], LIMITS, Case(Band.MEDIUM, preference=chosen)) is NextAction.PREFER
    assert said[-1] == "Next: prefer kept, and say that other conflicts with it."


def test_there_are_three_lines_in_the_agreed_words() -> None:
    """S5 why surfaced, relevance, next action."""
    top = result(0.7, vector_similarity=0.91, authority=0.88, temporal=0.96, concept_overlap=0.5)

    said = lines([top], "project", "It surfaced.", StacOptions(), LIMITS, PLAIN)

    assert said == [
        "Why: vector 0.91, authority 0.88, temporal 0.96; concept overlap: strong; "
        "domain: project. Found 1.",
        "Relevance: 0.70, it surfaced.",
        "Next: use the top result.",
    ]


@pytest.mark.parametrize(
    ("overlap", "word"), [(0.0, "none"), (0.01, "some"), (0.499, "some"), (0.5, "strong")]
)
def test_overlap_is_told_in_a_word(overlap: float, word: str) -> None:
    """S5 strong from .5."""
    top = result(concept_overlap=overlap)

    assert f"concept overlap: {word};" in lines([top], "", "x", StacOptions(), LIMITS, PLAIN)[0]


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
    """S5 max_lines, show_why, show_next; an empty reply still has its next line."""
    said = lines([result()], "", "x", wanted, LIMITS, PLAIN)
    of_nothing = lines([], "", "", wanted, LIMITS, PLAIN)

    assert [line.split(":")[0] for line in said] == starts
    assert [line.split(":")[0] for line in of_nothing] == ["Next"] * wanted.show_next


@pytest.mark.parametrize("thresholds", [{"ask_vector": 1.1}, {"ask_domain": -0.1}])
def test_thresholds_out_of_bounds_are_refused(thresholds: dict[str, float]) -> None:
    """S5 thresholds are configuration, validated at start."""
    with pytest.raises(SettingsInvalid):
        Thresholds(**thresholds)


def test_a_threshold_moves_its_rule() -> None:
    """S5 thresholds are used."""
    near = [result(vector_similarity=0.7, authority=0.9, concept_overlap=0.2)]

    assert next_action(near, Thresholds(accept_vector=0.7), PLAIN) is NextAction.ACCEPT
