"""Another version of an index: built beside the one that serves, swapped, rolled back, dropped."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest
from concord_search.adapters.qdrant.parts import VERSION_MARK
from concord_search.adapters.versions.index import PartVersions
from concord_search.domain.errors import (
    EmbeddingUnavailable,
    FormerMissing,
    ModelReplaced,
    ModelUnknown,
    ReindexUnderWay,
)
from concord_search.ports.embedder import EmbeddingModel
from concord_search.ports.index import Batch, NearQuery, Question, Version
from concord_search.usecases.parked import ParkedChanges
from concord_search.usecases.reconcile import Reconcile
from concord_search.usecases.space_follower import SpaceFollower
from concord_testing.embedders import WordEmbedder, ready
from concord_testing.killing import kill, mortal
from concord_testing.polling import until
from following import OTHER, Following, OtherWords, follower_of, numbered, refuses
from search_lab import NOW, SCOPE, SPACE, OpenLab, plain_state


@pytest.fixture
def other() -> OtherWords:
    """The embedder of the model to change to."""
    return OtherWords()


@pytest.fixture
async def at_work(tmp_path: Path, open_lab: OpenLab, other: OtherWords) -> AsyncIterator[Following]:
    """A follower of an empty graph, with two models."""
    following = follower_of(await open_lab(tmp_path / "index", OTHER), other)
    yield following
    await following.stop()


async def asked(at_work: Following, text: str) -> list[str]:
    """What a search finds: it embeds with the model that serves, and asks a moment later."""
    index = at_work.lab.index
    model = index.model(SPACE)
    vector = await (await at_work.context.embedders.of(model)).embed_query(text)
    await asyncio.sleep(0.001)
    found = await index.ask(SPACE, Question(ready(vector), text, SCOPE, model, limit=3))
    return [index.id_of(SPACE, item) for item in found.items]


async def serves(at_work: Following, model: EmbeddingModel) -> None:
    """Waits until a model serves."""
    await until(lambda: at_work.lab.index.model(SPACE) == model)


async def test_a_model_changes_while_memories_are_written_and_searched(at_work: Following) -> None:
    """S10 no lost write, no mixed comparison, and every search finds what the lesser one would."""
    await at_work.write(*numbered(600))
    await at_work.reindex(SPACE, OTHER.model_id)
    seq, missed = 600, []
    while at_work.lab.index.model(SPACE) != OTHER or seq < 700:
        seq += 1
        at_work.graph.say(SPACE, plain_state(f"own id {seq}", seq, f"fox number{seq}"))
        if (await asked(at_work, "fox number77"))[:1] != ["m77"]:
            missed.append(seq)
    state = await at_work.reached(seq)

    agreement = await Reconcile(at_work.context)(SPACE, repair=False)

    assert missed == []
    assert agreement.agrees
    assert (state.model, state.memories, state.parked_count) == (OTHER, seq, 0)
    assert (await asked(at_work, f"fox number{seq}"))[0] == f"own id {seq}"
    former = (await at_work.lab.index.states(Version.FORMER))[SPACE]
    assert former.model == WordEmbedder.model
    assert 600 <= former.applied_seq <= seq


async def test_a_roll_back_brings_the_former_version_up_to_date(at_work: Following) -> None:
    """S10 the former version serves again, with what was written since; embedding only that."""
    await at_work.write(*numbered(20))
    await at_work.reindex(SPACE, OTHER.model_id)
    await serves(at_work, OTHER)
    await at_work.write(plain_state("late", 21, "late owl"))
    at_work.embedder.asked.clear()

    await at_work.reindex.roll_back(SPACE)
    await serves(at_work, WordEmbedder.model)

    assert [list(texts) for texts in at_work.embedder.asked] == [["late owl"]]
    assert (await asked(at_work, "late owl"))[0] == "late"
    assert (await at_work.lab.index.states(Version.FORMER))[SPACE].model == OTHER
    assert (await Reconcile(at_work.context)(SPACE, repair=False)).agrees


async def test_building_goes_on_after_a_restart(
    tmp_path: Path, open_lab: OpenLab, at_work: Following, other: OtherWords
) -> None:
    """S10 a process that ends half-way leaves the rest to the next one; strays are removed."""
    await at_work.write(*numbered(30))
    other.mood = waits_for(begun := asyncio.Event())
    await at_work.reindex(SPACE, OTHER.model_id)
    await begun.wait()
    await at_work.stop()
    index = at_work.lab.index
    assert isinstance(index, PartVersions)
    await index._parts.begin(f"{SPACE}{VERSION_MARK}stray", "epoch-1", OTHER)
    await index.close()
    other.mood = lambda _: None

    at_work.lab = await open_lab(tmp_path / "index", OTHER)
    at_work.follow()
    await serves(at_work, OTHER)

    assert (await asked(at_work, "fox number7"))[0] == "m7"
    assert len([each for each in (tmp_path / "index").iterdir() if each.is_dir()]) == 2


def waits_for(begun: asyncio.Event) -> Callable[[Sequence[str]], None]:
    """A mood that refuses to work, and tells that it was asked."""

    def refuse(_: object) -> None:
        begun.set()
        raise EmbeddingUnavailable("not now")

    return refuse


async def test_a_version_that_lacks_changes_does_not_serve(
    at_work: Following, other: OtherWords
) -> None:
    """S10 recall is never below the lesser one's: what is parked in the other is not found."""
    await at_work.write(plain_state("a", 1, "red fox"), plain_state("b", 2, "toxic owl"))
    other.mood = refuses("toxic")
    await at_work.reindex(SPACE, OTHER.model_id)
    await until(lambda: len(other.asked) > 2)  # the slice, and each of its rows alone
    await at_work.write(plain_state("c", 3, "new hen"))

    assert at_work.lab.index.model(SPACE) == WordEmbedder.model
    assert await at_work.reindex.remove(SPACE, Version.NEXT)
    assert not await at_work.reindex.remove(SPACE, Version.NEXT)
    assert (await asked(at_work, "toxic owl"))[0] == "b"


async def test_what_is_erased_leaves_the_former_version_too(at_work: Following) -> None:
    """M4, S10 an erasure is confirmed when no version holds the memory, and not before."""
    await at_work.write(plain_state("doomed", 1, "red fox"), plain_state("kept", 2, "red owl"))
    await at_work.reindex(SPACE, OTHER.model_id)
    await serves(at_work, OTHER)

    at_work.graph.erase(SPACE, "doomed", 3)
    await until(lambda: (SPACE, "doomed") in at_work.graph.confirmed)
    former = (await at_work.lab.index.states(Version.FORMER))[SPACE]
    await at_work.reindex.roll_back(SPACE)
    await serves(at_work, WordEmbedder.model)

    assert former.memories == 1
    assert await asked(at_work, "red fox") == ["kept"]


async def test_what_cannot_be_done_says_why(at_work: Following) -> None:
    """S10 typed errors: an unknown model, no former version, a second one at once."""
    await at_work.write(plain_state("a", 1, "red fox"))

    with pytest.raises(ModelUnknown, match="words, other words"):
        await at_work.reindex(SPACE, "gpt")
    with pytest.raises(FormerMissing):
        await at_work.reindex.roll_back(SPACE)
    at_work.embedder.mood = waits_for(asyncio.Event())
    building = await at_work.reindex(SPACE, "")
    assert await at_work.reindex(SPACE, "") == building
    with pytest.raises(ReindexUnderWay):
        await at_work.reindex(SPACE, OTHER.model_id)
    with pytest.raises(ReindexUnderWay):
        await at_work.reindex.roll_back(SPACE)


async def test_a_question_from_before_the_swap_is_answered_by_the_former_version(
    at_work: Following,
) -> None:
    """S10 a query that was embedded a moment before the swap finds what it would have found."""
    await at_work.write(plain_state("own id", 1, "red fox"))
    index, vector = at_work.lab.index, at_work.embedder.vector("red fox")
    before = Question(ready(vector), "red fox", SCOPE, WordEmbedder.model)
    await at_work.reindex(SPACE, OTHER.model_id)
    await serves(at_work, OTHER)

    found = await index.ask(SPACE, before)
    near = await index.near(SPACE, vector, WordEmbedder.model, NearQuery(SCOPE, 5))

    assert [index.id_of(SPACE, item) for item in found.items] == ["own id"]
    assert [each.id for each in near] == ["own id"]
    assert near[0].similarity == pytest.approx(1.0, abs=0.001)
    assert await at_work.reindex.remove(SPACE, Version.FORMER)
    with pytest.raises(ModelReplaced):
        await index.ask(SPACE, before)


async def test_vectors_of_another_model_are_neither_written_nor_compared(
    at_work: Following, other: OtherWords
) -> None:
    """S10 mixing is refused: the guard of writes, of questions and of near ones."""
    await at_work.write(plain_state("a", 1, "red fox"))
    index, vector = at_work.lab.index, other.vector("red fox")

    with pytest.raises(ModelReplaced):
        await index.ask(SPACE, Question(ready(vector), "red fox", SCOPE, OTHER))
    with pytest.raises(ModelReplaced):
        await index.near(SPACE, vector, OTHER, NearQuery(SCOPE, 5))
    batch = Batch(2, NOW, states=[(plain_state("b", 2), vector)], model=OTHER)
    with pytest.raises(ModelReplaced):
        await index.apply(SPACE, batch)


async def test_another_build_begins_just_after_a_swap(at_work: Following) -> None:
    """B1 Whenever a reindex or a roll back begins, each ends, and so do those of other spaces."""
    await at_work.lab.index.begin("second", "epoch-1")
    for space in (SPACE, "second"):
        await at_work.write(plain_state("a", 1, "red fox"), space=space)
    await at_work.reindex(SPACE, OTHER.model_id)
    await serves(at_work, OTHER)
    async with at_work.context.write_lock(SPACE):  # a slow write, while whoever builds comes here
        await at_work.reindex.roll_back(SPACE)
        await asyncio.sleep(0.3)
    await serves(at_work, WordEmbedder.model)
    await at_work.reindex("second", OTHER.model_id)
    await until(lambda: at_work.lab.index.model("second") == OTHER)

    assert (await asked(at_work, "red fox"))[0] == "a"
    assert not at_work.background.failing


async def test_a_version_that_is_removed_while_it_is_built_ends_no_other_build(
    at_work: Following,
) -> None:
    """B1 Its builder ends without an error, and the next build of the space serves."""
    await at_work.write(plain_state("a", 1, "red fox"))
    index = at_work.lab.index
    for turns in range(12):  # the part is gone at each place where the builder waits
        await at_work.reindex(SPACE, OTHER.model_id)
        for _ in range(turns):
            await asyncio.sleep(0)
        await index.remove_version(SPACE, Version.NEXT)
        await until(lambda: "build another version" not in at_work.background.running.values())
    await at_work.reindex(SPACE, OTHER.model_id)
    await serves(at_work, OTHER)

    assert not at_work.background.failing


@pytest.mark.parametrize("points", [3, pytest.param(20, marks=pytest.mark.soak)])
async def test_a_builder_that_is_killed_goes_on(at_work: Following, points: int) -> None:
    """B1 Must hold: at any place where it waits, it goes on by itself, and the new one serves."""
    await at_work.write(*numbered(20))
    with mortal():
        for point in range(points):
            model = OTHER if at_work.lab.index.model(SPACE) == WordEmbedder.model else None
            await at_work.reindex(SPACE, (model or WordEmbedder.model).model_id)
            for _ in range(point * 3):
                await asyncio.sleep(0)
            for task, name in at_work.background.running.items():
                if name == "build another version":
                    kill(task)
            await serves(at_work, model or WordEmbedder.model)

    assert (await asked(at_work, "fox number7"))[0] == "m7"


async def test_a_follower_that_dies_follows_again_and_alone(
    at_work: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 B1 A bug in one space's follower keeps no other space waiting, and loses no change."""
    other = "second"
    for space in (SPACE, other):
        await at_work.write(plain_state("a", 1, "red fox"), space=space)
    reads = SpaceFollower._reads

    async def broken(self: SpaceFollower) -> None:
        if self._space == SPACE:
            raise KeyError("a bug of ours")
        await reads(self)

    with mortal():
        with monkeypatch.context() as patched:
            patched.setattr(SpaceFollower, "_reads", broken)
            await at_work.stop()
            at_work.follow()
            at_work.graph.say(SPACE, plain_state("b", 2, "new hen"))
            await until(lambda: at_work.background.fails("follow a space", SPACE))
            for seq in range(2, 250):  # more than a dead follower's queue could hold
                at_work.graph.say(SPACE, plain_state(f"m{seq}", seq + 1, f"owl number{seq}"))
                await at_work.write(plain_state(f"m{seq}", seq, f"owl number{seq}"), space=other)
            assert at_work.background.fails("follow a space", SPACE)
            assert not at_work.background.is_stuck
        state = await at_work.reached(250)

    assert state.memories == 250


async def test_parked_changes_are_listed_and_tried_again_on_demand(at_work: Following) -> None:
    """S10 poison rows have a list with their reasons, in pages, and a way to try them again."""
    at_work.embedder.mood = refuses("toxic")
    await at_work.write(*numbered(5, said="toxic owl number"))
    parked = ParkedChanges(at_work.context)

    first = await parked.page(SPACE, 0, 3)
    second = await parked.page(SPACE, first.next_seq or 0, 3)
    assert [each.item_id for each in (*first.changes, *second.changes)] == [
        f"m{seq}" for seq in range(1, 6)
    ]
    assert (first.total, second.next_seq, first.changes[0].reason) == (5, None, "toxic")
    assert await parked.retry(SPACE) == (0, 5)

    at_work.embedder.mood = lambda _: None
    assert await parked.retry(SPACE) == (5, 0)
    assert not (await parked.page(SPACE, 0, 3)).changes
