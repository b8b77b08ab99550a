"""The follower: order, resumption, lost connections, poison, and slow or broken embedders."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from concord_chassis.channel.cursors import START, Cursor
from concord_search.domain.changes import ChangeKind
from concord_search.domain.errors import (
    EmbeddingRefused,
    EmbeddingUnavailable,
    FreshnessTokenInvalid,
    GraphRefused,
    IndexMissing,
    IndexStale,
    IndexUnavailable,
)
from concord_search.ports.index import Version
from concord_search.usecases.progress import Demand
from concord_search.usecases.reconcile import Reconcile
from concord_search.usecases.slices import SLICE
from concord_testing.polling import SECONDS, until
from following import Following, numbered, refuses
from scripted_graph import PARTITIONS
from search_lab import SPACE, plain_state


async def test_changes_are_applied_as_they_come(at_work: Following) -> None:
    """S10 the index follows the feed: what was there, and what comes."""
    await at_work.write(plain_state("a", 1, "red fox"))
    at_work.graph.say(SPACE, plain_state("a", 2, "blue whale"), kind=ChangeKind.UPDATED)

    state = await at_work.reached(2)

    assert (state.applied_seq, state.memories, state.parked_count) == (2, 1, 0)
    assert (await at_work.lab.ask("whale")).seqs.tolist() == [2]


async def test_a_fact_that_comes_beside_the_same_text_is_found(at_work: Following) -> None:
    """S11 Both states come in one slice: the second one needs its own words."""
    home, pet = (("Ada", "LIVES_IN", "Bremen"),), (("Ada", "HAS_PET", "Momo"),)
    first = plain_state("a", 1, "news", facts=home)
    at_work.graph.say(SPACE, first, plain_state("a", 2, "news", facts=pet))

    state = await at_work.reached(2)

    assert (state.applied_seq, state.parked_count) == (2, 0)
    assert (await at_work.lab.ask("Momo")).seqs.tolist() == [2]


async def test_a_new_space_is_not_up_to_date_before_all_of_it_is_indexed(
    at_work: Following,
) -> None:
    """S10 The first slice of an imported space is written: the rest counts as not applied."""

    at_work.graph.say(SPACE, plain_state("a", 1))
    await at_work.reached(1)  # the feed is followed, and the other space is not there yet

    at_work.embedder.mood = refuses("number600", EmbeddingUnavailable("busy"))
    at_work.graph.say("new", *numbered(SLICE + 99))
    await until(lambda: at_work.progress.of("new").applied_seq > 0)

    lag, applied = at_work.progress.lag()["new"], at_work.progress.of("new").applied_seq
    assert applied < 600
    assert lag == SLICE + 99 - applied


async def test_it_resumes_where_it_stopped(at_work: Following) -> None:
    """S10 it resumes from its own applied_seq and asks for nothing twice."""
    await at_work.write(*numbered(10))
    await at_work.stop()
    at_work.graph.say(SPACE, plain_state("m11", 11))
    before = at_work.graph.hydrated

    at_work.follow()
    state = await at_work.reached(11)

    assert state.memories == 11
    assert at_work.graph.hydrated == before + 1


async def test_it_reconnects_when_graph_comes_back(at_work: Following) -> None:
    """S10 a lost feed is told, and followed again."""
    await at_work.write(plain_state("a", 1))
    at_work.graph.fail()
    await until(lambda: not at_work.progress.following)
    at_work.graph.down = False

    await at_work.write(plain_state("b", 2))

    assert at_work.progress.following
    assert at_work.graph.connections == 2


async def test_a_space_is_reindexed_right_after_its_first_write(at_work: Following) -> None:
    """S10 Before the feed has told of a space it has no part: the part is begun, and the version
    that then serves has the change."""
    states = at_work.lab.index.states
    await until(lambda: at_work.progress.following)
    at_work.graph.log["new"] = []
    at_work.graph.say("new", plain_state("first", 1, "a red fox"))
    assert "new" not in await states()

    await at_work.reindex("new", "")

    async with asyncio.timeout(SECONDS):
        while "new" not in await states(Version.FORMER):  # noqa: ASYNC110 - it is asked anew
            await asyncio.sleep(0.005)
    state = await at_work.reached(1, "new")
    assert (state.memories, state.parked_count) == (1, 0)
    assert (await Reconcile(at_work.context)("new", repair=False)).agrees


async def test_a_space_without_a_write_has_nothing_to_reindex(at_work: Following) -> None:
    """S10 The refusal says what is missing and what to do, not that a service is down."""
    await until(lambda: at_work.progress.following)

    with pytest.raises(IndexMissing, match="write something first"):
        await at_work.reindex("nobody wrote here", "")


async def test_an_index_that_a_write_lost_is_named_with_its_reason(
    at_work: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 What failed below the follower of a space is told in its own words, also to searches."""
    reason = "Qdrant does not answer at http://127.0.0.1:6334"

    async def lost(*_: object) -> None:
        raise IndexUnavailable(reason)

    with monkeypatch.context() as gone:
        gone.setattr(at_work.lab.index, "apply", lost)
        at_work.graph.say(SPACE, plain_state("a", 1))
        await until(lambda: at_work.progress.index_lost != "")

        assert at_work.progress.index_lost == reason
    await at_work.reached(1)


async def test_every_kind_of_change_does_what_it_says(at_work: Following) -> None:
    """S10, M4, G6 created, updated, deleted, restored, supersession, touched, refused."""
    graph = at_work.graph
    graph.say(SPACE, plain_state("a", 1, "red fox"))
    graph.say(SPACE, plain_state("a", 2, "red fox", access_count=3), kind=ChangeKind.TOUCHED)
    graph.say(SPACE, plain_state("b", 3, "red owl"))
    graph.say(SPACE, plain_state("b", 4, "red owl", forgotten=True), kind=ChangeKind.DELETED)
    graph.say(SPACE, plain_state("c", 5, "red hen"))
    graph.say(SPACE, plain_state("c", 6, "red hen", forgotten=True), kind=ChangeKind.DELETED)
    graph.say(SPACE, plain_state("c", 7, "red hen"), kind=ChangeKind.RESTORED)
    graph.say(SPACE, plain_state("d", 8, "red cat"))
    graph.say(
        SPACE, plain_state("d", 9, "red cat", superseded_from=1), kind=ChangeKind.STANDING_CHANGED
    )
    graph.say(SPACE, plain_state("e", 10, "red eel"))
    graph.erase(SPACE, "e", 11)
    graph.say(SPACE, plain_state("a", 12, "red fox"), kind=ChangeKind.REFUSED)

    state = await at_work.reached(12)
    found = await at_work.lab.ask("red")

    assert sorted(at_work.lab.ids(found)) == ["a", "c"]
    assert found.access_count[at_work.lab.ids(found).index("a")] == 3
    assert (state.memories, state.parked_count) == (3, 0)


async def test_an_unchanged_text_is_not_embedded_again(at_work: Following) -> None:
    """S10 a change of supersession reuses the vector."""
    await at_work.write(plain_state("a", 1, "red fox"))
    at_work.graph.say(
        SPACE, plain_state("a", 2, "red fox", predecessors=1), kind=ChangeKind.STANDING_CHANGED
    )
    await at_work.reached(2)

    assert [list(texts) for texts in at_work.embedder.asked] == [["red fox"]]
    assert (await at_work.lab.ask("fox")).is_head.tolist() == [True]


async def test_a_poison_row_is_parked_and_the_feed_goes_on(at_work: Following) -> None:
    """S10, design 5: one row cannot stop the others; it is counted and shown without content."""

    def spoil(item_id: str) -> None:
        if item_id == "m13":
            raise GraphRefused("graph refuses (INTERNAL)")

    at_work.graph.spoil = spoil

    state = await at_work.write(*numbered(30))

    assert state.memories == 29
    assert state.parked_count == 1
    assert [(p.seq, p.item_id) for p in state.parked] == [(13, "m13")]
    assert state.parked[0].reason == "graph refuses (INTERNAL)"


@pytest.mark.parametrize(
    ("error", "reason"),
    [(EmbeddingRefused("HTTP 400"), "HTTP 400"), (ValueError("cannot take bad"), "ValueError")],
)
async def test_a_text_that_cannot_be_embedded_is_parked(
    at_work: Following, error: Exception, reason: str
) -> None:
    """S10, design 5: a text that no retry would help is set aside; of a bug, its kind alone."""
    at_work.embedder.mood = refuses("bad", error)
    texts = ("good", "bad", "fine")

    state = await at_work.write(*(plain_state(f"m{n}", n, text) for n, text in enumerate(texts, 1)))

    assert [(p.seq, p.item_id, p.reason) for p in state.parked] == [(2, "m2", reason)]
    assert state.memories == 2


async def test_a_parked_row_counts_once(at_work: Following) -> None:
    """S10 replaying the feed does not park a change twice."""

    def spoil(item_id: str) -> None:
        raise GraphRefused(f"no {item_id}")

    at_work.graph.spoil = spoil
    await at_work.write(plain_state("a", 1))
    await at_work.stop()
    await at_work.lab.index.begin(SPACE, "epoch-1")
    at_work.follow()

    state = await at_work.reached(1)

    assert state.parked_count == 1


async def test_an_embedder_that_is_away_is_waited_for(at_work: Following) -> None:
    """S10: nothing is parked because the endpoint was down."""
    away = 2

    def mood(_: Sequence[str]) -> None:
        nonlocal away
        away -= 1
        if away >= 0:
            raise EmbeddingUnavailable("away")

    at_work.embedder.mood = mood

    state = await at_work.write(plain_state("a", 1))

    assert (state.memories, state.parked_count) == (1, 0)


async def test_spaces_do_not_wait_for_one_another(at_work: Following) -> None:
    """S10, G13 a space whose texts cannot be embedded now holds up no other."""
    at_work.embedder.mood = refuses("stuck", EmbeddingUnavailable("away"))
    at_work.graph.say("stuck", plain_state("a", 1, "stuck"))

    await at_work.write(plain_state("b", 1, "fine"))

    assert at_work.progress.of("stuck").applied_seq == 0
    assert at_work.progress.lag()["stuck"] == 1


async def test_a_restored_store_is_followed_from_its_beginning(at_work: Following) -> None:
    """S10 when the epoch changes, what was derived is void."""
    await at_work.write(plain_state("old", 5))
    at_work.graph.fail()
    await until(lambda: not at_work.progress.following)
    at_work.graph.epoch, at_work.graph.log = "epoch-2", {SPACE: []}
    at_work.graph.say(SPACE, plain_state("new", 1, "red fox"))
    at_work.graph.down = False

    await until(lambda: at_work.progress.of(SPACE).epoch == "epoch-2")
    state = await at_work.reached(1)

    assert (state.epoch, state.memories) == ("epoch-2", 1)
    with pytest.raises(FreshnessTokenInvalid, match="restored"):
        await at_work.progress.wait(SPACE, Demand(SPACE, "epoch-1", 5), 0.01)


@pytest.mark.parametrize("kept", [{}, dict.fromkeys(range(PARTITIONS), START)])
async def test_a_space_that_left_the_store_leaves_the_index(
    at_work: Following, kept: Mapping[int, Cursor]
) -> None:
    """S10 no orphan in the index, also if the process ended before its cursors moved."""
    await at_work.write(plain_state("a", 1), space="other")
    await at_work.stop()
    await at_work.lab.index.keep_cursors(kept)
    at_work.graph.log.pop("other")
    at_work.graph.epoch = "epoch-2"
    at_work.follow()
    await until(lambda: at_work.progress.following)

    assert await at_work.lab.index.state("other") is None
    assert await at_work.lab.index.state(SPACE) is not None


async def test_many_changes_go_in_slices(at_work: Following) -> None:
    """S10 a backlog is applied in slices, each found as soon as it is written."""
    state = await at_work.write(*numbered(2 * SLICE + 10))

    assert state.memories == 2 * SLICE + 10
    assert max(len(texts) for texts in at_work.embedder.asked) <= SLICE


async def test_waiting_ends_when_the_change_is_applied(at_work: Following) -> None:
    """S10 at least as fresh as: the read waits, and no longer than needed."""
    await until(lambda: at_work.progress.of(SPACE).epoch != "")
    demand = Demand(SPACE, "epoch-1", 2)
    waiting = asyncio.create_task(at_work.progress.wait(SPACE, demand, SECONDS))
    await at_work.write(plain_state("a", 1))
    still_waiting = not waiting.done()
    at_work.graph.say(SPACE, plain_state("b", 2))
    await waiting

    assert still_waiting
    await at_work.progress.wait(SPACE, demand, 0.0)


async def test_waiting_ends_at_the_deadline(at_work: Following) -> None:
    """S10 not fresh in time is told with how far the index is."""
    with pytest.raises(IndexStale, match="applied 0 of 9"):
        await at_work.progress.wait(SPACE, Demand(SPACE, "epoch-1", 9), 0.02)


async def test_a_token_of_another_space_is_refused(at_work: Following) -> None:
    """G13 a token names a space and is good for that alone."""
    with pytest.raises(FreshnessTokenInvalid, match="another space"):
        await at_work.progress.wait(SPACE, Demand("other", "epoch-1", 1), 0.02)
