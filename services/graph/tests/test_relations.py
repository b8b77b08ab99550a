"""Declared relations: what a source has one value of at a time follows in time."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from concord.graph.v1 import feed_pb2, relation_pb2
from concord.type.v1 import type_pb2
from concord_graph.adapters.neo4j.writes import Neo4jWrites
from concord_graph.adapters.sqlite.writes import SqliteWrites
from concord_graph.domain.items import ItemKind
from concord_graph.ports import Author, Writes
from concord_graph.usecases.write import standings
from graph_world import (
    DAY,
    SECOND,
    START,
    SUPERSEDES,
    Calls,
    World,
    edge_of,
    known_at,
    micros,
    reason,
    refused,
    stamp,
    valid_at,
)

STATE = relation_pb2.TEMPORAL_CLASS_STATE
ETERNAL = relation_pb2.TEMPORAL_CLASS_ETERNAL
TOO_MANY = "ERROR_REASON_TOO_MANY_AFFECTED"
STANDING = feed_pb2.CHANGE_TYPE_STANDING_CHANGED


def exclusive(*sets: list[str]) -> relation_pb2.ExclusiveSets:
    """Return exclusive sets of these names."""
    return relation_pb2.ExclusiveSets(
        sets=[relation_pb2.ExclusiveSet(names=names) for names in sets]
    )


async def value(home: Calls, source: str, as_of: type_pb2.AsOf | None = None) -> set[str]:
    """Return what a source is related to."""
    reply = await home.neighbors(source, as_of=as_of, direction=type_pb2.DIRECTION_OUTGOING)
    return {neighbor.edge.target.name for neighbor in reply.neighbors}


async def told(home: Calls, after: int) -> list[str]:
    """Return whose supersession was told to have changed, after a sequence number."""
    return [c.item_id for c in await home.changes(after=after) if c.type == STANDING]


async def head(home: Calls) -> int:
    """Return the newest sequence number."""
    return (await home.changes())[-1].seq


async def test_declaring_and_listing(home: Calls) -> None:
    """T2 A relation is declared once, listed by name, page by page, and may be changed."""
    first = await home.declare("WORKS_AT")
    again = await home.declare("WORKS_AT")
    await home.declare("LIKES", functional=False)
    changed = await home.declare("WORKS_AT", functional=False, etag=first.relation.etag)

    assert (first.created, again.created, changed.created) == (True, False, False)
    assert again.relation == first.relation
    assert changed.relation.id == first.relation.id
    assert changed.relation.etag != first.relation.etag
    assert changed.relation.create_time == first.relation.create_time
    assert await home.declared() == {"LIKES": False, "WORKS_AT": False}
    assert list(await home.declared(page_size=1)) == ["LIKES"]


async def test_what_is_left_out_stays_declared(live: World, home: Calls) -> None:
    """D4 T3 Class, containment and exclusive sets are kept until declared anew, and as of then."""
    sets = exclusive(["dead", "alive"], ["b", "a"])
    first = await home.declare("IS", temporal_class=STATE, transitive=True, exclusive_sets=sets)
    live.clock.pass_(SECOND)
    again = await home.declare("IS")
    changed = await home.declare(
        "IS", temporal_class=ETERNAL, transitive=False, exclusive_sets=exclusive()
    )
    then = relation_pb2.ListRelationsRequest(as_of=known_at(micros(first.relation.modify_time)))

    assert [list(each.names) for each in first.relation.exclusive_sets] == [
        ["a", "b"],
        ["alive", "dead"],
    ]
    assert (first.relation.temporal_class, first.relation.transitive) == (STATE, True)
    assert again.relation == first.relation
    assert changed.relation.temporal_class == ETERNAL
    assert not changed.relation.transitive
    assert not changed.relation.exclusive_sets
    assert list((await home.relation.ListRelations(then)).relations) == [first.relation]


async def test_a_class_alone_computes_no_supersession(
    home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T2 D4 Only whether a relation is functional decides what follows what."""
    await home.declare("LIVES_IN")
    await home.put_edge("Ann", "LIVES_IN", "Bonn", valid_from=START - 9 * DAY)
    await home.put_edge("Ann", "LIVES_IN", "Ulm", valid_from=START - 5 * DAY)
    monkeypatch.setattr(standings, "MOST_AFFECTED", 0)
    before = await head(home)

    await home.declare("LIVES_IN", temporal_class=STATE, exclusive_sets=exclusive(["Bonn", "Ulm"]))

    assert await told(home, before) == []
    assert await reason(home.declare("LIVES_IN", functional=False)) == TOO_MANY


@pytest.mark.parametrize("name", ["SUPERSEDES", "amends", "concord:principal", "Concord:x"])
async def test_reserved_relations_are_not_declared(home: Calls, name: str) -> None:
    """T2 Lineage's words and Concord's own relations are what they are."""
    assert await reason(home.declare(name)) == "ERROR_REASON_RESERVED_NAME"


async def test_a_stale_declaration_is_refused(home: Calls) -> None:
    """T2 An etag given must be the declaration's, and there must be one."""
    assert await reason(home.declare("R", etag="x")) == "ERROR_REASON_ETAG_MISMATCH"
    await home.declare("R")
    assert await reason(home.declare("R", etag="x")) == "ERROR_REASON_ETAG_MISMATCH"


async def test_only_neighbours_in_time_are_told(home: Calls) -> None:
    """T2 One event for the edge before and one for the edge after, however long the row is."""
    await home.declare("IN")
    edges = [
        await home.put_edge("a", "IN", f"t{n}", valid_from=START + n * DAY) for n in range(0, 10, 2)
    ]
    ids = [edge.id for edge in edges]
    seq = await head(home)
    between = await home.put_edge("a", "IN", "x", valid_from=START + 3 * DAY)
    assert await told(home, seq) == ids[1:3]
    seq = await head(home)
    tie = await home.put_edge("a", "IN", "y", valid_from=START + 3 * DAY)
    assert await told(home, seq) == []
    seq = await head(home)
    await home.delete_edge(tie)
    assert await told(home, seq) == []
    between.valid_from.CopyFrom(stamp(START + 7 * DAY))
    seq = await head(home)
    between = await home.update_edge(between, "valid_from")
    assert sorted(await told(home, seq)) == sorted(ids[1:])
    seq = await head(home)
    await home.delete_edge(between)
    assert await told(home, seq) == ids[3:]


async def test_a_declaration_tells_of_those_with_rivals(home: Calls) -> None:
    """T2 One event for each edge whose supersession follows from it; none without a change."""
    lone = await home.put_edge("b", "IN", "x")
    one = await home.put_edge("a", "IN", "x", valid_from=START - DAY)
    two = await home.put_edge("a", "IN", "y")
    seq = await head(home)
    await home.declare("IN", functional=False)
    assert await told(home, seq) == []
    await home.declare("IN")
    assert sorted(await told(home, seq)) == sorted([one.id, two.id])
    seq = await head(home)
    await home.declare("IN")
    assert await told(home, seq) == []
    await home.declare("IN", functional=False)
    assert sorted(await told(home, seq)) == sorted([one.id, two.id])
    assert lone.id not in await told(home, 0)


async def test_telling_of_many_takes_as_many_statements_as_telling_of_two(
    live: World, home: Calls
) -> None:
    """T2 S10 A space waits while a declaration is written: what it changes is told at once."""
    ids = [(await home.put_edge("a", "IN", target)).id for target in "abcdefgh"]
    made = {change.item_id: change for change in await home.changes() if change.item_id in ids}

    async def telling(some: Sequence[str]) -> int:
        async def work(tx: Writes) -> int:
            with statements(tx) as run:
                await tx.announce(dict.fromkeys(some, ItemKind.EDGE), Author("p", "m", "r"))
            return len(run)

        return await live.app._store.write("home", work)

    two, seq = await telling(ids[:2]), await head(home)
    many = await telling([*ids, "unknown"])
    rows = [change for change in await home.changes(after=seq) if change.type == STANDING]

    assert many == two
    assert [row.item_id for row in rows] == ids
    assert [row.seq for row in rows] == list(range(seq + 1, seq + 1 + len(ids)))
    assert all(row.revision == made[row.item_id].revision for row in rows)
    assert all(row.digest == made[row.item_id].digest for row in rows)


@contextmanager
def statements(tx: Writes) -> Iterator[list[str]]:
    """Collect the statements that a transaction runs."""
    run: list[str] = []
    if isinstance(tx, Neo4jWrites):
        before = tx._asked
        yield run
        run += [""] * (tx._asked - before)
        return
    assert isinstance(tx, SqliteWrites)
    tx._db.set_trace_callback(run.append)
    yield run
    tx._db.set_trace_callback(None)


async def test_a_declaration_that_changes_too_much_is_refused(
    home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T2 The limit of one write is told, and nothing changes."""
    monkeypatch.setattr(standings, "MOST_AFFECTED", 3)
    for target in "wxyz":
        await home.put_edge("a", "IN", target)
    failure = await refused(home.declare("IN"))

    assert failure.reason == "ERROR_REASON_TOO_MANY_AFFECTED"
    assert failure.metadata == {"limit": "3"}
    assert await home.declared() == {}
    assert await value(home, "a") == set("wxyz")


async def test_succession_counts_when_cycles_are_looked_for(home: Calls) -> None:
    """T1 T2 What an earlier value replaced cannot replace a later one by lineage.

    The earlier value itself can: the later one never held then (D6).
    """
    await home.declare("IN")
    old = await home.put_edge("a", "IN", "x", valid_from=START - 2 * DAY)
    await home.put_edge("a", "IN", "y", valid_from=START - DAY)
    new = await home.put_edge("a", "IN", "z")
    other = await home.put_edge("a", "R", "w")
    await home.relate(SUPERSEDES, old.id, other.id)

    assert await reason(home.relate(SUPERSEDES, other.id, new.id)) == "ERROR_REASON_LINEAGE_CYCLE"
    assert (await home.relate(SUPERSEDES, old.id, new.id)).created
    assert await value(home, "a") == {"y"}
    assert await reason(home.relate(SUPERSEDES, new.id, old.id)) == "ERROR_REASON_LINEAGE_CYCLE"


async def test_an_upsert_addresses_the_current_value(live: World, home: Calls) -> None:
    """G2 T2 A value may return: with no time stated it is a new edge, since the first one ended."""
    await home.declare("IN")
    first = await home.put_edge("a", "IN", "x")
    live.clock.pass_(DAY)
    await home.put_edge("a", "IN", "y")
    live.clock.pass_(DAY)
    again = await home.upsert(edge_of("a", "IN", "x"))

    assert again.created
    assert await value(home, "a") == {"x"}
    assert await value(home, "a", valid_at(START + DAY + SECOND)) == {"y"}
    assert await value(home, "a", valid_at(START + SECOND)) == {"x"}
    assert (await home.get_edge(first.id)).supersession.is_superseded


async def test_of_many_former_values_a_hundred_are_counted(home: Calls) -> None:
    """T2 G10 A hub's former values of one instant would cost every reader of the next one."""
    await home.declare("IS_AT")
    for number in range(102):
        await home.put_edge("Ann", "IS_AT", f"place {number}", valid_from=START - DAY)
    newest = await home.put_edge("Ann", "IS_AT", "home", valid_from=START)

    assert (await home.get_edge(newest.id)).supersession.predecessor_count == 100
