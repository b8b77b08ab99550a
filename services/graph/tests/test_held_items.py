"""What consent rests on stays in sight: nobody alone puts anything in its place."""

from dataclasses import dataclass

import pytest
import pytest_asyncio
from concord.graph.v1 import feed_pb2, governed_pb2, graph_pb2
from concord.type.v1 import type_pb2
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
    World,
    by_id,
    edge_of,
    named,
    reason,
    refused,
    stamp,
)

HIDING = (SUPERSEDES, DEPRECATES, AMENDS)


@dataclass
class Agreed:
    """A space in which something descriptive stands, by consent, for what was constitutive."""

    calls: Calls
    parties: Parties

    async def consent(
        self, newer: type_pb2.Memory | type_pb2.Edge, older: type_pb2.Memory | type_pb2.Edge
    ) -> type_pb2.Edge:
        """Make lineage with both principals' consent."""
        action = governed_pb2.GovernedAction()
        action.add_lineage.request_id = self.calls.request_id()
        action.add_lineage.relation = SUPERSEDES
        action.add_lineage.newer_id = newer.id
        action.add_lineage.older_id = older.id
        return (await self.parties.apply(self.calls, action)).edge

    async def anchor(self, memory_id: str) -> type_pb2.Edge:
        """Make a constitutive edge that ends at a memory."""
        action = governed_pb2.GovernedAction()
        action.upsert_edge.request_id = self.calls.request_id()
        action.upsert_edge.edge.CopyFrom(
            edge_of("Me", "KEEPS", by_id(memory_id), edge_type=CONSTITUTIVE)
        )
        return (await self.parties.apply(self.calls, action)).edge


@pytest_asyncio.fixture
async def agreed(live: World, home: Calls) -> Agreed:
    """A space after its genesis, with a constitutive memory `core` and a note."""
    parties = live.parties()
    await parties.enrol(home)
    await parties.constitutive_memory(home, "core")
    await home.add("A note", id="note")
    return Agreed(home, parties)


@pytest.mark.parametrize("relation", HIDING)
async def test_nobody_alone_replaces_what_took_over_by_consent(
    agreed: Agreed, relation: type_pb2.LineageRelation.ValueType
) -> None:
    """G4 What both principals put in the place of something constitutive stays there."""
    calls = agreed.calls
    heir = await calls.add("The heir", id="heir")
    await agreed.consent(heir, await calls.get("core"))
    failure = await refused(calls.relate(relation, "note", "heir"))

    assert (failure.reason, failure.metadata) == (PROTECTED, {"item_id": "heir"})
    assert list((await calls.get("core")).supersession.head_ids) == ["heir"]


@pytest.mark.parametrize("word", ["Supersedes", "Deprecates", "Amends"])
async def test_no_link_replaces_what_took_over_by_consent(agreed: Agreed, word: str) -> None:
    """G4 M3 Nor does a link in content, new or rewritten."""
    calls = agreed.calls
    heir = await calls.add("The heir", id="heir")
    await agreed.consent(heir, await calls.get("core"))
    note = await calls.get("note")
    note.content = f"{word}: [[memory:heir]]"

    assert await reason(calls.add(note.content, id="usurper")) == PROTECTED
    assert await reason(calls.update(note, "content")) == PROTECTED
    assert not (await calls.get("heir")).supersession.is_superseded


async def test_nobody_alone_replaces_the_memory_that_a_constitutive_edge_ends_at(
    agreed: Agreed,
) -> None:
    """G4 The edge would still be there, but say something else."""
    calls = agreed.calls
    await calls.add("What I keep", id="kept")
    await agreed.anchor("kept")

    for relation in HIDING:
        assert await reason(calls.relate(relation, "note", "kept")) == PROTECTED
    assert "kept" in await calls.listed()


async def test_both_parties_may_replace_it_again(agreed: Agreed) -> None:
    """G4 V6 A consented chain goes on with consent, which names both sides as they are."""
    calls = agreed.calls
    heir = await calls.add("The heir", id="heir")
    await agreed.consent(heir, await calls.get("core"))
    action = governed_pb2.GovernedAction()
    action.add_lineage.request_id = "unseen"
    action.add_lineage.relation = SUPERSEDES
    action.add_lineage.newer_id, action.add_lineage.older_id = "note", "heir"
    unseen = await refused(agreed.parties.apply(calls, action, {"heir": heir.etag}))
    made = await agreed.consent(await calls.get("note"), await calls.get("heir"))

    assert unseen.reason == "ERROR_REASON_GRANT_INVALID"
    assert list((await calls.get("core")).supersession.head_ids) == ["note"]
    assert await reason(calls.delete_edge(made)) == PROTECTED
    assert await reason(calls.forget(await calls.get("note"))) == PROTECTED


async def test_what_was_said_before_the_consent_is_void(agreed: Agreed, live: World) -> None:
    """G4 Lineage of one principal's, older than the consent, neither hides nor waits to hide."""
    calls = agreed.calls
    later = await calls.add("Later", id="later", valid_from=stamp(START + 900 * DAY))
    heir = await calls.add("The heir", id="heir")
    await calls.relate(SUPERSEDES, "later", "heir")
    await calls.relate(SUPERSEDES, "note", "heir")
    assert (await calls.get("heir")).supersession.is_superseded
    await agreed.consent(heir, await calls.get("core"))
    later.ClearField("valid_from")
    await calls.update(later, "valid_from")
    live.clock.pass_(DAY)

    assert not (await calls.get("heir")).supersession.is_superseded
    assert list((await calls.get("core")).supersession.head_ids) == ["heir"]
    assert "heir" in await calls.listed()
    assert (await calls.get("note")).supersession.predecessor_count == 0


async def test_a_link_at_what_was_a_ghost_is_void_once_consent_rests_on_it(agreed: Agreed) -> None:
    """G4 M3 The heir's id may have been spoken of before it came."""
    calls = agreed.calls
    await calls.add("Supersedes: [[memory:heir]]", id="early")
    action = governed_pb2.GovernedAction()
    action.add_memory.request_id = "heir"
    action.add_memory.memory.CopyFrom(
        type_pb2.Memory(id="heir", content="The heir. Supersedes: [[memory:core]]")
    )
    core = await calls.get("core")
    await agreed.parties.apply(calls, action, {"core": core.etag})

    assert list((await calls.get("core")).supersession.head_ids) == ["heir"]
    assert not (await calls.get("heir")).supersession.is_superseded


async def test_void_lineage_counts_again_when_nothing_rests_on_its_end(agreed: Agreed) -> None:
    """G4 T2 W9 As known before, between and after; whoever follows the feed is told each time, and
    the reply lists what gives way again."""
    calls = agreed.calls
    await calls.add("What I keep", id="kept")
    await calls.relate(SUPERSEDES, "note", "kept")
    before = (await calls.changes())[-1]
    edge = await agreed.anchor("kept")
    during = (await calls.changes())[-1]
    action = governed_pb2.GovernedAction()
    action.delete_edge.request_id = "let go"
    action.delete_edge.id, action.delete_edge.etag = edge.id, edge.etag
    done = await agreed.parties.apply(calls, action, {edge.id: edge.etag})

    assert [(each.id, each.by_id) for each in done.gave_way.items] == [("kept", "note")]
    known = [await calls.states(("kept", at)) for at in (before.seq, during.seq, 0)]
    assert [state.memory.supersession.is_superseded for (state,) in known] == [True, False, True]
    told = [c.item_id for c in await calls.changes(before.seq) if c.type == STANDING]
    assert sorted(told) == ["kept", "kept", "note", "note"]


STANDING = feed_pb2.CHANGE_TYPE_STANDING_CHANGED


async def _resolved(agreed: Agreed) -> tuple[type_pb2.Edge, type_pb2.Edge]:
    """A constitutive edge and the descriptive one that stands for it by consent."""
    rock = await agreed.parties.constitutive_edge(agreed.calls)
    heir = await agreed.calls.put_edge("Me", "VALUES", "Candour", weight=0.8)
    await agreed.consent(heir, rock)
    return rock, heir


async def test_nobody_alone_says_the_same_triple_anew(agreed: Agreed) -> None:
    """G2 G4 Neither later nor earlier, by a new edge, a moved one or one dated otherwise."""
    calls = agreed.calls
    early = await calls.put_edge("Me", "VALUES", "Candour", valid_from=START - 9 * DAY)
    live_edge = await calls.put_edge("Me", "VALUES", "Candour", valid_from=START - DAY)
    rock = await agreed.parties.constitutive_edge(calls)
    await agreed.consent(live_edge, rock)
    other = await calls.put_edge("Me", "VALUES", "Thrift")
    moved = type_pb2.Edge(id=other.id, etag=other.etag, target=named("Candour"))
    early = await calls.get_edge(early.id)
    early.valid_from.CopyFrom(stamp(START - 8 * DAY))

    for when in (START, START + DAY, START - 10 * DAY):
        said = calls.put_edge("Me", "VALUES", "Candour", weight=0.1, valid_from=when)
        assert await reason(said) == PROTECTED
    failure = await refused(calls.update_edge(moved, "target"))
    assert (failure.reason, failure.metadata) == (PROTECTED, {"item_id": live_edge.id})
    assert await reason(calls.update_edge(early, "valid_from")) == PROTECTED
    assert (await calls.get_triple("Me", "VALUES", "Candour")).id == live_edge.id
    assert list((await calls.get_edge(rock.id)).supersession.head_ids) == [live_edge.id]


async def test_an_edge_dated_before_the_consent_takes_over_from_nothing_held(
    agreed: Agreed, live: World
) -> None:
    """G2 G4 A later value that was there when the principals consented does not hide theirs."""
    calls = agreed.calls
    heir = await calls.put_edge("Me", "VALUES", "Candour", weight=0.8)
    later = await calls.put_edge("Me", "VALUES", "Candour", valid_from=START + DAY)
    rock = await agreed.parties.constitutive_edge(calls)
    await agreed.consent(heir, rock)
    live.clock.pass_(2 * DAY)

    assert not (await calls.get_edge(heir.id)).supersession.is_superseded
    assert (await calls.get_edge(later.id)).supersession.predecessor_count == 0
    assert (await calls.get_triple("Me", "VALUES", "Candour")).id == heir.id
    assert list((await calls.get_edge(rock.id)).supersession.head_ids) == [heir.id]
    shown = [n.edge.id for n in (await calls.neighbors("Candour")).neighbors]
    assert heir.id in shown
    assert await reason(calls.relate(SUPERSEDES, later.id, heir.id)) == PROTECTED


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


CYCLE = "ERROR_REASON_LINEAGE_CYCLE"


async def test_what_stands_beside_it_stays_free(agreed: Agreed) -> None:
    """G4 Other values, annotations of others, and saying the same again."""
    calls = agreed.calls
    _, heir = await _resolved(agreed)
    again = await calls.upsert(edge_of("Me", "VALUES", "Candour"))
    other = await calls.put_edge("Me", "VALUES", "Thrift")
    await calls.put_edge("Me", "VALUES", "Thrift", weight=0.3)
    await calls.delete_edge(await calls.get_edge(other.id))

    assert (again.created, again.edge.etag) == (False, (await calls.get_edge(heir.id)).etag)


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


STATE = "ERROR_REASON_ITEM_STATE"


async def _around(home: Calls, memory_id: str) -> graph_pb2.QueryNeighborsResponse:
    return await home.neighbors(by_id(memory_id), include_superseded=True)


@pytest.mark.parametrize("relation", ["Amends", "Supersedes", "Deprecates"])
@pytest.mark.parametrize("kind", [type_pb2.MEMORY_KIND_FACT, type_pb2.MEMORY_KIND_TURN])
@pytest.mark.parametrize("stated", [True, False])
async def test_void_lineage_is_in_no_erasures_way(
    live: World, home: Calls, relation: str, kind: type_pb2.MemoryKind.ValueType, stated: bool
) -> None:
    """M4 G4 What was said of an item before it came to define the agent counts for nothing, and
    goes with its memory; one that is no turn can also be reworded."""
    parties = live.parties()
    await parties.enrol(home)
    link = "A note." if stated else f"{relation}: [[memory:core]]"
    session = "s" if kind == type_pb2.MEMORY_KIND_TURN else ""
    for name in ("note", "other"):
        await home.add(f"{link} {name}", id=name, kind=kind, session_id=session)
        if stated:
            words = {"Amends": AMENDS, "Supersedes": SUPERSEDES, "Deprecates": DEPRECATES}
            await home.relate(words[relation], name, "core", context="because")
    core = await parties.constitutive_memory(home, "core")

    if kind == type_pb2.MEMORY_KIND_FACT:
        other = await home.get("other")
        other.content = "Nothing of the kind."
        await home.update(other, "content")
    await home.erase(await home.get("note"))
    await home.erase(await home.get("other"))
    assert (await home.get("core")).etag == core.etag
    assert list((await home.get("core")).supersession.head_ids) == ["core"]
