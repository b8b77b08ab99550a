"""The follower's lanes: steps that overlap, and parked changes that are tried again."""

import time

import pytest
from concord_search.domain.changes import ChangeKind
from concord_search.domain.errors import EmbeddingRefused, GraphRefused
from concord_search.domain.memory import MemoryState
from concord_search.ports.index import Batch, Version
from concord_search.usecases import retries
from concord_search.usecases.retries import RETRIED
from concord_search.usecases.slices import SLICE
from concord_testing.polling import until
from following import Following, numbered, refuses
from search_lab import SPACE, plain_state


async def test_the_next_slice_is_embedded_while_one_is_written(
    at_work: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Design 7 neither the model nor the engine waits for the other; order is kept."""
    written: list[int] = []
    apply = at_work.lab.index.apply

    async def slow(space: str, batch: Batch, version: Version) -> None:
        if not written:
            await until(lambda: len(at_work.embedder.asked) >= 2)
        written.append(batch.applied_seq)
        await apply(space, batch, version)

    monkeypatch.setattr(at_work.lab.index, "apply", slow)

    await at_work.write(*numbered(3 * SLICE))

    assert written == sorted(written)


async def test_a_text_on_its_way_is_not_embedded_again(at_work: Following) -> None:
    """S10 what a slice ahead says counts as known, also before it is written."""
    await at_work.stop()
    at_work.graph.say(SPACE, *numbered(SLICE, said="number "))
    again = plain_state("m7", SLICE + 1, "number 7", predecessors=1)
    at_work.graph.say(SPACE, again, kind=ChangeKind.STANDING_CHANGED)
    at_work.follow()

    state = await at_work.reached(SLICE + 1)

    assert sum(len(texts) for texts in at_work.embedder.asked) == SLICE
    assert state.parked_count == 0
    assert (await at_work.lab.ask("7", only=("m7",))).is_head.tolist() == [True]


async def test_a_text_that_comes_back_has_its_own_vector(at_work: Following) -> None:
    """S10 the newest state before decides, not the newest one that is written already."""
    await at_work.write(plain_state("a", 1, "red fox"))
    await at_work.stop()
    at_work.graph.say(SPACE, plain_state("a", 2, "blue whale"), kind=ChangeKind.UPDATED)
    for seq in range(3, SLICE + 2):
        at_work.graph.say(SPACE, plain_state(f"m{seq}", seq))
    at_work.graph.say(SPACE, plain_state("a", SLICE + 2, "red fox"), kind=ChangeKind.UPDATED)
    at_work.follow()

    state = await at_work.reached(SLICE + 2)
    found = await at_work.lab.ask("red fox", only=("a",))

    assert (found.seqs.tolist(), state.parked_count) == ([SLICE + 2], 0)
    assert found.cosine.tolist() == pytest.approx([1.0], abs=0.001)


def refusing(_: str) -> None:
    """Nothing can be read."""
    raise GraphRefused("no")


async def parked(at_work: Following, *states: MemoryState) -> None:
    """Has the follower set these aside, and stops it."""
    at_work.graph.spoil = refusing
    at_work.graph.say(SPACE, *states)
    await until(lambda: at_work.progress.parked() == len(states))
    await at_work.stop()


async def test_parked_changes_are_tried_again_at_the_start(at_work: Following) -> None:
    """S10 what was set aside is not lost: it is found once its reason is gone."""
    await parked(at_work, plain_state("a", 1, "red fox"), plain_state("b", 2, "red owl"))
    at_work.graph.spoil = lambda _: None
    at_work.follow()
    await until(lambda: at_work.progress.retries == 2 and at_work.progress.parked() == 0)

    state = (await at_work.lab.index.states())[SPACE]

    assert (state.memories, state.parked, state.applied_seq) == (2, (), 2)
    assert sorted(at_work.lab.ids(await at_work.lab.ask("red"))) == ["a", "b"]


async def test_parked_changes_are_tried_again_from_time_to_time(
    at_work: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 also while the service runs; what still fails stays parked and is counted."""
    await parked(at_work, plain_state("a", 1, "red fox"))
    monkeypatch.setattr(retries, "RETRY_EVERY", 0.02)
    at_work.follow()
    await until(lambda: at_work.progress.retries >= 3)
    still = at_work.progress.parked()
    at_work.graph.spoil = lambda _: None
    await until(lambda: at_work.progress.parked() == 0)

    assert still == 1
    assert at_work.lab.ids(await at_work.lab.ask("red")) == ["a"]


async def test_texts_that_a_model_refused_for_a_while_come_in_soon(
    at_work: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 an endpoint answers 400 to all, and is mended: no round waits for the next then."""
    monkeypatch.setattr(retries, "FIRST_RETRY", 0.02)
    said = "The embedding endpoint refuses the text: HTTP 400."
    at_work.embedder.mood = refuses("", EmbeddingRefused(said))
    many = RETRIED + 20
    at_work.graph.say(SPACE, *numbered(many))
    await until(lambda: at_work.progress.parked() == many)
    await until(lambda: at_work.progress.retries > 2)
    listed = (await at_work.lab.index.states())[SPACE].parked
    at_work.embedder.mood = lambda _: None

    await until(lambda: at_work.progress.parked() == 0)

    assert {each.reason for each in listed} == {said}
    assert (await at_work.lab.index.states())[SPACE].memories == many


async def test_a_round_of_retries_is_bounded(
    at_work: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 many parked changes take turns, a round's worth at a time."""
    many = RETRIED + 20
    await parked(at_work, *numbered(many))
    tried: list[str] = []
    times: list[float] = []

    def spoil(item_id: str) -> None:
        tried.append(item_id)
        times.append(time.monotonic())
        raise GraphRefused("no")

    at_work.graph.spoil = spoil
    monkeypatch.setattr(retries, "RETRY_EVERY", 0.2)
    at_work.follow()
    await until(lambda: len(set(tried)) == many)

    assert times[RETRIED] - times[RETRIED - 1] >= 0.2
    assert tried[:many] == [f"m{seq}" for seq in range(1, many + 1)]


async def test_what_was_erased_or_forgotten_since_is_not_brought_back(at_work: Following) -> None:
    """M4 a retry takes what graph says now."""
    await parked(at_work, plain_state("a", 1, "red fox"), plain_state("b", 2, "red owl"))
    at_work.graph.erase(SPACE, "a", 3)
    at_work.graph.say(
        SPACE, plain_state("b", 4, "red owl", forgotten=True), kind=ChangeKind.DELETED
    )
    at_work.graph.spoil = lambda _: None
    at_work.follow()

    state = await at_work.reached(4)
    await until(lambda: at_work.progress.parked() == 0)

    assert state.memories == 0
    assert len(await at_work.lab.ask("red")) == 0
