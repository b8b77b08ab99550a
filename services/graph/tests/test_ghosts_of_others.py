"""Lineage at an id that was only named, under which another principal then made a memory (M3)."""

from __future__ import annotations

import pytest
from concord.type.v1 import type_pb2
from graph_world import DEPRECATES, SUPERSEDES, Calls, World, reason


@pytest.fixture
def bob(live: World) -> Calls:
    """The calls of another principal than home's."""
    return live.calls(principal="bob")


async def hides(calls: Calls, memory_id: str = "later") -> bool:
    """Whether anything supersedes or amends the memory, or leaves it out of a list."""
    found = (await calls.get(memory_id)).supersession
    hidden = found.is_superseded or bool(found.amendment_ids)
    assert found.is_superseded == (memory_id not in await calls.listed())
    return hidden


async def test_lineage_at_a_ghost_hides_nothing_of_another_principal(
    home: Calls, bob: Calls
) -> None:
    """M3 T1 Whoever guesses an id that somebody will use gets no hold on what they write there,
    neither by a link nor by stated lineage."""
    await home.add("Supersedes: [[memory:later]]", id="trap")
    await home.add("Amends: [[memory:later]]", id="amends")
    await home.add("Nothing by itself.", id="states")
    await home.relate(DEPRECATES, "states", "later")
    reply = await bob.add_memory(type_pb2.Memory(id="later", content="Bob's own."))

    assert not reply.memory.supersession.is_superseded
    assert not reply.HasField("gave_way")
    assert not await hides(bob)
    assert (await bob.get("trap")).supersession.predecessor_count == 0
    assert (await bob.get("later")).supersession.head_ids == ["later"]
    heads = [item.id for item in (await bob.lineage("later")).items if item.is_head]
    assert heads == ["trap", "amends", "states", "later"]


async def test_no_change_of_either_end_makes_it_count(home: Calls, bob: Calls) -> None:
    """M3 T2 Who made both ends first is what counts, whoever changes, forgets or restores them."""
    trap = await home.add("Supersedes: [[memory:later]]", id="trap")
    later = await bob.add("Bob's own.", id="later")
    for calls, memory in ((home, later), (bob, trap)):
        memory.tags.append("t")
        await calls.update(memory, "tags")
    for memory_id in ("later", "trap"):
        await bob.restore(await home.forget(await home.get(memory_id)))
    trap = await home.get("trap")
    trap.content = f"{trap.content}\n\nAnother line."
    await home.update(trap, "content")

    assert not await hides(bob)


async def test_the_memorys_own_principal_gets_no_void_lineage(home: Calls, bob: Calls) -> None:
    """M3 Of one principal's link and memory nothing that another does makes the lineage void."""
    await bob.add("Supersedes: [[memory:later]]", id="new")
    later = await bob.add("later", id="later")
    edge = (await home.lineage("new")).edges[0]
    edge.properties.update({"why": "so"})
    await home.update_edge(edge, "properties")
    later.tags.append("t")
    await home.update(later, "tags")

    assert await hides(bob)


async def test_written_anew_it_counts(home: Calls, bob: Calls) -> None:
    """M3 T1 Who knows the memory may replace it: by AddLineage, or by writing the line anew."""
    await home.add("Supersedes: [[memory:later]]", id="one")
    two = await home.add("Supersedes: [[memory:other]]", id="two")
    for memory_id in ("later", "other"):
        await bob.add(memory_id, id=memory_id)
    stated = await home.relate(SUPERSEDES, "one", "later")
    two.content = "Supersedes: [[memory:other]] indeed."
    await home.update(two, "content")

    assert stated.created
    assert [item.id for item in stated.gave_way.items] == ["later"]
    assert await hides(bob)
    assert await hides(bob, "other")


async def test_a_trap_does_not_keep_its_victim_from_answering(home: Calls, bob: Calls) -> None:
    """M3 T1 Void lineage closes no circle: what it names may supersede what named it."""
    await home.add("Supersedes: [[memory:later]]", id="trap")
    await bob.add("Supersedes: [[memory:trap]]", id="later")

    assert (await bob.get("trap")).supersession.head_ids == ["later"]
    assert not await hides(bob)
    assert await reason(home.relate(SUPERSEDES, "trap", "later")) == "ERROR_REASON_LINEAGE_CYCLE"
