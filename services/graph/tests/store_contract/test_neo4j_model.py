"""How the graph stands in Neo4j: readable to a person, whole, and found by index."""

import asyncio
from pathlib import Path

import neo4j_at_hand
import neo4j_wholeness
import pytest
from agreed_space import agree
from concord.type.v1 import type_pb2
from concord_graph.adapters.neo4j import transaction
from concord_graph.domain.items import ItemKind
from concord_graph.ports import Writes
from graph_world import START, SUPERSEDES, Calls, Clock, Json, World, micros, opened_store, struct

ENDS = ("source_id", "target_id")
ITEMS = (ItemKind.NODE, ItemKind.EDGE, ItemKind.MEMORY)
ODD_NAMES = ["`LIKES`", "a b", "]->()//", "é中", "{}", "$space", "'; DROP", "x" * 128, "\\u0041"]


async def test_a_person_sees_a_graph(home: Calls) -> None:
    """G1 G2 Entities with their label and properties, typed relationships between them."""
    await home.put_node("Ann", label="Person", properties=struct({"born": 1970, "tall": True}))
    edge = await home.put_edge("Ann", "WORKS_AT", "Acme", weight=0.5, properties={"since": "May"})
    found = neo4j_at_hand.run(
        "MATCH (a:Entity:Person {name: 'Ann'})-[r:WORKS_AT]->(b:Entity {name: 'Acme'})"
        " RETURN a.born, a.tall, r.id, r.weight, r.since, r.effective_from"
    )

    assert found == [[1970.0, True, edge.id, 0.5, "May", micros(edge.create_time)]]


async def test_a_promised_memory_is_a_ghost_until_it_comes(home: Calls) -> None:
    """M3 The edge stays as it was; the ghost of a link that goes, goes too."""
    teller = await home.add("See [[memory:later]]", id="teller")
    shown = (
        "MATCH (:Memory {id: 'teller'})-[r:RELATED_TO]->(g {id: 'later'}) RETURN r.id, labels(g)"
    )
    ((edge_id, ghost),) = neo4j_at_hand.run(shown)
    await home.add("Here I am", id="later")
    ((same, memory),) = neo4j_at_hand.run(shown)
    teller.content = "See [[memory:never]]"
    await home.update(teller, "content")
    again = await home.get("teller")
    again.content = "Nothing to see"
    await home.update(again, "content")

    assert ghost == ["Item", "Ghost"]
    assert (same, memory) == (edge_id, ["Item", "MemoryVersion", "Memory"])
    assert neo4j_at_hand.run("MATCH (g:Ghost) RETURN g.id") == []


async def test_a_resolution_hangs_together_with_what_it_resolves(home: Calls) -> None:
    """G3 T1 A node of its own, and lineage between the records of the edges."""
    old = await home.put_edge("Ann", "LIVES_IN", "Rome")
    new = await home.put_edge("Ann", "LIVES_IN", "Oslo")
    made = await home.relate(SUPERSEDES, new.id, old.id)
    found = neo4j_at_hand.run(
        "MATCH (n:Edge)-[r:SUPERSEDES]->(o:Edge), (s:Resolution) WHERE s.id = r.id"
        " RETURN n.id, o.id, s.id"
    )

    assert found == [[new.id, old.id, made.edge.id]]


@pytest.mark.parametrize("name", ODD_NAMES)
async def test_odd_names_are_names_and_nothing_more(home: Calls, name: str) -> None:
    """G1 G2 As relation, label and key of a property: kept as they are, and found again."""
    node = await home.put_node("n", label=name, properties=struct({name[:64]: "v"}))
    edge = await home.put_edge("n", name, "m")

    assert (await home.get_node("n")) == node
    assert (node.label, dict(node.properties)) == (name, {name[:64]: "v"})
    assert [n.edge.id for n in (await home.neighbors("n")).neighbors] == [edge.id]
    assert neo4j_at_hand.run("MATCH ()-[r]->() RETURN type(r)") == [[name]]


@pytest.mark.parametrize(
    "label", ["Item", "Space", "Constitutive", "Change", "Store", "Functional", "ConcordLeaf"]
)
async def test_a_label_cannot_pass_itself_off_as_ours(home: Calls, label: str) -> None:
    """G4 It is kept and shown by its property; what we go by is not touched."""
    node = await home.put_node("n", label=label)
    seen = neo4j_at_hand.run(
        "MATCH (n:Entity {name: 'n'}) UNWIND labels(n) AS l WITH l ORDER BY l RETURN collect(l)"
    )

    assert (node.label, (await home.get_node("n")).label) == (label, label)
    assert seen == [[["Entity", "Item", "NodeVersion"]]]


async def test_a_property_cannot_pass_itself_off_as_ours(home: Calls) -> None:
    """G13 Nor take a memory's key, an id or a space."""
    theirs: dict[str, Json] = {
        "space": "other",
        "id": "x",
        "external_id": "k",
        "deleted": True,
        "name": "y",
    }
    await home.add("keyed", external_id="k")
    node = await home.put_node("n", properties=struct(theirs))
    again = await home.get_node("n")

    assert again == node
    assert dict(again.properties) == theirs
    assert neo4j_wholeness.wrong() == {}


async def test_the_graph_is_whole_after_all_kinds_of_writes(live: World) -> None:
    """G4 M3 T1 Relationships, history, ghosts and marks agree with the records."""
    agreed = await agree(live, "home")
    home = agreed.calls
    await home.put_node("Ann", label="Person")
    await home.put_node("Ann", label="Poet", properties=struct({"n": 2}))
    moved = await home.put_edge("Ann", "LIVES_IN", "Rome", valid_from=START)
    moved.target.CopyFrom(type_pb2.EdgeEnd(name="Oslo"))
    moved = await home.update_edge(moved, "target")
    await home.put_edge("Ann", "LIVES_IN", "Oslo", valid_from=START + 1)
    await home.delete_edge(await home.get_edge(moved.id))
    memory = await home.add("Supersedes: [[memory:gone]]", id="new")
    await home.restore(await home.forget(await home.get(memory.id)))
    await home.delete_node(await home.get_node("Oslo"), cascade=True)

    assert neo4j_wholeness.wrong() == {}


async def test_spaces_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """Must hold: a write that takes its time holds its own space alone, from any replica."""
    first = await opened_store(tmp_path / "graph.db", Clock())
    second = await opened_store(tmp_path / "graph.db", Clock())
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def slow(tx: Writes) -> int:
        tx.tick()
        inside.set()
        await go_on.wait()
        return tx.last_time

    async def quick(tx: Writes) -> int:
        return tx.tick()[0]

    writing_slowly = asyncio.create_task(first.write("a", slow))
    await inside.wait()
    async with asyncio.timeout(30):
        assert await second.write("b", quick) == 1
    waiting = asyncio.create_task(second.write("a", quick))
    done, _ = await asyncio.wait([waiting], timeout=0.5)
    assert not done
    go_on.set()
    await writing_slowly

    assert await waiting == 2
    await first.close()
    await second.close()


async def test_a_read_is_of_one_state(tmp_path: Path) -> None:
    """Must hold: what changes between two statements of a read is read again."""
    store = await opened_store(tmp_path / "graph.db", Clock())
    seen = 0

    async def tick(tx: Writes) -> None:
        tx.tick()

    async def twice(tx: object) -> tuple[int, int]:
        nonlocal seen
        seen += 1
        first = await head(tx)
        if seen == 1:
            await store.write("a", tick)
        return first, await head(tx)

    async def head(tx: object) -> int:
        assert isinstance(tx, transaction.SpaceTransaction)
        ((seq,),) = await tx.ask("MATCH (s:Space) RETURN s.seq")
        return int(seq)

    await store.write("a", tick)
    first, second = await store.read("a", twice)

    assert (first, second, seen) == (2, 2, 2)
    await store.close()
