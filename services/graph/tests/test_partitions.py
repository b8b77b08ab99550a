"""The feed by partitions: numbers in commit order, read by pages, waited for one by one."""

import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
from concord.graph.v1 import feed_pb2
from concord_chassis.channel.partitions import partition_of
from concord_graph.adapters.passed import Passed
from concord_graph.adapters.sqlite import feed as sqlite_feed
from concord_graph.adapters.sqlite.schema import SCHEMA
from concord_graph.ports import PARTITIONS, ChangeType, GraphStore, Writes
from concord_graph.servicer import feed
from concord_graph.usecases.write.outbox import log
from graph_world import Calls, World, reason, refused, watch, world
from transfers import export_of, restored

Place = tuple[str, int]


async def replayed(
    calls: Calls, numbers: Mapping[int, int]
) -> tuple[list[feed_pb2.WatchChangesResponse], list[Place]]:
    """Return the messages of a replay, and the changes in their order."""
    call = calls.feed.WatchChanges(watch(numbers, replay_only=True))
    messages = [message async for message in call]
    return messages, [(m.changes.space, c.seq) for m in messages for c in m.changes.changes]


async def partitions(
    calls: Calls, *cursors: feed_pb2.PartitionCursor
) -> list[feed_pb2.PartitionHead]:
    """Return the partitions of the store."""
    request = feed_pb2.ListPartitionsRequest(cursors=cursors)
    return list((await calls.feed.ListPartitions(request)).partitions)


async def test_what_was_read_below_a_number_is_whole(tmp_path: Path) -> None:
    """S10 Number order is commit order: a follower that goes on from the last number of each page,
    while many spaces are written at once, gets each change once."""
    async with world(tmp_path / "graph.db", partitions=2) as live:
        spaces = [live.calls(f"s{number}") for number in range(8)]
        writing = asyncio.gather(*(_write(calls, 12) for calls in spaces))
        numbers, seen, is_last = {0: 0, 1: 0}, list[Place](), False
        while not is_last:
            is_last = writing.done()
            messages, changes = await replayed(spaces[0], numbers)
            seen += changes
            numbers |= {each.partition: each.through for each in messages if each.through}
        await writing
        heads = await partitions(spaces[0])

    assert len(set(seen)) == len(seen)
    for calls in spaces:
        of_space = [seq for space, seq in seen if space == calls.space]
        assert of_space == list(range(1, 13))
    assert [head.number for head in heads] == [numbers[0], numbers[1]]
    assert sum(head.number for head in heads) == 8 * 12


async def _write(calls: Calls, count: int) -> None:
    for number in range(count):
        await calls.put_node(f"n{number}")


async def test_a_page_has_a_message_a_space_and_the_last_completes_it(
    live: World, home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 `through` and its digest are those of the last change up to which all was sent; a page
    may end within a commit, and a message says what came before it."""
    monkeypatch.setattr(feed, "CHANGES_A_MESSAGE", 4)
    beside = live.calls(_beside("home"))
    await home.put_node("a")
    await beside.put_edge("x", "R", "y")
    await home.put_edge("a", "R", "b")
    messages, changes = await replayed(home, {HOME: 0})
    heads = await partitions(home)

    assert [m.changes.space for m in messages] == ["home", beside.space, "home"]
    assert [m.through for m in messages] == [0, 4, 6]
    assert changes == [
        *(("home", 1), (beside.space, 1), (beside.space, 2), (beside.space, 3)),
        *(("home", 2), ("home", 3)),
    ]
    assert messages[2].changes.previous_change_digest == messages[0].changes.change_digest
    assert messages[2].through_digest == heads[HOME].change_digest
    assert (await replayed(home, {HOME: 5}))[1] == [("home", 3)]


HOME = partition_of("home", PARTITIONS)


def _beside(space: str) -> str:
    """Return the name of another space of the same partition."""
    return _named(lambda partition: partition == partition_of(space, PARTITIONS))


def _named(wanted: object) -> str:
    assert callable(wanted)
    return next(
        name for name in map("s{}".format, range(10_000)) if wanted(partition_of(name, PARTITIONS))
    )


async def test_a_step_without_a_change_leaves_the_head_at_a_change(store: GraphStore) -> None:
    """S10 What the store refuses of a batch took a sequence number: were it the head of the feed,
    followers would read for ever what is not there."""

    async def refused_last(tx: Writes) -> None:
        await log(tx, ChangeType.SESSION_ENDED, item_id="s")
        tx.tick()

    async def refused_alone(tx: Writes) -> None:
        tx.tick()

    for work in (refused_last, refused_alone, refused_last):
        await store.write("home", work)
    found = await store.feed(HOME, 0, 500)

    assert [each.change.seq for each in found] == [1, 2, 5]
    assert found[-1].number == (await store.numbers())[HOME]
    assert [*await store.numbered({(HOME, found[-1].number)})] == [(HOME, found[-1].number)]


async def test_an_imported_space_comes_in_pages_with_its_grant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 G15 An import is one commit of many numbers; what came with it is marked as such."""
    monkeypatch.setattr(feed, "CHANGES_A_MESSAGE", 4)
    async with world(tmp_path / "from.db", beside=True) as source:
        parties = source.parties()
        await parties.enrol(source.calls())
        await source.calls().put_node("a")
        lines = await export_of(source.calls())
    async with world(tmp_path / "to.db") as live:
        home = live.calls()
        await live.calls(_beside("home")).put_node("n")
        await restored(home, lines, parties)
        await home.put_node("b")
        messages, changes = await replayed(home, {HOME: 1})
        alone = await home.changes()
    told = [change for message in messages for change in message.changes.changes]

    assert len(messages) > 2
    assert changes == [("home", number + 1) for number in range(len(changes))]
    assert [change.imported for change in told] == [True] * (len(told) - 2) + [False] * 2
    assert [bool(change.restore_grant) for change in told[-3:]] == [False, True, False]
    assert alone == told


async def test_spaces_come_by_page(tmp_path: Path) -> None:
    """S10 W7 Those of a partition by name, with their heads; a deleted one stays."""
    async with world(tmp_path / "graph.db", partitions=1) as live:
        for name in ("c", "a", "b"):
            await live.calls(name).put_node("n")
        home = live.calls("a")
        while not (await home.feed.EraseSpace(feed_pb2.EraseSpaceRequest(space="b"))).complete:
            pass
        first = await home.feed.ListSpaces(feed_pb2.ListSpacesRequest(page_size=2))
        second = await home.feed.ListSpaces(feed_pb2.ListSpacesRequest(page_size=2, after="b"))

    assert [head.space for head in first.spaces] == ["a", "b"]
    assert [(head.space, head.head_seq) for head in second.spaces] == [("c", 1)]


async def test_a_partition_that_is_not_there_is_refused(home: Calls) -> None:
    """S10 W1 By the field that names it, and so is one that is named twice; a poll ignores it, or
    nobody could learn how many there are."""
    beyond = feed_pb2.PartitionCursor(partition=PARTITIONS, number=1)
    for call, field in (
        (home.feed.ListSpaces(feed_pb2.ListSpacesRequest(partition=PARTITIONS)), "partition"),
        (_first(home, {0: 0, PARTITIONS: 0}), "cursors[1].partition"),
    ):
        failure = await refused(call)
        assert [each.field for each in failure.violations] == [field]
    twice = feed_pb2.WatchChangesRequest(cursors=[feed_pb2.PartitionCursor()] * 2)
    heads = await partitions(home, beyond)

    assert await reason(home.feed.WatchChanges(twice).read()) == "ERROR_REASON_FIELD_INVALID"
    assert len(heads) == PARTITIONS
    assert not any(head.lacks_cursor for head in heads)


async def _first(calls: Calls, numbers: Mapping[int, int]) -> object:
    return await calls.feed.WatchChanges(watch(numbers)).read()


async def test_a_store_keeps_its_partitions(tmp_path: Path) -> None:
    """S10 As many as it was made with, whatever is configured later."""
    for configured in (3, 64):
        async with world(tmp_path / "graph.db", partitions=configured) as live:
            await live.calls().put_node(f"n{configured}")
            assert len(await partitions(live.calls())) == 3
            assert await live.calls().heads() == {"home": configured // 60 + 1}


async def test_a_commit_wakes_who_waits_for_its_partition(
    live: World, home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 Counted: the others' followers do not run, and read nothing, for an idle partition."""
    woken = list[int]()
    ahead = Passed.ahead

    def counted(self: Passed, numbers: Mapping[int, int]) -> object:
        woken.extend(numbers)
        return ahead(self, numbers)

    monkeypatch.setattr("concord_graph.adapters.neo4j.store.POLL_SECONDS", 3_600.0)
    idle = _named(lambda partition: partition != HOME)
    call = home.feed.WatchChanges(watch({HOME: 0}))
    other = home.feed.WatchChanges(watch({partition_of(idle, PARTITIONS): 0}))
    await asyncio.wait_for(_waited(live), 10)
    monkeypatch.setattr(Passed, "ahead", counted)
    for name in "abc":
        await home.put_node(name)
        assert isinstance(await call.read(), feed_pb2.WatchChangesResponse)
    call.cancel()
    other.cancel()

    assert HOME in woken
    assert partition_of(idle, PARTITIONS) not in woken


async def _waited(live: World) -> None:
    """Wait until both followers wait."""
    passed: Passed = live.app._store._passed  # type: ignore[attr-defined] # either store's
    while sum(map(len, passed._waiting.values())) < 2:  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0.01)


async def test_an_idle_stream_says_that_it_lives(
    home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 A message without changes, in place of a connection of which nobody knows whether it is
    still there."""
    monkeypatch.setattr(feed, "KEEP_ALIVE_SECONDS", 0.05)
    call = home.feed.WatchChanges(watch({HOME: 0}))
    messages = [await call.read() for _ in range(2)]
    call.cancel()

    for message in messages:
        assert isinstance(message, feed_pb2.WatchChangesResponse)
        assert message == feed_pb2.WatchChangesResponse(epoch=message.epoch)
        assert message.epoch


async def test_the_wait_ends_with_any_of_the_partitions(store: GraphStore) -> None:
    """S10 A number that was there at the call counts, too."""
    numbers = dict(enumerate(await store.numbers()))
    waiting = asyncio.create_task(store.passed(numbers))
    await asyncio.sleep(0.05)
    assert not waiting.done()

    async def work(tx: Writes) -> None:
        await tx.keep_enrolment("0" * 64)

    await store.write("home", work)
    await asyncio.sleep(0.05)
    assert not waiting.done()  # nothing was recorded
    waiting.cancel()

    assert [*await store.passed(numbers | {HOME: 0})] == [HOME]


def test_a_poll_costs_the_same_with_more_spaces() -> None:
    """S10 W7 The steps of SQLite's machine for all numbers, their digests and a lagging cursor of
    each partition; Neo4j's plans are in `test_neo4j_plans.py`."""
    assert _steps_of_a_poll(4_000) < 1.1 * _steps_of_a_poll(400)


def _steps_of_a_poll(spaces: int) -> int:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        SCHEMA.prepare(db)
        sqlite_feed.prepare(db, 16)
        for number in range(spaces):
            name = f"s{number}"
            insert = "INSERT INTO space (name, seq, last_time, partition) VALUES (?, 3, 0, ?)"
            row = db.execute(insert, (name, partition_of(name, 16))).lastrowid
            assert row is not None
            values = "?, ?, 0, 'i', 1, 1, 1, '', '', '', '', '', '', 0, '', '', ''"
            changes = [(row, seq) for seq in (1, 2, 3)]
            db.executemany(f"INSERT INTO change VALUES ({values})", changes)
            sqlite_feed.append(db, partition_of(name, 16), row, 3, 3)
        steps = 0

        def step() -> int:
            nonlocal steps
            steps += 1
            return 0

        db.set_progress_handler(step, 1)
        numbers = sqlite_feed.numbers(db)
        wanted = {*enumerate(numbers)} | {(each, 20) for each in range(16)}
        found = sqlite_feed.numbered(db, wanted)
        db.set_progress_handler(None, 0)

    assert len(found) == 32
    assert sum(numbers) == 3 * spaces
    return steps
