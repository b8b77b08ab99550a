"""What defines the agent changes through one door only; every other way is refused and recorded."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import pytest
import pytest_asyncio
import raw_store
from concord.graph.v1 import feed_pb2, memory_pb2
from concord.type.v1 import type_pb2
from google.protobuf.message import Message
from governed_actions import action_of, replaced
from graph_world import (
    AMENDS,
    CONSTITUTIVE,
    DAY,
    DEPRECATES,
    DESCRIPTIVE,
    PROTECTED,
    RESOLUTION,
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


@pytest_asyncio.fixture
async def own(home: Calls, parties: Parties) -> Self:
    """A space after its genesis, with constitutive items."""
    edge = await parties.constitutive_edge(home)
    memory = await parties.constitutive_memory(home)
    anchor = await home.add("An anchor", id="anchor")
    defining = edge_of(by_id("anchor"), "DEFINES", "Me", edge_type=CONSTITUTIVE)
    about = (await parties.apply(home, action_of("upsert_edge", edge=defining))).edge
    plain_edge = await home.put_edge("Me", "LIKES", "Tea")
    plain = await home.add("A note", id="note")
    return Self(home, parties, edge, memory, anchor, about, plain_edge, plain)


MessageT = TypeVar("MessageT", type_pb2.Edge, type_pb2.Memory)


def changed(message: MessageT, **values: object) -> MessageT:
    """Return a copy of an item with some fields changed."""
    copy = type(message)()
    copy.CopyFrom(message)
    for name, value in values.items():
        if isinstance(value, Message):
            getattr(copy, name).CopyFrom(value)
        else:
            setattr(copy, name, value)
    return copy


Way = Callable[[Self], Awaitable[object]]


async def _with_ghost_filled(own: Self) -> None:
    """A content link to a ghost, promoted, then the ghost's memory arrives."""
    source = await own.calls.add("See [[memory:later]]", id="linker")
    (link,) = (await own.calls.neighbors(by_id(source.id))).neighbors
    promoted = changed(link.edge, edge_type=CONSTITUTIVE)
    await own.parties.apply(own.calls, action_of("update_edge", "edge_type", edge=promoted))
    await own.calls.add("I fill the ghost", id="later")


async def _restored(own: Self) -> None:
    """A constitutive memory, forgotten with consent, is restored without."""
    action = action_of("forget_memory", id=own.memory.id, etag=own.memory.etag)
    await own.calls.restore((await own.parties.apply(own.calls, action)).memory)


async def _governed_link_rewritten(own: Self) -> None:
    """The content that made a governed link loses it."""
    memory = type_pb2.Memory(id="wiser", content="Supersedes: [[memory:who-i-am]]")
    action = action_of("add_memory", memory=memory)
    wiser = (await own.parties.apply(own.calls, action)).memory
    await own.calls.update(changed(wiser, content="Never mind"), "content")


async def _governed_lineage_changed(own: Self, how: str) -> None:
    relation = SUPERSEDES if how == "deleted" else AMENDS
    edge = await replaced(own.calls, own.parties, own.plain.id, own.memory.id, relation)
    if how == "deleted":
        await own.calls.delete_edge(edge)
    else:
        await own.calls.update_edge(changed(edge, weight=0.1), "weight")


async def _end_changed(own: Self, how: str) -> None:
    """Change a node at which the constitutive edge ends."""
    node = await own.calls.get_node("Honesty")
    if how == "renamed":
        node.name = "Somebody"
        await own.calls.update_node(node, "name")
    else:
        await own.calls.delete_node(node, cascade=how == "deleted with its edges")


def re_stated(**fields: object) -> Way:
    """State the constitutive edge otherwise."""
    return lambda own: own.calls.put_edge("Me", "VALUES", "Honesty", **fields)


def edge_updated(field: str, value: object, *, of: str = "edge") -> Way:
    """Update a field of an edge."""
    return lambda own: own.calls.update_edge(changed(getattr(own, of), **{field: value}), field)


def memory_updated(field: str, value: object, *, of: str = "memory") -> Way:
    """Update a field of a memory."""
    return lambda own: own.calls.update(changed(getattr(own, of), **{field: value}), field)


def related(relation: type_pb2.LineageRelation.ValueType, newer: str, older: str) -> Way:
    """State lineage at something constitutive."""
    return lambda own: own.calls.relate(relation, getattr(own, newer).id, getattr(own, older).id)


def added(content: str, **fields: object) -> Way:
    """Add a memory."""
    return lambda own: own.calls.add(content, **fields)


WAYS: dict[str, dict[str, Way]] = {
    "edge": {
        "upsert re-weights": re_stated(weight=0.1),
        "upsert changes properties": re_stated(properties={"but": True}),
        "upsert demotes": re_stated(edge_type=DESCRIPTIVE),
        "upsert ends": re_stated(valid_until=START + DAY),
        "upsert at another time addresses the current one": re_stated(valid_from=START - DAY),
        "upsert makes a resolution of it": re_stated(edge_type=RESOLUTION),
        "update re-weights": edge_updated("weight", 0.1),
        "update changes importance": edge_updated("importance", type_pb2.IMPORTANCE_LOW),
        "update re-points": edge_updated("target", named("Deceit")),
        "update demotes": edge_updated("edge_type", DESCRIPTIVE),
        "update makes a resolution of it": edge_updated("edge_type", RESOLUTION),
        "delete": lambda own: own.calls.delete_edge(own.edge),
        "supersede": related(SUPERSEDES, "plain_edge", "edge"),
        "supersede by a memory": related(SUPERSEDES, "plain", "edge"),
        "deprecate by a link": lambda own: own.calls.add(f"Deprecates: [[memory:{own.edge.id}]]"),
    },
    "plain_edge": {
        "upsert promotes": lambda own: own.calls.put_edge(
            "Me", "LIKES", "Tea", edge_type=CONSTITUTIVE
        ),
        "update promotes": edge_updated("edge_type", CONSTITUTIVE, of="plain_edge"),
    },
    "end": {
        "rename": lambda own: _end_changed(own, "renamed"),
        "rewrite": lambda own: own.calls.put_node("Honesty", properties=struct({"is": "none"})),
        "relabel": lambda own: own.calls.put_node("Honesty", label="Vice"),
        "delete": lambda own: _end_changed(own, "deleted"),
        "delete with its edges": lambda own: _end_changed(own, "deleted with its edges"),
    },
    "anchor": {
        "forget": lambda own: own.calls.forget(own.anchor),
        "rewrite": memory_updated("content", "else", of="anchor"),
    },
    "memory": {
        "update": memory_updated("content", "I break them."),
        "demote": memory_updated("edge_type", DESCRIPTIVE),
        "end": memory_updated("valid_until", stamp(START + DAY)),
        "make a resolution of it": memory_updated("edge_type", RESOLUTION),
        "add other words under its id": added("I break them.", id="who-i-am"),
        "forget": lambda own: own.calls.forget(own.memory),
        "supersede": related(SUPERSEDES, "plain", "memory"),
        "deprecate": related(DEPRECATES, "plain", "memory"),
        "amend": related(AMENDS, "plain", "memory"),
        "supersede by a link": added("Supersedes: [[memory:who-i-am]]"),
        "amend by a link": memory_updated("content", "Amends: [[memory:who-i-am]]", of="plain"),
        "restore": _restored,
    },
    "plain": {"promote": memory_updated("edge_type", CONSTITUTIVE, of="plain")},
    "new": {"add": added("I am new", id="new", edge_type=CONSTITUTIVE)},
    "later": {"fill the ghost at an end": _with_ghost_filled},
    "": {
        "add a memory without an id": added("I am new", edge_type=CONSTITUTIVE),
        "upsert": lambda own: own.calls.put_edge("Me", "VALUES", "Power", edge_type=CONSTITUTIVE),
    },
    "lineage": {
        "delete": lambda own: _governed_lineage_changed(own, "deleted"),
        "annotate": lambda own: _governed_lineage_changed(own, "annotated"),
        "rewrite the content of a link": _governed_link_rewritten,
    },
}
"""What is tried, by what the refusal is about: "" is what does not exist."""


@pytest.mark.parametrize("about", WAYS)
async def test_no_way_but_the_door(own: Self, about: str) -> None:
    """G4 G5 A1 Every write that would touch it is refused with its reason, and put on record."""
    ids = {"end": own.edge.target.id, "new": "new", "later": "later", "": ""}
    for name, attempt in WAYS[about].items():
        failure = await refused(attempt(own))
        row = (await own.calls.changes())[-1]
        wanted = row.item_id if about == "lineage" else ids.get(about)
        wanted = getattr(own, about).id if wanted is None else wanted

        assert failure.reason == PROTECTED, name
        assert failure.metadata == ({"item_id": wanted} if wanted else {}), name
        assert (row.type, row.item_id, row.revision, row.digest) == (REFUSED, wanted, 0, ""), name


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
    unspecified = changed(own.memory, edge_type=0)

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


async def test_lineage_at_what_becomes_constitutive_is_void_and_said_so(own: Self) -> None:
    """G4 T2 Promotion makes the older item current again; the newer one's supersession changes."""
    old = await own.calls.add("Old", id="old")
    await own.calls.add("Supersedes: [[memory:old]]", id="new")
    seq = (await own.calls.changes())[-1].seq
    promoted = changed(old, edge_type=CONSTITUTIVE)
    await own.parties.apply(own.calls, action_of("update_memory", "edge_type", memory=promoted))
    told = {(c.item_id, c.type) for c in await own.calls.changes(after=seq)}

    assert not (await own.calls.get("old")).supersession.is_superseded
    assert (await own.calls.get("new")).supersession.predecessor_count == 0
    assert told == {
        ("old", feed_pb2.CHANGE_TYPE_UPDATED),
        ("new", feed_pb2.CHANGE_TYPE_STANDING_CHANGED),
    }


async def test_nobody_alone_moves_what_a_consented_lineage_rests_on(own: Self) -> None:
    """G4 T2 The newer side decides when the older one ends: it is as fixed as the lineage."""
    later = await own.calls.add("From 2040 on", id="later", valid_from=stamp(START + 5000 * DAY))
    await replaced(own.calls, own.parties, later.id, own.memory.id)
    sooner = type_pb2.Memory(id="later", etag=later.etag, content="Obey", valid_from=stamp(START))

    assert await reason(own.calls.update(sooner, "valid_from", "content")) == PROTECTED
    assert await reason(own.calls.forget(later)) == PROTECTED
    assert await reason(own.calls.add("Supersedes: [[memory:later]]", id="later")) != ""
    assert not (await own.calls.get(own.memory.id)).supersession.is_superseded


async def test_nobody_alone_moves_an_edge_that_a_resolution_rests_on(own: Self) -> None:
    """G4 The same holds between edges."""
    later = await own.calls.put_edge("Me", "VALUES", "Silence", valid_from=START + 5000 * DAY)
    await replaced(own.calls, own.parties, later.id, own.edge.id)
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
    core = type_pb2.Memory(
        id="core", content="I am. Supersedes: [[memory:note]]", edge_type=CONSTITUTIVE
    )
    await own.parties.apply(own.calls, action_of("add_memory", memory=core))
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
    soon = edge_of("Me", "GUARDS", "Ann", edge_type=CONSTITUTIVE, valid_from=START + DAY)
    action = action_of("upsert_edge", edge=soon)
    constitutive = (await own.parties.apply(own.calls, action)).edge
    twin = edge_of("Me", "GUARDS", "Ann", weight=0.1, valid_from=START + DAY + 1_000_000)
    assert await reason(own.calls.upsert(twin)) == PROTECTED
    live.clock.pass_(2 * DAY)

    assert await reason(own.calls.update_edge(moved, "target")) == PROTECTED
    assert (await own.calls.get_triple("Me", "VALUES", "Honesty")).id == own.edge.id
    assert (await own.calls.get_triple("Me", "GUARDS", "Ann")).id == constitutive.id


async def test_a_grant_must_name_both_sides_of_a_lineage_that_hides(own: Self) -> None:
    """V6 Consent to the words of an action is not consent to an unseen version of either side."""
    newer, older = own.plain, own.memory
    for etags in ({}, {older.id: older.etag}, {newer.id: newer.etag}):
        action = action_of("add_lineage", relation=SUPERSEDES, newer_id=newer.id, older_id=older.id)
        failure = await refused(own.parties.apply(own.calls, action, etags))

        assert failure.reason == "ERROR_REASON_GRANT_INVALID"
        assert failure.metadata == {"check": "etags"}


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
    memory = type_pb2.Memory(content="I am", edge_type=CONSTITUTIVE)
    action = action_of("add_memory", memory=memory)

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
