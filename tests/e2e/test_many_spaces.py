"""Many spaces: what is promised of each, and that none that rests costs anything (W7, S10)."""

import asyncio
import io
import json
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from access_world import OPERATING, AccessClient
from concord.governance.v1 import access_pb2, audit_pb2, proposal_pb2
from concord.graph.v1 import feed_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_chassis.channel.channel import connect
from concord_chassis.channel.cursors import Cursor, PartitionCursors
from concord_chassis.channel.partitions import partition_of
from concord_chassis.observe.log import json_lines
from concord_dissonance.clients.graph.feed_client import FeedClient
from concord_dissonance.clients.service_calls import feed_token
from concord_dissonance.ports.feed import Position
from concord_embedded import Running
from concord_governance.adapters.sqlite.ledger import SqliteLedger
from concord_governance.adapters.sqlite.writes import SqliteLedgerWrites
from concord_governance.domain.access import MOST_SPACES
from concord_governance.ports.graph import FeedMessage
from concord_governance.usecases import graph_feed
from concord_governance.usecases import spaces as making
from concord_governance.usecases.graph_feed import GraphFollower
from concord_graph.ports import PARTITIONS
from concord_graph.servicer.calls import Context
from concord_graph.servicer.feed import FeedServicer
from concord_testing.command_line import CommandLine
from concord_testing.embedders import WordEmbedder
from concord_testing.polling import SECONDS
from governed_world import Clock, Keys, World, eventually, reason_of, refused, request_id, world
from search_over_graph import TwoServers, run

OVER = MOST_SPACES + 1
LONGER = 10.0
"""Seconds that a start over so many spaces may take above one over none."""


def spaces_of_before(ledger: Path, count: int) -> None:
    """Put spaces on record, each as far as it is followed."""
    names = [(f"old-{number:05}",) for number in range(count)]
    with closing(sqlite3.connect(ledger)) as db, db:
        db.executemany("INSERT INTO access_space VALUES (?, 1, 'ops', NULL, x'', 0)", names)
        db.executemany("INSERT INTO space (name) VALUES (?)", names)


async def test_a_system_over_the_bound_logs_all_and_says_so(tmp_path: Path) -> None:
    """W7 A1 With 50,001 spaces governance starts in time, and the log still gets what happens in
    each, also in the last; governance says that there are too many, and makes no more."""
    async with world(tmp_path):
        pass
    spaces_of_before(tmp_path / "ledger.db", OVER)
    said = io.StringIO()

    log, began = json_lines("governance", stream=said), time.monotonic()
    async with world(tmp_path, spaces=["zzz"], log=log) as live:
        while not await live.app.ready():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        lasted = time.monotonic() - began
        party = live.party("zzz")
        await party.enrol()
        entries = await eventually(party.entries)
        failure = await refused(AccessClient(live, OPERATING).space("one-more"))
        briefing = await party.proposals.GetBriefing(proposal_pb2.GetBriefingRequest())

    assert lasted < LONGER
    assert {each.action for each in entries} == {audit_pb2.AuditAction.AUDIT_ACTION_GENESIS}
    assert reason_of(failure)[0] == "TOO_MANY_SPACES"
    assert failure.metadata["max"] == str(MOST_SPACES)
    assert briefing.too_many_spaces
    events = [json.loads(line) for line in said.getvalue().splitlines()]
    warning, *_ = [each for each in events if each["event"] == "too many spaces"]
    assert warning["most"] == MOST_SPACES


async def test_no_space_is_made_from_the_bound_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W7 The bound counts deleted spaces, which followers follow too; who asks again for a space
    that was made at the last place still gets it."""
    monkeypatch.setattr(making, "MOST_SPACES", 3)
    async with world(tmp_path, spaces=()) as live:
        operator = AccessClient(live, OPERATING)
        asked = [
            access_pb2.CreateSpaceRequest(request_id=request_id(), space=name) for name in "abc"
        ]
        for each in asked:
            await operator.stub.CreateSpace(each)
        deleting = access_pb2.DeleteSpaceRequest(request_id=request_id(), space="a", typed_name="a")
        await operator.stub.DeleteSpace(deleting)

        assert reason_of(await refused(operator.space("d")))[0] == "TOO_MANY_SPACES"
        assert (await operator.stub.CreateSpace(asked[2])).space.name == "c"


@contextmanager
def streams(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Yield how many feeds are open, as its length, and how many partitions each follows."""
    open_: list[int] = []
    watch = FeedServicer.WatchChanges

    async def watched(
        self: FeedServicer, request: feed_pb2.WatchChangesRequest, context: Context
    ) -> AsyncIterator[feed_pb2.WatchChangesResponse]:
        open_.append(len(request.cursors))
        try:
            async for message in watch(self, request, context):
                yield message
        finally:
            open_.remove(len(request.cursors))

    with monkeypatch.context() as patched:
        patched.setattr(FeedServicer, "WatchChanges", watched)
        yield open_


async def logged(live: World, spaces: list[str]) -> list[int]:
    """Enrol the parties of spaces, and return how many entries each space's log has then."""
    for space in spaces:
        await live.party(space).enrol()
        await eventually(live.party(space).entries)
    return [len(await live.party(space).entries()) for space in spaces]


async def test_the_log_has_each_change_once_over_restarts(tmp_path: Path) -> None:
    """W7 A1 Over a restart nothing is logged twice, and a new space is followed too."""
    spaces, more = ["a", "c", "e", "g", "i", "k", "m"], ["0", "d", "z"]
    clock, keys = Clock(), Keys()
    async with world(tmp_path, clock=clock, keys=keys, spaces=spaces) as live:
        first = await logged(live, spaces)
    async with world(tmp_path, clock=clock, keys=keys, spaces=more) as live:
        second = await logged(live, more)
        again = [len(await live.party(space).entries()) for space in spaces]
        assert not live.app.rolled_back

    assert (first, second, again) == ([3] * 7, [3] * 3, [3] * 7), "a genesis has three entries"


async def test_what_was_missed_of_many_spaces_is_appended_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 A1 W7 A ledger that hears of many spaces for the first time makes a transaction for a
    hundred of them, not for each; and if one of them fails by a bug, the others are appended."""
    names = [f"s{number}" for number in range(1_000)]
    spaces = [each for each in names if partition_of(each, PARTITIONS) == 0]
    bad, clock, keys = spaces[3], Clock(), Keys()
    async with world(tmp_path, clock=clock, keys=keys, spaces=spaces) as live:
        for space in spaces:
            await live.party(space).enrol()
    for part in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
        (tmp_path / part).unlink(missing_ok=True)
    together: list[int] = []
    write_each, entries = SqliteLedger.write_each, GraphFollower._entries

    async def counted(self: SqliteLedger, works: Mapping[str, Any]) -> Mapping[str, Any]:
        together.append(len(works))
        return await write_each(self, works)

    async def broken(self: GraphFollower, tx: Any, message: FeedMessage, start: int) -> Any:
        if message.space == bad:
            raise ArithmeticError
        return await entries(self, tx, message, start)

    monkeypatch.setattr(SqliteLedger, "write_each", counted)
    monkeypatch.setattr(graph_feed, "MOST_TOGETHER", 5)
    with monkeypatch.context() as patched:
        patched.setattr(GraphFollower, "_entries", broken)
        async with world(tmp_path, clock=clock, keys=keys, spaces=[]) as live:
            others = [space for space in spaces if space != bad]
            for space in others:
                await eventually(live.party(space).entries)
    async with world(tmp_path, clock=clock, keys=keys, spaces=[]) as live:
        await eventually(live.party(bad).entries)
        logs = [len(await live.party(space).entries()) for space in spaces]

    assert max(together) > 1
    assert logs == [3] * len(spaces)


async def test_a_follower_killed_before_its_cursor_moved_logs_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 A partition's cursor may lag: what comes again is in the log already, by the space's."""

    async def killed(*_: object) -> None:
        return

    spaces, clock, keys = ["a", "c"], Clock(), Keys()
    with monkeypatch.context() as patched:
        patched.setattr(SqliteLedgerWrites, "move_partition", killed)
        async with world(tmp_path, clock=clock, keys=keys, spaces=spaces) as live:
            await logged(live, spaces)
    async with world(tmp_path, clock=clock, keys=keys, spaces=["z"]) as live:
        await logged(live, ["z"])
        logs = [len(await live.party(space).entries()) for space in spaces]
        heads = (await live.app._graph.partitions({})).heads
        kept = await live.app._ledger.partitions()

    assert logs == [3, 3]
    assert kept == {p: head for p, head in enumerate(heads) if head.number}


async def test_search_follows_every_space(tmp_path: Path) -> None:
    """S10 W7 Over a restart each space's memories go into its index, those of a new space too."""
    spaces = ["a", "c", "e", "g", "i"]
    async with run(tmp_path, WordEmbedder()) as system:
        for space in spaces:
            await system.add(type_pb2.Memory(id="one", content=f"Harbour {space}."), space=space)
            await _found(system, space, "one")
    async with run(tmp_path, WordEmbedder()) as system:
        for space in [*spaces, "b"]:
            await system.add(
                type_pb2.Memory(id="two", content=f"Harbour {space} two."), space=space
            )
            await _found(system, space, "two")
        reconciled = await system.index("c").ReconcileIndex(search_pb2.ReconcileIndexRequest())

    assert reconciled.agrees
    assert reconciled.state_count == 2


async def _found(system: TwoServers, space: str, memory_id: str, seconds: float = SECONDS) -> None:
    async with asyncio.timeout(seconds):
        while True:
            request = search_pb2.SearchRequest(query="harbour", peek=True)
            reply = await system.searching(space).Search(request)
            if memory_id in {each.memory.id for each in reply.results}:
                return
            await asyncio.sleep(0.02)


async def test_a_store_put_back_is_noticed_by_search_in_an_idle_space(tmp_path: Path) -> None:
    """S10 The file alone, with the epoch that it had: what it lacks is no result, and its next
    change is indexed under the number that the index had applied already."""
    store, older = tmp_path / "graph.db", tmp_path / "older.db"
    async with run(tmp_path, WordEmbedder()) as system:
        await system.add(type_pb2.Memory(id="kept", content="Harbour one."))
        await _found(system, "default", "kept")
    shutil.copy(store, older)
    async with run(tmp_path, WordEmbedder()) as system:
        await system.add(type_pb2.Memory(id="lost", content="Harbour two."))
        await _found(system, "default", "lost")
    older.replace(store)
    for left in ("graph.db-wal", "graph.db-shm"):
        (tmp_path / left).unlink(missing_ok=True)
    async with run(tmp_path, WordEmbedder()) as system:
        index = system.index()
        async with asyncio.timeout(LONGER):
            while (await _status(system)).indexed_memories != 1:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        reconciled = await index.ReconcileIndex(search_pb2.ReconcileIndexRequest())
        await system.add(type_pb2.Memory(id="new", content="Harbour three."))
        await _found(system, "default", "new")

    assert (reconciled.agrees, reconciled.state_count) == (True, 1)


async def _status(system: TwoServers) -> search_pb2.GetIndexStatusResponse:
    return await system.index().GetIndexStatus(search_pb2.GetIndexStatusRequest())


async def test_tasks_and_feeds_are_as_many_for_300_spaces_as_for_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 W7 Must hold: of a space that rests no follower keeps a task or an open feed."""
    with streams(monkeypatch) as open_:
        async with run(tmp_path, WordEmbedder()) as system:
            counted = []
            for count in (3, 300):
                for number in range(count):
                    memory = type_pb2.Memory(id=f"of-{count}", content="A harbour.")
                    await system.add(memory, space=f"space-{number}")
                await _found(system, f"space-{count - 1}", f"of-{count}", 2 * SECONDS)
                await asyncio.sleep(0.5)  # what answered goes to rest
                counted.append((len(asyncio.all_tasks()), len(open_)))

    assert counted[1][1] == counted[0][1] == 1
    assert counted[1][0] <= counted[0][0] + 3


async def test_dissonance_hears_of_every_space(tmp_path: Path) -> None:
    """D2 W7 It hears what changes in each of five spaces and in a new one; what it reads of one
    space is of no other; what it was told to have done does not come again."""
    spaces = ["a", "c", "e", "g", "i"]
    async with run(tmp_path, WordEmbedder()) as system:
        for space in spaces:
            await system.add(type_pb2.Memory(content="A harbour."), space=space)
        channel = connect(system.graph.address, token=feed_token(system.graph.issuer), cap=None)
        feed = FeedClient(channel, channel, system.graph.issuer, "one")
        store = await feed.partitions({})
        cursors = PartitionCursors({})
        cursors.begin(dict(enumerate(store.heads)))
        heard: list[str] = []

        async def hear() -> None:
            async for each in feed.heard(dict(enumerate(store.heads))):
                cursors.hear(each.partition, each.space, each.through)
                heard.append(each.space)

        task = asyncio.create_task(hear())
        for space in [*spaces, "b"]:
            await system.add(type_pb2.Memory(id="two", content="Another."), space=space)
        async with asyncio.timeout(SECONDS):
            while set(heard) != {*spaces, "b"}:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        all_of_it = await feed.changed("c", None)
        changed = await feed.changed("c", Position(all_of_it.head.epoch, 1))
        other = await feed.partitions({0: Cursor(1, "no digest of this store")})
        here = [page async for page in feed.spaces(partition_of("c", len(store.heads)))]
        done = cursors.done(lambda space: space == "c")
        task.cancel()
        await asyncio.wait([task])
        await channel.close()

    assert changed.ids == {"two"}
    assert (changed.head.seq, changed.everything) == (2, False)
    assert other.lacking == {0}
    assert "c" in here[0]
    open_at = partition_of("c", len(store.heads))
    assert done[open_at] == store.heads[open_at], "work on a space keeps its partition there"
    assert sum(at.number for at in done.values()) == 10


async def test_status_and_doctor_say_that_there_are_too_many(
    own_system: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W7 Somebody who looks at an installation hears that no more spaces can be made."""
    for module in (making, graph_feed):
        monkeypatch.setattr(module, "MOST_SPACES", 2)
    concord = CommandLine({"CONCORD_DATA": str(own_system.data.root)})
    page = await asyncio.to_thread(concord, "status")
    status = await asyncio.to_thread(concord, "--json", "status")
    doctor = await asyncio.to_thread(concord, "doctor", "--json")
    made = await asyncio.to_thread(concord, "space", "create", "more")

    assert page.exit_code == 0
    assert "too many spaces" in page.stdout
    assert json.loads(status.stdout)["tooManySpaces"] is True
    found = [each for each in json.loads(doctor.stdout)["findings"] if each["about"] == "spaces"]
    assert [each["is_wrong"] for each in found] == [False]
    assert made.exit_code == 1
    assert "there are 2 spaces or more" in made.stderr
