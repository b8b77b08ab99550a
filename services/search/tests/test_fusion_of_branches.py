"""Our fusion of the engine's branches is the engine's own fusion."""

from math import log
from typing import cast

import numpy as np
import pytest
import qdrant_edge as qdrant
from concord_search.adapters.bm25 import Bm25
from concord_search.adapters.qdrant.shard import DENSE, WORDS
from concord_search.domain.fusion import FEWEST, apart, fused, scale
from concord_search.domain.signals import Weights
from search_lab import SPACE, Lab, plain_state

WORDS_OF_TEXTS = ["red", "blue", "green", "fox", "whale", "owl", "river", "stone", "glass", "paper"]


async def test_it_equals_the_engines_own_fusion(lab: Lab) -> None:
    """S1 score-distribution fusion of dense and BM25, as the engine computes it in one query."""
    rng = np.random.default_rng(7)
    states = [
        plain_state(f"m{at}", at + 1, " ".join(rng.choice(WORDS_OF_TEXTS, size=5)))
        for at in range(60)
    ]
    await lab.write(*states)
    query = "red fox by the river"

    found = await lab.ask(query, branch_limit=20)

    theirs = engine_fusion(lab, query, 20)
    ours = dict(zip(found.seqs.tolist(), found.fusion.tolist(), strict=True))
    assert ours.keys() == theirs.keys()
    assert [ours[seq] for seq in theirs] == pytest.approx(list(theirs.values()), abs=1e-5)
    assert sorted(ours.values(), reverse=True) == list(ours.values())


def engine_fusion(lab: Lab, query: str, limit: int) -> dict[int, float]:
    """Seq to score by the engine's nested prefetch and fusion."""
    shard = lab.edge._parts[SPACE].partition.shard._engine
    words = Bm25().of_query(query)
    assert words is not None
    branches = [
        qdrant.Prefetch(limit, qdrant.Query.Nearest(vector, using=name))
        for vector, name in (
            (lab.embedder.vector(query).tolist(), DENSE),
            (words, WORDS),
        )
    ]
    fusion = cast(qdrant.Fusion, qdrant.Fusion.Dbsf())
    hits = shard.query(
        qdrant.QueryRequest(
            limit=2 * limit, prefetches=branches, query=fusion, with_payload=["seq"]
        )
    )
    return {(hit.payload or {})["seq"]: hit.score for hit in hits}


async def test_every_candidate_has_its_raw_cosine(lab: Lab) -> None:
    """S3 raw similarity is reported unblended, also for what only words found."""
    states = [
        plain_state(f"m{at}", at + 1, f"fox number {at} {'whale' * (at % 2)}") for at in range(9)
    ]
    await lab.write(*states)

    found = await lab.ask("fox whale", branch_limit=3)

    vectors = {state.seq: lab.embedder.vector(state.content) for state in states}
    query = lab.embedder.vector("fox whale")
    expected = [float(vectors[seq] @ query) for seq in found.seqs.tolist()]
    assert found.cosine.tolist() == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("scores", [[], [3.0], [2.0, 2.0, 2.0]])
def test_scores_without_spread_count_half(scores: list[float]) -> None:
    """S1 one hit, or equals, say nothing about their distribution."""
    branch = np.array(scores)

    assert fused([branch], [scale(branch)]).tolist() == [0.5] * len(scores)


def test_what_a_branch_did_not_find_adds_nothing() -> None:
    """S1 a candidate of one branch has that branch's share alone."""
    one, other = np.array([9.0, np.nan, np.nan]), np.array([1.0, np.nan, 1.0])

    total = fused([one, other], [scale(np.array([9.0])), scale(np.array([1.0, 1.0]))])

    assert total.tolist() == [1.0, 0.0, 0.5]


def test_what_common_words_explain_does_not_stand_out() -> None:
    """S3 Of memories about one person, the one that is near to the question beyond her name."""
    count = 40
    named = np.arange(count) % 2 == 0
    cosine = np.where(named, 0.6, 0.3)
    cosine[1] = 0.5  # says what is asked, without her name
    weights = np.array([log(2.0)])

    before = int(np.argmax(cosine))
    after = int(np.argmax(apart(cosine, np.zeros(count), named[:, np.newaxis], weights)))

    assert (before, after) == (0, 1)


def test_a_rare_word_keeps_its_effect_on_meaning() -> None:
    """S3 Only words that a fifth of the memories hold are taken out, and that ten candidates do."""
    cosine, found = np.linspace(0.1, 0.9, 40), np.zeros(40)
    few = np.arange(40) >= 31
    expected = fused([cosine], [scale(cosine)])

    rare = apart(cosine, found, np.arange(40)[:, np.newaxis] >= 20, np.array([log(6.0)]))
    seldom = apart(cosine, found, few[:, np.newaxis], np.array([log(2.0)]))

    assert rare == pytest.approx(expected)
    assert seldom == pytest.approx(expected)


@pytest.mark.parametrize("held_by", [1, 3, FEWEST - 1])
def test_few_that_hold_what_is_searched_for_stand_out(held_by: int) -> None:
    """S3 They come before what only looks alike, however much it does."""
    cosine, lexical = np.linspace(0.4, 0.5, 200), np.zeros(200)
    cosine[-3:] = 0.7
    lexical[:held_by] = 9.0
    term = lexical[:, np.newaxis] > 0

    best = np.argsort(-apart(cosine, lexical, term, np.array([log(6.0)])), kind="stable")

    assert sorted(best[:held_by].tolist()) == list(range(held_by))


def test_finds_that_differ_by_their_length_alone_have_no_scale_of_their_own() -> None:
    """S3 Of ten memories that all hold the name and nothing else, the nearest comes first, not the
    shortest; where words differ by more, the scale is as wide as they are apart."""
    cosine, lexical = np.full(80, 0.1), np.zeros(80)
    lexical[:10] = np.linspace(2.05, 2.0, 10)
    cosine[:10] = np.linspace(0.3, 0.5, 10)
    term = lexical[:, np.newaxis] > 0
    spread = np.where(lexical > 0, lexical + np.arange(80) % 2, 0.0)

    level = apart(cosine, lexical, term, np.array([2.1]))
    differing = apart(cosine, spread, term, np.array([2.1]))

    assert int(np.argmax(level)) == 9
    found = spread > 0
    words = fused([np.where(found, spread, np.nan)], [scale(spread[found])])
    assert differing - words == pytest.approx(fused([cosine], [scale(cosine)]))


def test_the_default_weights_are_the_published_ones() -> None:
    """S3 the first six as the spec says, the others as decisions 0045 and 0101 say."""
    assert dict(Weights().items()) == {
        "vector_similarity": 0.30,
        "concept_overlap": 0.20,
        "domain_match": 0.15,
        "coactivation": 0.15,
        "authority": 0.10,
        "temporal": 0.10,
        "lexical": 0.20,
        "fusion": 0.0,
        "fusion_apart": 0.0,
        "context_window": 0.10,
        "context_passage": 0.0,
        "context_neighbours": 0.05,
        "context_session": 0.05,
        "context_speaker": 0.0,
        "context_answer": 0.0,
        "statement": 0.0,
        "says_when": 0.0,
        "length": 0.0,
        "window": 0.10,
        "head_of_chain": 0.05,
    }
