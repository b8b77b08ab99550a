"""A feed whose store is of before: written by an earlier version, or put back from a copy."""

import io
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import neo4j_at_hand
import pytest
from concord.graph.v1 import feed_pb2
from concord_chassis.channel.partitions import partition_of
from concord_chassis.observe.log import json_lines
from concord_graph.adapters.sqlite.schema import SCHEMA
from concord_graph.bootstrap import opened
from concord_graph.config import SqliteConfig
from concord_graph.ports import PARTITIONS
from concord_stores.sqlite_schema import UnknownSchema
from graph_world import Calls, Clock, world

HOME = partition_of("home", PARTITIONS)


async def partitions(
    calls: Calls, *cursors: feed_pb2.PartitionCursor
) -> list[feed_pb2.PartitionHead]:
    """Return the partitions of the store."""
    request = feed_pb2.ListPartitionsRequest(cursors=cursors)
    return list((await calls.feed.ListPartitions(request)).partitions)


async def test_what_was_before_partitions_is_numbered(tmp_path: Path) -> None:
    """G16 S10 W7 When the file is opened: each change once, those of a space in sequence, and the
    log says how many spaces it were; an older writer is refused from then on."""
    path, lines = tmp_path / "graph.db", io.StringIO()
    names = [f"s{number}" for number in range(12)]
    async with world(path, beside=True) as live:
        for name in names:
            await live.calls(name).put_edge("a", "R", "b")
    with closing(sqlite3.connect(path)) as db, db:
        for text in _FORMER:
            db.execute(text)
    given = SqliteConfig(store_path=path)
    store = await opened(given, Clock(), partitions=4, log=json_lines("graph", stream=lines))
    numbers = await store.numbers()
    found = [await store.feed(partition, 0, 500) for partition in range(4)]
    await store.close()
    told = [json.loads(line) for line in lines.getvalue().splitlines()]

    assert numbers == [len(changes) for changes in found]
    places = [(each.space, each.change.seq) for changes in found for each in changes]
    assert sorted(places) == sorted((name, seq) for name in names for seq in (1, 2, 3))
    for partition, changes in enumerate(found):
        assert [each.number for each in changes] == list(range(1, len(changes) + 1))
        for name in {each.space for each in changes}:
            assert partition_of(name, 4) == partition
            assert [each.change.seq for each in changes if each.space == name] == [1, 2, 3]
    assert [each["spaces"] for each in told if each["event"] == "spaces_numbered"] == [12]
    with closing(sqlite3.connect(path, isolation_level=None)) as db, pytest.raises(UnknownSchema):
        replace(SCHEMA, version=38, conversions={}).prepare(db)


_FORMER = (
    "DROP INDEX space_partition",
    "ALTER TABLE space DROP COLUMN partition",
    "DROP TABLE partition",
    "DROP TABLE feed",
    "UPDATE meta SET value = '38' WHERE key = 'schema'",
)
"""Makes of a store one as it was before its feed had partitions."""


async def test_a_restored_store_lacks_the_cursor(tmp_path: Path) -> None:
    """S10 A8 A follower that polls with what it has sees that the store was put back, also once
    that has as many changes again; then which spaces it is of."""
    path = tmp_path / "graph.db"
    async with world(path) as live:
        await live.calls().put_node("a")
        copy = _copied(path)
        for name in "bc":
            await live.calls().put_node(name)
        cursor = await _cursor(live.calls())
        last = (
            await live.calls().feed.ListChanges(feed_pb2.ListChangesRequest(space="home"))
        ).changes
        assert not (await partitions(live.calls(), cursor))[HOME].lacks_cursor
    _put_back(path, copy)
    async with world(path, clock=Clock(Clock().now + 1_000_000)) as live:
        home = live.calls()
        behind = await partitions(home, cursor)
        for name in "de":
            await home.put_node(name)
        level = await partitions(home, cursor)
        numbered = feed_pb2.PartitionCursor(partition=HOME, number=cursor.number)
        unknowing = await partitions(home, numbered)
        lacking = await home.feed.FindLacking(
            feed_pb2.FindLackingRequest(
                cursors=[
                    feed_pb2.SpaceCursor(space="home", seq=3, change_digest=last.change_digest),
                    feed_pb2.SpaceCursor(space="none", seq=0),
                ]
            )
        )

    assert [i for i, head in enumerate(behind) if head.lacks_cursor] == [HOME]
    assert level[HOME].number == cursor.number
    assert level[HOME].lacks_cursor
    assert not unknowing[HOME].lacks_cursor
    assert [*lacking.spaces] == ["home"]


async def _cursor(calls: Calls) -> feed_pb2.PartitionCursor:
    head = (await partitions(calls))[HOME]
    return feed_pb2.PartitionCursor(
        partition=HOME, number=head.number, change_digest=head.change_digest
    )


def _copied(path: Path) -> object:
    """Return all that the store has, to put back."""
    if neo4j_at_hand.is_chosen():
        return neo4j_at_hand.run("MATCH (n) RETURN labels(n), properties(n)")
    with closing(sqlite3.connect(path)) as db:
        db.execute("VACUUM INTO ?", (str(path.with_name("copy.db")),))
    return None


def _put_back(path: Path, copy: object) -> None:
    if neo4j_at_hand.is_chosen():
        neo4j_at_hand.run("MATCH (n) DETACH DELETE n")
        neo4j_at_hand.run("UNWIND $nodes AS node CREATE (n:$(node[0])) SET n = node[1]", nodes=copy)
        return
    path.with_name(f"{path.name}-wal").unlink(missing_ok=True)
    path.with_name("copy.db").replace(path)
