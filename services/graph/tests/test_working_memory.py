"""Working memory: bounded, what matters most stays, what goes is on the stale list (M2)."""

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest_asyncio
from concord.graph.v1 import working_memory_pb2
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


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.sampled_from([LOW, MEDIUM, HIGH])), max_size=25))
async def test_against_a_naive_model(
    tmp_path_factory: object, puts: list[tuple[int, type_pb2.Importance.ValueType]]
) -> None:
    """M2 Any puts: held, evicted and stale texts are those of lists that are kept by hand. The
    least important goes first, then what was put longest ago, and nothing of HIGH importance."""
    folder: Path = tmp_path_factory.mktemp("model")  # type: ignore[attr-defined]
    held: list[tuple[str, int]] = []
    stale: list[tuple[str, int]] = []

    def shown(entries: list[tuple[str, int]]) -> list[str]:
        """Order as lists do: the most important first, of one importance the newest."""
        newest_first = entries[::-1]
        newest_first.sort(key=lambda one: -one[1])
        return [text for text, _ in newest_first]

    async with world(folder / "graph.db", working_capacity=3) as running:
        home = running.calls()
        for text, importance in ((f"t{number}", rank) for number, rank in puts):
            rest = [one for one in held if one[0] != text]
            movable = [one for one in rest if one[1] != HIGH]
            if len(rest) == 3 and not movable:
                failure = await refused(home.hold(text, importance))
                assert failure.code == grpc.StatusCode.FAILED_PRECONDITION
                assert (failure.reason, failure.metadata) == (FULL, {"capacity": "3"})
                continue
            evicted = [min(movable, key=lambda one: one[1])] if len(rest) == 3 else []
            held = [*(one for one in rest if one not in evicted), (text, importance)]
            stale += evicted
            reply = await home.hold(text, importance)
            assert [entry.content for entry in reply.evicted] == [text for text, _ in evicted]
            assert all(entry.HasField("evict_time") for entry in reply.evicted)

        assert await home.held() == shown(held)
        assert await home.held(stale=True) == shown(stale)
