"""Who did what and when: the record of every mutation, and of every refused attempt."""

import pytest
import raw_store
from concord.graph.v1 import episode_pb2, feed_pb2
from concord.graph.v1.space_pb2 import ListOperationsRequest
from concord.type.v1 import type_pb2
from graph_world import DAY, PROTECTED, SUPERSEDES, Calls, Parties, World, micros, reason, stamp

CREATED, UPDATED = feed_pb2.CHANGE_TYPE_CREATED, feed_pb2.CHANGE_TYPE_UPDATED
DELETED, REFUSED = feed_pb2.CHANGE_TYPE_DELETED, feed_pb2.CHANGE_TYPE_REFUSED


async def test_each_mutation_is_told_with_who_what_when_and_digests(
    live: World, home: Calls
) -> None:
    """G14 Newest first; what one operation left is what the next one met."""
    memory = await home.add("Tea is at four.")
    live.clock.pass_(DAY)
    memory.content = "Tea is at five."
    await live.calls(principal="anna").update(memory, "content")
    await home.forget(await home.get(memory.id))

    last, second, first = await home.operations(item_id=memory.id)

    assert [each.type for each in (first, second, last)] == [CREATED, UPDATED, DELETED]
    assert [each.method for each in (first, second, last)] == [
        *("AddMemory", "UpdateMemory", "ForgetMemory"),
    ]
    assert [each.principal for each in (first, second, last)] == ["agent-1", "anna", "agent-1"]
    assert [each.revision for each in (first, second, last)] == [1, 2, 3]
    assert first.before_digest == ""
    assert (second.before_digest, last.before_digest) == (first.after_digest, second.after_digest)
    assert len({first.after_digest, second.after_digest, last.after_digest}) == 3
    assert micros(second.record_time) - micros(first.record_time) == DAY
    assert first.request_id.startswith("r-")
    assert first.item_kind == type_pb2.ITEM_KIND_MEMORY


async def test_consequences_are_told_only_when_asked_for(home: Calls) -> None:
    """G14 What follows from lineage is no operation of its own."""
    old, new = await home.add("Tea is at four."), await home.add("Tea is at six.")
    await home.relate(SUPERSEDES, new.id, old.id)

    by_default = await home.operations(item_id=old.id)
    supersession = [feed_pb2.CHANGE_TYPE_STANDING_CHANGED]
    followed = await home.operations(item_id=old.id, types=supersession)

    assert [each.type for each in by_default] == [CREATED]
    assert [each.type for each in followed] == supersession


async def test_a_refused_attempt_is_an_operation(
    live: World, home: Calls, parties: Parties
) -> None:
    """G14 A1 Who tried to change what defines the agent stands on record, with the reason."""
    creed = await parties.constitutive_memory(home)
    assert await reason(live.calls(principal="mallory").forget(creed)) == PROTECTED

    (tried,) = await home.operations(types=[REFUSED])

    assert (tried.principal, tried.method, tried.item_id) == ("mallory", "ForgetMemory", creed.id)
    assert (tried.revision, tried.after_digest) == (0, "")
    assert tried.reason == PROTECTED


@pytest.mark.parametrize("oldest_first", [False, True])
@pytest.mark.parametrize("size", [1, 3, 50])
async def test_pages_show_every_operation_once(home: Calls, size: int, oldest_first: bool) -> None:
    """G14 Pages join to the whole, also while others write."""
    for number in range(7):
        await home.put_node(f"node {number}")
    before = await home.operations(oldest_first=oldest_first)

    seen: list[int] = []
    token = ""
    while True:
        request = ListOperationsRequest(
            page_size=size, page_token=token, oldest_first=oldest_first, before=stamp(2**52)
        )
        reply = await home.space_service.ListOperations(request)
        seen += [each.seq for each in reply.operations]
        token = reply.next_page_token
        if not token:
            break
        if not oldest_first:
            await home.put_node(f"later {len(seen)}")

    assert seen == [each.seq for each in before]
    assert sorted(seen, reverse=not oldest_first) == seen


async def test_filters_join(live: World, home: Calls) -> None:
    """G14 Item kind, principal, type and record time; every part must match."""
    times = []
    for number in range(5):
        times.append(live.clock.now)
        await live.calls(principal=f"p{number % 2}").put_node(f"n{number}")
        await live.calls(principal=f"p{number % 2}").add(f"m{number}")
        live.clock.pass_(DAY)
    node = type_pb2.ITEM_KIND_NODE

    of_nodes = await home.operations(item_kinds=[node])
    mine = await home.operations(item_kinds=[node], principal="p1")
    within = await home.operations(since=stamp(times[1]), before=stamp(times[3]))
    at_the_edge = await home.operations(since=within[-1].record_time, before=within[0].record_time)
    nothing = await home.operations(types=[DELETED])

    assert len(of_nodes) == 5
    assert [each.principal for each in mine] == ["p1", "p1"]
    assert len(within) == 4
    assert [each.seq for each in at_the_edge] == [each.seq for each in within[1:]]
    assert nothing == []


async def test_a_time_between_is_found_in_every_place(live: World, home: Calls) -> None:
    """G14 The search for the first operation of a time agrees with looking at all of them."""
    for number in range(9):
        await home.put_node(f"n{number}")
        live.clock.pass_(10 * (number % 3))
    times = [micros(each.record_time) for each in await home.operations(oldest_first=True)]

    for time in range(times[0] - 2, times[-1] + 3):
        since = await home.operations(since=stamp(time))
        before = await home.operations(before=stamp(time))
        assert (len(since), len(before)) == (
            sum(at >= time for at in times),
            sum(at < time for at in times),
        )


async def test_the_record_holds_no_content(live: World, home: Calls) -> None:
    """G14 M4 Rows of the record carry ids, revisions, kinds and digests, and who wrote: those of
    memories, turns, episodes and what is held in mind, evicted ones too."""
    await home.add("A zorblax in the pantry.", tags=["quuxly"])
    await home.append("s", ("Ada", "A zorblax!"))
    for number in range(11):
        await home.hold(f"zorblax {number}")
    episode = episode_pb2.AddEpisodeRequest(request_id="e", query="zorblax", reflection="quuxly")
    episode.reward = 0
    await home.episode.AddEpisode(episode)

    rows, changes = raw_store.records(live.path), await home.changes()

    methods = ("AddMemory", "AppendDialogue", "PutWorkingMemory", "AddEpisode")
    assert all(word in rows for word in ("agent-1", *methods))
    assert not any(word in rows for word in ("zorblax", "pantry", "quuxly"))
    assert {change.item_kind for change in changes} == {
        type_pb2.ITEM_KIND_MEMORY,
        type_pb2.ITEM_KIND_EPISODE,
        type_pb2.ITEM_KIND_WORKING_MEMORY,
    }
    assert all(change.digest for change in changes)
