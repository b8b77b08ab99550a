"""What an undo must not do to what was made since: in either store, rehearsed and applied (V8)."""

from __future__ import annotations

import pytest
from concord.graph.v1 import governed_pb2
from concord.type.v1 import type_pb2
from governed_actions import Action, action_of, applied
from graph_world import (
    CONSTITUTIVE,
    DAY,
    PROTECTED,
    START,
    Calls,
    Parties,
    edge_of,
    reason,
    refused,
)

CONFLICT = "ERROR_REASON_UNDO_CONFLICT"
EXISTS = "ERROR_REASON_ITEM_EXISTS"
CREED = edge_of("Me", "VALUES", "Honesty", edge_type=CONSTITUTIVE, valid_from=START + 10 * DAY)


def back(*items: tuple[str, int, int]) -> Action:
    """Return the action that undoes (id, revision that comes back, revision that is there)."""
    wanted = [
        {"id": item_id, "revision": revision, "expected_revision": expected}
        for item_id, revision, expected in items
    ]
    return action_of("revert_items", items=wanted)


async def conflict(calls: Calls, *items: tuple[type_pb2.Node | type_pb2.Edge, int, int]) -> str:
    """Undo (item as it was seen, revision that comes back, revision that is there) in vain.

    Return what stands in the way: a rehearsal and the change itself name the same.
    """
    action = back(*((item.id, revision, expected) for item, revision, expected in items))
    before = await calls.export()
    seen = await refused(
        calls.governed.PreviewChange(governed_pb2.PreviewChangeRequest(action=action))
    )
    request = governed_pb2.ApplyGovernedChangeRequest(request_id=calls.request_id(), action=action)
    done = await refused(calls.governed.ApplyGovernedChange(request))

    assert (seen.reason, done.reason) == (CONFLICT, CONFLICT)
    assert seen.metadata == done.metadata
    assert await calls.export() == before
    return done.metadata["item_ids"]


async def test_a_node_is_not_taken_from_under_an_edge(home: Calls) -> None:
    """V8 The edge that was made since is named."""
    node = await home.put_node("Honesty")
    edge = await home.put_edge("Ada", "VALUES", "Honesty")

    assert await conflict(home, (node, 0, 1)) == edge.id


@pytest.mark.parametrize("rename", [False, True])
async def test_an_edge_comes_back_to_no_other_end(home: Calls, *, rename: bool) -> None:
    """V8 Gone or under another name: the end is named."""
    edge = await home.put_edge("Ada", "VALUES", "Honesty")
    await home.delete_edge(edge)
    node = await home.get_node("Honesty")
    if rename:
        node.name = "Profit"
        await home.update_node(node, "name")
    else:
        await home.delete_node(node)

    assert await conflict(home, (edge, 1, 2)) == node.id


async def test_an_end_that_says_more_is_the_same_end(home: Calls) -> None:
    """V8 A plain edge takes its end's name alone: what else was said of that is in no one's way."""
    edge = await home.put_edge("Ada", "VALUES", "Honesty")
    await home.delete_edge(edge)
    await home.put_node("Honesty", label="Virtue")
    request = governed_pb2.PreviewChangeRequest(action=back((edge.id, 1, 2)))

    assert [item.id for item in (await home.governed.PreviewChange(request)).items] == [edge.id]


async def test_nothing_comes_back_to_a_taken_place(home: Calls) -> None:
    """V8 A name, the place of a triple, an importer's key: who has it now is named."""
    node = await home.put_node("Honesty")
    await home.delete_node(node)
    namesake = await home.put_node("Honesty")
    edge = await home.put_edge("Ada", "VALUES", "Grace", valid_from=START - DAY)
    await home.delete_edge(edge)
    same = await home.put_edge("Ada", "VALUES", "Grace", valid_from=START - DAY)

    assert await conflict(home, (node, 1, 2)) == namesake.id
    assert await conflict(home, (edge, 1, 2)) == same.id


async def test_nothing_plain_comes_beside_what_is_constitutive(
    home: Calls, parties: Parties
) -> None:
    """G4 Whenever either begins: not by an upsert, not by an undo, not under a later promotion."""
    later = await home.put_edge("Me", "VALUES", "Honesty", valid_from=START + 100 * DAY)
    action = action_of("upsert_edge", edge=CREED)
    assert await reason(parties.seen(home, action)) == EXISTS
    await home.delete_edge(later)
    agreed = (await parties.apply(home, action)).edge

    for days in (0, 5, 100):
        twin = edge_of("Me", "VALUES", "Honesty", valid_from=START + days * DAY)
        failure = await refused(home.upsert(twin))
        assert (failure.reason, failure.metadata) == (PROTECTED, {"item_id": agreed.id})
    assert await conflict(home, (later, 1, 2)) == agreed.id


async def test_a_fact_supports_what_both_agreed_to_before_it_begins(
    home: Calls, parties: Parties
) -> None:
    """G4 M1 A memory may state what is constitutive from later on, and makes no other edge."""
    agreed = (await parties.apply(home, action_of("upsert_edge", edge=CREED))).edge
    said = type_pb2.Fact(subject="Me", relation="VALUES", object="Honesty")
    await home.add("I am honest.", id="note", facts=[said])

    assert list((await home.get_edge(agreed.id)).sources) == ["note"]


async def test_two_changes_of_one_item_are_undone_one_after_the_other(home: Calls) -> None:
    """V8 What stands is judged, not its number: what was changed back is in nobody's way (0020)."""
    memory = await home.add("one", id="m")
    edge = await home.put_edge("Ada", "VALUES", "Grace", weight=0.1)
    for words, weight in (("two", 0.2), ("three", 0.3)):
        memory.content, edge.weight = words, weight
        memory = await home.update(memory, "content")
        edge = await home.update_edge(edge, "weight")

    async def undo(expected: int) -> None:
        both = [(each, expected - 1, expected) for each in (memory.id, edge.id)]
        await applied(home, back(*both))

    assert await conflict(home, (edge, 1, 2)) == edge.id
    await undo(3)
    await undo(2)

    assert (await home.get("m")).content == "one"
    assert (await home.get_edge(edge.id)).weight == 0.1
    assert await conflict(home, (edge, 2, 3)) == edge.id


async def test_an_end_that_changed_between_two_changes_is_in_the_way_of_the_first(
    home: Calls,
) -> None:
    """V8 The first change is judged by the ground that it left, though a later one was undone."""
    edge = await home.put_edge("Ada", "VALUES", "Grace")
    back = await home.put_edge("Ada", "VALUES", "Rest")
    await home.delete_edge(edge)
    node = await home.get_node("Grace")
    node.name = "Profit"
    await home.update_node(node, "name")
    await home.delete_edge(back)

    assert await conflict(home, (edge, 1, 2), (back, 1, 2)) == node.id
