"""kill -9 under mixed writes: nothing acknowledged is lost, nothing is torn, all of it is told."""

import os
import random
import shutil
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Timer

import grpc
import pytest
from concord.graph.v1.dialogue_pb2 import ListDialogueRequest
from concord.graph.v1.episode_pb2 import ListEpisodesRequest
from concord.graph.v1.graph_pb2 import ListEdgesRequest, ListNodesRequest
from concord.graph.v1.memory_pb2 import GetMemoryRequest, ListMemoriesRequest
from concord.graph.v1.relation_pb2 import ListRelationsRequest
from concord.search.v1.search_pb2 import ReconcileIndexRequest
from concord.type.v1.type_pb2 import (
    LOOKUP_STATUS_ERASED,
    MEMORY_KIND_TURN,
    MEMORY_KIND_UNSPECIFIED,
    MemoryKind,
)
from concord_client.client import Client
from concord_client.credentials import Role
from concord_testing.up_process import Spawned, spawned

from tests.chaos import other_deeds, wholeness
from tests.chaos.all_deeds import DEEDS
from tests.chaos.checking import caught_up
from tests.chaos.feed_of import feed_of
from tests.chaos.governing import Parties, agree, enrol, governed, judge
from tests.chaos.hand import Hand
from tests.chaos.killing import client_of, kill_while_starting, seed
from tests.chaos.reading import every_page
from tests.chaos.stores_on_disk import copy_of, indexed

KILLS = int(os.environ.get("CONCORD_WRITE_KILLS", "2"))
STORES, CHAOS_KILLS = 5, int(os.environ.get("CONCORD_WRITE_KILLS_CHAOS", "40"))
LONGEST = 2.5
"""Seconds from the first write to the kill, at most."""

TOLD_APART = (MEMORY_KIND_UNSPECIFIED, MEMORY_KIND_TURN)
KINDS = [kind for kind in MemoryKind.values() if kind not in TOLD_APART]


@dataclass
class Story:
    """One data directory through all its kills, and everybody who writes in it."""

    data: Path
    draw: random.Random
    hands: Sequence[Hand]
    parties: Parties = field(default_factory=Parties)
    agreed: int = 0
    feed: list[tuple[int, str, int]] = field(default_factory=list)
    """What the outbox held after the last kill."""

    @property
    def writes(self) -> int:
        """How many writes of the hands were acknowledged."""
        return sum(len(hand.acknowledged) for hand in self.hands)

    @property
    def store(self) -> Path:
        """Graph's file."""
        return self.data / "graph" / "graph.db"


def begin(folder: Path, draw: random.Random) -> Story:
    """An enrolled space in which nobody has written."""
    hands = [Hand(name, random.Random(draw.random())) for name in ("ada", "ben", "cleo")]
    story = Story(folder / "data", draw, hands)
    with spawned(story.data) as server, governed(server) as asked:
        enrol(server, asked, story.parties)
    return story


def write_until_killed(server: Spawned, story: Story) -> None:
    """Let all write at once, kill the server at some moment, and have its death seen."""
    dead = Event()

    def kill() -> None:
        dead.set()
        server.process.kill()

    def write(hand: Hand) -> None:
        with client_of(server) as client:
            hand.write(client, DEEDS, dead.is_set)

    timer = Timer(story.draw.uniform(0.02, LONGEST), kill)
    with ThreadPoolExecutor(len(story.hands) + 1) as pool:
        timer.start()
        running = [pool.submit(write, hand) for hand in story.hands]
        running.append(pool.submit(agree_until, server, story, dead))
    timer.join()
    server.ended()
    for each in running:
        each.result()


def agree_until(server: Spawned, story: Story, dead: Event) -> None:
    """Agree on one thing after the other, until the server is dead."""
    with governed(server) as asked:
        try:
            while not dead.is_set():
                story.agreed += 1
                agree(asked, story.parties, f"value {story.agreed}")
        except grpc.RpcError:
            if not dead.wait(5):
                raise


def check_store(story: Story, folder: Path) -> None:
    """Judge a copy of the dead system's store, which nobody has repaired."""
    copy = folder / "copy"
    shutil.copytree(story.store.parent, copy)
    try:
        assert wholeness.wrong(copy / "graph.db") == {}
        for hand in story.hands:
            assert wholeness.unrecorded(copy / "graph.db", hand.acknowledged) == []
        told = wholeness.told(copy / "graph.db")
        assert told[: len(story.feed)] == story.feed, "the outbox was rewritten"
        story.feed = told
    finally:
        shutil.rmtree(copy)


def check_running(server: Spawned, story: Story) -> None:
    """Let each do again what it was not told of; then all is as they were told, and only that."""
    with client_of(server) as client, governed(server) as asked:
        feed = [(change.seq, change.item_id, change.revision) for change in feed_of(server)]
        assert feed[: len(story.feed)] == story.feed
        for hand in story.hands:
            hand.resume(client)
        for hand in story.hands:
            check_memories(client, hand)
            check_graph(client, hand)
            check_layers(client, hand)
        judge(asked, story.parties)
        feed = [(change.seq, change.item_id, change.revision) for change in feed_of(server)]
        assert [seq for seq, _, _ in feed] == list(range(1, len(feed) + 1))
        for hand in story.hands:
            status = caught_up(client, hand.token)
            assert status.parked_changes == 0


def check_memories(client: Client, hand: Hand) -> None:
    """What is remembered is remembered in its revision, what is forgotten or erased is not."""
    request = ListMemoriesRequest(include_superseded=True, page_size=200)
    request.filter.kinds.extend(KINDS)
    listed = every_page(client.memory.ListMemories, request, "memories")
    found = {m.id: m for m in listed if m.id.startswith(f"{hand.name}/")}
    assert found.keys() == hand.live.keys()
    for known in hand.live.values():
        assert found[known.id].content == known.content
        assert not known.etag or found[known.id].etag == known.etag
    for gone in _some(hand, hand.forgotten):
        reply = client.memory.GetMemory(GetMemoryRequest(id=gone, peek=True))
        assert reply.memory.HasField("forget_time")
        assert reply.memory.etag == hand.forgotten[gone].etag
    for gone in _some(hand, hand.erased):
        reply = client.memory.GetMemory(GetMemoryRequest(id=gone, peek=True))
        assert (reply.status, reply.memory.content) == (LOOKUP_STATUS_ERASED, "")


def _some(hand: Hand, ids: Collection[str]) -> list[str]:
    return hand.draw.sample(sorted(ids), min(len(ids), 10))


def check_graph(client: Client, hand: Hand) -> None:
    """The nodes and edges are those that were stated, in their revisions."""
    edges = ListEdgesRequest(page_size=200)
    edges.filter.relations.append(other_deeds.KNOWS)
    listed = every_page(client.graph.ListEdges, edges, "edges")
    own = {e.id: e.etag for e in listed if e.source.name.startswith(f"{hand.name} ")}
    assert own == {e.id: e.etag for e in hand.edges.values()}
    nodes = every_page(client.graph.ListNodes, ListNodesRequest(page_size=200), "nodes")
    things = {n.name: n.etag for n in nodes if n.name.startswith(f"{hand.name} thing")}
    assert things.keys() == hand.nodes.keys()
    assert all(things[name] == etag for name, etag in hand.nodes.items() if etag)


def check_layers(client: Client, hand: Hand) -> None:
    """What was said is there in its order; episodes and declarations are there."""
    talk = ListDialogueRequest(session_id=hand.name, page_size=200)
    turns = every_page(client.dialogue.ListDialogue, talk, "turns")
    assert [turn.content for turn in turns] == hand.said
    assert [turn.turn_order for turn in turns] == list(range(1, len(turns) + 1))
    lived = ListEpisodesRequest(session_id=hand.name, page_size=100)
    episodes = every_page(client.episode.ListEpisodes, lived, "episodes")
    assert [each.id for each in episodes] == hand.episodes[::-1]
    relations = client.relation.ListRelations(ListRelationsRequest(page_size=200)).relations
    declared = {each.name: each.functional for each in relations}
    assert declared.items() >= hand.relations.items()


def survive(folder: Path, kills: int, draw: random.Random) -> Story:
    """Write through so many kills, checking after each; then compare index and store."""
    story = begin(folder, draw)
    for _ in range(kills):
        with spawned(story.data) as server:
            check_running(server, story)
            write_until_killed(server, story)
        if draw.random() < 0.1:
            kill_while_starting(story.data, draw.uniform(0.2, 2.0))
        check_store(story, folder)
    with spawned(story.data) as server:
        check_running(server, story)
        with client_of(server, Role.ADMIN) as admin:
            assert admin.index.ReconcileIndex(ReconcileIndexRequest()).agrees
        assert server.stop() == 0
    check_store(story, folder)
    with copy_of(story.data, folder / "copy") as copy:
        assert indexed(copy) == wholeness.states(copy / "graph" / "graph.db")
    print(f"{kills} kills, {story.writes} writes acknowledged, {len(story.feed)} changes")
    return story


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_mixed_writes_survive_a_few_kills(tmp_path: Path) -> None:
    """M4 T1 G14 S10 Must hold: kill -9 loses nothing acknowledged, tears nothing, and leaves no
    write without its outbox row."""
    story = survive(tmp_path, KILLS, random.Random(seed()))

    assert story.writes > KILLS


@pytest.mark.chaos
@pytest.mark.timeout(0)
@pytest.mark.parametrize("store", range(STORES))
def test_mixed_writes_survive_forty_kills(tmp_path: Path, store: int) -> None:
    """The same at 200 random points: 5 stores with 40 kills each."""
    survive(tmp_path, CHAOS_KILLS, random.Random(seed() + store))
