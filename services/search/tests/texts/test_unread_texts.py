"""Texts in scripts and signs that the embedder does not know (S11)."""

from pathlib import Path

import numpy as np
import pytest
from concord_concepts import extract
from concord_search.domain import certainty
from concord_search.domain.confidence import Band
from concord_search.domain.profiles import shipped
from concord_search.domain.ranking import Ranking
from concord_search.domain.signals import QueryFacts
from concord_search.ports.embedder import Embedder
from concord_search.ports.index import Batch, NearQuery, Question
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


async def asked_of(texts: tuple[str, ...], query: str, minilm: Embedder, root: Path) -> Ranking:
    """The ranking of a query's candidates among some memories."""
    index = make_index(root, minilm.model)
    await index.open()
    try:
        await index.begin(SPACE, "epoch")
        states = [plain_state(f"m{at}", at, text) for at, text in enumerate(texts, 1)]
        vectors = await minilm.embed(texts)
        pairs = list(zip(states, vectors, strict=True))
        last = states[-1]
        await index.apply(SPACE, Batch(last.seq, last.record_from, pairs, model=minilm.model))
        vector = await minilm.embed_query(query)
        asked = Question(ready(vector), query, SCOPE, minilm.model, extract(query))
        found = await index.ask(SPACE, asked)
        near = await index.near(SPACE, vectors[0], minilm.model, NearQuery(SCOPE, 5))
        (each,) = await index.near_each(SPACE, ["m1"], NearQuery(SCOPE, 5, least=0.1))
        assert not near
        assert each == ()
    finally:
        await index.close()
    return Ranking(found, QueryFacts(NOW, False, bool(asked.concepts)), shipped())


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
    ranking = await asked_of(UNREAD, text, minilm, tmp_path)

    assert certainty.certainties(ranking, [0])[0].band is Band.LOW

    monkeypatch.setattr(certainty, "are_read", lambda _, rows: [True] * len(rows))
    assert certainty.certainties(ranking, [0])[0].band is not Band.LOW


async def test_a_query_that_is_read_has_no_cosine_with_what_is_not(
    minilm: Embedder, tmp_path: Path
) -> None:
    """S11 A sign in an English question finds a memory of signs."""
    texts = ("🚀 = ✅, 🔥 = ⏪", "The office is in Berlin.", "Fire drills are in May.")
    ranking = await asked_of(texts, "What does 🔥 stand for?", minilm, tmp_path)

    assert int(ranking.found.seqs[ranking.order[0]]) == 1
    assert np.isnan(ranking.found.cosine).tolist().count(True) == 1
