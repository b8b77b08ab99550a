"""The statement that writes to Neo4j keeps what the use cases promise, once more (G4)."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import neo4j_wholeness
import pytest
import pytest_asyncio
import raw_store
from agreed_space import agree
from claim_world import let_anybody
from concord.type.v1 import type_pb2
from governed_actions import action_of, with_constitutive
from graph_world import (
    AMENDS,
    DEPRECATES,
    PROTECTED,
    SUPERSEDES,
    Calls,
    World,
    refused,
    world,
)


@pytest_asyncio.fixture
async def path(tmp_path: Path) -> Path:
    """A store with constitutive items: an edge between nodes, a memory, governed lineage."""
    place = tmp_path / "graph.db"
    async with world(place) as live:
        await with_constitutive(live)
        home = live.calls()
        await home.add("other", id="other")
        await home.put_edge("Tea", "SOOTHES", "Me")
    return place


@pytest_asyncio.fixture
async def unruled(path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """A graph over that store whose use cases protect nothing."""
    let_anybody(monkeypatch)
    async with world(path) as live:
        yield live


async def _edge_deleted(home: Calls) -> None:
    await home.delete_edge(await home.get_triple("Me", "VALUES", "Honesty"))


async def _edge_weighed(home: Calls) -> None:
    await home.put_edge("Me", "VALUES", "Honesty", weight=0.1)


async def _edge_made(home: Calls) -> None:
    await home.put_edge("Me", "VALUES", "Power", edge_type=type_pb2.EDGE_TYPE_CONSTITUTIVE)


async def _end_renamed(home: Calls) -> None:
    node = await home.get_node("Honesty")
    node.name = "Deceit"
    await home.update_node(node, "name")


async def _end_deleted(home: Calls) -> None:
    await home.delete_node(await home.get_node("Honesty"), cascade=True)


async def _memory_rewritten(home: Calls) -> None:
    memory = await home.get("core")
    memory.content = "changed"
    await home.update(memory, "content")


async def _memory_made(home: Calls) -> None:
    await home.add("usurper", id="usurper", edge_type=type_pb2.EDGE_TYPE_CONSTITUTIVE)


async def _newer_side_forgotten(home: Calls) -> None:
    await home.forget(await home.get("note"))


ATTEMPTS: dict[str, Callable[[Calls], Awaitable[object]]] = {
    "delete the edge": _edge_deleted,
    "weigh the edge": _edge_weighed,
    "make an edge": _edge_made,
    "rename its end": _end_renamed,
    "delete its end": _end_deleted,
    "rewrite the memory": _memory_rewritten,
    "forget the memory": lambda home: _forgotten(home, "core"),
    "make a memory": _memory_made,
    "forget the newer side of consented lineage": _newer_side_forgotten,
    "supersede the memory": lambda home: home.relate(SUPERSEDES, "other", "core"),
    "amend what consented lineage rests on": lambda home: home.relate(AMENDS, "other", "note"),
    "deprecate by a link": lambda home: home.add("Deprecates: [[memory:core]]"),
    "put another under the memory": lambda home: home.relate(DEPRECATES, "core", "other"),
}


async def _forgotten(home: Calls, memory_id: str) -> None:
    await home.forget(await home.get(memory_id))


@pytest.mark.parametrize("attempt", ATTEMPTS)
async def test_it_holds_when_the_first_line_is_off(unruled: World, attempt: str) -> None:
    """G4 G5 Each attempt is refused as such, put on record, and leaves nothing behind."""
    home = unruled.calls()
    before, records = await home.export(), len(await home.changes())
    failure = await refused(ATTEMPTS[attempt](home))

    assert failure.reason == PROTECTED
    assert await home.export() == before
    assert len(await home.changes()) == records + 1


@pytest.mark.parametrize("attempt", ATTEMPTS)
async def test_without_it_the_same_attempts_pass(path: Path, unruled: World, attempt: str) -> None:
    """G4 It is this guard, and no other, that refuses them."""
    home = unruled.calls()
    before = await home.export()
    with raw_store.unprotected(path):
        await ATTEMPTS[attempt](home)

    assert await home.export() != before


@pytest.mark.parametrize("guarded", [True, False])
async def test_one_refused_row_undoes_a_whole_batch(
    path: Path, unruled: World, guarded: bool
) -> None:
    """G4 M6 All or nothing, also behind the second line."""
    home = unruled.calls()
    batch = [
        type_pb2.Memory(id="fine", content="fine"),
        type_pb2.Memory(id="bad", content="Supersedes: [[memory:core]]"),
    ]
    undone: AbstractContextManager[None] = nullcontext() if guarded else raw_store.unprotected(path)
    with undone:
        if guarded:
            assert (await refused(home.batch(batch))).reason == PROTECTED
        else:
            await home.batch(batch)

    assert ("fine" in await home.listed()) is not guarded


@pytest.mark.parametrize("guarded", [True, False])
async def test_no_grant_changes_a_principal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """V2 V5 Both principals' grant for another key in the edge that stands for the human."""
    place = tmp_path / "principals.db"
    monkeypatch.setattr("concord_graph.domain.protection.reserved", lambda *_: None)
    async with world(place) as live:
        home, parties = live.calls(), live.parties()
        await parties.enrol(home)
        around = [n.edge for n in (await home.neighbors("concord:space")).neighbors]
        (edge,) = (e for e in around if e.properties.fields["slot"].string_value == "HUMAN")
        edge.properties.update({"key": "A" * 43})
        action = action_of("update_edge", "properties", edge=edge)

        if guarded:
            failure = await refused(parties.apply(home, action, {edge.id: edge.etag}))
            assert failure.reason == "ERROR_REASON_SAFEGUARD_VIOLATION"
        else:
            with raw_store.unprotected(place):
                await parties.apply(home, action, {edge.id: edge.etag})

        taken = (await home.get_edge(edge.id)).properties["key"] == "A" * 43
        assert taken is not guarded


async def test_marks_follow_consent(tmp_path: Path) -> None:
    """G4 What the statement goes by equals what follows from the edges, as consent comes."""
    async with world(tmp_path / "marks.db") as live:
        agreed = await agree(live, "home")
        assert neo4j_wholeness.wrong_marks() == []
        assert neo4j_wholeness.held()
        for edge_id in agreed.fixed:
            edge = await agreed.calls.get_edge(edge_id)
            action = action_of("delete_edge", id=edge.id, etag=edge.etag)
            await agreed.parties.apply(agreed.calls, action)

            assert neo4j_wholeness.wrong_marks() == []
