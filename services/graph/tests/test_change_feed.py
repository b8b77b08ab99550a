"""The feed: every change in sequence, replayed and followed, with exact states to hydrate."""

import asyncio
from pathlib import Path

import pytest
from concord.graph.v1 import feed_pb2
from concord.type.v1 import type_pb2
from concord_chassis.channel.partitions import partition_of
from concord_graph.ports import PARTITIONS
from concord_graph.servicer import feed
from graph_world import (
    SECOND,
    SECONDS,
    Calls,
    World,
    by_id,
    micros,
    stamp,
    watch,
    world,
)
from transfers import export_of, import_into

HOME = partition_of("home", PARTITIONS)
CREATED, UPDATED, DELETED, RESTORED, STANDING, TOUCHED = range(1, 7)


async def follow(
    calls: Calls, wanted: dict[str, int], cursors: dict[int, int] | None = None
) -> dict[str, list[feed_pb2.Change]]:
    """Follow the partitions of these spaces, each after the number in `cursors`, until each space
    has reached a sequence number; return the changes by space."""
    partitions = {partition_of(space, PARTITIONS) for space in wanted}
    request = watch(dict.fromkeys(partitions, 0) | (cursors or {}))
    found: dict[str, list[feed_pb2.Change]] = {}
    call = calls.feed.WatchChanges(request, timeout=SECONDS)
    async for message in call:
        found.setdefault(message.changes.space, []).extend(message.changes.changes)
        heads = {space: changes[-1].seq for space, changes in found.items() if changes}
        if all(heads.get(space, 0) >= seq for space, seq in wanted.items()):
            break
    call.cancel()
    return found


async def test_each_write_is_told_once_in_sequence(home: Calls) -> None:
    """S10 Seq from 1 without gaps; item, kind, type, revision and a salted digest; no content."""
    node = await home.put_node("a")
    await home.put_node("a", label="L")
    edge = await home.put_edge("a", "R", "b")
    memory = await home.add("m", id="m")
    await home.restore(await home.forget(memory))
    await home.delete_edge(edge)
    changes = await home.changes()
    b = await home.get_node("b")

    assert [change.seq for change in changes] == list(range(1, 9))
    assert [(c.item_id, c.type, c.revision) for c in changes] == [
        (node.id, CREATED, 1),
        (node.id, UPDATED, 2),
        (b.id, CREATED, 1),
        (edge.id, CREATED, 1),
        ("m", CREATED, 1),
        ("m", DELETED, 2),
        ("m", RESTORED, 3),
        (edge.id, DELETED, 2),
    ]
    assert changes[4].digest == changes[6].digest != changes[5].digest
    assert len(changes[0].digest) == 64
    times = [micros(change.record_time) for change in changes]
    assert times == sorted(times)
    assert times[2] == times[3]  # an edge and the end that it made
    assert len(set(times)) == len(times) - 1


async def test_a_replay_ends_with_the_newest_change(home: Calls) -> None:
    """S10 D7 Who wants to know what there is follows nothing."""
    await home.add("one", id="a")
    request = watch({HOME: 0}, replay_only=True)
    messages = [each async for each in home.feed.WatchChanges(request, timeout=SECONDS)]

    assert [c.item_id for each in messages for c in each.changes.changes] == ["a"]


async def test_a_follower_in_no_hurry_is_told_of_many_at_once(
    home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 D7 A burst of writes costs one message for as long as the follower gathers."""
    over, asked = asyncio.Event(), list[float]()

    async def gather(seconds: float) -> None:
        asked.append(seconds)
        await over.wait()

    monkeypatch.setattr(feed, "gather", gather)
    await home.add("one", id="a")
    call = home.feed.WatchChanges(watch({HOME: 0}, gather_millis=200), timeout=SECONDS)
    first = await call.read()
    for memory_id in "bc":
        await home.add(memory_id, id=memory_id)
    over.set()
    second = await call.read()
    call.cancel()

    assert isinstance(first, feed_pb2.WatchChangesResponse)
    assert isinstance(second, feed_pb2.WatchChangesResponse)
    assert [change.item_id for change in first.changes.changes] == ["a"]
    assert [change.item_id for change in second.changes.changes] == ["b", "c"]
    assert asked[0] == 0.2


async def test_a_change_names_its_method(live: World, home: Calls) -> None:
    """T6 So that a follower knows what came with many others; an import comes last of all."""
    await home.add("one alone", id="a")
    await home.batch([type_pb2.Memory(id="b", content="one of a batch")])
    copy = live.calls("other")
    await import_into(copy, await export_of(home))

    assert [each.method for each in await home.changes()] == ["AddMemory", "BatchAddMemories"]
    assert [each.method for each in await copy.changes()][-1] == "ImportSpace"


async def test_digests_of_equal_content_differ(live: World, home: Calls) -> None:
    """S10 M4 They are salted: nobody learns by comparing them that two memories say the same."""
    await home.add("same", id="a")
    await live.calls("other").add("same", id="a")
    (here,), (there,) = await home.changes(), await live.calls("other").changes()

    assert here.digest != there.digest


async def test_a_stream_replays_and_then_follows_all_spaces(live: World, home: Calls) -> None:
    """S10 What was, then what comes, also in a space that is new; each from its own cursor."""
    other, new = live.calls("other"), live.calls("new")
    for number in range(3):
        await home.put_node(f"h{number}")
    await other.put_node("o")
    cursors = {HOME: 2, partition_of("other", PARTITIONS): 1}
    watching = asyncio.create_task(follow(home, {"home": 4, "other": 2, "new": 1}, cursors))
    await asyncio.sleep(0.02)
    await home.put_node("h3")
    await other.put_node("o1")
    await new.put_node("n")
    found = await watching

    assert {space: [c.seq for c in changes] for space, changes in found.items()} == {
        "home": [3, 4],
        "other": [2],
        "new": [1],
    }


async def test_resuming_under_concurrent_writes_leaves_no_gap(home: Calls) -> None:
    """S10 A consumer that stops and starts again anywhere sees every change exactly once."""
    writing = asyncio.create_task(_write(home, 60))
    seen: list[int] = []
    while len(seen) < 60:
        found = await follow(home, {"home": len(seen) + 1}, {HOME: len(seen)})
        seen += [change.seq for change in found["home"]]
    await writing

    assert seen == list(range(1, 61))


async def _write(calls: Calls, count: int) -> None:
    for start in range(0, count, 6):
        await asyncio.gather(*(calls.put_node(f"n{start + each}") for each in range(6)))


async def test_spaces_and_their_heads(live: World, home: Calls) -> None:
    """S10 By name, with the store's epoch; the stream names the same."""
    await home.put_node("a")
    await live.calls("aaa").put_node("a")
    reply = await home.feed.ListSpaces(feed_pb2.ListSpacesRequest(partition=HOME))
    call = home.feed.WatchChanges(watch({HOME: 0}))
    message = await call.read()
    call.cancel()

    assert [(space.space, space.head_seq) for space in reply.spaces] == [("home", 1)]
    assert await home.heads() == {"aaa": 1, "home": 1}
    assert isinstance(message, feed_pb2.WatchChangesResponse)
    assert reply.epoch == message.epoch


async def test_a_revision_is_exactly_what_its_change_made(live: World, home: Calls) -> None:
    """S10 T3 Content, supersession and forgetting as of each sequence number; 0 is now."""
    memory = await home.add("first", id="m", valid_from=stamp(1))
    live.clock.pass_(SECOND)
    memory.content = "second"
    await home.update(memory, "content")
    live.clock.pass_(SECOND)
    newer = await home.add("Supersedes: [[memory:m]]", id="n")
    await home.forget(newer)
    await home.forget(await home.get("m"))
    changes = [change for change in await home.changes() if change.item_id == "m"]
    states = await home.states(*(("m", change.seq) for change in changes))

    assert [change.type for change in changes] == [CREATED, UPDATED, STANDING, STANDING, DELETED]
    assert [state.memory.content for state in states] == ["first", *["second"] * 4]
    assert [state.memory.supersession.is_superseded for state in states] == [
        *(False, False, True, False, False),
    ]
    assert list(states[2].memory.supersession.head_ids) == ["n"]
    assert [state.memory.HasField("forget_time") for state in states] == [False] * 4 + [True]
    assert [state.seq for state in states] == [change.seq for change in changes]
    assert [state.record_time for state in states] == [c.record_time for c in changes]
    (now,) = await home.states(("m", 0))
    now.memory.ClearField("health")  # that of the time of reading
    assert now == states[-1]


async def test_between_two_changes_the_earlier_one_holds(home: Calls) -> None:
    """S10 A sequence number of another item names the newest state not after it."""
    await home.put_node("before")
    await home.add("m", id="m")
    await home.put_node("between")
    before, at, between, ahead = await home.states(("m", 1), ("m", 2), ("m", 3), ("m", 99))

    assert (before.seq, before.HasField("memory")) == (0, False)
    assert at == between == ahead
    assert at.seq == 2


async def test_unknown_and_foreign_memories_are_absent(live: World, home: Calls) -> None:
    """S10 G13 In the order asked, each ref answered."""
    await home.add("m", id="m")
    edge = await home.put_edge("a", "R", "b")
    states = await home.states(("nowhere", 0), ("m", 0), (edge.id, 0), ("nowhere", 5))
    (foreign,) = await live.calls("other").states(("m", 0))

    assert [(state.id, state.seq) for state in states] == [
        ("nowhere", 0),
        ("m", 1),
        (edge.id, 0),
        ("nowhere", 0),
    ]
    assert foreign == feed_pb2.Revision(id="m")


async def test_reads_of_memories_are_told_by_the_time_it_closes(tmp_path: Path) -> None:
    """G6 S10 Coalesced: one TOUCHED for many reads; edges' reads are not told."""
    path = tmp_path / "graph.db"
    async with world(path) as live:
        home = live.calls()
        await home.add("m", id="m")
        edge = await home.put_edge(by_id("m"), "ABOUT", "a")
        for _ in range(5):
            await home.get("m", peek=False)
            await home.get_edge(edge.id, peek=False)
        seq = (await home.changes())[-1].seq
    async with world(path) as live:
        home = live.calls()
        (told,) = await home.changes(after=seq)
        (state,) = await home.states(("m", 0))

        assert (told.item_id, told.type) == ("m", TOUCHED)
        assert told.item_kind == type_pb2.ITEM_KIND_MEMORY
        assert state.seq <= seq
        assert state.memory.access.access_count == 5
