"""Sessions: first and last use, end, and what was read together in them."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from concord.graph.v1 import feed_pb2, graph_pb2, memory_pb2, session_pb2
from concord.type.v1 import type_pb2
from concord_graph.domain import sessions
from google.protobuf.timestamp_pb2 import Timestamp
from graph_world import (
    DAY,
    FOUND,
    NOT_FOUND,
    SECOND,
    START,
    Calls,
    World,
    edge_of,
    micros,
    reason,
    stamp,
    world,
)
from paging import pages
from transfers import export_of, import_into

ENDED = feed_pb2.CHANGE_TYPE_SESSION_ENDED


def upsert(calls: Calls, session_id: str) -> graph_pb2.UpsertEdgeRequest:
    """Return a request for an edge."""
    return graph_pb2.UpsertEdgeRequest(
        request_id=calls.request_id(), edge=edge_of("A", "R", "B"), session_id=session_id
    )


async def end(calls: Calls, session_id: str) -> session_pb2.Session:
    """End a session."""
    request = session_pb2.EndSessionRequest(request_id=calls.request_id(), session_id=session_id)
    return (await calls.session.EndSession(request)).session


async def record(calls: Calls, session_id: str) -> session_pb2.Session | None:
    """Return a session's record."""
    request = session_pb2.GetSessionRequest(session_id=session_id)
    reply = await calls.session.GetSession(request)
    assert reply.status == (FOUND if reply.HasField("session") else NOT_FOUND)
    return reply.session if reply.HasField("session") else None


async def times(calls: Calls, session_id: str) -> tuple[int, int, int]:
    """Return seconds from START to a session's start, last use and end; the end 0 while open."""
    found = await record(calls, session_id)
    assert found is not None
    start, last = ((micros(t) - START) // SECOND for t in (found.start_time, found.last_use_time))
    return start, last, (micros(found.end_time) - START) // SECOND if found.end_time.seconds else 0


async def listed(calls: Calls, **fields: object) -> list[str]:
    """Return the ids of the sessions of a page."""
    request = session_pb2.ListSessionsRequest(**fields)  # type: ignore[arg-type] # a test's own
    return [each.id for each in (await calls.session.ListSessions(request)).sessions]


async def read(calls: Calls, session_id: str, *ids: str, peek: bool = False) -> None:
    """Read memories in a session."""
    for each in ids:
        request = memory_pb2.GetMemoryRequest(id=each, session_id=session_id, peek=peek)
        await calls.memory.GetMemory(request)


async def together(calls: Calls, session_id: str) -> list[tuple[str, str, int]]:
    """Return what was read together with what a session read."""
    await listed(calls)  # stores what was noted
    request = session_pb2.ListCoReadsRequest(session_id=session_id)
    reply = await calls.session.ListCoReads(request)
    return [(each.memory_id, each.other_id, each.session_count) for each in reply.co_reads]


async def add_all(calls: Calls, ids: Sequence[str]) -> None:
    """Add memories."""
    for each in ids:
        await calls.add(f"memory {each}", id=each)


async def test_a_session_lasts_from_its_first_use_to_its_last(live: World, home: Calls) -> None:
    """M7 Writes of memories, turns, episodes, entries and edges use a session, and so do reads."""
    assert await record(home, "s") is None
    await home.add("text", id="m", session_id="s")
    steps: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: home.append("s", ("Ada", "hello")),
        lambda: home.hold("held", session_id="s"),
        lambda: home.graph.UpsertEdge(upsert(home, "s")),
        lambda: home.neighbors("A", peek=False, session_id="s"),
        lambda: home.paths("A", "B", peek=False, session_id="s"),
        lambda: read(home, "s", "m"),
    )
    for number, step in enumerate(steps, 1):
        live.clock.pass_(SECOND)
        await step()
        assert await times(home, "s") == (0, number, 0)

    live.clock.pass_(SECOND)
    await read(home, "s", "m", peek=True)
    await home.neighbors("A", session_id="s")
    await read(home, "", "m")

    assert await times(home, "s") == (0, len(steps), 0)
    assert await listed(home) == ["s"]


async def test_the_end_is_announced_once(live: World, home: Calls) -> None:
    """M7 Ending twice changes nothing; the feed names the session, not an item."""
    await home.add("text", session_id="s")
    live.clock.pass_(SECOND)
    first = await end(home, "s")
    live.clock.pass_(SECOND)
    again = await end(home, "s")

    ends = [c for c in await home.changes() if c.type == ENDED]
    assert first == again
    assert [c.item_id for c in ends] == ["s"]
    assert micros(first.end_time) == micros(ends[0].record_time)
    assert await reason(end(home, "never")) == "ERROR_REASON_ITEM_NOT_FOUND"
    assert await reason(end(live.calls("other"), "s")) == "ERROR_REASON_ITEM_NOT_FOUND"


async def test_a_session_in_use_is_not_ended_for_being_idle(live: World, home: Calls) -> None:
    """M7 Who ends it because of its last use ends none that was used since."""
    await home.add("text", id="m", session_id="s")
    seen = await record(home, "s")
    assert seen is not None
    live.clock.pass_(SECOND)
    await read(home, "s", "m")

    async def end_if(last: Timestamp) -> session_pb2.Session:
        request = session_pb2.EndSessionRequest(
            request_id=home.request_id(), session_id="s", last_use_time=last
        )
        return (await home.session.EndSession(request)).session

    assert not (await end_if(seen.last_use_time)).HasField("end_time")
    now = await record(home, "s")
    assert now is not None
    assert (await end_if(now.last_use_time)).HasField("end_time")


async def test_a_used_session_begins_anew(live: World, home: Calls) -> None:
    """M7 Its start is the first use since, and it may end again."""
    await home.add("text", id="m", session_id="s")
    await end(home, "s")
    live.clock.pass_(SECOND)
    await read(home, "s", "m")

    assert await times(home, "s") == (1, 1, 0)

    live.clock.pass_(SECOND)
    await end(home, "s")

    assert await times(home, "s") == (1, 1, 2)
    assert [c.type for c in await home.changes() if c.item_id == "s"] == [ENDED, ENDED]


async def test_an_end_is_no_state_of_a_memory_of_that_id(home: Calls) -> None:
    """M7 G14 A session may be called as a memory is."""
    await home.add("text", id="s", session_id="s")
    await end(home, "s")

    assert [state.seq for state in await home.states(("s", 0))] == [1]


async def test_sessions_are_listed_by_last_use(live: World, home: Calls) -> None:
    """M7 Page by page, open or ended, or idle since a time."""
    for name in "abc":
        await home.add(f"of {name}", session_id=name)
        live.clock.pass_(SECOND)
    await end(home, "b")

    assert await listed(home) == ["c", "b", "a"]
    assert await listed(home, state=session_pb2.SESSION_STATE_OPEN) == ["c", "a"]
    assert await listed(home, state=session_pb2.SESSION_STATE_ENDED) == ["b"]
    assert await listed(home, idle_since=stamp(START + SECOND)) == ["a"]
    found = await pages(home.session.ListSessions, session_pb2.ListSessionsRequest(page_size=2))
    assert [[each.id for each in page.sessions] for page in found] == [["c", "b"], ["a"]]
    assert await listed(live.calls("other")) == []


async def test_what_was_read_together_is_kept(live: World, home: Calls) -> None:
    """M7 S3 In how many sessions, the last pairs first; of a search's results the sure ones."""
    await add_all(home, "abc")
    await read(home, "old", "a", "b")
    live.clock.pass_(SECOND)
    refs = [feed_pb2.RevisionRef(id=each, unsure=each == "c") for each in "abc"]
    await home.feed.BatchGetRevisions(
        feed_pb2.BatchGetRevisionsRequest(
            space="home", refs=refs, count_as_read=True, session_id="older"
        )
    )
    live.clock.pass_(SECOND)
    await read(home, "now", "a")
    live.clock.pass_(SECOND)
    await read(home, "now", "c")

    assert await together(home, "now") == [("a", "c", 1), ("c", "a", 1), ("a", "b", 2)]
    assert await together(home, "never") == []
    assert await together(live.calls("other"), "now") == []


async def test_what_was_erased_was_never_read_together(home: Calls) -> None:
    """M7 M4 Neither what is stored of it, nor a read that is on its way."""
    await add_all(home, "ab")
    await read(home, "s", "a", "b")
    assert len(await together(home, "s")) == 2
    await read(home, "s", "a", "b")
    erased = await home.get("a")
    await home.erase(erased)

    assert await together(home, "s") == []


async def stated(calls: Calls, *session_ids: str, least: int = 0) -> dict[str, list[str]]:
    """Return which memories several of these sessions stated."""
    request = session_pb2.ListRestatedRequest(session_ids=session_ids, least_sessions=least)
    reply = await calls.session.ListRestated(request)
    return {each.memory_id: list(each.session_ids) for each in reply.memories}


async def test_who_says_it_again_is_kept(live: World, home: Calls) -> None:
    """V10 M5 A memory that is added again stays one, and names the sessions that stated it."""
    first = await home.add("Ada likes tea.", session_id="s1")
    other = await home.add("Ada has a dog.", session_id="s1")
    live.clock.pass_(SECOND)
    for session_id in ("s2", "s2", "s3", "", "s1"):
        again = await home.add("Ada likes tea.", session_id=session_id)
        assert (again.id, again.etag) == (first.id, first.etag)
    await home.batch([type_pb2.Memory(content="Ada has a dog.", session_id="s2")])

    assert await stated(home, "s1", "s2", "s3") == {
        first.id: ["s1", "s2", "s3"],
        other.id: ["s1", "s2"],
    }
    assert await stated(home, "s2", "s3") == {first.id: ["s2", "s3"]}
    assert await stated(home, "s1", "s2", "s3", least=3) == {first.id: ["s1", "s2", "s3"]}
    assert await stated(live.calls("other"), "s1", "s2") == {}
    assert await times(home, "s3") == (1, 1, 0)

    await home.forget(other)
    await home.erase(await home.get(first.id))

    assert await stated(home, "s1", "s2", "s3", least=1) == {}


async def test_co_reads_are_bounded(
    live: World, home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M7 Those read last of a session, for 180 days, and a bounded list of pairs."""
    for store in ("sqlite", "neo4j"):
        monkeypatch.setattr(f"concord_graph.adapters.{store}.sessions.MOST_CO_READS", 2)
    await add_all(home, "abc")
    for each in "abc":
        await read(home, "s", each)
        live.clock.pass_(SECOND)

    assert await together(home, "s") == [("b", "c", 1), ("c", "b", 1)]

    monkeypatch.setattr("concord_graph.servicer.session.MOST_PAIRS", 1)
    assert await together(home, "s") == [("b", "c", 1)]
    live.clock.pass_(sessions.CO_READ_MICROSECONDS + DAY)
    await end(home, "s")
    assert await together(home, "s") == []


async def test_no_use_is_lost_when_graph_stops(tmp_path: Path) -> None:
    """M7 What was noted is stored at a clean shutdown."""
    async with world(tmp_path / "graph.db") as live:
        await live.calls().add("text", id="m", session_id="s")
        live.clock.pass_(SECOND)
        await read(live.calls(), "s", "m")

    async with world(tmp_path / "graph.db") as live:
        assert await times(live.calls(), "s") == (0, 1, 0)


async def test_sessions_move_with_their_space(live: World, home: Calls) -> None:
    """M7 G15 V10 Their records, what was read together and what they stated again, byte for byte;
    nothing of what was erased."""
    await add_all(home, "abc")
    await read(home, "s", "a", "b", "c")
    said = await home.add("Ada likes tea.", session_id="s")
    live.clock.pass_(SECOND)
    await home.add("Ada likes tea.", session_id="t")
    await end(home, "s")
    await home.erase(await home.get("c"))
    other = live.calls("other")
    lines = await export_of(home)
    await import_into(other, lines)

    assert (await export_of(other))[1:] == lines[1:]
    assert [c.type for c in await other.changes() if c.item_id == "s"] == [ENDED]
    for session_id in ("s", "t"):
        assert await record(other, session_id) == await record(home, session_id)
    assert await together(other, "s") == await together(home, "s") != []
    assert await stated(other, "s", "t") == {said.id: ["s", "t"]}
