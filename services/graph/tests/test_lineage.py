"""Lineage: stated or linked, never circular, derived at every read."""

import pytest
from concord.graph.v1 import feed_pb2
from concord.type.v1 import type_pb2
from graph_world import (
    AMENDS,
    CONTRADICTS,
    DAY,
    DEPRECATES,
    RESOLUTION,
    START,
    SUPERSEDES,
    Calls,
    Parties,
    reason,
    refused,
    stamp,
)


async def three(home: Calls) -> None:
    """Add the memories a, b and c."""
    for name in "abc":
        await home.add(name, id=name)


@pytest.mark.parametrize(
    ("relation", "replaces"),
    [(SUPERSEDES, True), (DEPRECATES, True), (AMENDS, False), (CONTRADICTS, False)],
)
async def test_what_each_relation_does(home: Calls, relation: int, replaces: bool) -> None:
    """T1 T2 Superseding and deprecating take over; amending and contradicting leave it current."""
    await three(home)
    reply = await home.relate(relation, "b", "a", "why")  # type: ignore[arg-type] # the contract's
    again = await home.relate(relation, "b", "a")  # type: ignore[arg-type]
    old, new = await home.get("a"), await home.get("b")

    assert (reply.created, again.created) == (True, False)
    assert again.edge.id == reply.edge.id
    assert reply.edge.properties["context"] == "why"
    assert old.supersession.is_superseded == replaces
    assert list(old.supersession.head_ids) == (["b"] if replaces else ["a"])
    assert new.supersession.predecessor_count == int(replaces)


async def test_contradiction_is_undirected(home: Calls) -> None:
    """T1 Said from either side, also in a content, it is one edge."""
    await three(home)
    first = await home.relate(CONTRADICTS, "b", "a")
    second = await home.relate(CONTRADICTS, "a", "b")
    await home.add("Contradicts: [[memory:a]]", id="z")
    third = await home.relate(CONTRADICTS, "a", "z")

    assert first.edge.id == second.edge.id
    assert (second.created, third.created) == (False, False)


async def test_amendments_are_listed_in_order_and_void_ones_not(
    home: Calls, parties: Parties
) -> None:
    """G4 T4 In the reply to a write, and for the index's reader, too; what was said of a ghost does
    not amend what both have agreed on."""
    await home.add("The gate opens at 9.", id="gate")
    await home.add("It opens at 8 in May. Amends: [[memory:gate]]", id="may")
    await home.add("It opens at 7 in June. Amends: [[memory:gate]], [[memory:core]]", id="june")
    await parties.constitutive_memory(home, "core")
    gate, core = [(await home.states((each, 0)))[0].memory for each in ("gate", "core")]
    written = await home.update(await home.get("gate"), "content")

    assert list(gate.supersession.amendment_ids) == ["may", "june"]
    assert list(written.supersession.amendment_ids) == ["may", "june"]
    assert list(core.supersession.amendment_ids) == []


@pytest.mark.parametrize(
    ("steps", "culprit"),
    [
        ([(SUPERSEDES, "a", "a")], "a"),
        ([(SUPERSEDES, "a", "b"), (SUPERSEDES, "b", "a")], "b"),
        ([(SUPERSEDES, "a", "b"), (DEPRECATES, "b", "c"), (AMENDS, "c", "a")], "c"),
    ],
)
async def test_cycles_are_refused(
    home: Calls, steps: list[tuple[int, str, str]], culprit: str
) -> None:
    """T1 Over any length, and over the directed relations mixed."""
    await three(home)
    for relation, newer, older in steps[:-1]:
        await home.relate(relation, newer, older)  # type: ignore[arg-type] # the contract's
    relation, newer, older = steps[-1]
    failure = await refused(home.relate(relation, newer, older))  # type: ignore[arg-type]

    assert (failure.reason, failure.metadata) == (
        "ERROR_REASON_LINEAGE_CYCLE",
        {"item_id": culprit},
    )


async def test_cycles_by_links_are_refused_whole(home: Calls) -> None:
    """T1 M3 The content is not changed either."""
    await home.add("a", id="a")
    await home.add("Supersedes: [[memory:a]]", id="b")
    a = await home.get("a")
    a.content = "Supersedes: [[memory:b]]"

    assert await reason(home.update(a, "content")) == "ERROR_REASON_LINEAGE_CYCLE"
    assert (await home.get("a")).content == "a"
    assert await reason(home.add("Amends: [[memory:me]]", id="me")) == "ERROR_REASON_LINEAGE_CYCLE"


async def test_an_earlier_value_never_amends_its_later_one(home: Calls) -> None:
    """T1 T2 Succession counts as lineage when cycles are looked for; saying it again does not.

    What an earlier value replaces never held, and succeeds nothing then.
    """
    await home.declare("IN")
    old = await home.put_edge("x", "IN", "y", valid_from=START - 3 * DAY)
    again = await home.put_edge("x", "IN", "y", valid_from=START - 2 * DAY)
    new = await home.put_edge("x", "IN", "w", valid_from=START - DAY)
    other = await home.put_edge("v", "IN", "z")
    await home.relate(SUPERSEDES, old.id, other.id)

    for older in (old.id, again.id):
        assert await reason(home.relate(AMENDS, older, new.id)) == "ERROR_REASON_LINEAGE_CYCLE"
    await home.relate(SUPERSEDES, old.id, again.id)
    assert await reason(home.relate(SUPERSEDES, other.id, new.id)) == "ERROR_REASON_LINEAGE_CYCLE"
    await home.relate(SUPERSEDES, old.id, new.id)
    for newer, older in ((new.id, old.id), (other.id, new.id)):
        assert await reason(home.relate(SUPERSEDES, newer, older)) == "ERROR_REASON_LINEAGE_CYCLE"


async def test_ends_of_lineage(home: Calls) -> None:
    """T1 Two memories, or two edges that state facts; the older memory may be a ghost."""
    await three(home)
    await home.forget(await home.add("gone", id="gone"))
    edge = await home.put_edge("x", "R", "y")
    made = (await home.relate(SUPERSEDES, "c", "b")).edge

    for newer, older, why in (
        ("a", "nowhere else", "FIELD_INVALID"),
        ("nowhere", "a", "ITEM_NOT_FOUND"),
        ("gone", "a", "ITEM_NOT_FOUND"),
        ("a", edge.id, "FIELD_INVALID"),
        (edge.id, "a", "FIELD_INVALID"),
        ("a", edge.source.id, "FIELD_INVALID"),
        (edge.source.id, "a", "ITEM_NOT_FOUND"),
        (edge.id, made.id, "FIELD_INVALID"),
        (edge.id, "nowhere", "ITEM_NOT_FOUND"),
    ):
        assert await reason(home.relate(SUPERSEDES, newer, older)) == f"ERROR_REASON_{why}"
    assert (await home.relate(SUPERSEDES, "a", "not-yet")).created


async def test_a_resolution_between_edges(home: Calls) -> None:
    """T1 D6 A record of type RESOLUTION; its edges stay, the older one gives way."""
    old, new = await home.put_edge("x", "IS", "y"), await home.put_edge("x", "IS", "z")
    record = (await home.relate(DEPRECATES, new.id, old.id)).edge

    assert (record.edge_type, record.relation) == (RESOLUTION, "DEPRECATES")
    chain = await home.lineage(old.id)
    assert [item.statement for item in chain.items] == ["x IS y", "x IS z"]
    assert list((await home.get_edge(old.id)).supersession.head_ids) == [new.id]
    assert (await home.get_edge(new.id)).supersession.predecessor_count == 1
    record.weight = 0.5
    annotated = await home.update_edge(record, "weight")
    record.edge_type = type_pb2.EDGE_TYPE_DESCRIPTIVE
    record.etag = annotated.etag
    assert await reason(home.update_edge(record, "edge_type")) == "ERROR_REASON_UPDATE_MASK_INVALID"
    await home.delete_edge(annotated)
    assert not (await home.get_edge(old.id)).supersession.is_superseded


async def test_those_whose_standing_changes_are_told(home: Calls) -> None:
    """T2 One event for each other item, in the same transaction, and only when it changes."""
    await home.add("a", id="a")
    b = await home.add("Supersedes: [[memory:a]]", id="b")
    changed = feed_pb2.CHANGE_TYPE_STANDING_CHANGED

    async def told(after: int) -> list[str]:
        return [c.item_id for c in await home.changes(after=after) if c.type == changed]

    seq = (await home.changes())[-1].seq
    b.tags.append("x")
    b = await home.update(b, "tags")
    assert await told(seq) == []
    b.valid_from.CopyFrom(stamp(START + DAY))
    b = await home.update(b, "valid_from")
    assert await told(seq) == ["a"]
    seq = (await home.changes())[-1].seq
    await home.forget(b)
    assert await told(seq) == ["a"]


async def test_the_whole_chain_both_ways_and_all_branches(home: Calls) -> None:
    """T5 From any item: by effective time, heads marked, forgotten and undeclared ones too."""
    await home.add("old", id="old", valid_from=stamp(START - 9 * DAY))
    await home.add("Supersedes: [[memory:old]] and [[memory:ghost]]", id="left")
    await home.add("Amends: [[memory:old]]", id="right")
    gone = await home.add("Deprecates: [[memory:right]]", id="gone")
    await home.forget(gone)
    chains = [await home.lineage(item) for item in ("old", "left", "right", "gone", "ghost")]
    items = {item.id: item for item in chains[0].items}

    assert all(chain == chains[0] for chain in chains)
    assert list(items) == ["ghost", "old", "left", "right", "gone"]
    assert [i for i, item in items.items() if item.is_head] == ["left", "right"]
    assert [i for i, item in items.items() if item.is_deleted] == ["gone"]
    assert [i for i, item in items.items() if item.is_undeclared] == ["ghost"]
    assert items["old"].statement == "old"
    assert len(chains[0].edges) == 4
    assert not chains[0].truncated
