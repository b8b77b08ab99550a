"""Texts in scripts and signs that the embedder does not know (S11)."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from concord_concepts import extract
from concord_search.domain import certainty
from concord_search.domain.confidence import Band
from concord_search.domain.profiles import Profiles, shipped
from concord_search.domain.ranking import Ranking
from concord_search.domain.signals import QueryFacts
from concord_search.ports.embedder import Embedder
from concord_search.ports.index import Batch, Index, NearQuery, Question
from concord_testing.embedders import ready
from search_lab import NOW, SCOPE, SPACE, make_index, plain_state

UNREAD = (
    "ผมชอบกาแฟเย็น",
    "민수는 서울로 이사했다",
    "王老师下个月退休",
    "🚀🔥",
    "Завтра дождь",
    "猫が好き",
)
READ = (
    "Die Größe der Käsekuchen",
    "café près de l'hôtel",
    "Party on Friday 🎉🎉🎉",
    "Đà Nẵng",
    "…—",
)


async def test_what_it_cannot_read_has_no_meaning(minilm: Embedder) -> None:
    """S11 Else all such texts would be alike: their cosines were .5 to 1.0."""
    rows = await minilm.embed([*UNREAD, *READ])

    assert rows.any(axis=1).tolist() == [False] * len(UNREAD) + [True] * len(READ)
    for text, row in zip((*UNREAD, *READ), rows, strict=True):
        assert await minilm.embed_query(text) == pytest.approx(row, abs=1e-4)


@asynccontextmanager
async def holding(texts: Sequence[str], minilm: Embedder, root: Path) -> AsyncIterator[Index]:
    """An index of some memories."""
    index = make_index(root, minilm.model)
    await index.open()
    try:
        await index.begin(SPACE, "epoch")
        states = [plain_state(f"m{at}", at, text) for at, text in enumerate(texts, 1)]
        pairs = list(zip(states, await minilm.embed(texts), strict=True))
        last = states[-1]
        await index.apply(SPACE, Batch(last.seq, last.record_from, pairs, model=minilm.model))
        yield index
    finally:
        await index.close()


def never_low() -> Profiles:
    """The shipped profiles, by which nothing would be LOW."""
    plain, people, assistant = (
        replace(each, confidence=replace(each.confidence, low=0.0))
        for each in (shipped().plain, shipped().people, shipped().assistant)
    )
    return Profiles(plain, people, assistant)


async def asked_of(
    texts: Sequence[str],
    query: str,
    minilm: Embedder,
    root: Path,
    profiles: Profiles | None = None,
) -> Ranking:
    """The ranking of a query's candidates among some memories."""
    async with holding(texts, minilm, root) as index:
        vector = await minilm.embed_query(query)
        asked = Question(ready(vector), query, SCOPE, minilm.model, extract(query))
        found = await index.ask(SPACE, asked)
    facts = QueryFacts(NOW, False, bool(asked.concepts), knows_words=minilm.knows(query))
    return Ranking(found, facts, profiles or shipped())


async def test_it_is_near_to_nothing(minilm: Embedder, tmp_path: Path) -> None:
    """S11 D3 Neither as a vector nor as a memory."""
    async with holding(UNREAD, minilm, tmp_path) as index:
        (vector,) = await minilm.embed(UNREAD[:1])
        assert not await index.near(SPACE, vector, minilm.model, NearQuery(SCOPE, 5))
        (each,) = await index.near_each(SPACE, ["m1"], NearQuery(SCOPE, 5, least=0.1))
        assert each == ()


@pytest.mark.parametrize("query", ["서울", "🔥?", "猫"])
async def test_only_characters_find_it_and_nothing_is_sure(
    query: str, minilm: Embedder, tmp_path: Path
) -> None:
    """S11 S5 What shares none is no candidate; no cosine is made up; the band is LOW."""
    ranking = await asked_of((*UNREAD, "The office is in Berlin."), query, minilm, tmp_path)

    (only,) = range(len(ranking.found))
    parts = ranking.breakdown(only)
    assert np.isnan(ranking.found.cosine[only])
    assert "vector_similarity" in dict(parts.dropped)
    assert sum(each.contribution for each in parts.parts) == pytest.approx(parts.composite)
    assert certainty.certainties(ranking, [only])[only].band is Band.LOW


@pytest.mark.parametrize("text", UNREAD[1:2])
async def test_even_the_whole_text_is_not_sure(
    text: str, minilm: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S11 S5 Nothing is HIGH or MEDIUM on unknown tokens alone; without the guard it would be."""
    ranking = await asked_of(UNREAD, text, minilm, tmp_path, never_low())

    assert certainty.certainties(ranking, [0])[0].band is Band.LOW

    monkeypatch.setattr(certainty, "are_read", lambda _, rows: [True] * len(rows))
    monkeypatch.setattr(certainty, "have_words", lambda _, rows: [True] * len(rows))
    assert certainty.certainties(ranking, [0])[0].band is not Band.LOW


async def test_a_query_that_is_read_has_no_cosine_with_what_is_not(
    minilm: Embedder, tmp_path: Path
) -> None:
    """S11 A sign in an English question finds a memory of signs."""
    texts = ("🚀 = ✅, 🔥 = ⏪", "The office is in Berlin.", "Fire drills are in May.")
    ranking = await asked_of(texts, "What does 🔥 stand for?", minilm, tmp_path)

    assert int(ranking.found.seqs[ranking.order[0]]) == 1
    assert np.isnan(ranking.found.cosine).tolist().count(True) == 1


MADE_UP = [f"n{at}-{9291146740 + 7919 * at:x}da" for at in range(200)]


@pytest.mark.parametrize(
    ("query", "known"),
    [
        ("capybara9291146740da", False),
        ("What is it about n70-9291146740da?", False),
        ("kubectl", False),
        ("Where is the capybara9291146740da house?", True),
        ("pets", True),
        ("", False),
    ],
)
def test_a_word_in_pieces_is_not_known(query: str, known: bool, minilm: Embedder) -> None:
    """S11 Nor one that says nothing about a subject."""
    assert minilm.knows(query) is known


async def test_what_only_looks_alike_is_not_sure(
    minilm: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S11 S5 A made-up word is near to what is spelled like it, and the guard holds whatever is
    fitted: without it, it would be MEDIUM."""
    ranking = await asked_of(MADE_UP, "capybara9291146740da", minilm, tmp_path, never_low())
    rows = ranking.order[:5].tolist()

    assert ranking.found.cosine[rows[0]] > 0.5
    assert {each.band for each in certainty.certainties(ranking, rows).values()} == {Band.LOW}

    monkeypatch.setattr(certainty, "have_words", lambda _, some: [True] * len(some))
    assert certainty.certainties(ranking, rows)[rows[0]].band is not Band.LOW


async def test_a_made_up_word_that_a_memory_holds_may_be_sure(
    minilm: Embedder, tmp_path: Path
) -> None:
    """S5 The name of a thing is a searched word, whether or not the embedder knows it."""
    texts = (*MADE_UP, "The relay capybara9291146740da stands in hall 4.")
    ranking = await asked_of(texts, "capybara9291146740da", minilm, tmp_path)

    first = int(ranking.order[0])
    assert int(ranking.found.seqs[first]) == len(texts)
    assert certainty.certainties(ranking, [first])[first].band is not Band.LOW
