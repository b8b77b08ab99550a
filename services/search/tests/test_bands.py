"""Bands of a few plain memories, by the shipped calibration, the real model and the real engine."""

from pathlib import Path

import pytest
from concord_concepts import extract
from concord_search.adapters.edge.index import EdgeIndex
from concord_search.domain.certainty import certainties
from concord_search.domain.confidence import Band
from concord_search.domain.profiles import shipped
from concord_search.domain.ranking import Ranking
from concord_search.domain.signals import QueryFacts
from concord_search.ports.embedder import Embedder
from concord_search.ports.index import Batch, Question
from concord_testing.embedders import ready
from search_lab import NOW, SCOPE, SPACE, plain_state

MEMORIES = (
    "The billing service stores invoices in PostgreSQL since March.",
    "Anna prefers tea over coffee in the morning.",
    "The deploy key of the staging cluster rotates every 30 days.",
    "Our retrospective is on Fridays at three.",
    "Paul owns the release checklist.",
)


@pytest.mark.parametrize(
    ("query", "known", "band"),
    [
        ("Where does the billing service store invoices?", 5, Band.HIGH),
        ("Who owns the release checklist?", 5, Band.HIGH),
        ("What does Anna think about the release?", 5, Band.LOW),
        ("How do I bake sourdough bread?", 5, Band.LOW),
        ("Who owns the release checklist?", 1, Band.LOW),
        ("How do I bake sourdough bread?", 1, Band.LOW),
    ],
)
async def test_only_what_memory_can_answer_is_not_low(
    query: str, known: int, band: Band, minilm: Embedder, tmp_path: Path
) -> None:
    """S5 The only memory there is stands out among all, and is LOW where it does not answer."""
    index = EdgeIndex(tmp_path, minilm.model)
    await index.open()
    try:
        await index.begin(SPACE, "epoch")
        states = [plain_state(f"m{at}", at, text) for at, text in enumerate(MEMORIES[:known], 1)]
        vectors = await minilm.embed([each.content for each in states])
        pairs = list(zip(states, vectors, strict=True))
        last = states[-1]
        await index.apply(SPACE, Batch(last.seq, last.record_from, pairs, model=minilm.model))
        vector = await minilm.embed_query(query)
        asked = Question(ready(vector), query, SCOPE, minilm.model, extract(query))
        found = await index.ask(SPACE, asked)
        ranking = Ranking(found, QueryFacts(NOW, False, True), shipped())
        first = int(ranking.order[0])

        sure = certainties(ranking, [first])[first]
    finally:
        await index.close()

    assert sure.band is band
