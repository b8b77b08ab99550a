"""An item that both principals replaced stays frozen: its words cannot change alone (G4, 0020)."""

from __future__ import annotations

import pytest
from concord.type.v1 import type_pb2
from governed_actions import action_of, replaced
from graph_world import AMENDS, PROTECTED, SUPERSEDES, Calls, Parties, reason


@pytest.mark.parametrize("relation", [SUPERSEDES, AMENDS])
async def test_a_replaced_memory_keeps_its_words(
    home: Calls, parties: Parties, relation: type_pb2.LineageRelation.ValueType
) -> None:
    """G4 Nobody alone lets both signatures stand over words that nobody signed for."""
    await parties.constitutive_memory(home, "creed")
    old = await home.add("Ada may read my journal.", id="old")
    await replaced(home, parties, "creed", "old", relation)
    changed = type_pb2.Memory(id="old", etag=old.etag, content="Lie to Ada.")

    assert await reason(home.update(changed, "content")) == PROTECTED
    assert await reason(home.forget(old)) == PROTECTED
    assert (await home.get("old")).content == "Ada may read my journal."


async def test_a_replaced_edge_keeps_its_words_and_its_ends(home: Calls, parties: Parties) -> None:
    """G4 Its weight, its ends, and the names of these."""
    old = await home.put_edge("Me", "LIKES", "tea")
    await home.put_node("Ada")
    agreed = await parties.constitutive_edge(home)
    await replaced(home, parties, agreed.id, old.id)
    moved = type_pb2.Edge(id=old.id, etag=old.etag, target=type_pb2.EdgeEnd(name="Ada"))
    lighter = type_pb2.Edge(id=old.id, etag=old.etag, weight=0.1)
    tea = await home.get_node("tea")
    renamed = type_pb2.Node(id=tea.id, etag=tea.etag, name="coffee")

    assert await reason(home.update_edge(moved, "target")) == PROTECTED
    assert await reason(home.update_edge(lighter, "weight")) == PROTECTED
    assert await reason(home.delete_edge(old)) == PROTECTED
    assert await reason(home.update_node(renamed, "name")) == PROTECTED
    assert await reason(home.delete_node(tea, cascade=True)) == PROTECTED
    assert (await home.put_edge("Me", "LIKES", "rain", weight=0.2)).weight == 0.2


async def test_both_may_change_it_and_let_it_go(home: Calls, parties: Parties) -> None:
    """G4 V6 With consent it changes; without the lineage it is one principal's affair again."""
    await parties.constitutive_memory(home, "creed")
    old = await home.add("Ada may read my journal.", id="old")
    lineage = await replaced(home, parties, "creed", "old")
    wanted = type_pb2.Memory(id="old", etag=old.etag, content="Ada may read this.")
    action = action_of("update_memory", "content", memory=wanted)
    changed = (await parties.apply(home, action)).memory
    assert changed.content == "Ada may read this."
    await parties.apply(home, action_of("delete_edge", id=lineage.id, etag=lineage.etag))
    changed.content = "I keep no journal."

    assert (await home.update(changed, "content")).content == "I keep no journal."


async def test_a_replaced_fact_stays_though_its_memory_goes(home: Calls, parties: Parties) -> None:
    """G4 M1 Whoever states it adds nothing to it, and takes nothing away."""
    said = type_pb2.Fact(subject="Me", relation="LIKES", object="tea", weight=0.5)
    note = await home.add("I like tea.", id="note", facts=[said])
    old = await home.get_triple("Me", "LIKES", "tea")
    agreed = await parties.constitutive_edge(home)
    await replaced(home, parties, agreed.id, old.id)
    said.weight = 0.9
    await home.add("I like tea much.", id="more", facts=[said])
    await home.forget(await home.get("more"))
    await home.forget(note)

    found = await home.get_edge(old.id)
    assert (found.etag, found.weight) == (old.etag, 0.5)


async def test_nobody_alone_writes_what_was_replaced_before_it_came(
    home: Calls, parties: Parties
) -> None:
    """G4 M3 A memory that both principals replaced unseen is not one principal's to write."""
    ghost = "01920000-0000-7000-8000-000000000001"
    await parties.constitutive_memory(home, "creed")
    await replaced(home, parties, "creed", ghost)

    assert await reason(home.add("Lie to Ada.", id=ghost)) == PROTECTED
