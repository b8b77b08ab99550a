"""More spaces than one request of a follower can name (W7)."""

import asyncio
import io
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from access_world import OPERATING, AccessClient
from concord.governance.v1 import access_pb2, audit_pb2, proposal_pb2
from concord.graph.v1 import feed_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_chassis.channel import feed as followed
from concord_chassis.channel.channel import connect
from concord_chassis.observe.log import json_lines
from concord_dissonance.clients.graph.feed_client import FeedClient
from concord_dissonance.clients.service_calls import feed_token
from concord_dissonance.ports.feed import Position
from concord_embedded import Running
from concord_governance.domain.access import MOST_SPACES
from concord_governance.usecases import graph_feed
from concord_governance.usecases import spaces as making
from concord_graph.servicer.calls import Context
from concord_graph.servicer.feed import FeedServicer
from concord_testing.command_line import CommandLine
from concord_testing.embedders import WordEmbedder
from concord_testing.polling import SECONDS
from governed_world import Clock, Keys, eventually, reason_of, refused, request_id, world
from search_over_graph import TwoServers, run

OVER = 12_400
"""More than governance's request had room for in 1 MiB, and than the contract lets it name."""


def spaces_of_before(ledger: Path, count: int) -> None:
    """Put on record what CreateSpace of an older version did, and cursors of all of them."""
    names = [(f"old-{number:05}",) for number in range(count)]
    with closing(sqlite3.connect(ledger)) as db, db:
        db.executemany("INSERT INTO access_space VALUES (?, 1, 'ops', NULL, x'', 0)", names)
        db.executemany("INSERT INTO space (name) VALUES (?)", names)


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Lets followers name two spaces a request, and notes how many each request named."""
    monkeypatch.setattr(followed, "CURSORS", 2)
    counts: list[int] = []
    watch, heads = FeedServicer.WatchChanges, FeedServicer.ListSpaces

    async def watched(
        self: FeedServicer, request: feed_pb2.WatchChangesRequest, context: Context
    ) -> AsyncIterator[feed_pb2.WatchChangesResponse]:
        counts.append(len(request.cursors))
        async for message in watch(self, request, context):
            yield message

    async def listed(
        self: FeedServicer, request: feed_pb2.ListSpacesRequest, context: Context
    ) -> feed_pb2.ListSpacesResponse:
        counts.append(len(request.cursors))
        return await heads(self, request, context)

    monkeypatch.setattr(FeedServicer, "WatchChanges", watched)
    monkeypatch.setattr(FeedServicer, "ListSpaces", listed)
    yield counts
    assert max(counts) == 2, "nobody named as many as there was room for, or somebody more"


async def test_a_system_over_the_bound_logs_all_and_says_so(tmp_path: Path) -> None:
    """W7 A1 With 12,400 spaces of an older version the log still gets what happens in each, also in
    the last; governance says that there are too many, and makes no more."""
    async with world(tmp_path):
        pass
    spaces_of_before(tmp_path / "ledger.db", OVER)
    said = io.StringIO()

    log = json_lines("governance", stream=said)
    async with asyncio.timeout(3 * SECONDS), world(tmp_path, spaces=["zzz"], log=log) as live:
        while not await live.app.ready():  # noqa: ASYNC110 - it reads 12,400 cursors first
            await asyncio.sleep(0.1)
        party = live.party("zzz")
        await party.enrol()
        entries = await eventually(party.entries)
        failure = await refused(AccessClient(live, OPERATING).space("one-more"))
        briefing = await party.proposals.GetBriefing(proposal_pb2.GetBriefingRequest())

    assert {each.action for each in entries} == {audit_pb2.AuditAction.AUDIT_ACTION_GENESIS}
    assert reason_of(failure)[0] == "TOO_MANY_SPACES"
    assert failure.metadata["max"] == str(MOST_SPACES)
    assert briefing.too_many_spaces
    events = [json.loads(line) for line in said.getvalue().splitlines()]
    warning, *_ = [each for each in events if each["event"] == "too many spaces"]
    assert warning["followed"] >= OVER
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


async def test_the_log_follows_over_several_streams(tmp_path: Path, named: list[int]) -> None:
    """W7 A1 Cursors that no request has room for go into several: over a restart each of seven
    spaces is logged once, and a new space, wherever its name falls, is followed too."""
    spaces = ["a", "c", "e", "g", "i", "k", "m"]
    clock, keys = Clock(), Keys()
    async with world(tmp_path, clock=clock, keys=keys, spaces=spaces) as live:
        parties = [live.party(space) for space in spaces]
        for party in parties:
            await party.enrol()
            await eventually(party.entries)
    more = ["0", "d", "z"]
    async with world(tmp_path, clock=clock, keys=keys, spaces=more) as live:
        for space in more:
            await live.party(space).enrol()
            await eventually(live.party(space).entries)
        logged = [len(await live.party(space).entries()) for space in [*spaces, *more]]

    assert logged == [3] * 10, "a genesis has three entries"
    assert not live.app.rolled_back
    assert named.count(2) >= 6, "heads and streams of seven cursors, two a request"


async def test_search_follows_over_several_streams(tmp_path: Path, named: list[int]) -> None:
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
    assert 2 in named


async def _found(system: TwoServers, space: str, memory_id: str) -> None:
    async with asyncio.timeout(SECONDS):
        while True:
            request = search_pb2.SearchRequest(query="harbour", peek=True)
            reply = await system.searching(space).Search(request)
            if memory_id in {each.memory.id for each in reply.results}:
                return
            await asyncio.sleep(0.02)


async def test_dissonance_follows_over_several_streams(tmp_path: Path, named: list[int]) -> None:
    """D2 W7 It hears what changes in each of five spaces and in a new one; what it reads of one
    space is of no other."""
    spaces = ["a", "c", "e", "g", "i"]
    async with run(tmp_path, WordEmbedder()) as system:
        for space in spaces:
            await system.add(type_pb2.Memory(content="A harbour."), space=space)
        channel = connect(system.graph.address, token=feed_token(system.graph.issuer), cap=None)
        feed = FeedClient(channel, channel, system.graph.issuer, "one")
        heard: list[str] = []
        following = asyncio.Event()

        async def hear() -> None:
            async for each in feed.heard():
                if each is None:
                    following.set()
                elif following.is_set():
                    heard.append(each.space)

        task = asyncio.create_task(hear())
        await following.wait()
        for space in [*spaces, "b"]:
            await system.add(type_pb2.Memory(id="two", content="Another."), space=space)
        async with asyncio.timeout(SECONDS):
            while set(heard) != {*spaces, "b"}:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        all_of_it = await feed.changed("c", None)
        changed = await feed.changed("c", Position(all_of_it.head.epoch, 1))
        task.cancel()
        await asyncio.wait([task])
        await channel.close()

    assert changed.ids == {"two"}
    assert (changed.head.seq, changed.everything) == (2, False)
    assert 2 in named


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
