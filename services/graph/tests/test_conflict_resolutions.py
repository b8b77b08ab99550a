"""Resolutions of conflicts with their lineage (D6, T1), and what depends on a side (D12)."""

import pytest
from concord.graph.v1 import conflict_pb2 as pb
from concord.type.v1 import type_pb2
from conflict_world import (
    CONFIRM,
    CONTRADICTION,
    EVOLUTION,
    NUANCE,
    POTENTIAL,
    RESOLVED,
    UNDECIDED,
    finding,
    get,
    record,
    recorded,
    reopen,
    resolve,
    review,
)
from graph_world import START, SUPERSEDES, Calls, World, refused, stamp


async def test_an_evolution_supersedes_its_older_side(home: Calls, live: World) -> None:
    """D6 The record says which side gave way, as what, why, when and by whom; both stay."""
    older, newer = await home.add("Ada lives in Bonn"), await home.add("Ada lives in Köln")
    kept = await recorded(home, older, newer, conflict_class=EVOLUTION, older_id=older.id)
    live.clock.pass_(1_000_000)
    done = (await resolve(home, kept, EVOLUTION, context="She moved")).conflict
    record_ = await home.get_edge(done.resolution.record_id)

    assert done.state == RESOLVED
    assert (done.resolution.superseded_id, done.resolution.superseding_id) == (older.id, newer.id)
    assert (done.resolution.resolved_by, done.resolution.context) == ("agent-1", "She moved")
    assert done.resolution.resolve_time == stamp(START + 1_000_000)
    assert (record_.source.id, record_.relation, record_.target.id) == (
        newer.id,
        "SUPERSEDES",
        older.id,
    )
    assert dict(record_.properties) == {
        "conflict_id": kept.id,
        "context": "She moved",
        "resolution_type": "EVOLUTION",
        "resolved_at": "2027-01-15T08:00:01.000000Z",
        "resolved_by": "agent-1",
    }
    assert (await home.get(older.id)).supersession.is_superseded


async def test_between_edges_the_record_is_a_resolution(home: Calls) -> None:
    """D6 G9 T1 QueryNeighbors shows it on request, and the edge that gave way is hidden."""
    one, other = (
        await home.put_edge("Ada", "LIVES_IN", "Bonn"),
        await home.put_edge("Ada", "LIVES_IN", "Köln"),
    )
    kept = await recorded(home, one, other)
    done = (await resolve(home, kept, CONTRADICTION, one.id)).conflict
    plain = await home.neighbors("Ada")
    shown = await home.neighbors("Ada", depth=2, include_resolutions=True)
    edge = await home.get_edge(done.resolution.record_id)

    assert edge.edge_type == type_pb2.EDGE_TYPE_RESOLUTION
    assert [each.edge.id for each in plain.neighbors] == [other.id]
    assert edge.id in {each.edge.id for each in shown.neighbors}


@pytest.mark.parametrize("resolution_type", [CONTRADICTION, NUANCE])
async def test_nothing_gives_way_that_the_resolver_does_not_name(
    home: Calls, resolution_type: pb.ConflictClass.ValueType
) -> None:
    """D6 Then there is no lineage: the conflict alone says that it is resolved."""
    one, other = await home.add("a"), await home.add("b")
    kept = await recorded(home, one, other)
    done = (await resolve(home, kept, resolution_type, context="Both are right")).conflict

    assert (done.state, done.resolution.record_id) == (RESOLVED, "")
    assert not (await home.get(one.id)).supersession.is_superseded
    assert not (await home.get(other.id)).supersession.is_superseded


async def test_reopening_takes_conflict_and_lineage_back(home: Calls) -> None:
    """D5 D6 Undoing a resolution brings everything back as it was."""
    older, newer = await home.add("a"), await home.add("b")
    kept = await recorded(home, older, newer, conflict_class=EVOLUTION, older_id=older.id)
    state = await home.export()
    done = (await resolve(home, kept, EVOLUTION)).conflict
    again = await reopen(home, done)

    assert (again.state, again.HasField("resolution")) == (POTENTIAL, False)
    assert not (await home.get(older.id)).supersession.is_superseded
    assert await home.export() == state


async def test_lineage_that_stood_before_stays_when_a_resolution_goes(home: Calls) -> None:
    """D6 A resolution takes along what it wrote, and nothing else."""
    older, newer = await home.add("a"), await home.add("b")
    kept = await recorded(home, older, newer, conflict_class=EVOLUTION, older_id=older.id)
    edge = (await home.relate(SUPERSEDES, newer.id, older.id)).edge
    done = (await resolve(home, kept, EVOLUTION)).conflict
    await reopen(home, done)

    assert done.resolution.record_id == edge.id
    assert (await home.get(older.id)).supersession.is_superseded


async def test_deleting_the_record_takes_the_resolution_back(home: Calls) -> None:
    """D6 A resolution is the record that T1 knows: without it there is none."""
    older, newer = await home.add("a"), await home.add("b")
    kept = await recorded(home, older, newer, conflict_class=EVOLUTION, older_id=older.id)
    done = (await resolve(home, kept, EVOLUTION)).conflict
    await home.delete_edge(await home.get_edge(done.resolution.record_id))

    assert (await get(home, kept.id)).state == POTENTIAL


async def test_what_was_resolved_comes_back_when_a_side_changes(home: Calls) -> None:
    """D5 A resolution without lineage holds for the versions that were judged."""
    one, other = await home.add("a"), await home.add("b")
    kept = await recorded(home, one, other)
    await resolve(home, kept, NUANCE)
    (same,) = await record(home, finding(one, other))
    one.content = "A"
    changed = await home.update(one, "content")
    (again,) = await record(home, finding(changed, other))

    assert (same.state, again.state) == (RESOLVED, POTENTIAL)


async def test_a_resolution_makes_sense(home: Calls) -> None:
    """D6 An evolution has an older side, and what gives way is a side."""
    kept = await recorded(home, await home.add("a"), await home.add("b"))
    for field, as_class, superseded_id in (
        ("superseded_id", EVOLUTION, ""),
        ("superseded_id", CONTRADICTION, "somebody"),
        ("resolution_type", UNDECIDED, ""),
    ):
        failure = await refused(resolve(home, kept, as_class, superseded_id))
        assert [each.field for each in failure.violations] == [field]


async def test_what_depends_on_the_side_that_gave_way_is_listed(home: Calls) -> None:
    """D12 What is derived from it, and what is about the same subject: as suggestions."""
    fact = type_pb2.Fact(subject="Ada", relation="LIVES_IN", object="Bonn")
    older = await home.add("Ada lives in Bonn", facts=[fact])
    newer = await home.add("Ada lives in Köln")
    derived = await home.add(
        "Ada pays taxes in Bonn", sources=[type_pb2.Source(memory_ids=[older.id])]
    )
    await home.add("Not so", sources=[type_pb2.Source(memory_ids=[newer.id])])
    about = await home.put_edge("Ada", "WORKS_AT", "Uni Bonn")
    kept = await recorded(home, older, newer, conflict_class=EVOLUTION, older_id=older.id)
    confirmed = await review(home, kept, CONFIRM)
    done = await resolve(home, confirmed.conflict, EVOLUTION)

    assert list(confirmed.dependent_ids) == [derived.id, about.id]
    assert list(done.dependent_ids) == [derived.id, about.id]
    assert (await home.get(derived.id)).etag == derived.etag


async def test_dependents_of_an_edge_derive_from_what_states_it(home: Calls) -> None:
    """D12 At most 50, on a hub as well."""
    fact = type_pb2.Fact(subject="Ada", relation="LIVES_IN", object="Bonn")
    said = await home.add("Ada lives in Bonn", facts=[fact])
    derived = await home.add("So", sources=[type_pb2.Source(memory_ids=[said.id])])
    for number in range(60):
        await home.put_edge("Ada", "KNOWS", f"Friend {number}")
    edge = await home.get_triple("Ada", "LIVES_IN", "Bonn")
    other = await home.put_edge("Ada", "LIVES_IN", "Köln")
    kept = await recorded(home, edge, other, conflict_class=EVOLUTION, older_id=edge.id)
    listed = list((await review(home, kept, CONFIRM)).dependent_ids)

    assert (len(listed), listed[0]) == (50, derived.id)
    assert edge.id not in listed


async def test_the_other_side_depends_on_nothing(home: Calls) -> None:
    """D12 The side that stays is about the same subject, and is no suggestion."""
    before = await home.put_edge("Ada", "LIVES_IN", "Bonn")
    now = await home.put_edge("Ada", "LIVES_IN", "Köln")
    kept = await recorded(home, before, now, conflict_class=EVOLUTION, older_id=before.id)

    assert not (await resolve(home, kept, EVOLUTION)).dependent_ids
