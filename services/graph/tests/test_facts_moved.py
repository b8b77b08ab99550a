"""What memories state moves with a space: a copy reads, and goes on, as the original (G15, M1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from concord.graph.v1 import feed_pb2, graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from google.protobuf.message import Message
from graph_world import DAY, START, Calls, Clock, fact, micros, stamp, world
from transfers import export_of, furnish, import_into

ERASED, EDGE = feed_pb2.CHANGE_TYPE_ERASED, type_pb2.ITEM_KIND_EDGE
OF_READS = re.compile(r"relevance_score: .*|last_access_time {[^}]*}")


async def answers(calls: Calls, record: int | None) -> list[str]:
    """Return what every read says of the facts, as known at a record time (µs).

    But for reads, which go on, and relevance, which falls while the import is written.
    """
    as_of = type_pb2.AsOf(record_time=stamp(record)) if record else None
    edges = await calls.graph.ListEdges(graph_pb2.ListEdgesRequest(page_size=200, as_of=as_of))
    memories = await calls.memory.ListMemories(
        memory_pb2.ListMemoriesRequest(page_size=200, as_of=as_of)
    )
    found: list[Message] = [*edges.edges, *memories.memories]
    for valid in (START - 3 * DAY, START + DAY):
        at = type_pb2.AsOf(record_time=as_of and as_of.record_time, valid_time=stamp(valid))
        reply = await calls.neighbors("Acme", as_of=at, peek=True)
        found += [neighbor.edge for neighbor in reply.neighbors]
    for memory in memories.memories:
        request = memory_pb2.GetMemoryRequest(id=memory.id, as_of=as_of, peek=True)
        found.append((await calls.memory.GetMemory(request)).memory)
    return sorted(OF_READS.sub("", str(each)) for each in found)


def times(changes: Sequence[Any]) -> list[int | None]:
    """Return instants to ask about: now, and here and there since a value was erased last.

    Before, a copy does not know what the erased value ended (decision 0043).
    """
    erased = [c.seq for c in changes if c.type == ERASED and c.item_kind == EDGE]
    asked = [change for change in changes if change.seq > max(erased)]
    return [None, *(micros(change.record_time) for change in asked[::3])]


async def test_a_copy_reads_as_the_original(tmp_path: Path) -> None:
    """G15 M1 M4 T3 Facts, sources, neighbours at any instant, also after erasing and forgetting."""
    clock = Clock()
    async with world(tmp_path / "graph.db", clock=clock) as live:
        home, copy = live.calls("home"), live.calls("copy")
        await furnish(home, clock)
        lines = await export_of(home)
        await import_into(copy, lines)

        assert await copy.export() == await home.export()
        for time in times(await home.changes()):
            first = await answers(home, time)
            assert first == await answers(copy, time)
        assert any(memory.facts for memory in await everything(copy))


async def everything(calls: Calls) -> list[type_pb2.Memory]:
    """Return the memories of a first page."""
    return [await calls.get(memory_id) for memory_id in await calls.listed(page_size=200)]


async def test_a_copy_goes_on_as_the_original(tmp_path: Path) -> None:
    """M1 T2 M4 In a copy, facts that are forgotten, brought back and erased take their edges."""
    async with world(tmp_path / "graph.db") as live:
        home, copy = live.calls("home"), live.calls("copy")
        await home.declare("LED_BY")
        await home.add("Ada leads.", id="a", facts=[fact("Acme", "LED_BY", "Ada")])
        await home.add("Ada leads, too.", id="b", facts=[fact("Acme", "LED_BY", "Ada")])
        await import_into(copy, await export_of(home))
        told = []
        for calls in (home, copy):
            edge = await calls.get_triple("Acme", "LED_BY", "Ada")
            gone = await calls.forget(await calls.get("a"))
            sources = [list((await calls.get_edge(edge.id)).sources)]
            await calls.forget(await calls.get("b"))
            counts = [len((await calls.neighbors("Acme")).neighbors)]
            await calls.restore(gone)
            live.clock.pass_(DAY)
            await calls.add("Bob leads.", id="c", facts=[fact("Acme", "LED_BY", "Bob")])
            over = (await calls.get("a")).supersession
            await calls.erase(await calls.get("a"))
            counts.append(len((await calls.neighbors("Acme", include_superseded=True)).neighbors))
            told.append((edge.id, sources, counts, over.is_superseded, list(over.head_ids)))

        assert told[0] == told[1]
        assert told[0][1:] == ([["b"]], [0, 1], True, ["c"])
