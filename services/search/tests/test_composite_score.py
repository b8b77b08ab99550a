"""The published formula: signals, weights, what drops out, and how it is explained."""

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from concord_search.domain import ranking
from concord_search.domain.candidates import Candidates, Neighbour
from concord_search.domain.errors import SettingsInvalid
from concord_search.domain.instants import DAY
from concord_search.domain.memory import Talk as Kind
from concord_search.domain.profiles import Profiles, shipped
from concord_search.domain.ranking import MOST_BESIDE_TEXT, Ranking
from concord_search.domain.signals import QueryFacts, Weights
from concord_search.domain.speech import Asked
from hypothesis import given
from hypothesis import strategies as some
from search_lab import candidates, talk

NOW = 1_760_000_000_000_000
EVERYTHING = QueryFacts(now=NOW, has_domain=True, has_concepts=True)


def weighed(weights: Weights) -> Profiles:
    """Profiles that all have the same weights."""
    each = replace(shipped().plain, weights=weights)
    return Profiles(each, each, each)


def test_the_composite_is_the_weighted_mean_of_the_signals_that_spoke() -> None:
    """S3 weights of signals with data are normalised to sum 1."""
    turn = talk(kind=np.array([Kind.OF_PEOPLE]))
    ranking = Ranking(candidates(talk=turn), EVERYTHING, weighed(Weights()))

    authority, temporal = 0.6 * 0.6, 1.0
    total = 0.30 + 0.20 + 0.15 + 0.10 + 0.10 + 0.20
    expected = (
        0.30 * 0.5 + 0.20 * 0.5 + 0.15 * 1 + 0.10 * authority + 0.10 * temporal + 0.20 * 1
    ) / total
    assert ranking.composite[0] == pytest.approx(expected)


def test_authority_and_temporal_follow_their_formulas() -> None:
    """S3 authority = .6 importance + .4 min(1, ln(1+access)/ln 50); temporal decays by days."""
    found = candidates(
        importance=[1.0],
        access_count=[14],
        last_access=[NOW - 3 * DAY],
        valid_from=[NOW - 30 * DAY],
    )

    breakdown = Ranking(found, EVERYTHING, weighed(Weights())).breakdown(0)

    assert breakdown.score("authority") == pytest.approx(0.6 + 0.4 * log(15) / log(50))
    assert breakdown.score("temporal") == pytest.approx(0.6 * exp(-0.15) + 0.4 * exp(-0.21))


@pytest.mark.parametrize(
    ("columns", "signal", "expected"),
    [
        ({"importance": [1.0], "access_count": [10**9]}, "authority", 1.0),
        (
            {"access_count": [1], "last_access": [NOW + DAY], "valid_from": [NOW + DAY]},
            "temporal",
            1.0,
        ),
        ({"cosine": [-0.4]}, "vector_similarity", 0.0),
    ],
    ids=["many reads", "a read in the future, by another clock", "a negative cosine"],
)
def test_no_score_leaves_its_range(
    columns: dict[str, list[float]], signal: str, expected: float
) -> None:
    """S3, G7 A signal's score lies in [0, 1]; the raw cosine is reported elsewhere."""
    found = replace(candidates(), **{name: np.array(value) for name, value in columns.items()})  # type: ignore[arg-type] # columns by name

    assert Ranking(found, EVERYTHING, weighed(Weights())).breakdown(0).score(signal) == expected


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        (replace(EVERYTHING, has_domain=False), "domain_match"),
        (replace(EVERYTHING, has_concepts=False), "concept_overlap"),
        (EVERYTHING, "lexical"),
        (EVERYTHING, "vector_similarity"),
        (EVERYTHING, "coactivation"),
        (EVERYTHING, "context_window"),
        (EVERYTHING, "statement"),
        (EVERYTHING, "says_when"),
        (EVERYTHING, "window"),
        (EVERYTHING, "head_of_chain"),
    ],
)
def test_a_signal_without_data_drops_out_and_says_so(asked: QueryFacts, name: str) -> None:
    """S3 the explanation names every signal that had no data, with why."""
    found = candidates()
    if name == "lexical":  # the query holds no word that is searched for
        found = replace(found, holds=np.ones((1, 0), dtype=np.bool_), term_weights=np.zeros(0))
    if name == "vector_similarity":  # the embedder cannot read one of the two
        found = replace(found, cosine=np.full(1, np.nan))

    breakdown = Ranking(found, asked, weighed(Weights())).breakdown(0)

    dropped = dict(breakdown.dropped)
    assert name in dropped
    assert dropped[name]
    assert sum(part.weight for part in breakdown.parts) == pytest.approx(1.0)


def test_lexical_is_the_share_of_the_weighted_terms_that_it_holds() -> None:
    """S3 lexical is absolute: the best of poor candidates stays poor."""
    found = candidates(3, holds=[[False, False], [True, False], [True, True]])
    ranking = Ranking(found, EVERYTHING, weighed(Weights()))

    assert [ranking.breakdown(row).score("lexical") for row in range(3)] == [0.0, 0.25, 1.0]


@pytest.mark.parametrize(("reads", "accessed"), [(0, 2_000), (3, 1)])
def test_what_is_imported_today_is_as_old_as_it_says(reads: int, accessed: int) -> None:
    """S3 temporal counts from the last read, else from the stated time, never from the import."""
    found = candidates(
        access_count=[reads], last_access=[NOW - DAY], valid_from=[NOW - 2_000 * DAY]
    )

    breakdown = Ranking(found, EVERYTHING, weighed(Weights())).breakdown(0)

    expected = 0.6 * exp(-0.05 * accessed) + 0.4 * exp(-0.007 * 2_000)
    assert breakdown.score("temporal") == pytest.approx(expected)


def test_a_turn_is_ranked_by_what_is_said_beside_it() -> None:
    """S1, S3 neighbours, session, speaker and the question before count, each as a signal."""
    zeros, yes = np.zeros(2), np.array([True, False])
    beside = talk(
        2,
        kind=np.array([Kind.OF_PEOPLE, Kind.OF_PEOPLE]),
        session=np.array([7, 8]),
        speaker_named=yes,
        window=np.array([[True, True], [False, True]]),
        passage=np.array([[True, True], [False, True]]),
        before=Neighbour(np.array([1.0, 0.0]), yes),
        after=Neighbour(zeros, ~yes),
    )
    found = candidates(2, holds=[[False, True], [False, True]], talk=beside)

    ranking = Ranking(found, EVERYTHING, shipped())
    first, second = ranking.breakdown(0), ranking.breakdown(1)

    assert ranking.order.tolist() == [0, 1]
    for name in ("window", "speaker", "answer"):
        signal = f"context_{name}"
        assert first.score(signal) > second.score(signal), signal
    assert sum(part.contribution for part in first.parts) == pytest.approx(first.composite)


def test_a_question_in_the_first_person_is_about_the_one_who_asked() -> None:
    """S1 In a chat with an assistant "my" names its user."""
    found = candidates(
        2, talk=talk(2, kind=np.array([Kind.OF_ASSISTANT, Kind.OF_USER]), session=np.array([7, 7]))
    )
    mine = replace(EVERYTHING, asked=Asked.by("Which database did I choose?"))

    ranking = Ranking(found, mine, shipped())

    assert ranking.order.tolist() == [1, 0]
    assert ranking.breakdown(1).score("context_speaker") == 1.0


def test_the_head_of_a_chain_is_lifted_above_its_equal() -> None:
    """T4 the head of a chain is boosted, and its explanation says by how much."""
    ranking = Ranking(candidates(2, is_head=[False, True]), EVERYTHING, weighed(Weights()))

    assert ranking.order.tolist() == [1, 0]
    assert ranking.breakdown(1).score("head_of_chain") == 1.0


share = some.floats(0, 1)


beside_text = some.fixed_dictionaries(
    {
        "domain_match": share,
        "coactivation": share,
        "importance": share,
        "shared_concepts": some.integers(0, 5),
        "access_count": some.integers(0, 10**6),
        "age": some.integers(0, 4000 * DAY),
        "lengths": some.integers(1, 300),
        "is_head": some.booleans(),
        "session": some.integers(0, 2),
    }
)


@given(
    cosine=some.floats(-1, 1),
    lexical=some.floats(0, 50),
    holds=some.lists(some.booleans(), min_size=2, max_size=2),
    worded=some.booleans(),
    one=beside_text,
    other=beside_text,
    weights=some.sampled_from([Weights(), shipped().plain.weights, shipped().people.weights]),
    asked=some.builds(
        QueryFacts,
        now=some.just(NOW),
        has_domain=some.booleans(),
        has_concepts=some.booleans(),
    ),
)
def test_beside_text_nothing_moves_a_plain_memory_far(  # noqa: PLR0917 - hypothesis names them
    cosine: float,
    lexical: float,
    holds: list[bool],
    worded: bool,
    one: dict[str, float],
    other: dict[str, float],
    weights: Weights,
    asked: QueryFacts,
) -> None:
    """S3 whatever the other signals say, and whether they have data: at most .05."""
    text = {"cosine": [cosine], "lexical": [lexical], "holds": [holds]}
    if not worded:
        text |= {"holds": np.ones((1, 0), dtype=np.bool_), "term_weights": np.zeros(0)}

    first, second = (
        Ranking(plain(text, each), asked, weighed(weights)).composite[0] for each in (one, other)
    )

    assert abs(first - second) <= MOST_BESIDE_TEXT + 1e-9


def test_without_its_bound_a_read_would_move_a_plain_memory_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S3 the guard is what holds the bound: the same weights without it exceed it."""
    monkeypatch.setattr(ranking, "bounded", lambda _, weights, __: weights)
    found = candidates(2, access_count=[0, 10**6], importance=[0.3, 1.0])

    composite = Ranking(found, EVERYTHING, weighed(Weights())).composite

    assert composite[1] - composite[0] > MOST_BESIDE_TEXT


def plain(text: dict[str, object], beside: dict[str, float]) -> Candidates:
    """A memory that is no turn, by what its text and what everything else says."""
    columns = {name: [value] for name, value in beside.items() if name not in {"age", "session"}}
    aged = [NOW - int(beside["age"])]
    place = talk(session=np.array([int(beside["session"])]))
    given_columns = columns | text | {"all_concepts": [5], "last_access": aged, "valid_from": aged}
    return candidates(1, **given_columns, talk=place)


def test_equals_are_ordered_by_name() -> None:
    """S3 equal scores give the same order every time."""
    found = candidates(3, items=["c", "a", "b"])

    assert Ranking(found, EVERYTHING, weighed(Weights())).order.tolist() == [1, 2, 0]


@given(
    cosine=some.floats(-1, 1),
    lexical=some.floats(0, 50),
    shared=some.integers(0, 5),
    importance=share,
    reads=some.integers(0, 10**6),
    age=some.integers(0, 4000 * DAY),
    head=some.booleans(),
    asked=some.builds(
        QueryFacts,
        now=some.just(NOW),
        has_domain=some.booleans(),
        has_concepts=some.booleans(),
    ),
)
def test_contributions_sum_to_a_composite_in_range(  # noqa: PLR0917 - hypothesis names them
    cosine: float,
    lexical: float,
    shared: int,
    importance: float,
    reads: int,
    age: int,
    head: bool,
    asked: QueryFacts,
) -> None:
    """S3, S4 whatever the data: contributions sum to the composite, which lies in [0,1]."""
    found = candidates(
        cosine=[cosine],
        lexical=[lexical],
        shared_concepts=[shared],
        all_concepts=[5],
        importance=[importance],
        access_count=[reads],
        last_access=[NOW - age],
        valid_from=[NOW - age],
        is_head=[head],
    )

    breakdown = Ranking(found, asked, weighed(Weights())).breakdown(0)

    assert sum(part.contribution for part in breakdown.parts) == pytest.approx(breakdown.composite)
    assert -1e-9 <= breakdown.composite <= 1 + 1e-9
    assert all(0 <= part.score <= 1 for part in breakdown.parts)


@pytest.mark.parametrize("weights", [{"authority": -0.1}, {"temporal": float("nan")}])
def test_weights_that_cannot_rank_are_refused(weights: dict[str, float]) -> None:
    """S3 weights are validated at start."""
    with pytest.raises(SettingsInvalid, match=next(iter(weights))):
        Weights(**weights)


def test_text_cannot_weigh_nothing() -> None:
    """S3 something must compare the query with the memory."""
    with pytest.raises(SettingsInvalid):
        Weights(vector_similarity=0, lexical=0)


def test_a_weight_of_zero_takes_a_signal_out() -> None:
    """S3 weights are configuration, and each is used."""
    breakdown = Ranking(candidates(), EVERYTHING, weighed(Weights(authority=0))).breakdown(0)

    assert "authority" in dict(breakdown.dropped)


def test_no_candidates_give_an_empty_ranking() -> None:
    """S3 nothing found is no error."""
    ranking = Ranking(candidates(0), EVERYTHING, weighed(Weights()))

    assert len(ranking.order) == 0
