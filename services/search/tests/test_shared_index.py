"""Several searches over one index on a Qdrant server: one writes, all answer."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from concord_search.adapters.bm25 import Bm25
from concord_search.adapters.edge.index import EdgeIndex
from concord_search.adapters.qdrant import payload
from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.adapters.qdrant.partition import Part
from concord_search.adapters.qdrant.shard import DENSE, WORDS
from concord_search.adapters.qdrant_server.connection import Connection
from concord_search.adapters.qdrant_server.index import ServerIndex
from concord_search.adapters.qdrant_server.settings import QdrantConfig
from concord_search.adapters.qdrant_server.shard import ServerShard
from concord_search.adapters.versions.index import PartVersions
from concord_search.domain.changes import ChangeKind
from concord_search.domain.errors import (
    IndexStale,
    IndexUnavailable,
    IndexUnusable,
    NotTheWriter,
)
from concord_search.domain.filters import Superseded
from concord_search.domain.memory import MemoryState
from concord_search.usecases import lead
from concord_search.usecases.progress import Demand
from concord_search.usecases.reconcile import Reconcile
from concord_testing.embedders import WordEmbedder
from concord_testing.polling import until
from following import OTHER, follower_of
from qdrant_client import grpc as wire
from replicas import SECRET, Replica, ScriptedLeases, settings_of
from scripted_graph import ScriptedGraph
from search_lab import SPACE, Lab, plain_state

pytestmark = pytest.mark.qdrant

SAID = ("fox", "whale", "ferry", "noon", "letter", "harbour")
QUESTIONS = ("fox letter", "the ferry at noon", "whale", "harbour", "number7", "letter noon")


class Pair:
    """Two replicas, their graph and their lease."""

    def __init__(self, root: Path) -> None:
        self.root, self.prefix = root, f"t{abs(hash(root)) % 10**12}"
        self.graph, self.leases = ScriptedGraph(log={SPACE: []}), ScriptedLeases()
        self.all = [self.replica("one"), self.replica("two")]

    def replica(self, name: str) -> Replica:
        return Replica(self.root / name, self.prefix, self.graph, self.leases)

    @property
    def leader(self) -> Replica:
        return next(each for each in self.all if each.leads)

    @property
    def other(self) -> Replica:
        return next(each for each in self.all if each is not self.leader)

    async def start(self) -> None:
        for each in self.all:
            await each.start()
        await self.until_led()

    async def until_led(self) -> None:
        await until(lambda: any(each.leads for each in self.all))

    async def agrees(self) -> bool:
        """Whether the index equals graph."""
        return (await Reconcile(self.leader.context)(SPACE, repair=False)).agrees

    async def cut_off(self) -> tuple[Replica, Replica]:
        """Has the other one lead; returns the former leader and the new one."""
        former, new = self.leader, self.other
        self.leases.cut.add(former.index.holder)
        await until(lambda: new.leads)
        return former, new


@pytest.fixture
async def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pair]:
    """Two replicas at work."""
    monkeypatch.setattr(lead, "RENEW_EVERY", 0.2)
    monkeypatch.setattr(lead, "ASK_EVERY", 0.1)
    made = Pair(tmp_path)
    await made.start()
    yield made
    for each in made.all:
        await each.stop()


def texts(count: int, start: int = 1) -> list[str]:
    """Texts that share words with others."""
    rows = range(start, start + count)
    return [f"{SAID[n % 6]} {SAID[n * 5 // 7 % 6]} number{n} of the day" for n in rows]


def written(count: int, start: int = 1) -> list[MemoryState]:
    """States of so many memories, from a change on."""
    return [
        plain_state(f"m{seq}", seq, text)
        for seq, text in enumerate(texts(count, start), start=start)
    ]


async def test_each_text_is_embedded_once_and_all_answer_alike(pair: Pair, tmp_path: Path) -> None:
    """S10 One of two replicas embeds and writes; both find what an embedded index finds, in its
    order, right after a write whose freshness token they were given."""
    edge = PartVersions(EdgeIndex(tmp_path / "edge", WordEmbedder.model))
    await edge.open()
    await edge.begin(SPACE, "epoch-1")
    alone = follower_of(Lab(edge, WordEmbedder()))
    places = same = 0
    for start in (1, 31, 61):
        states = written(30, start)
        pair.graph.say(SPACE, *states)
        await alone.write(*states)
        for replica in pair.all:
            await replica.until_applied(start + 29)
            for question in QUESTIONS:
                wanted = alone.lab.ids(await alone.lab.ask(question))
                found = await replica.found(question)
                places += max(len(wanted), len(found))
                same += sum(a == b for a, b in zip(wanted, found, strict=False))
    await alone.stop()
    await edge.close()

    assert places > 500
    assert same / places >= 0.99
    assert (pair.leader.embedded, pair.other.embedded) == (90, 0)
    assert await pair.agrees()


async def test_what_a_replica_has_in_memory_follows_every_kind_of_change(pair: Pair) -> None:
    """S10 New states, forgetting, restoring and erasing are seen by who stands by, whose columns
    were loaded before; a space that came meanwhile is there, too."""
    pair.graph.say(SPACE, *written(5))
    other = pair.other
    await other.until_applied(5)
    assert "m3" in await other.found("number3")

    pair.graph.say(SPACE, plain_state("m3", 6, "a walrus", created=1), kind=ChangeKind.UPDATED)
    await other.until_applied(6)
    assert "m3" in await other.found("walrus")
    gone = replace(plain_state("m4", 7, texts(5)[3]), forgotten=True)
    pair.graph.say(SPACE, gone, kind=ChangeKind.DELETED)
    await other.until_applied(7)
    assert "m4" not in await other.found("number4")
    pair.graph.erase(SPACE, "m5", 8)
    await other.until_applied(8)
    ask = other.lab.ask("number5", superseded=Superseded.HISTORY)
    assert "m5" not in other.lab.ids(await ask)
    # nor in its columns: what it says of words and memories counts what is there
    (kept,) = other.server._parts.columns.loaded()
    assert kept._columns.open_items == 3
    pair.graph.say("another", plain_state("x", 1, "red fox"))
    await other.until_applied(1, "another")
    assert await other.found("red fox", "another") == ["x"]
    assert other is pair.other


async def test_a_read_waits_for_what_another_replica_writes_and_no_longer(pair: Pair) -> None:
    """S10 V1 A token of a change that is not written yet is waited for, then refused as stale."""
    pair.graph.say(SPACE, *written(1))
    await pair.other.until_applied(1)

    with pytest.raises(IndexStale):
        await pair.other.progress.wait(SPACE, Demand(SPACE, "epoch-1", 2), 0.3)
    waiting = asyncio.create_task(pair.other.until_applied(2))
    await asyncio.sleep(0.1)
    assert not waiting.done()
    pair.graph.say(SPACE, *written(1, start=2))
    await waiting


async def test_another_replica_takes_over_and_nothing_is_lost(pair: Pair) -> None:
    """S10 The lease runs out, the other one goes on where the index stands, embeds nothing again,
    and the former leader stands by."""
    pair.graph.say(SPACE, *written(20))
    await pair.other.until_applied(20)
    former, new = await pair.cut_off()
    pair.graph.say(SPACE, *written(20, start=21))
    await new.until_applied(40)
    pair.leases.cut.clear()
    await until(lambda: former.progress.stands_by and former.progress.following)
    await former.until_applied(40)

    assert (former.embedded, new.embedded) == (20, 20)
    assert await former.found("number33") == await new.found("number33")
    assert await pair.agrees()
    with pytest.raises(NotTheWriter):
        await Reconcile(former.context)(SPACE, repair=True)
    with pytest.raises(NotTheWriter):
        await former.reindex(SPACE, "")


async def test_who_has_no_lease_writes_nothing(pair: Pair) -> None:
    """S10 M4 Each write ends with the lease: what comes later is refused before it is sent."""
    pair.graph.say(SPACE, *written(2))
    await pair.other.until_applied(2)

    with pytest.raises(NotTheWriter):
        await pair.other.lab.write(plain_state("late", 3, "late"))
    with pytest.raises(NotTheWriter):
        await pair.other.index.begin("more", "epoch-1")
    assert sorted(await pair.leader.index.held(SPACE)) == [("m1", 1), ("m2", 2)]


@pytest.mark.parametrize("case", ["before the copy", "after it", "never seen by the new leader"])
async def test_a_late_writer_brings_nothing_erased_back(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """M4 S10 A leader that was stopped in a write and wakes after its time, here without the check
    of its lease: nothing erased is there once the erasure is confirmed, nor comes later."""
    pair.graph.say(SPACE, *written(6))
    await pair.leader.until_applied(6)
    former, new = pair.leader, pair.other
    part = former.server._parts[SPACE]
    late = plain_state("gone", 7, "the letter under the mat")
    scrub = PartVersions.scrub
    results = list[bool]()

    async def wake() -> None:
        """What the stopped process had begun: a new state, sent to the shard that it knew."""
        former.index.hold(float("inf"))
        try:
            await former.server._writer.run(_write_late, part, late)
        except IndexUnavailable:
            results.append(False)
        else:
            results.append(True)
        former.index.hold(0.0)

    async def woken_first(self: PartVersions, space: str) -> Sequence[str]:
        await wake()
        return await scrub(self, space)

    if case == "before the copy":
        monkeypatch.setattr(type(new.index), "scrub", woken_first)
    await pair.cut_off()
    pair.graph.say(SPACE, late)
    if case != "never seen by the new leader":
        await new.until_applied(7)
    pair.graph.erase(SPACE, "gone", 8)
    await until(lambda: pair.graph.confirmed != [])
    await wake()

    held = await new.index.held(SPACE)
    assert {memory_id for memory_id, _ in held} == {f"m{n}" for n in range(1, 7)}
    assert "gone" not in await new.found("letter under the mat")
    assert results == ([True, False] if case == "before the copy" else [False])


def _write_late(part: Part[ServerShard], state: MemoryState) -> None:
    """Writes a state at a row that nobody else has."""
    values = payload.of_state(state, SpaceKey(part.secret), [1], length=1)
    vector = WordEmbedder().vector(state.content).tolist()
    vectors = {DENSE: vector, WORDS: Bm25().of_document(state.content)}
    part.tenant.upsert([(500, vectors, values)])


async def test_an_erased_space_leaves_no_byte_of_its_secret(pair: Pair) -> None:
    """M4 S10 The collection that has the secrets of spaces is made anew without a removed one's,
    and no replica answers for it."""
    pair.graph.say("brief", plain_state("x", 1, "red fox"))
    await pair.other.until_applied(1, "brief")
    assert await pair.other.found("red fox", "brief") == ["x"]
    before = await catalogues(pair)
    del pair.graph.log["brief"]
    await pair.leader.index.remove("brief")
    after = await catalogues(pair)

    assert (len(before), len(after)) == (1, 1)
    assert before != after
    assert await pair.other.index.state("brief") is None
    assert await pair.other.found("red fox", "brief") == []


async def catalogues(pair: Pair) -> list[str]:
    """The collections that have the catalogue of the index."""
    connection = Connection(QdrantConfig(url=os.environ["QDRANT_URL"]))
    await connection.open()
    reply = await connection.collections.List(wire.ListCollectionsRequest())
    await connection.close()
    names = [each.name for each in reply.collections]
    return [name for name in names if name.startswith(f"{pair.prefix}-catalogue")]


async def test_a_version_that_was_built_serves_on_every_replica(pair: Pair) -> None:
    """S10 Reindexing with another model: who stands by asks the new version soon, with vectors of
    its model."""
    pair.graph.say(SPACE, *written(6))
    await pair.other.until_applied(6)
    await pair.leader.reindex(SPACE, OTHER.model_id)
    await until(lambda: pair.leader.index.model(SPACE) == OTHER)
    await until(lambda: pair.other.index.model(SPACE) == OTHER)
    pair.graph.say(SPACE, *written(1, start=7))
    await pair.other.until_applied(7)
    state = await pair.other.index.state(SPACE)

    assert state is not None
    assert (state.model, state.memories) == (OTHER, 7)


async def test_the_server_learns_no_name_and_another_secret_reads_nothing(
    pair: Pair, tmp_path: Path
) -> None:
    """S10 Names and secrets of spaces are encrypted; a replica with another secret is refused, with
    the settings that help."""
    pair.graph.say("diary-of-ada", plain_state("x", 1, "red fox"))
    await pair.other.until_applied(1, "diary-of-ada")
    (name,) = await catalogues(pair)
    connection = Connection(QdrantConfig(url=os.environ["QDRANT_URL"]))
    await connection.open()
    everything = wire.WithPayloadSelector(enable=True)
    request = wire.ScrollPoints(collection_name=name, limit=1000, with_payload=everything)
    reply = await connection.points.Scroll(request)
    await connection.close()
    settings = settings_of(pair.prefix, f"not {SECRET}")
    stranger = ServerIndex(tmp_path / "stranger", [WordEmbedder.model], settings)
    stranger.hold(0.0)

    assert len(reply.result) > 3
    assert "diary-of-ada" not in str(reply)
    with pytest.raises(IndexUnusable, match=r"QDRANT_PREFIX.*QDRANT_INDEX_SECRET_FILE"):
        await stranger.open()
    await stranger.close()
