"""What consent rests on stays in sight: nobody alone puts anything in its place."""

import pytest
import pytest_asyncio
from concord.graph.v1 import feed_pb2, graph_pb2
from concord.type.v1 import type_pb2
from governed_actions import action_of, replaced
from graph_world import (
    AMENDS,
    CONSTITUTIVE,
    DAY,
    DEPRECATES,
    PROTECTED,
    START,
    SUPERSEDES,
    Calls,
    Parties,
    by_id,
    edge_of,
    named,
    reason,
    refused,
    stamp,
)

HIDING = {"Supersedes": SUPERSEDES, "Deprecates": DEPRECATES, "Amends": AMENDS}
STANDING = feed_pb2.CHANGE_TYPE_STANDING_CHANGED
CYCLE = "ERROR_REASON_LINEAGE_CYCLE"
STATE = "ERROR_REASON_ITEM_STATE"


@pytest_asyncio.fixture
async def heir(home: Calls, parties: Parties) -> type_pb2.Memory:
    """The memory `heir`, which replaces, with consent, the constitutive one `core`; and a note."""
    await parties.constitutive_memory(home, "core")
    await home.add("A note", id="note")
    memory = await home.add("The heir", id="heir")
    await replaced(home, parties, "heir", "core")
    return memory


async def anchored(home: Calls, parties: Parties, memory_id: str) -> type_pb2.Edge:
    """Make a constitutive edge that ends at a memory."""
    edge = edge_of("Me", "KEEPS", by_id(memory_id), edge_type=CONSTITUTIVE)
    return (await parties.apply(home, action_of("upsert_edge", edge=edge))).edge


@pytest.mark.usefixtures("heir")
async def test_nobody_alone_replaces_what_took_over_by_consent(home: Calls) -> None:
    """G4 M3 What both put in the place of something constitutive stays there: neither stated
    lineage replaces it, nor a link in a content that is new or written anew."""
    note = await home.get("note")
    for word, relation in HIDING.items():
        failure = await refused(home.relate(relation, "note", "heir"))
        note.content = f"{word}: [[memory:heir]]"

        assert (failure.reason, failure.metadata) == (PROTECTED, {"item_id": "heir"})
        assert await reason(home.add(note.content, id="usurper")) == PROTECTED
        assert await reason(home.update(note, "content")) == PROTECTED
    assert list((await home.get("core")).supersession.head_ids) == ["heir"]


async def test_nobody_alone_replaces_the_memory_that_a_constitutive_edge_ends_at(
    home: Calls, parties: Parties
) -> None:
    """G4 The edge would still be there, but say something else."""
    await home.add("A note", id="note")
    await home.add("What I keep", id="kept")
    await anchored(home, parties, "kept")

    for relation in HIDING.values():
        assert await reason(home.relate(relation, "note", "kept")) == PROTECTED
    assert "kept" in await home.listed()


async def test_both_parties_may_replace_it_again(
    home: Calls, parties: Parties, heir: type_pb2.Memory
) -> None:
    """G4 V6 A consented chain goes on with consent, which names both sides as they are."""
    action = action_of("add_lineage", relation=SUPERSEDES, newer_id="note", older_id="heir")
    unseen = await refused(parties.apply(home, action, {"heir": heir.etag}))
    made = await replaced(home, parties, "note", "heir")

    assert unseen.reason == "ERROR_REASON_GRANT_INVALID"
    assert list((await home.get("core")).supersession.head_ids) == ["note"]
    assert await reason(home.delete_edge(made)) == PROTECTED
    assert await reason(home.forget(await home.get("note"))) == PROTECTED


async def test_void_lineage_counts_again_when_nothing_rests_on_its_end(
    home: Calls, parties: Parties
) -> None:
    """G4 T2 W9 As known before, between and after; whoever follows the feed is told each time, and
    the reply lists what gives way again."""
    await home.add("A note", id="note")
    await home.add("What I keep", id="kept")
    await home.relate(SUPERSEDES, "note", "kept")
    before = (await home.changes())[-1]
    edge = await anchored(home, parties, "kept")
    during = (await home.changes())[-1]
    done = await parties.apply(home, action_of("delete_edge", id=edge.id, etag=edge.etag))

    assert [(each.id, each.by_id) for each in done.gave_way.items] == [("kept", "note")]
    known = [await home.states(("kept", at)) for at in (before.seq, during.seq, 0)]
    assert [state.memory.supersession.is_superseded for (state,) in known] == [True, False, True]
    told = [c.item_id for c in await home.changes(before.seq) if c.type == STANDING]
    assert sorted(told) == ["kept", "kept", "note", "note"]


async def test_nobody_alone_says_the_same_triple_anew(home: Calls, parties: Parties) -> None:
    """G2 G4 Neither later nor earlier, by a new edge, a moved one or one dated otherwise."""
    early = await home.put_edge("Me", "VALUES", "Candour", valid_from=START - 9 * DAY)
    live_edge = await home.put_edge("Me", "VALUES", "Candour", valid_from=START - DAY)
    rock = await parties.constitutive_edge(home)
    await replaced(home, parties, live_edge.id, rock.id)
    other = await home.put_edge("Me", "VALUES", "Thrift")
    moved = type_pb2.Edge(id=other.id, etag=other.etag, target=named("Candour"))
    early = await home.get_edge(early.id)
    early.valid_from.CopyFrom(stamp(START - 8 * DAY))

    for when in (START, START + DAY, START - 10 * DAY):
        said = home.put_edge("Me", "VALUES", "Candour", weight=0.1, valid_from=when)
        assert await reason(said) == PROTECTED
    failure = await refused(home.update_edge(moved, "target"))
    assert (failure.reason, failure.metadata) == (PROTECTED, {"item_id": live_edge.id})
    assert await reason(home.update_edge(early, "valid_from")) == PROTECTED
    assert (await home.get_triple("Me", "VALUES", "Candour")).id == live_edge.id
    assert list((await home.get_edge(rock.id)).supersession.head_ids) == [live_edge.id]


async def test_no_edge_is_moved_to_where_it_succeeds_itself(home: Calls) -> None:
    """T1 T2 An amendment and the succession of one source make no circle, whichever came first."""
    await home.declare("LIVES_IN")
    older = await home.put_edge("Me", "LIVES_IN", "Bonn", valid_from=START - 9 * DAY)
    newer = await home.put_edge("Me", "LIVES_IN", "Kiel", valid_from=START - DAY)
    elsewhere = await home.put_edge("You", "LIVES_IN", "Ulm", valid_from=START - 20 * DAY)
    await home.relate(AMENDS, newer.id, older.id)
    await home.relate(AMENDS, elsewhere.id, newer.id)
    moved = type_pb2.Edge(id=elsewhere.id, etag=elsewhere.etag, source=named("Me"))
    newer.valid_from.CopyFrom(stamp(START - 10 * DAY))
    state = await home.export()

    assert await reason(home.update_edge(newer, "valid_from")) == CYCLE
    assert await reason(home.update_edge(moved, "source")) == CYCLE
    assert await home.export() == state
    newer.valid_from.CopyFrom(stamp(START - 2 * DAY))
    await home.update_edge(newer, "valid_from")


async def test_what_stands_beside_it_stays_free(home: Calls, parties: Parties) -> None:
    """G4 Other values, annotations of others, and saying the same again."""
    rock = await parties.constitutive_edge(home)
    heir = await home.put_edge("Me", "VALUES", "Candour", weight=0.8)
    await replaced(home, parties, heir.id, rock.id)
    again = await home.upsert(edge_of("Me", "VALUES", "Candour"))
    other = await home.put_edge("Me", "VALUES", "Thrift")
    await home.put_edge("Me", "VALUES", "Thrift", weight=0.3)
    await home.delete_edge(await home.get_edge(other.id))

    assert (again.created, again.edge.etag) == (False, (await home.get_edge(heir.id)).etag)


async def test_a_content_keeps_the_edges_that_it_says(home: Calls) -> None:
    """M3 M5 Neither deleted nor moved beside the text; said again, they are as they were."""
    await home.add("old", id="old")
    text = "Supersedes: [[memory:old]], see [[memory:other]]"
    new = await home.add(text, id="new")
    edges = {e.relation: e for e in [n.edge for n in (await _around(home, "new")).neighbors]}
    lineage = next(e for e in (await home.lineage("new")).edges)
    see = edges["RELATED_TO"]
    state = await home.export()

    assert await reason(home.delete_edge(lineage)) == STATE
    assert await reason(home.delete_edge(see)) == STATE
    see.target.Clear()
    see.target.id = "old"
    assert await reason(home.update_edge(see, "target")) == STATE
    await home.add(text, id="new")
    assert await home.export() == state
    new.content = "No longer, see [[memory:other]]"
    await home.update(new, "content")
    assert not (await home.get("old")).supersession.is_superseded
    assert [n.edge.id for n in (await _around(home, "new")).neighbors] == [see.id]


async def test_what_was_said_beside_a_content_goes_when_the_content_does(home: Calls) -> None:
    """M3 T1 An explicit statement of what a text says too stays until both are gone."""
    await home.add("old", id="old")
    new = await home.add("Supersedes: [[memory:old]]", id="new")
    made = (await home.relate(SUPERSEDES, "new", "old")).edge

    assert await reason(home.delete_edge(made)) == STATE
    new.content = "No longer"
    await home.update(new, "content")
    assert (await home.get("old")).supersession.is_superseded
    await home.delete_edge(made)
    assert not (await home.get("old")).supersession.is_superseded


async def _around(home: Calls, memory_id: str) -> graph_pb2.QueryNeighborsResponse:
    return await home.neighbors(by_id(memory_id), include_superseded=True)


@pytest.mark.parametrize("kind", [type_pb2.MEMORY_KIND_FACT, type_pb2.MEMORY_KIND_TURN])
@pytest.mark.parametrize("stated", [True, False])
async def test_void_lineage_is_in_no_erasures_way(
    home: Calls, parties: Parties, kind: type_pb2.MemoryKind.ValueType, stated: bool
) -> None:
    """M4 G4 What was said of an item before it came to define the agent counts for nothing, and
    goes with its memory; one that is no turn can also be reworded."""
    session = "s" if kind == type_pb2.MEMORY_KIND_TURN else ""
    for word, relation in HIDING.items():
        content = "A note." if stated else f"{word}: [[memory:core]]"
        for name in (word, f"{word}-too"):
            await home.add(f"{content} {name}", id=name, kind=kind, session_id=session)
            if stated:
                await home.relate(relation, name, "core", context="because")
    core = await parties.constitutive_memory(home, "core")

    for word in HIDING:
        other = await home.get(f"{word}-too")
        if kind == type_pb2.MEMORY_KIND_FACT:
            other.content = f"Nothing of the kind: {word}."
            other = await home.update(other, "content")
        await home.erase(await home.get(word))
        await home.erase(other)
    assert (await home.get("core")).etag == core.etag
    assert list((await home.get("core")).supersession.head_ids) == ["core"]
