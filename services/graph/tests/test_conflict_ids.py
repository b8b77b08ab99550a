"""Open conflicts by id wherever their sides are read (D5)."""

from concord.graph.v1 import conflict_pb2 as pb
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from conflict_world import (
    CONFIRM,
    CONTRADICTION,
    DISMISS,
    RECLASSIFY,
    UNDECIDED,
    finding,
    get,
    listed,
    record,
    recorded,
    reopen,
    resolve,
    review,
)
from graph_world import Calls, World, known_at, micros


async def test_a_memory_names_its_open_conflicts_wherever_it_is_read(home: Calls) -> None:
    """D5 By id, in lists, and for the index; potential and confirmed ones, newest first."""
    one, other, third = [await home.add(word) for word in "abc"]
    first, second = [await recorded(home, one, each) for each in (other, third)]
    await review(home, first, CONFIRM)
    lists = await home.memory.ListMemories(memory_pb2.ListMemoriesRequest())
    (state,) = await home.states((one.id, 0))

    assert list((await home.get(one.id)).conflict_ids) == [second.id, first.id]
    assert {m.id: list(m.conflict_ids) for m in lists.memories}[other.id] == [first.id]
    assert list(state.memory.conflict_ids) == [second.id, first.id]


async def test_an_edge_names_its_open_conflicts_wherever_it_is_read(home: Calls) -> None:
    """D5 By id, by triple and among neighbours, at one hop and at more."""
    one, other = [await home.put_edge("Ada", "LIVES_IN", town) for town in ("Bonn", "Köln")]
    kept = await recorded(home, one, other)
    near = (await home.neighbors("Ada")).neighbors
    far = (await home.neighbors("Ada", depth=2)).neighbors

    assert list((await home.get_edge(one.id)).conflict_ids) == [kept.id]
    assert list((await home.get_triple("Ada", "LIVES_IN", "Köln")).conflict_ids) == [kept.id]
    assert [list(each.edge.conflict_ids) for each in (*near, *far)] == [[kept.id]] * 4


async def test_a_number_stands_for_the_id(home: Calls) -> None:
    """D5 Wherever a request names a conflict; each has its own, and keeps it."""
    one, other, third = [await home.add(word) for word in "abc"]
    first, second = await record(home, finding(one, other), finding(one, third))
    conflict = await get(home, str(first.number))
    by_number = pb.Conflict(id=str(first.number), etag=conflict.etag)
    resolved = (await resolve(home, by_number, CONTRADICTION, superseded_id=one.id)).conflict
    lineage = await home.get_edge(resolved.resolution.record_id)
    back = await reopen(home, pb.Conflict(id=str(first.number), etag=resolved.etag))
    by_number.etag = back.etag
    reviewed = (await review(home, by_number, DISMISS)).conflict

    assert first.number != second.number
    assert {conflict.id, resolved.id, back.id, reviewed.id} == {first.conflict_id}
    assert {conflict.number, resolved.number, reviewed.number} == {first.number}
    assert lineage.properties["conflict_id"] == first.conflict_id
    for name in (str(second.number + 1), "9" * 30):
        unknown = await home.conflict.GetConflict(pb.GetConflictRequest(id=name))
        assert unknown.status == type_pb2.LOOKUP_STATUS_NOT_FOUND


async def test_what_no_judge_could_decide_is_named_nowhere(home: Calls) -> None:
    """D3 UNDECIDED stands in lists of conflicts alone, until somebody says what it is."""
    one, other = await home.add("a"), await home.add("b")
    kept = await recorded(home, one, other, conflict_class=UNDECIDED)
    before = await home.get(one.id)
    await review(home, kept, RECLASSIFY, conflict_class=CONTRADICTION)

    assert await listed(home, item_ids=[one.id]) == [kept.id]
    assert list(before.conflict_ids) == []
    assert list((await home.get(one.id)).conflict_ids) == [kept.id]


async def test_what_is_no_longer_open_is_not_named(home: Calls, live: World) -> None:
    """D5 T3 A dismissed one is not, but was, as it was known."""
    one, other = await home.add("a"), await home.add("b")
    kept = await recorded(home, one, other)
    live.clock.pass_(1_000_000)
    await review(home, kept, DISMISS)
    request = memory_pb2.GetMemoryRequest(id=one.id, as_of=known_at(micros(kept.create_time)))

    assert list((await home.get(one.id)).conflict_ids) == []
    assert list((await home.memory.GetMemory(request)).memory.conflict_ids) == [kept.id]


async def test_at_most_twenty_are_named_the_newest(home: Calls) -> None:
    """D5 A hub of disagreement keeps its replies small; ListConflicts has them all."""
    hub = await home.add("hub")
    others = [await home.add(f"other {number}") for number in range(22)]
    found = await record(home, *[finding(hub, each) for each in others])
    ids = [each.conflict_id for each in found]

    assert list((await home.get(hub.id)).conflict_ids) == ids[:1:-1]
    assert (await get(home, ids[0])).id == ids[0]
