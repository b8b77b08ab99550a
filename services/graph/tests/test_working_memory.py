"""Working memory: bounded, what matters most stays, what goes is on the stale list (M2)."""

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest_asyncio
import raw_store
from concord.graph.v1 import feed_pb2, space_pb2, working_memory_pb2
from concord.type.v1 import type_pb2
from graph_world import SECOND, START, Calls, World, micros, reason, refused, stamp, world
from hypothesis import given, settings
from hypothesis import strategies as st

LOW = type_pb2.IMPORTANCE_LOW
MEDIUM = type_pb2.IMPORTANCE_MEDIUM
HIGH = type_pb2.IMPORTANCE_HIGH
FULL = "ERROR_REASON_WORKING_MEMORY_FULL"


@pytest_asyncio.fixture
async def live(tmp_path: Path) -> AsyncIterator[World]:
    """A graph whose working memory holds three entries a space."""
    async with world(tmp_path / "graph.db", working_capacity=3) as running:
        yield running


async def remove(home: Calls, entry_id: str) -> None:
    """Remove an entry."""
    await home.working_memory.RemoveWorkingMemory(
        working_memory_pb2.RemoveWorkingMemoryRequest(request_id=home.request_id(), id=entry_id)
    )


async def clear(home: Calls, session_id: str = "", *, include_stale: bool = False) -> int:
    """Clear working memory; return how many went."""
    request = working_memory_pb2.ClearWorkingMemoryRequest(
        request_id=home.request_id(), session_id=session_id, include_stale=include_stale
    )
    return (await home.working_memory.ClearWorkingMemory(request)).removed_count


async def whole(home: Calls, **fields: object) -> working_memory_pb2.ListWorkingMemoryResponse:
    """List working memory."""
    request = working_memory_pb2.ListWorkingMemoryRequest(**fields)  # type: ignore[arg-type]
    return await home.working_memory.ListWorkingMemory(request)


async def test_an_entry_is_read_back_as_it_was_put(home: Calls) -> None:
    """M2 With its importance, MEDIUM when none was stated, and its session."""
    put = (await home.hold("Call Bob", session_id="s")).entry
    reply = await whole(home)

    assert list(reply.entries) == [put]
    assert (put.content, put.importance, put.session_id) == ("Call Bob", MEDIUM, "s")
    assert put.create_time == put.put_time
    assert START <= micros(put.put_time) < START + SECOND
    assert not put.HasField("evict_time")
    assert (reply.total_count, reply.capacity) == (1, 3)


async def test_the_least_important_goes_first_then_the_oldest(home: Calls) -> None:
    """M2 What was evicted is told with the put, and stands on the stale list with its times."""
    await home.hold("medium, old", MEDIUM)
    low = (await home.hold("low", LOW)).entry
    await home.hold("medium, new", MEDIUM)
    first = await home.hold("high", HIGH)
    second = await home.hold("low, new", LOW)
    third = await home.hold("medium, newest", MEDIUM)

    assert [entry.content for entry in first.evicted] == ["low"]
    assert [entry.content for entry in second.evicted] == ["medium, old"]
    assert [entry.content for entry in third.evicted] == ["low, new"]
    assert await home.held() == ["high", "medium, newest", "medium, new"]
    assert await home.held(stale=True) == ["medium, old", "low, new", "low"]
    (gone,) = first.evicted
    assert (gone.id, gone.importance, gone.put_time) == (low.id, LOW, low.put_time)
    assert gone.evict_time.ToMicroseconds() > low.put_time.ToMicroseconds()


async def test_high_entries_are_never_evicted(home: Calls) -> None:
    """M2 Full of them, a put is refused for any importance, and nothing has changed."""
    for number in range(3):
        await home.hold(f"high {number}", HIGH)
    for importance in (LOW, MEDIUM, HIGH):
        failure = await refused(home.hold("one more", importance))

        assert (failure.code, failure.reason) == (grpc.StatusCode.FAILED_PRECONDITION, FULL)
        assert failure.metadata == {"capacity": "3"}
    assert await home.held() == ["high 2", "high 1", "high 0"]
    assert await home.held(stale=True) == []


async def test_putting_again_is_one_entry(home: Calls) -> None:
    """M2 It becomes the newest, with the importance stated now, also when all is full."""
    first, *_ = [(await home.hold(f"high {number}", HIGH)).entry for number in range(3)]
    again = await home.hold("high 0", LOW, session_id="t")
    evicting = await home.hold("new", MEDIUM)

    assert (again.entry.importance, again.entry.session_id) == (LOW, "t")
    assert again.entry.create_time == first.create_time
    assert again.entry.put_time.ToMicroseconds() > again.entry.create_time.ToMicroseconds()
    assert not again.evicted
    assert [entry.content for entry in evicting.evicted] == ["high 0"]


async def test_what_is_put_again_is_no_longer_the_oldest(home: Calls) -> None:
    """M2 Age counts from the last put."""
    for text in ("a", "b", "c", "a"):
        await home.hold(text)
    reply = await home.hold("d")

    assert [entry.content for entry in reply.evicted] == ["b"]


async def test_a_stale_text_is_a_new_entry_when_it_comes_back(home: Calls) -> None:
    """M2 What was evicted stays on the stale list."""
    for text in ("a", "b", "c", "d"):
        await home.hold(text)
    back = await home.hold("a")

    assert [entry.content for entry in back.evicted] == ["b"]
    assert await home.held() == ["a", "d", "c"]
    assert await home.held(stale=True) == ["b", "a"]


async def test_an_entry_can_be_removed(home: Calls) -> None:
    """M2 A held one makes room, also a HIGH one; a stale one leaves its list; gone is gone."""
    puts = [(await home.hold(text, HIGH)).entry for text in ("a", "b", "c")]
    await remove(home, puts[1].id)
    await home.hold("d", LOW)
    evicted = (await home.hold("e", MEDIUM)).evicted[0]
    await remove(home, evicted.id)

    assert await home.held() == ["c", "a", "e"]
    assert await home.held(stale=True) == []
    for entry_id in (puts[1].id, evicted.id, "nowhere"):
        assert await reason(remove(home, entry_id)) == "ERROR_REASON_ITEM_NOT_FOUND"


async def test_an_entry_of_another_space_is_none(live: World, home: Calls) -> None:
    """G13 It neither shows, nor goes, nor counts against the bound."""
    other = live.calls("other")
    entry = (await other.hold("theirs", HIGH)).entry
    for number in range(3):
        await home.hold(f"ours {number}", HIGH)

    assert await reason(remove(home, entry.id)) == "ERROR_REASON_ITEM_NOT_FOUND"
    assert await clear(home, include_stale=True) == 3
    assert await other.held() == ["theirs"]


async def test_clearing(home: Calls) -> None:
    """M2 All of a session, all that is held, or the stale list too."""
    for text in ("a", "b", "c", "d"):
        await home.hold(text, session_id="s" if text < "c" else "t")
    of_session = await clear(home, "s")
    left = await home.held()
    stale = await home.held(stale=True, session_id="s")
    of_all = await clear(home)
    rest = await clear(home, include_stale=True)

    assert (of_session, left, stale) == (1, ["d", "c"], ["a"])
    assert (of_all, rest, await clear(home)) == (2, 1, 0)
    assert await home.held() + await home.held(stale=True) == []


async def test_pages_and_sessions(home: Calls) -> None:
    """M2 Pages of a size, each with the total; only what a session put there."""
    for text, importance in (("a", LOW), ("b", HIGH), ("c", MEDIUM)):
        await home.hold(text, importance, session_id="s" if text == "c" else "t")
    first = await whole(home, page_size=2)
    second = await whole(home, page_size=2, page_token=first.next_page_token)

    assert [entry.content for entry in first.entries] == ["b", "c"]
    assert [entry.content for entry in second.entries] == ["a"]
    assert (first.total_count, second.total_count, second.next_page_token) == (3, 3, "")
    assert await home.held(session_id="s") == ["c"]


async def test_working_memory_as_it_was(live: World, home: Calls) -> None:
    """T3 As of a record time: what was held, and what was stale, then."""
    for text in ("a", "b", "c"):
        await home.hold(text)
    full = live.clock.now + 50
    live.clock.pass_(100)
    await home.hold("d")
    evicted = live.clock.now + 50
    live.clock.pass_(100)
    await clear(home, include_stale=True)

    then, later = (type_pb2.AsOf(record_time=stamp(time)) for time in (full, evicted))
    assert await home.held(as_of=then) == ["c", "b", "a"]
    assert await home.held(as_of=then, stale=True) == []
    assert await home.held(as_of=later) == ["d", "c", "b"]
    assert await home.held(as_of=later, stale=True) == ["a"]
    assert await home.held(as_of=type_pb2.AsOf(valid_time=stamp(START - 1))) == []


async def test_a_replayed_put_tells_the_same(home: Calls) -> None:
    """M5 The same request once more evicts nothing more and gets the same reply."""
    for text in ("a", "b", "c"):
        await home.hold(text)
    request = working_memory_pb2.PutWorkingMemoryRequest(request_id="once", content="d")
    first = await home.working_memory.PutWorkingMemory(request)
    again = await home.working_memory.PutWorkingMemory(request)

    assert [entry.content for entry in first.evicted] == ["a"]
    assert again == first
    assert await home.held() == ["d", "c", "b"]


async def test_a_smaller_capacity_is_reached_at_the_next_put(tmp_path: Path) -> None:
    """M2 The bound is configuration: lowered, the next put evicts down to it, HIGH ones not."""
    path = tmp_path / "shrinking.db"
    async with world(path, working_capacity=5) as wide:
        for number in range(4):
            await wide.calls().hold(f"e{number}")
        await wide.calls().hold("high", HIGH)
    async with world(path, working_capacity=2) as narrow:
        home = narrow.calls()
        reply = await home.hold("new")

        assert [entry.content for entry in reply.evicted] == ["e0", "e1", "e2", "e3"]
        assert await home.held() == ["high", "new"]
        await home.hold("new", HIGH)
    async with world(path, working_capacity=1) as full:
        home = full.calls()
        kept = await home.hold("new", HIGH)

        assert not kept.evicted
        assert await reason(home.hold("more")) == FULL


async def test_the_record_of_working_memory_holds_no_word_of_it(live: World, home: Calls) -> None:
    """G14 Put, evicted and removed: each a row with author and digests; the feed says the kind."""
    for number in range(4):
        await home.hold(f"xylophone {number}")
    await clear(home, include_stale=True)
    changes = await home.changes()

    types = [change.type for change in changes]
    assert {change.item_kind for change in changes} == {type_pb2.ITEM_KIND_WORKING_MEMORY}
    assert types == [
        *[feed_pb2.CHANGE_TYPE_CREATED] * 3,
        feed_pb2.CHANGE_TYPE_UPDATED,
        feed_pb2.CHANGE_TYPE_CREATED,
        *[feed_pb2.CHANGE_TYPE_DELETED] * 4,
    ]
    rows = raw_store.records(live.path)
    assert "xylophone" not in rows
    assert "agent-1" in rows


async def test_what_is_held_stale_and_removed_is_counted_apart(home: Calls) -> None:
    """G12 Live entries, stale ones, and removed ones among the deleted."""
    for text in ("a", "b", "c", "d", "e"):
        await home.hold(text)
    await remove(home, (await whole(home)).entries[0].id)
    counts = await home.space_service.CountByType(space_pb2.CountByTypeRequest())

    assert (counts.working_memory, counts.working_memory_stale, counts.deleted) == (2, 2, 1)
    assert (counts.memories, counts.episodes) == (0, 0)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.sampled_from([LOW, MEDIUM, HIGH])), max_size=25))
async def test_against_a_naive_model(
    tmp_path_factory: object, puts: list[tuple[int, type_pb2.Importance.ValueType]]
) -> None:
    """M2 Any puts: the held ones are those of a list that is kept by hand."""
    folder: Path = tmp_path_factory.mktemp("model")  # type: ignore[attr-defined]
    held: list[tuple[str, int]] = []
    async with world(folder / "graph.db", working_capacity=3) as running:
        home = running.calls()
        for text, importance in ((f"t{number}", rank) for number, rank in puts):
            rest = [one for one in held if one[0] != text]
            movable = [one for one in rest if one[1] != HIGH]
            if len(rest) == 3 and not movable:
                assert await reason(home.hold(text, importance)) == FULL
                continue
            if len(rest) == 3:
                rest.remove(min(movable, key=lambda one: one[1]))
            held = [*rest, (text, importance)]
            await home.hold(text, importance)

        held.reverse()
        held.sort(key=lambda one: -one[1])  # stable: of one importance, the newest first
        assert await home.held() == [text for text, _ in held]
