"""An erased memory takes along what only it stated: edges, nodes and their names (M4, M1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import neo4j_at_hand
import pytest
from concord.graph.v1 import graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from google.protobuf.timestamp_pb2 import Timestamp
from graph_world import (
    DAY,
    FOUND,
    START,
    SUPERSEDES,
    Calls,
    World,
    fact,
    micros,
    named,
    stamp,
    world,
)
from transfers import export_of, import_into

ONLY = ("Zorblax", "Plingtown", "QUUXLIES", "Hobnobia", "Wibblewords", "Snarflette", "frobnicity")

EVERYTHING = (
    "MATCH (n) RETURN labels(n) AS words, properties(n) AS said"
    " UNION ALL MATCH ()-[r]->() RETURN [type(r)] AS words, properties(r) AS said"
)


def left(live: World, words: Sequence[str]) -> set[str]:
    """Return the words that the store's files hold, or, of a Neo4j, that any query can find."""
    if neo4j_at_hand.is_chosen():
        found = neo4j_at_hand.run(EVERYTHING)
        text = repr(found).lower()
        return {word for word in words if word.lower() in text}
    content = b"\n".join(p.read_bytes().lower() for p in live.path.parent.iterdir() if p.is_file())
    return {word for word in words if word.lower().encode() in content}


async def gone(calls: Calls, memory: type_pb2.Memory) -> None:
    """Erase a memory, and wait until the store has confirmed."""
    await calls.erase(await calls.get(memory.id))
    await calls.scrubbed(memory.id)


async def neighbors_of(calls: Calls, name: str) -> set[str]:
    """Return what a node leads to, whatever replaced it."""
    reply = await calls.neighbors(name, include_superseded=True)
    return {each.edge.target.name for each in reply.neighbors}


async def test_what_only_it_stated_leaves_no_byte(live: World, home: Calls) -> None:
    """M4 M1 Also what it no longer states; names, relations, properties, participants."""
    more = {"why": "Wibblewords", "participants": ["Snarflette"]}
    memory = await home.add(
        "See there.",
        facts=[fact("Zorblax", "QUUXLIES", "Plingtown"), fact("Ada", "LIKES", "Hobnobia")],
    )
    memory.facts[1].properties.update(more)
    memory = await home.update(memory, "facts")
    memory.facts[0].object = "frobnicity"
    memory = await home.update(memory, "facts")
    del memory.facts[1]
    memory = await home.update(memory, "facts")
    await home.forget(memory)
    await home.put_edge("Ada", "LIKES", "Tea")
    for number in range(40):
        await home.add(f"Note {number}.", facts=[fact("Ada", "READS", f"Bookling {number}")])
    assert left(live, ONLY) == set(ONLY)

    await gone(home, memory)

    assert left(live, (*ONLY, "Bookling", "Tea")) == {"Bookling", "Tea"}
    missed = await home.graph.GetNode(graph_pb2.GetNodeRequest(name="Zorblax"))
    assert (missed.status != FOUND, list(missed.near_names)) == (True, [])
    assert (await home.get_node("Ada")).name == "Ada"
    assert (await home.neighbors("Ada")).neighbors


async def test_what_others_state_or_wrote_stays(live: World, home: Calls) -> None:
    """M4 Live memories, forgotten ones, and callers: each keeps its edge or its node."""
    doomed = await home.add(
        "Ssh.",
        facts=[
            fact("Ada", "KNOWS", "Kerfuffle"),
            fact("Ada", "KNOWS", "Bumfuzzle"),
            fact("Ada", "KNOWS", "Lollygag"),
            fact("Gribbly", "KNOWS", "Skedaddle"),
            fact("Flimflam", "KNOWS", "Mumblecrust"),
        ],
    )
    await home.add("Too.", facts=[fact("Ada", "KNOWS", "Kerfuffle")])
    other = await home.add("Also.", facts=[fact("Ada", "KNOWS", "Bumfuzzle")])
    await home.forget(other)
    await home.put_edge("Ada", "KNOWS", "Lollygag")
    await home.put_node("Gribbly")
    await home.put_edge("Skedaddle", "IN", "Ulm")

    await gone(home, doomed)

    kept = ("Kerfuffle", "Bumfuzzle", "Lollygag", "Gribbly", "Skedaddle")
    assert left(live, (*kept, "Flimflam", "Mumblecrust")) == set(kept)
    assert await neighbors_of(home, "Ada") == {"Kerfuffle", "Lollygag"}
    assert await neighbors_of(home, "Gribbly") == set()
    await home.restore(await home.get(other.id))
    assert await neighbors_of(home, "Ada") == {"Kerfuffle", "Lollygag", "Bumfuzzle"}


async def test_a_shared_edge_keeps_no_word_of_the_erased_one(live: World, home: Calls) -> None:
    """M4 T1 Another edge says what the others do, with the lineage that the former one had."""
    kept = await home.add(
        "B.", id="b", facts=[fact("Ada", "AT", "Acme", properties={"as": "cook"})]
    )
    doomed = await home.add(
        "A.", id="a", facts=[fact("Ada", "AT", "Acme", properties={"as": "Zorblax", "x": "Quuxly"})]
    )
    edge = await home.get_triple("Ada", "AT", "Acme")
    newer = await home.put_edge("Ada", "AT", "Umbrella")
    await home.relate(SUPERSEDES, newer.id, edge.id)
    assert left(live, ("Zorblax", "Quuxly", "cook")) == {"Zorblax", "Quuxly", "cook"}

    await gone(home, doomed)

    other = await home.get_triple("Ada", "AT", "Acme")
    assert left(live, ("Zorblax", "Quuxly", "cook")) == {"cook"}
    assert (other.properties["as"], list(other.sources)) == ("cook", ["b"])
    assert other.supersession.is_superseded
    copy = live.calls("copy")
    await import_into(copy, await export_of(home))
    assert list((await copy.get_edge(other.id)).sources) == ["b"]
    await home.forget(await home.get(kept.id))
    assert await neighbors_of(home, "Ada") == {"Umbrella"}


async def test_the_last_one_erased_takes_the_names(live: World, home: Calls) -> None:
    """M4 Of memories that state the same, whichever is erased first."""
    shared = [fact("Zorblax", "QUUXLIES", "Plingtown")]
    first, last = [await home.add(f"Told {n}.", facts=shared) for n in range(2)]
    words = ("Zorblax", "QUUXLIES", "Plingtown")

    await gone(home, first)
    assert left(live, words) == set(words)
    await home.forget(await home.get(last.id))
    await gone(home, last)

    assert left(live, words) == set()
    lines = await export_of(home)
    assert not any(word in line for word in words for line in lines)
    copy = live.calls("copy")
    await import_into(copy, lines)
    assert (await export_of(copy))[1:] == lines[1:]


async def test_what_was_known_before_shows_it_erased(home: Calls) -> None:
    """M4 T3 A read of the record from before finds no name; the same name is another node."""
    memory = await home.add("Ssh.", facts=[fact("Zorblax", "IN", "Plingtown")])
    node = await home.get_node("Zorblax")
    when = (await home.changes())[-1].record_time
    await home.erase(memory)
    as_of = type_pb2.AsOf(record_time=when)
    said = "".join(await home.export(as_of=as_of))
    again = await home.put_node("Zorblax")

    assert not re.search("Zorblax|Plingtown", said)
    assert again.id != node.id


@pytest.mark.parametrize("how", ["node", "edge"])
async def test_erased_nodes_stay_so_after_a_restart(tmp_path: Path, how: str) -> None:
    """M4 G16 A node that a caller wrote before this is kept, as is one at a caller's edge."""
    path = tmp_path / "graph.db"
    async with world(path) as first:
        home = first.calls()
        memory = await home.add("Ssh.", facts=[fact("Ada", "IN", "Plingtown")])
        if how == "node":
            await home.put_node("Ada")
        else:
            await home.delete_edge(await home.put_edge("Ada", "SEES", "Bob", valid_from=0))
        await home.erase(memory)
    async with world(path) as second:
        home = second.calls()
        assert (await home.get_node("Ada")).name == "Ada"
        await home.scrubbed(memory.id)
        assert left(second, ("Plingtown", "Ada")) == {"Ada"}


async def test_erasing_a_value_changes_no_past(home: Calls) -> None:
    """T3 M4 What it ended had ended, as it was known then; now it goes on."""
    await home.declare("LIVES_IN")
    first = await home.add(
        "A", facts=[fact("Ann", "LIVES_IN", "Ulm")], valid_from=stamp(START - 9 * DAY)
    )
    then = (await home.changes())[-1].record_time
    later = stamp(START - DAY)
    second = await home.add("B", facts=[fact("Ann", "LIVES_IN", "Rom")], valid_from=later)
    known = (await home.changes())[-1].record_time

    async def ends(record: Timestamp | None = None) -> list[int]:
        as_of = type_pb2.AsOf(record_time=record) if record else None
        triple = graph_pb2.Triple(source=named("Ann"), relation="LIVES_IN", target=named("Ulm"))
        edge = await home.graph.GetEdge(graph_pb2.GetEdgeRequest(triple=triple, as_of=as_of))
        memory = await home.memory.GetMemory(memory_pb2.GetMemoryRequest(id=first.id, as_of=as_of))
        both = (edge.edge.supersession, memory.memory.supersession)
        return [micros(each.superseded_from) for each in both]

    told = [await ends(then), await ends(known)]
    await home.erase(second)

    assert told == [[0, 0], [START - DAY] * 2]
    assert [await ends(then), await ends(known)] == told
    assert await ends() == [0, 0]
