"""What an index answers while the vector of a question is still being made."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from concord_search.adapters.qdrant.query import CandidateQuery
from concord_search.adapters.qdrant.shard import DENSE, WORDS, Scored
from concord_search.domain.candidates import Bools, Candidates, Ints
from concord_search.domain.errors import EmbeddingUnavailable, IndexUnavailable
from concord_search.domain.memory import Ending
from concord_search.ports.embedder import Vector
from concord_search.ports.index import Batch, Question, Version
from concord_testing.embedders import ready
from concord_testing.polling import until
from search_lab import NOW, SCOPE, SPACE, Lab, plain_state

QUERY = "red fox"
Asked = tuple[asyncio.Task[Candidates], asyncio.Future[Vector]]
Ask = Callable[..., Awaitable[Asked]]


@pytest.fixture
def ask(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Asks until the words have answered; returns the question's task, and the vector to make."""
    begun: list[None] = []
    begin = CandidateQuery.begin

    def noted(query: CandidateQuery) -> None:
        begin(query)
        begun.append(None)

    monkeypatch.setattr(CandidateQuery, "begin", noted)

    async def ask(limit: int = 200) -> Asked:
        vector: asyncio.Future[Vector] = asyncio.get_running_loop().create_future()
        question = Question(
            vector, QUERY, SCOPE, lab.embedder.model, limit=limit, branch_limit=limit
        )
        task = asyncio.create_task(lab.index.ask(SPACE, question))
        await until(lambda: bool(begun))
        return task, vector

    return ask


async def test_words_are_looked_for_before_the_vector_is_there(lab: Lab, ask: Ask) -> None:
    """S1 The answer is the same as for a vector that was there before."""
    await lab.write(plain_state("fox", 1, "a red fox"), plain_state("whale", 2, "a blue whale"))
    task, vector = await ask()
    assert not task.done()

    vector.set_result(lab.embedder.vector(QUERY))
    found = await task

    known = await lab.ask(QUERY)
    assert found.items == known.items
    assert found.cosine.tolist() == known.cosine.tolist()
    assert found.lexical.tolist() == known.lexical.tolist()
    assert found.fusion.tolist() == known.fusion.tolist()


async def test_what_changes_meanwhile_is_found_as_it_is_in_the_end(lab: Lab, ask: Ask) -> None:
    """S1 S10 A memory that was erased or forgotten after its words were found is not returned."""
    await lab.write(*(plain_state(name, n, "a red fox") for n, name in enumerate("abc", 1)))
    task, vector = await ask()
    await lab.index.apply(SPACE, Batch(4, NOW, erased=("a",)))
    await lab.index.apply(SPACE, Batch(5, NOW, endings=(Ending("b", 5, NOW),)))

    vector.set_result(lab.embedder.vector(QUERY))

    assert lab.ids(await task) == ["c"]


async def test_a_vector_that_is_not_made_fails_the_question(lab: Lab, ask: Ask) -> None:
    """S1 S10 Words alone are no answer; not even where nothing is."""
    await lab.write(plain_state("fox", 1, "a red fox"))
    task, vector = await ask()

    vector.set_exception(EmbeddingUnavailable("away"))

    with pytest.raises(EmbeddingUnavailable):
        await task
    with pytest.raises(EmbeddingUnavailable):
        await lab.index.ask("nowhere", Question(vector, QUERY, SCOPE, lab.embedder.model))


async def test_a_memory_with_a_new_state_meanwhile_is_found_by_its_words(
    lab: Lab, ask: Ask
) -> None:
    """S1 S10 Neither lost, nor taken for one that shares no word; for a full branch, too."""
    padding = " ".join(f"padding{n}" for n in range(60))
    former = plain_state("fox", 1, f"a red fox {padding}")
    others = [plain_state(f"red {n}", n, f"red tea {n}") for n in range(2, 32)]
    await lab.write(former, *others)
    task, vector = await ask(10)
    await lab.write(replace(former, seq=40, record_from=NOW - 1, tags=("new",)))

    vector.set_result(lab.embedder.vector(QUERY))
    found = await task

    known = await lab.ask(QUERY, limit=10, branch_limit=10)
    assert "fox" in lab.ids(known)
    assert lab.ids(found) == lab.ids(known)
    assert found.lexical.tolist() == known.lexical.tolist()


async def test_a_memory_with_a_new_state_while_meaning_is_asked_is_found_by_its_words(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S1 S10 The branches are asked one after the other; the second may know a newer state."""
    fox = plain_state("fox", 1, "a red fox")
    await lab.write(fox)
    branch, asked = CandidateQuery._branch, list[str]()
    loop, new = asyncio.get_running_loop(), replace(fox, seq=2, record_from=NOW - 1, tags=("new",))

    def written(query: CandidateQuery, vector: Any, using: str, **also: Any) -> list[Scored]:
        if using == DENSE and using not in asked:
            asyncio.run_coroutine_threadsafe(lab.write(new), loop).result()
        asked.append(using)
        return branch(query, vector, using, **also)

    monkeypatch.setattr(CandidateQuery, "_branch", written)
    found = await lab.ask(QUERY)

    assert asked == [WORDS, DENSE, WORDS, DENSE]
    assert found.seqs.tolist() == [2]
    assert found.lexical.tolist() > [0.0]


async def test_files_made_anew_meanwhile_answer(lab: Lab, ask: Ask) -> None:
    """M4 S10 The former ones are removed, and get no more changes."""
    fox = plain_state("fox", 1, "a red fox")
    await lab.write(fox, plain_state("erased", 2, "a red fox"))
    task, vector = await ask()
    await lab.index.apply(SPACE, Batch(3, NOW, erased=("erased",)))
    await lab.index.scrub(SPACE)
    await lab.write(replace(fox, seq=4, record_from=NOW - 1, tags=("new",)))

    vector.set_result(lab.embedder.vector(QUERY))

    assert lab.ids(await task) == ["fox"]


async def test_the_version_that_serves_answers_for_one_that_was_removed(lab: Lab, ask: Ask) -> None:
    """S10 That a version is gone does not mean that nothing was found."""
    fox = plain_state("fox", 1, "a red fox")
    await lab.write(fox)
    task, vector = await ask()
    model, known = lab.embedder.model, lab.embedder.vector(fox.content)
    await lab.index.begin_next(SPACE, model)
    batch = Batch(1, fox.record_from, states=[(fox, known)], model=model)
    await lab.index.apply(SPACE, batch, Version.NEXT)
    await lab.index.promote(SPACE)
    await lab.index.remove_version(SPACE, Version.FORMER)

    vector.set_result(lab.embedder.vector(QUERY))

    assert lab.ids(await task) == ["fox"]


async def test_nothing_is_made_for_a_question_that_failed(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S1 S10 Neither where the index does not answer, nor where another part was not made."""
    await lab.write(plain_state("fox", 1, "a red fox"))
    loop = asyncio.get_running_loop()
    vector: asyncio.Future[Vector] = loop.create_future()
    weight: asyncio.Future[float] = loop.create_future()
    failed: asyncio.Future[Vector] = loop.create_future()
    failed.set_exception(EmbeddingUnavailable("away"))
    question = Question(failed, QUERY, SCOPE, lab.embedder.model)
    with pytest.raises(EmbeddingUnavailable):
        await lab.index.weigh(SPACE, question, weight)

    def away(_query: CandidateQuery) -> None:
        raise IndexUnavailable("away")

    monkeypatch.setattr(CandidateQuery, "begin", away)
    with pytest.raises(IndexUnavailable):
        await lab.index.ask(SPACE, Question(vector, QUERY, SCOPE, lab.embedder.model))

    assert weight.cancelled()
    assert vector.cancelled()


@pytest.mark.parametrize("by_values", [False, True])
async def test_a_memory_erased_while_it_is_ranked_is_not_returned(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, *, by_values: bool
) -> None:
    """S1 S6 V8 Between the engine's answer and the description of what it found."""
    await lab.write(plain_state("a", 1, "a red fox"), plain_state("b", 2, "a red fox"))
    described = CandidateQuery._there

    def erased(query: CandidateQuery, rows: Ints) -> Bools:
        query._columns.drop(query._key.item("a"))
        return described(query, rows)

    monkeypatch.setattr(CandidateQuery, "_there", erased)

    if by_values:
        question = Question(ready(lab.embedder.vector(QUERY)), QUERY, SCOPE, lab.embedder.model)
        found = (await lab.index.weigh(SPACE, question, ready(2.0))).candidates
    else:
        found = await lab.ask(QUERY)

    assert lab.ids(found) == ["b"]
