"""Two memories or nodes that say the same become one, and two again (V1, V8)."""

from concord.graph.v1 import governed_pb2, graph_pb2
from concord.type.v1 import type_pb2
from governed_actions import Action, action_of, applied, reverting
from graph_world import (
    AMENDS,
    CONSTITUTIVE,
    CONTRADICTS,
    PROTECTED,
    START,
    SUPERSEDES,
    Calls,
    Parties,
    World,
    by_id,
    fact,
    reason,
    refused,
    stamp,
)
from transfers import export_of, import_into

INVALID = "ERROR_REASON_FIELD_INVALID"
CYCLE = "ERROR_REASON_LINEAGE_CYCLE"
STATE = "ERROR_REASON_ITEM_STATE"
STALE = "ERROR_REASON_GRANT_INVALID"

Item = type_pb2.Memory | type_pb2.Node


def said_by(speaker: str) -> list[type_pb2.Source]:
    """Return one source."""
    return [type_pb2.Source(speaker=speaker)]


def merging(kept: Item, merged: Item) -> Action:
    """Return the action that makes one item part of another."""
    return action_of(
        "merge_items",
        kept_id=kept.id,
        kept_etag=kept.etag,
        merged_id=merged.id,
        merged_etag=merged.etag,
    )


async def ends(home: Calls, edge_id: str) -> tuple[str, str]:
    """Return the ids of an edge's ends."""
    edge = await home.get_edge(edge_id)
    return edge.source.id, edge.target.id


async def test_two_memories_become_one_and_two_again(home: Calls) -> None:
    """V1 V8 G15 The older keeps its id, has the sources, tags and facts of both, and supersedes the
    other; links and lineage lead to it; the undo leaves the space as it was."""
    kept = await home.add(
        "Ada lives in Rome.",
        sources=said_by("ada"),
        tags=["city"],
        facts=[fact("Ada", "LIVES_IN", "Rome")],
    )
    same = await home.add(
        "Ada lives in Rome.",
        sources=said_by("ben"),
        tags=["home"],
        facts=[fact("Ada", "LIVES_IN", "Rome"), fact("Ada", "KNOWS", "Ben")],
    )
    newer, older = await home.add("Ada moved to Bonn."), await home.add("Ada lives in Italy.")
    replaced = await home.relate(SUPERSEDES, newer.id, same.id)
    amends = await home.relate(AMENDS, same.id, older.id)
    link = await home.add(f"See [[memory:{same.id}]].")
    before = await home.export()

    done = await applied(home, merging(kept, same))

    one, other = await home.get(kept.id), await home.get(same.id)
    assert [source.speaker for source in one.sources] == ["ada", "ben"]
    assert list(one.tags) == ["city", "home"]
    assert [each.relation for each in one.facts] == ["LIVES_IN", "KNOWS"]
    assert set((await home.get_triple("Ada", "KNOWS", "Ben")).sources) == {kept.id, same.id}
    assert other.supersession.is_superseded
    assert list(other.supersession.head_ids) == [newer.id]
    assert await ends(home, replaced.edge.id) == (newer.id, kept.id)
    assert await ends(home, amends.edge.id) == (kept.id, older.id)
    related = await home.neighbors(by_id(link.id))
    assert [each.edge.target.id for each in related.neighbors] == [kept.id]
    await applied(home, reverting(done))
    assert await home.export() == before


async def test_the_words_of_both_are_the_kept_one_afterwards(home: Calls) -> None:
    """V1 M5 Whoever said it: nothing is added, until the merge is undone."""
    kept = await home.add("Ada lives in Rome.")
    same = await home.add("In Rome lives Ada.", sources=said_by("ben"))
    done = await applied(home, merging(kept, same))

    assert (await home.add("Ada lives in Rome.")).id == kept.id
    assert (await home.add("In Rome lives Ada.", sources=said_by("ben"))).id == kept.id
    assert (await home.add("Ada lives in Rome.", sources=said_by("eve"))).id != kept.id
    await applied(home, reverting(done))
    assert (await home.add("In Rome lives Ada.", sources=said_by("ben"))).id == same.id
    assert (await home.add("Ada lives in Rome.")).id == kept.id


async def test_a_contradiction_of_the_merged_one_is_one_of_the_kept(home: Calls) -> None:
    """V1 D5 The conflict follows the edge that somebody asserted."""
    kept, same = await home.add("It is hot."), await home.add("It's hot.")
    other = await home.add("It is cold.")
    await home.relate(CONTRADICTS, same.id, other.id)
    before = await home.export()

    done = await applied(home, merging(kept, same))

    assert (await home.get(kept.id)).conflict_ids
    await applied(home, reverting(done))
    assert await home.export() == before


async def test_two_nodes_become_one_and_two_again(live: World, home: Calls) -> None:
    """V1 V8 G15 The edges move, also where both had the same one; the other node is gone."""
    await home.put_node("Ada Lovelace")
    memory = await home.add(
        "Ada wrote it in 1843.",
        facts=[fact("Ada", "WROTE", "Notes")],
        valid_from=stamp(START),
    )
    twin = await home.put_edge("Ada Lovelace", "WROTE", "Notes", valid_from=START)
    likes = await home.put_edge("Ada", "LIKES", "Tea")
    await home.put_edge("Ada", "SAME_AS", "Ada Lovelace")
    kept, same = await home.get_node("Ada Lovelace"), await home.get_node("Ada")
    before = await home.export()

    done = await applied(home, merging(kept, same))

    assert await ends(home, likes.id) == (kept.id, likes.target.id)
    assert list((await home.get_edge(twin.id)).sources) == [memory.id]
    gone = graph_pb2.GetNodeRequest(name="Ada")
    assert (await home.graph.GetNode(gone)).status == type_pb2.LOOKUP_STATUS_NOT_FOUND
    lines, copy = await export_of(home), live.calls("copy")
    await import_into(copy, lines)
    assert (await export_of(copy))[1:] == lines[1:]
    await applied(home, reverting(done))
    assert await home.export() == before
    assert not (await home.get_edge(twin.id)).sources


async def test_what_both_agreed_to_merges_with_both_consents(home: Calls, parties: Parties) -> None:
    """V1 G4 The kept memory becomes constitutive; alone nobody merges."""
    kept = await home.add("I keep my word.")
    creed = await parties.constitutive_memory(home)
    action = merging(kept, creed)

    alone = await refused(applied(home, action))
    await parties.apply(home, action)

    assert alone.reason == PROTECTED
    assert (await home.get(kept.id)).edge_type == CONSTITUTIVE
    assert (await home.get(creed.id)).supersession.is_superseded


async def test_what_does_not_say_the_same_is_not_merged(home: Calls) -> None:
    """V1 Never across kinds, the younger into the older, and nothing that has lineage already."""
    kept = await home.add("Ada lives in Rome.")
    plan = await home.add("Ada will live in Rome.", kind=type_pb2.MEMORY_KIND_PLAN)
    node = await home.put_node("Ada")
    former = await home.add("Ada lives in Bonn.")
    await home.relate(SUPERSEDES, former.id, kept.id)
    many = await home.add("Much.", tags=[f"tag {number}" for number in range(50)])
    tagged = await home.add("Much!", tags=["one more"])

    cases: list[tuple[tuple[Item, Item], str]] = [
        ((kept, plan), INVALID),
        ((kept, node), INVALID),
        ((plan, kept), INVALID),
        ((kept, kept), INVALID),
        ((kept, former), CYCLE),
        ((many, tagged), STATE),
    ]
    for pair, why in cases:
        assert await reason(applied(home, merging(*pair))) == why


async def test_a_merge_is_of_the_versions_that_were_proposed(home: Calls) -> None:
    """V1 V6 Also of the one that it does not write."""
    kept, same = await home.add("Ada lives in Rome."), await home.add("In Rome lives Ada.")
    action = merging(kept, same)
    seen = await home.governed.PreviewChange(governed_pb2.PreviewChangeRequest(action=action))

    assert {kept.id: kept.etag, same.id: same.etag}.items() <= {
        each.id: each.etag for each in seen.items
    }.items()
    await home.update(type_pb2.Memory(id=same.id, etag=same.etag, content="Gone."), "content")
    assert await reason(applied(home, action)) == "ERROR_REASON_ETAG_MISMATCH"


async def test_void_lineage_does_not_take_effect_by_a_merge(live: World, home: Calls) -> None:
    """V1 M3 What waited for another principal's memory hides neither that one nor the kept one,
    which is older than the lineage; nor after the merge is undone."""
    bob = live.calls(principal="bob")
    kept = await bob.add("Ada lives in Rome.", id="kept")
    await home.add("Supersedes: [[memory:same]]", id="trap")
    same = await bob.add("Ada lives in Rome!", id="same")

    done = await applied(home, merging(kept, same))
    assert not (await bob.get("kept")).supersession.is_superseded
    assert [each.id for each in done.gave_way.items] == ["same"]

    await applied(home, reverting(done))
    for memory_id in ("kept", "same"):
        assert not (await bob.get(memory_id)).supersession.is_superseded
