"""How changes are numbered by partition in Neo4j, beside other writers and other replicas."""

import asyncio
import io
import itertools
import json
import time
from collections.abc import Sequence
from pathlib import Path

import neo4j_at_hand
import pytest
from concord_chassis.channel.partitions import partition_of
from concord_chassis.observe.log import json_lines
from concord_graph.adapters.neo4j import feed
from concord_graph.adapters.neo4j.copies import Neo4jCopy
from concord_graph.adapters.neo4j.store import open_store
from concord_graph.bootstrap import opened
from concord_graph.domain.items import Memory
from concord_graph.ports import Author, Writes
from concord_graph.usecases.write.writer import Writer
from concord_stores import neo4j_copy
from concord_stores.neo4j_copy import Writers
from concord_stores.neo4j_server import connect
from graph_world import START, Clock, world


async def test_what_was_before_partitions_is_numbered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G16 S10 By two processes at once, in transactions of a few spaces: each change once, those of
    a space in sequence; the log says how many spaces, and how long it took."""
    path, names = tmp_path / "before.db", [f"s{number}" for number in range(12)]
    async with world(path) as live:
        for name in names:
            await live.calls(name).put_edge("a", "R", "b")
    neo4j_at_hand.run("MATCH (f:FeedCommit) DELETE f")
    neo4j_at_hand.run("MATCH (p:FeedPartition) DELETE p")
    neo4j_at_hand.run("MATCH (s:Space) REMOVE s.partition")
    neo4j_at_hand.run("MATCH (s:Store) SET s.schema = 18")
    monkeypatch.setattr(feed, "_A_PAGE", 5)
    log = io.StringIO()
    given, lines = neo4j_at_hand.of(path), json_lines("graph", stream=log)
    stores = await asyncio.gather(
        *(opened(given, Clock(), partitions=count, log=lines) for count in (4, 5))
    )
    numbers = [await store.numbers() for store in stores]
    found = [await stores[0].feed(each, 0, 500) for each in range(len(numbers[0]))]
    told = [json.loads(line) for line in log.getvalue().splitlines()]
    await asyncio.gather(*(store.close() for store in stores))

    assert numbers[0] == numbers[1] == [len(changes) for changes in found]
    assert len(numbers[0]) in {4, 5}
    places = [(each.space, each.change.seq) for changes in found for each in changes]
    assert sorted(places) == sorted((name, seq) for name in names for seq in (1, 2, 3))
    for name in names:
        assert [seq for space, seq in places if space == name] == [1, 2, 3]
    assert sum(each["spaces"] for each in told if each["event"] == "spaces_numbered") == 12


async def test_a_commit_waits_for_no_writer_of_another_space(tmp_path: Path) -> None:
    """S10 A partition is locked last: a writer that is at work holds up none of its partition, and
    its changes get the numbers after theirs."""
    store = await open_store(neo4j_at_hand.of(tmp_path / "held.db"), Clock(), partitions=1)
    held, over = asyncio.Event(), asyncio.Event()

    async def slow(tx: Writes) -> None:
        await _node(tx)
        await tx.unsettled_from()  # what was written so far goes to the server
        held.set()
        await over.wait()

    writing = asyncio.create_task(store.write("slow", slow))
    await held.wait()
    await asyncio.wait_for(store.write("quick", _node), 20)
    over.set()
    await writing
    found = await store.feed(0, 0, 10)
    await store.close()

    assert [(each.number, each.space) for each in found] == [(1, "quick"), (2, "slow")]


async def _node(tx: Writes) -> None:
    await Writer(tx, Author("p", "Test", "r"), START).put(None, Memory(id="m", content="x"))


async def test_another_replicas_commit_is_seen_by_one_query_for_all_who_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 Nothing is asked while nobody waits; then the counters, at most once each half second."""
    given = neo4j_at_hand.of(tmp_path / "two.db")
    store, other = [await open_store(given, Clock(), partitions=2) for _ in range(2)]
    asked, numbers = list[float](), store.numbers

    async def counted() -> Sequence[int]:
        asked.append(time.monotonic())
        return await numbers()

    monkeypatch.setattr(store, "numbers", counted)
    await asyncio.sleep(0.6)
    assert asked == []
    waiting = [asyncio.create_task(store.passed({0: 0, 1: 0})) for _ in range(20)]
    await asyncio.sleep(1.2)
    begun = time.monotonic()
    await other.write("home", _node)
    found = await asyncio.gather(*waiting)
    took = time.monotonic() - begun
    await store.close()
    await other.close()

    assert found == [[partition_of("home", 2)]] * 20
    assert all(later - earlier > 0.4 for earlier, later in itertools.pairwise(asked))
    assert took < 20


async def test_a_backup_holds_commits_by_the_partitions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W7 S10 It is of one instant: whatever is committed waits for it, in any space, and the copy
    has none of it. The store that is made of it goes on with its numbers and partitions."""
    given = neo4j_at_hand.of(tmp_path / "copied.db")
    store = await open_store(given, Clock(), partitions=3)
    for name in "abc":
        await store.write(name, _node)
    before = await store.numbers()
    reading, over, write = asyncio.Event(), asyncio.Event(), neo4j_copy._write

    async def held(*copied: object) -> None:
        reading.set()
        await over.wait()
        await write(*copied)  # type: ignore[arg-type] # as it is called

    monkeypatch.setattr(neo4j_copy, "_write", held)
    driver = await connect(given)
    file = tmp_path / "copy"
    writers = Writers(Neo4jCopy.HEAD, Neo4jCopy.GATE, "ConcordNone", ())
    copying = asyncio.create_task(neo4j_copy.write(driver, file, writers))
    await reading.wait()
    writing = [asyncio.create_task(store.write(name, _node_too)) for name in ("a", "b", "new")]
    done, _ = await asyncio.wait(writing, timeout=1.0)
    over.set()
    await copying
    await asyncio.gather(*writing)
    assert not done
    assert sum(await store.numbers()) == sum(before) + 3
    await store.close()

    async with neo4j_copy.replacing(driver, file):
        restored = await open_store(given, Clock(), partitions=64, restoring=True)
    assert await restored.numbers() == before
    await restored.write("new", _node)
    assert sum(await restored.numbers()) == sum(before) + 1
    await restored.close()
    await driver.close()


async def _node_too(tx: Writes) -> None:
    await Writer(tx, Author("p", "Test", "r"), START).put(None, Memory(id="n", content="y"))
