"""Reading leaves a count and a time, off the reply's path, and nothing else."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import raw_store
from concord.graph.v1 import feed_pb2, graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_graph.domain.errors import StoreUnavailable
from concord_graph.domain.items import Instant, ItemKind
from concord_graph.ports import GraphStore, ReadCounts, Reads, SessionUses
from concord_graph.usecases.read.touches import Touches
from graph_world import DAY, SECOND, START, Calls, Clock, Parties, World, micros, named, world


async def test_each_read_counts_every_edge_of_its_reply(live: World, home: Calls) -> None:
    """G6 GetEdge, QueryNeighbors and FindPath; the reply shows the data from before."""
    near = await home.put_edge("A", "R", "B")
    far = await home.put_edge("B", "R", "C")
    live.clock.pass_(SECOND)
    first = await home.get_edge(near.id, peek=False)
    await home.neighbors("A", peek=False, depth=2)
    await home.paths("A", "C", peek=False)
    triple = graph_pb2.Triple(source=named("A"), relation="R", target=named("B"))
    await home.graph.GetEdge(graph_pb2.GetEdgeRequest(triple=triple))

    assert (first.access.access_count, micros(first.access.last_access_time)) == (
        0,
        micros(near.create_time),
    )
    counts = [(await home.get_edge(edge.id)).access.access_count for edge in (near, far)]
    assert counts == [4, 2]
    assert micros((await home.get_edge(far.id)).access.last_access_time) == START + SECOND


async def test_a_page_counts_only_what_it_shows(home: Calls) -> None:
    """G6 Edges walked but not in the reply are not read."""
    await home.put_edge("A", "R", "B")
    await home.put_edge("A", "R", "C")
    page = await home.neighbors("A", peek=False, page_size=1)
    everything = await home.neighbors("A")

    counts = {n.edge.id: n.edge.access.access_count for n in everything.neighbors}
    shown = page.neighbors[0].edge.id
    assert {item: count for item, count in counts.items() if count} == {shown: 1}


async def test_memories_count_when_read_by_id_or_hydrated_for_a_reader(home: Calls) -> None:
    """G6 GetMemory and search's one hydration count; lists, history and lineage do not."""
    memory = await home.add("text", id="m", external_id="key")
    await home.get("m", peek=False)
    await home.memory.GetMemory(memory_pb2.GetMemoryRequest(external_id="key"))
    await home.listed()
    await home.lineage("m")
    await home.memory.GetMemoryHistory(memory_pb2.GetMemoryHistoryRequest(id="m"))
    await home.states(("m", 0))
    counted = feed_pb2.BatchGetRevisionsRequest(
        space="home", refs=[feed_pb2.RevisionRef(id="m")], count_as_read=True
    )
    await home.feed.BatchGetRevisions(counted)
    read = await home.get("m")

    assert read.access.access_count == 3
    assert (read.etag, read.modify_time) == (memory.etag, memory.modify_time)


async def test_peeking_leaves_no_trace(home: Calls, live: World) -> None:
    """G6 Neither count nor time."""
    edge = await home.put_edge("A", "R", "B")
    memory = await home.add("text")
    live.clock.pass_(DAY)
    await home.get_edge(edge.id)
    await home.neighbors("A")
    await home.paths("A", "B")
    await home.get(memory.id)

    assert (await home.get_edge(edge.id)).access == edge.access
    assert (await home.get(memory.id)).access == memory.access


async def test_reads_answer_while_the_store_cannot_be_written(live: World, home: Calls) -> None:
    """G6 Counting is off the reply's path: a held write lock delays no read, and none is lost."""
    edge = await home.put_edge("A", "R", "B")
    with raw_store.blocked(live.path):
        for _ in range(20):
            await home.graph.GetEdge(graph_pb2.GetEdgeRequest(id=edge.id), timeout=20)
        seen = (await home.get_edge(edge.id)).access.access_count

    assert seen == 20


async def test_closing_flushes_what_was_read(tmp_path: Path) -> None:
    """G6 Never lost on a clean shutdown; canonical form and etag do not change."""
    path, clock = tmp_path / "graph.db", Clock()
    async with world(path, clock=clock) as live:
        home = live.calls()
        edge = await home.put_edge("A", "R", "B")
        memory = await home.add("text")
        state = await home.export()
        for _ in range(3):
            await home.get_edge(edge.id, peek=False)
        clock.pass_(DAY)
        await home.get(memory.id, peek=False)
    async with world(path, clock=clock) as live:
        home = live.calls()
        again, remembered = await home.get_edge(edge.id), await home.get(memory.id)

        assert (again.access.access_count, again.etag) == (3, edge.etag)
        assert micros(again.access.last_access_time) == START
        assert remembered.access.access_count == 1
        assert micros(remembered.access.last_access_time) == START + DAY
        assert await home.export() == state


async def test_a_miss_and_another_space_count_nothing(live: World, home: Calls) -> None:
    """G6 G13 Reading what is not there touches nobody."""
    memory = await home.add("text", id="m")
    other = live.calls("other")
    for calls, key in ((home, "nowhere"), (other, "m")):
        reply = await calls.memory.GetMemory(memory_pb2.GetMemoryRequest(id=key))
        assert reply.status == type_pb2.LOOKUP_STATUS_NOT_FOUND

    assert (await home.get("m")).access == memory.access


async def counted(tx: Reads) -> int:
    """Return how often the memory "m" was read."""
    return (await tx.views(ItemKind.MEMORY, ["m"], Instant(START)))["m"].access.count


async def test_no_read_is_seen_twice_or_missed_while_it_is_stored(store: GraphStore) -> None:
    """G6 Views taken while counts move from memory to the store show each read exactly once."""
    touches = Touches(store, Clock())
    store.pending(lambda: touches.pending)

    async def flushing(ended: asyncio.Event) -> None:
        while not ended.is_set():
            await touches.flush()
            await asyncio.sleep(0)

    ended = asyncio.Event()
    background = asyncio.create_task(flushing(ended))
    for number in range(1, 100):
        touches.add("home", ["m"])
        assert await store.read("home", counted) == number
    ended.set()
    await background


async def test_closing_what_is_closed_does_nothing(tmp_path: Path) -> None:
    """G6 What was read is counted once, also when two owners close."""
    path = tmp_path / "graph.db"
    async with world(path) as live:
        edge = await live.calls().put_edge("A", "R", "B")
        await live.calls().get_edge(edge.id, peek=False)
        await live.app.close()  # and again as the world ends

    async with world(path) as live:
        assert (await live.calls().get_edge(edge.id)).access.access_count == 1


async def test_reads_that_could_not_be_stored_are_stored_later(store: GraphStore) -> None:
    """G6 None is lost when a flush fails, nor what is read meanwhile, and none is counted twice."""

    class Refusing:
        """The store, of which a touch fails."""

        async def touch(
            self, reads: ReadCounts, uses: SessionUses, stored: Callable[[], None]
        ) -> None:
            if self.refuses:
                touches.add("home", ["m"])
                raise StoreUnavailable("the disk is full")
            await store.touch(reads, uses, stored)

        refuses = True

    failing = Refusing()
    touches = Touches(cast(Any, failing), Clock())
    touches.add("home", ["m"])
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await touches.flush()
    failing.refuses = False
    await touches.flush()
    await touches.flush()

    assert await store.read("home", counted) == 3


async def test_reading_and_touching_leave_the_constitutive_as_it_is(
    live: World, home: Calls, parties: Parties
) -> None:
    """G6 G7 Reads raise the count; etag, relevance and the change feed stay."""
    edge = await parties.constitutive_edge(home)
    live.clock.pass_(400 * DAY)
    await home.get_edge(edge.id, peek=False)
    read = await home.get_edge(edge.id)

    assert (read.etag, read.relevance_score) == (edge.etag, 1.0)
    assert read.access.access_count == 1
    assert read.entrenchment == type_pb2.ENTRENCHMENT_MAXIMAL


async def test_erasing_does_not_count_as_reading(home: Calls) -> None:
    """G6 A read that finds nothing more to read leaves no trace."""
    memory = await home.add("Tea is at four.")
    await home.erase(memory)
    for _ in range(3):
        got = await home.memory.GetMemory(memory_pb2.GetMemoryRequest(id=memory.id))

    assert got.memory.access.access_count == 0
