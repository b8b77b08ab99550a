"""What defines the agent changes through one door only; every other way is refused and recorded."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest
import pytest_asyncio
import raw_store
from concord.graph.v1 import feed_pb2, governed_pb2, memory_pb2
from concord.type.v1 import type_pb2
from graph_world import (
    AMENDS,
    CONSTITUTIVE,
    DAY,
    DEPRECATES,
    DESCRIPTIVE,
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
    struct,
)

REFUSED = feed_pb2.CHANGE_TYPE_REFUSED


@dataclass
class Self:
    """A space with something constitutive in it, and something descriptive beside."""

    calls: Calls
    parties: Parties
    edge: type_pb2.Edge  # Me VALUES Honesty
    memory: type_pb2.Memory  # "who-i-am"
    anchor: type_pb2.Memory  # "anchor", descriptive
    about: type_pb2.Edge  # anchor DEFINES Me: constitutive
    plain_edge: type_pb2.Edge  # Me LIKES Tea
    plain: type_pb2.Memory  # "note", descriptive

    async def me(self) -> type_pb2.Node:
        return await self.calls.get_node("Me")


@pytest_asyncio.fixture
async def own(live: World, home: Calls) -> Self:
    """A space after its genesis, with constitutive items."""
    parties = live.parties()
    await parties.enrol(home)
    edge = await parties.constitutive_edge(home)
    memory = await parties.constitutive_memory(home)
    anchor = await home.add("An anchor", id="anchor")
    action = governed_pb2.GovernedAction()
    action.upsert_edge.request_id = "about"
    action.upsert_edge.edge.CopyFrom(
        edge_of(by_id("anchor"), "DEFINES", "Me", edge_type=CONSTITUTIVE)
    )
    about = (await parties.apply(home, action)).edge
    plain_edge = await home.put_edge("Me", "LIKES", "Tea")
    plain = await home.add("A note", id="note")
    return Self(home, parties, edge, memory, anchor, about, plain_edge, plain)


def changed(message: type_pb2.Edge, **values: object) -> type_pb2.Edge:
    """Return a copy of an edge with some fields changed."""
    copy = type_pb2.Edge()
    copy.CopyFrom(message)
    for name, value in values.items():
        if isinstance(value, (int, float, str)):
            setattr(copy, name, value)
        else:
            getattr(copy, name).CopyFrom(value)
    return copy


def revised(message: type_pb2.Memory, **values: object) -> type_pb2.Memory:
    """Return a copy of a memory with some fields changed."""
    copy = type_pb2.Memory()
    copy.CopyFrom(message)
    for name, value in values.items():
        setattr(copy, name, value)
    return copy


async def _with_ghost_filled(own: Self) -> None:
    """A content link to a ghost, promoted, then the ghost's memory arrives."""
    source = await own.calls.add("See [[memory:later]]", id="linker")
    (link,) = (await own.calls.neighbors(by_id(source.id))).neighbors
    action = governed_pb2.GovernedAction()
    action.update_edge.request_id = "promote"
    action.update_edge.edge.CopyFrom(changed(link.edge, edge_type=CONSTITUTIVE))
    action.update_edge.update_mask.paths.append("edge_type")
    await own.parties.apply(own.calls, action)
    await own.calls.add("I fill the ghost", id="later")


async def _restored(own: Self) -> None:
    """A constitutive memory, forgotten with consent, is restored without."""
    action = governed_pb2.GovernedAction()
    action.forget_memory.request_id = "forget"
    action.forget_memory.id = own.memory.id
    action.forget_memory.etag = own.memory.etag
    reply = await own.parties.apply(own.calls, action, {own.memory.id: own.memory.etag})
    await own.calls.restore(reply.memory)


async def _governed_lineage(own: Self) -> type_pb2.Edge:
    action = governed_pb2.GovernedAction()
    action.add_lineage.request_id = "hide"
    action.add_lineage.relation = SUPERSEDES
    action.add_lineage.newer_id = own.plain.id
    action.add_lineage.older_id = own.memory.id
    etags = {own.memory.id: own.memory.etag, own.plain.id: own.plain.etag}
    return (await own.parties.apply(own.calls, action, etags)).edge


async def _governed_lineage_deleted(own: Self) -> None:
    await own.calls.delete_edge(await _governed_lineage(own))


async def _governed_lineage_annotated(own: Self) -> None:
    edge = await _governed_lineage(own)
    await own.calls.update_edge(changed(edge, weight=0.1), "weight")


async def _governed_link_rewritten(own: Self) -> None:
    """The content that made a governed link loses it."""
    action = governed_pb2.GovernedAction()
    action.add_memory.request_id = "hide-by-link"
    action.add_memory.memory.CopyFrom(
        type_pb2.Memory(id="wiser", content="Supersedes: [[memory:who-i-am]]")
    )
    etags = {own.memory.id: own.memory.etag}
    wiser = (await own.parties.apply(own.calls, action, etags)).memory
    await own.calls.update(revised(wiser, content="Never mind"), "content")


async def _node_renamed(own: Self) -> None:
    node = await own.me()
    node.name = "Somebody"
    await own.calls.update_node(node, "name")


async def _node_rewritten(own: Self) -> None:
    await own.calls.put_node("Honesty", properties=struct({"meaning": "none"}))


async def _node_relabelled(own: Self) -> None:
    await own.calls.put_node("Honesty", label="Vice")


async def _node_deleted(own: Self) -> None:
    await own.calls.delete_node(await own.calls.get_node("Honesty"))


async def _node_deleted_with_edges(own: Self) -> None:
    await own.calls.delete_node(await own.me(), cascade=True)


Way = Callable[[Self], Awaitable[object]]

# what is tried, and the id that the refusal is about ("" = something that does not exist)
WAYS: dict[str, tuple[Way, Callable[[Self], str]]] = {
    "upsert re-weights": (
        lambda own: own.calls.put_edge("Me", "VALUES", "Honesty", weight=0.1),
        lambda own: own.edge.id,
    ),
    "upsert changes properties": (
        lambda own: own.calls.put_edge("Me", "VALUES", "Honesty", properties={"but": True}),
        lambda own: own.edge.id,
    ),
    "upsert demotes": (
        lambda own: own.calls.put_edge("Me", "VALUES", "Honesty", edge_type=DESCRIPTIVE),
        lambda own: own.edge.id,
    ),
    "upsert ends": (
        lambda own: own.calls.put_edge("Me", "VALUES", "Honesty", valid_until=START + DAY),
        lambda own: own.edge.id,
    ),
    "upsert at another time addresses the current one": (
        lambda own: own.calls.put_edge("Me", "VALUES", "Honesty", valid_from=START - DAY),
        lambda own: own.edge.id,
    ),
    "upsert creates": (
        lambda own: own.calls.put_edge("Me", "VALUES", "Power", edge_type=CONSTITUTIVE),
        lambda _: "",
    ),
    "upsert promotes": (
        lambda own: own.calls.put_edge("Me", "LIKES", "Tea", edge_type=CONSTITUTIVE),
        lambda own: own.plain_edge.id,
    ),
    "update re-weights": (
        lambda own: own.calls.update_edge(changed(own.edge, weight=0.1), "weight"),
        lambda own: own.edge.id,
    ),
    "update changes importance": (
        lambda own: own.calls.update_edge(
            changed(own.edge, importance=type_pb2.IMPORTANCE_LOW), "importance"
        ),
        lambda own: own.edge.id,
    ),
    "update re-points": (
        lambda own: own.calls.update_edge(changed(own.edge, target=named("Deceit")), "target"),
        lambda own: own.edge.id,
    ),
    "update demotes": (
        lambda own: own.calls.update_edge(changed(own.edge, edge_type=DESCRIPTIVE), "edge_type"),
        lambda own: own.edge.id,
    ),
    "update promotes": (
        lambda own: own.calls.update_edge(
            changed(own.plain_edge, edge_type=CONSTITUTIVE), "edge_type"
        ),
        lambda own: own.plain_edge.id,
    ),
    "delete": (lambda own: own.calls.delete_edge(own.edge), lambda own: own.edge.id),
    "rename its end node": (_node_renamed, lambda own: own.edge.source.id),
    "rewrite its end node": (_node_rewritten, lambda own: own.edge.target.id),
    "relabel its end node": (_node_relabelled, lambda own: own.edge.target.id),
    "delete its end node": (_node_deleted, lambda own: own.edge.target.id),
    "delete its end node with edges": (_node_deleted_with_edges, lambda own: own.edge.source.id),
    "forget the memory at its end": (
        lambda own: own.calls.forget(own.anchor),
        lambda _: "anchor",
    ),
    "rewrite the memory at its end": (
        lambda own: own.calls.update(revised(own.anchor, content="else"), "content"),
        lambda _: "anchor",
    ),
    "fill the ghost at its end": (_with_ghost_filled, lambda _: "later"),
    "update a memory": (
        lambda own: own.calls.update(revised(own.memory, content="I break them."), "content"),
        lambda own: own.memory.id,
    ),
    "demote a memory": (
        lambda own: own.calls.update(revised(own.memory, edge_type=DESCRIPTIVE), "edge_type"),
        lambda own: own.memory.id,
    ),
    "end a memory": (
        lambda own: own.calls.update(_ended(own.memory), "valid_until"),
        lambda own: own.memory.id,
    ),
    "promote a memory": (
        lambda own: own.calls.update(revised(own.plain, edge_type=CONSTITUTIVE), "edge_type"),
        lambda own: own.plain.id,
    ),
    "add a constitutive memory": (
        lambda own: own.calls.add("I am new", id="new", edge_type=CONSTITUTIVE),
        lambda _: "new",
    ),
    "add one without an id": (
        lambda own: own.calls.add("I am new", edge_type=CONSTITUTIVE),
        lambda _: "",
    ),
    "forget a memory": (lambda own: own.calls.forget(own.memory), lambda own: own.memory.id),
    "restore a memory": (_restored, lambda own: own.memory.id),
    "supersede a memory": (
        lambda own: own.calls.relate(SUPERSEDES, own.plain.id, own.memory.id),
        lambda own: own.memory.id,
    ),
    "deprecate a memory": (
        lambda own: own.calls.relate(DEPRECATES, own.plain.id, own.memory.id),
        lambda own: own.memory.id,
    ),
    "amend a memory": (
        lambda own: own.calls.relate(AMENDS, own.plain.id, own.memory.id),
        lambda own: own.memory.id,
    ),
    "supersede an edge": (
        lambda own: own.calls.relate(SUPERSEDES, own.plain_edge.id, own.edge.id),
        lambda own: own.edge.id,
    ),
    "supersede by a link": (
        lambda own: own.calls.add("Supersedes: [[memory:who-i-am]]"),
        lambda own: own.memory.id,
    ),
    "amend by a link in an update": (
        lambda own: own.calls.update(
            revised(own.plain, content="Amends: [[memory:who-i-am]]"), "content"
        ),
        lambda own: own.memory.id,
    ),
    "deprecate an edge by a link": (
        lambda own: own.calls.add(f"Deprecates: [[memory:{own.edge.id}]]"),
        lambda own: own.edge.id,
    ),
    "update makes a resolution of it": (
        lambda own: own.calls.update_edge(
            changed(own.edge, edge_type=type_pb2.EDGE_TYPE_RESOLUTION), "edge_type"
        ),
        lambda own: own.edge.id,
    ),
    "upsert makes a resolution of it": (
        lambda own: own.calls.put_edge(
            "Me", "VALUES", "Honesty", edge_type=type_pb2.EDGE_TYPE_RESOLUTION
        ),
        lambda own: own.edge.id,
    ),
    "make a resolution of a memory": (
        lambda own: own.calls.update(
            revised(own.memory, edge_type=type_pb2.EDGE_TYPE_RESOLUTION), "edge_type"
        ),
        lambda own: own.memory.id,
    ),
    "add other words under its id": (
        lambda own: own.calls.add("I break them.", id="who-i-am"),
        lambda own: own.memory.id,
    ),
    "supersede an edge by a memory": (
        lambda own: own.calls.relate(SUPERSEDES, own.plain.id, own.edge.id),
        lambda own: own.edge.id,
    ),
    "delete governed lineage": (_governed_lineage_deleted, lambda _: "lineage"),
    "annotate governed lineage": (_governed_lineage_annotated, lambda _: "lineage"),
    "rewrite the content of a governed link": (_governed_link_rewritten, lambda _: "lineage"),
}


def _ended(memory: type_pb2.Memory) -> type_pb2.Memory:
    copy = revised(memory)
    copy.valid_until.seconds = START // 1_000_000 + 86_400
    return copy


@pytest.mark.parametrize("way", WAYS)
async def test_no_way_but_the_door(own: Self, way: str) -> None:
    """G4 G5 A1 Every write that would touch it is refused with its reason, and put on record."""
    attempt, about = WAYS[way]
    failure = await refused(attempt(own))
    (row,) = [change for change in await own.calls.changes() if change.type == REFUSED]

    assert failure.reason == PROTECTED
    wanted = about(own)
    if wanted != "lineage":
        assert failure.metadata == ({"item_id": wanted} if wanted else {})
        assert row.item_id == wanted
    else:
        assert failure.metadata["item_id"] == row.item_id
    assert (row.revision, row.digest) == (0, "")


async def test_a_refusal_changes_nothing_but_the_record(own: Self) -> None:
    """G4 The state is byte for byte as before."""
    before = await own.calls.export()
    seq = (await own.calls.changes())[-1].seq
    await refused(own.calls.add("Supersedes: [[memory:who-i-am]]", id="usurper"))
    (row,) = await own.calls.changes(after=seq)

    assert await own.calls.export() == before
    assert row.type == REFUSED
    reply = await own.calls.memory.GetMemory(memory_pb2.GetMemoryRequest(id="usurper"))
    assert reply.status == type_pb2.LOOKUP_STATUS_NOT_FOUND


async def test_leaving_the_type_out_never_demotes(own: Self) -> None:
    """G4 An upsert or an import that says nothing about it changes nothing."""
    edge = await own.calls.upsert(edge_of("Me", "VALUES", "Honesty"))
    said = type_pb2.Memory(id="who-i-am", content="I keep my promises.")
    again = await own.calls.add_memory(said)
    batch = await own.calls.batch([said], update_existing=True)
    unspecified = revised(own.memory, edge_type=0)

    assert (edge.created, edge.edge) == (False, own.edge)
    assert (again.created, again.memory.edge_type) == (False, CONSTITUTIVE)
    assert batch.results[0].outcome == memory_pb2.BATCH_OUTCOME_UNCHANGED
    assert (await own.calls.update(unspecified, "edge_type")).etag == own.memory.etag
    assert [c for c in await own.calls.changes() if c.type == REFUSED] == []


async def test_a_batch_with_an_attempt_is_refused_whole_and_recorded(own: Self) -> None:
    """G4 A1 M6 Item errors name each attempt; nothing of the batch is written."""
    reply = await own.calls.batch(
        [
            type_pb2.Memory(id="innocent", content="innocent"),
            type_pb2.Memory(id="who-i-am", content="I break them."),
            type_pb2.Memory(id="usurper", content="Supersedes: [[memory:who-i-am]]"),
            type_pb2.Memory(id="newcomer", content="I am", edge_type=CONSTITUTIVE),
        ],
        update_existing=True,
    )
    rows = [c.item_id for c in await own.calls.changes() if c.type == REFUSED]

    assert [(error.index, error.reason) for error in reply.errors] == [
        (index, PROTECTED) for index in (1, 2, 3)
    ]
    assert rows == ["who-i-am", "who-i-am", "newcomer"]
    assert await own.calls.listed() == ["note", "anchor", "who-i-am"]


async def test_lineage_made_while_it_was_a_ghost_is_void(own: Self) -> None:
    """G4 A constitutive memory is not hidden by what pointed at its id before it came."""
    await own.calls.add("Supersedes: [[memory:core]]", id="early")
    await own.calls.relate(DEPRECATES, "note", "core")
    core = await own.parties.constitutive_memory(own.calls, "core", "I am the core.")

    assert not core.supersession.is_superseded
    assert list((await own.calls.get("core")).supersession.head_ids) == ["core"]
    assert "core" in await own.calls.listed()
    assert (await own.calls.get("early")).supersession.predecessor_count == 0
    assert await reason(own.calls.relate(DEPRECATES, "note", "core")) == PROTECTED


async def test_lineage_at_what_becomes_constitutive_is_void_and_said_so(own: Self) -> None:
    """G4 T2 Promotion makes the older item current again; the newer one's supersession changes."""
    old = await own.calls.add("Old", id="old")
    await own.calls.add("Supersedes: [[memory:old]]", id="new")
    seq = (await own.calls.changes())[-1].seq
    action = governed_pb2.GovernedAction()
    action.update_memory.request_id = "promote"
    action.update_memory.memory.CopyFrom(revised(old, edge_type=CONSTITUTIVE))
    action.update_memory.update_mask.paths.append("edge_type")
    await own.parties.apply(own.calls, action, {old.id: old.etag})
    told = {(c.item_id, c.type) for c in await own.calls.changes(after=seq)}

    assert not (await own.calls.get("old")).supersession.is_superseded
    assert (await own.calls.get("new")).supersession.predecessor_count == 0
    assert told == {
        ("old", feed_pb2.CHANGE_TYPE_UPDATED),
        ("new", feed_pb2.CHANGE_TYPE_STANDING_CHANGED),
    }


async def test_with_consent_lineage_hides_and_its_end_shows_again(own: Self) -> None:
    """G4 T2 The door works for lineage: void one made anew, and deleted, with consent."""
    early = await own.calls.add("Supersedes: [[memory:core]]", id="early")
    core = await own.parties.constitutive_memory(own.calls, "core", "I am the core.")
    action = governed_pb2.GovernedAction()
    action.add_lineage.request_id = "make it count"
    action.add_lineage.relation = SUPERSEDES
    action.add_lineage.newer_id = "early"
    action.add_lineage.older_id = "core"
    etags = await _etags(own, core) | {early.id: early.etag}
    made = (await own.parties.apply(own.calls, action, etags)).edge

    hidden = await own.calls.get("core")
    assert list(hidden.supersession.head_ids) == ["early"]
    assert "core" not in await own.calls.listed()
    action = governed_pb2.GovernedAction()
    action.delete_edge.request_id = "take it back"
    action.delete_edge.id, action.delete_edge.etag = made.id, made.etag
    await own.parties.apply(own.calls, action, {made.id: made.etag})
    assert not (await own.calls.get("core")).supersession.is_superseded


async def _consented(
    own: Self, newer: type_pb2.Memory | type_pb2.Edge, older: type_pb2.Memory | type_pb2.Edge
) -> type_pb2.Edge:
    """Both principals agree that one item, as it is, supersedes another."""
    action = governed_pb2.GovernedAction()
    action.add_lineage.request_id = f"{newer.id} for {older.id}"
    action.add_lineage.relation = SUPERSEDES
    action.add_lineage.newer_id = newer.id
    action.add_lineage.older_id = older.id
    return (await own.parties.apply(own.calls, action)).edge


async def test_nobody_alone_moves_what_a_consented_lineage_rests_on(own: Self) -> None:
    """G4 T2 The newer side decides when the older one ends: it is as fixed as the lineage."""
    later = await own.calls.add("From 2040 on", id="later", valid_from=stamp(START + 5000 * DAY))
    await _consented(own, later, own.memory)
    sooner = type_pb2.Memory(id="later", etag=later.etag, content="Obey", valid_from=stamp(START))

    assert await reason(own.calls.update(sooner, "valid_from", "content")) == PROTECTED
    assert await reason(own.calls.forget(later)) == PROTECTED
    assert await reason(own.calls.add("Supersedes: [[memory:later]]", id="later")) != ""
    assert not (await own.calls.get(own.memory.id)).supersession.is_superseded


async def test_nobody_alone_moves_an_edge_that_a_resolution_rests_on(own: Self) -> None:
    """G4 The same holds between edges."""
    later = await own.calls.put_edge("Me", "VALUES", "Silence", valid_from=START + 5000 * DAY)
    await _consented(own, later, own.edge)
    sooner = type_pb2.Edge(id=later.id, etag=later.etag, valid_from=stamp(START), weight=0.1)

    assert await reason(own.calls.update_edge(sooner, "valid_from")) == PROTECTED
    assert await reason(own.calls.update_edge(sooner, "weight")) == PROTECTED
    assert await reason(own.calls.delete_edge(later)) == PROTECTED
    silence = await own.calls.get_node("Silence")
    silence.name = "Shouting"
    assert await reason(own.calls.update_node(silence, "name")) == PROTECTED
    assert not (await own.calls.get_edge(own.edge.id)).supersession.is_superseded


async def test_nobody_alone_says_what_a_constitutive_memory_replaces(own: Self) -> None:
    """G4 G5 Neither adding to its lineage nor taking from it, nor blocking it by a cycle."""
    action = governed_pb2.GovernedAction()
    action.add_memory.request_id = "core"
    action.add_memory.memory.CopyFrom(
        type_pb2.Memory(
            id="core", content="I am. Supersedes: [[memory:note]]", edge_type=CONSTITUTIVE
        )
    )
    await own.parties.apply(own.calls, action)
    made = next(e for e in (await own.calls.lineage("core")).edges if e.target.id == "note")

    assert (await own.calls.get("note")).supersession.is_superseded
    assert await reason(own.calls.delete_edge(made)) == PROTECTED
    for relation in (SUPERSEDES, DEPRECATES, AMENDS):
        assert await reason(own.calls.relate(relation, "core", "anchor")) == PROTECTED
    assert (await own.calls.get("note")).supersession.is_superseded


async def test_no_edge_stands_before_a_constitutive_one(own: Self, live: World) -> None:
    """G2 G4 G13 A triple reads as it is written to: the constitutive edge first, however dated."""
    other = await own.calls.put_edge("Me", "VALUES", "Thrift", weight=0.01)
    moved = type_pb2.Edge(id=other.id, etag=other.etag, target=named("Honesty"))
    action = governed_pb2.GovernedAction()
    action.upsert_edge.request_id = "soon"
    soon = edge_of("Me", "GUARDS", "Ann", edge_type=CONSTITUTIVE, valid_from=START + DAY)
    action.upsert_edge.edge.CopyFrom(soon)
    constitutive = (await own.parties.apply(own.calls, action)).edge
    twin = edge_of("Me", "GUARDS", "Ann", weight=0.1, valid_from=START + DAY + 1_000_000)
    assert await reason(own.calls.upsert(twin)) == PROTECTED
    live.clock.pass_(2 * DAY)

    assert await reason(own.calls.update_edge(moved, "target")) == PROTECTED
    assert (await own.calls.get_triple("Me", "VALUES", "Honesty")).id == own.edge.id
    assert (await own.calls.get_triple("Me", "GUARDS", "Ann")).id == constitutive.id


async def _etags(own: Self, core: type_pb2.Memory) -> dict[str, str]:
    """The etags of a memory and of every lineage edge at it."""
    edges = (await own.calls.lineage(core.id)).edges
    return {core.id: core.etag} | {edge.id: edge.etag for edge in edges}


async def test_a_grant_must_name_both_sides_of_a_lineage_that_hides(own: Self) -> None:
    """V6 Consent to the words of an action is not consent to an unseen version of either side."""
    newer, older = own.plain, own.memory
    for at, etags in enumerate(({}, {older.id: older.etag}, {newer.id: newer.etag})):
        action = governed_pb2.GovernedAction()
        action.add_lineage.request_id = f"hide {at}"
        action.add_lineage.relation = SUPERSEDES
        action.add_lineage.newer_id = newer.id
        action.add_lineage.older_id = older.id
        failure = await refused(own.parties.apply(own.calls, action, etags))

        assert failure.reason == "ERROR_REASON_GRANT_INVALID"
        assert failure.metadata == {"check": "etags"}


async def test_reading_and_touching_leave_the_constitutive_as_it_is(own: Self, live: World) -> None:
    """G6 G7 Reads raise the count; etag, relevance and the change feed stay."""
    live.clock.pass_(400 * DAY)
    await own.calls.get_edge(own.edge.id, peek=False)
    read = await own.calls.get_edge(own.edge.id)

    assert (read.etag, read.relevance_score) == (own.edge.etag, 1.0)
    assert read.access.access_count == 1
    assert read.entrenchment == type_pb2.ENTRENCHMENT_MAXIMAL


async def test_other_edges_at_a_constitutive_end_stay_free(own: Self) -> None:
    """G4 Protection is of the item, not of the node's whole neighbourhood."""
    edge = await own.calls.put_edge("Me", "LIVES_IN", "Bonn", weight=0.3)
    await own.calls.put_edge("Me", "LIVES_IN", "Bonn", weight=0.4)
    await own.calls.delete_edge(await own.calls.get_edge(edge.id))
    await own.calls.add("Another note", id="another")
    await own.calls.relate(SUPERSEDES, "note", "another")

    assert [n.edge.relation for n in (await own.calls.neighbors("Bonn")).neighbors] == []
    assert (await own.calls.get("another")).supersession.is_superseded
    assert (await own.calls.get_edge(own.about.id)).etag == own.about.etag


async def test_nothing_constitutive_before_genesis(home: Calls, live: World) -> None:
    """G5 V5 Without a genesis the door itself is shut."""
    action = governed_pb2.GovernedAction()
    action.add_memory.request_id = "1"
    action.add_memory.memory.CopyFrom(type_pb2.Memory(content="I am", edge_type=CONSTITUTIVE))

    assert await reason(home.add("I am", edge_type=CONSTITUTIVE)) == PROTECTED
    missing = await refused(live.parties().apply(home, action))
    assert missing.reason == "ERROR_REASON_GENESIS_MISSING"


async def test_the_record_holds_no_content(own: Self, live: World) -> None:
    """A1 M4 Neither refusals nor events carry a word of what was said."""
    await refused(own.calls.add("Unspeakable. Supersedes: [[memory:who-i-am]]"))
    await own.calls.add("Unspeakable too", id="quiet")
    raw = raw_store.records(live.path)

    assert "nspeakable" not in raw
    assert "promises" not in raw
