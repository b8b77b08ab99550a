"""A request id stands for one request: its effect happens once, its reply can be had again."""

import asyncio

import grpc
import pytest
from concord.graph.v1 import graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import from_rpc_error
from graph_world import (
    DAY,
    SECOND,
    START,
    SUPERSEDES,
    Calls,
    World,
    edge_of,
    micros,
    reason,
    refused,
    stamp,
)


async def test_the_same_request_again_gets_its_reply_and_does_nothing(
    live: World, home: Calls
) -> None:
    """G2 M1 M5 Rebuilt from the revisions that it wrote, whatever happened since."""
    node = graph_pb2.UpsertNodeRequest(request_id="n", node=type_pb2.Node(name="Ann"))
    edge = graph_pb2.UpsertEdgeRequest(request_id="e", edge=edge_of("Ann", "R", "Bob", weight=0.5))
    memory = memory_pb2.AddMemoryRequest(request_id="m", memory=type_pb2.Memory(content="x"))
    first = [
        await home.graph.UpsertNode(node),
        await home.graph.UpsertEdge(edge),
        await home.memory.AddMemory(memory),
    ]
    live.clock.pass_(SECOND)
    await home.put_node("Ann", label="Person")
    await home.put_edge("Ann", "R", "Bob", weight=0.1)
    seq = (await home.changes())[-1].seq
    again = [
        await home.graph.UpsertNode(node),
        await home.graph.UpsertEdge(edge),
        await home.memory.AddMemory(memory),
    ]
    for old, new in zip(first, again, strict=True):
        for reply in (old, new):
            for item in ("edge", "memory"):
                if item in reply.DESCRIPTOR.fields_by_name:
                    getattr(reply, item).relevance_score = 0  # access data is read anew

    assert again == first
    assert await home.changes(after=seq) == []


async def test_another_request_under_the_id_is_refused(live: World, home: Calls) -> None:
    """G2 Ids are a principal's own, per method and space, and kept for seven days."""
    one = graph_pb2.UpsertNodeRequest(request_id="x", node=type_pb2.Node(name="one"))
    two = graph_pb2.UpsertNodeRequest(request_id="x", node=type_pb2.Node(name="two"))
    await home.graph.UpsertNode(one)
    failure = await refused(home.graph.UpsertNode(two))

    assert (failure.reason, failure.metadata) == (
        "ERROR_REASON_REQUEST_ID_REUSED",
        {"request_id": "x"},
    )
    await live.calls(principal="somebody").graph.UpsertNode(two)
    await live.calls("other").graph.UpsertNode(two)
    edge = graph_pb2.UpsertEdgeRequest(request_id="x", edge=edge_of("a", "R", "b"))
    await home.graph.UpsertEdge(edge)
    live.clock.pass_(7 * DAY + SECOND)
    await home.put_node("three")
    assert not (await home.graph.UpsertNode(two)).created


async def test_a_failure_keeps_no_request(home: Calls) -> None:
    """G2 What was refused may be sent again under its id, also changed."""
    bad = graph_pb2.UpsertEdgeRequest(request_id="x", edge=edge_of("a", "SUPERSEDES", "b"))
    good = graph_pb2.UpsertEdgeRequest(request_id="x", edge=edge_of("a", "R", "b"))

    assert await reason(home.graph.UpsertEdge(bad)) == "ERROR_REASON_RESERVED_NAME"
    assert (await home.graph.UpsertEdge(good)).created


async def test_the_same_request_at_once_takes_effect_once(home: Calls) -> None:
    """M5 Twenty at a time: one memory, one reply for all."""
    request = memory_pb2.AddMemoryRequest(request_id="m", memory=type_pb2.Memory(content="x"))
    replies = await asyncio.gather(*(home.memory.AddMemory(request) for _ in range(20)))

    assert all(reply.created for reply in replies)
    assert len({reply.memory.id for reply in replies}) == 1
    assert [change.type for change in await home.changes()] == [1]


async def test_equal_memories_at_once_are_one(home: Calls) -> None:
    """M5 Under different request ids too."""
    replies = await asyncio.gather(
        *(home.add_memory(type_pb2.Memory(content="x")) for _ in range(20))
    )

    assert [reply.created for reply in replies].count(True) == 1
    assert len({reply.memory.id for reply in replies}) == 1


async def test_of_two_updates_of_one_version_one_wins(home: Calls) -> None:
    """G2 The etag is compared in the transaction of the effect."""
    edge = await home.put_edge("a", "R", "b")

    async def attempt(weight: float) -> bool:
        copy = type_pb2.Edge()
        copy.CopyFrom(edge)
        copy.weight = weight
        try:
            await home.update_edge(copy, "weight")
        except grpc.aio.AioRpcError as error:
            return from_rpc_error(error).reason != "ERROR_REASON_ETAG_MISMATCH"
        return True

    won = await asyncio.gather(*(attempt(number / 10) for number in range(1, 9)))
    assert won.count(True) == 1


async def test_ids_of_memories_and_nodes_are_one_kind_of_id(home: Calls) -> None:
    """G13 Unique in a space: a memory cannot take a node's or an edge's id."""
    edge = await home.put_edge("a", "R", "b")
    for item_id in (edge.id, edge.source.id):
        assert await reason(home.add("x", id=item_id)) == "ERROR_REASON_ITEM_EXISTS"


async def test_times_are_kept_to_the_microsecond(home: Calls) -> None:
    """G13 Also before 1970 and far ahead; a Timestamp that is none is refused."""
    for time in (-1, -(10**15) - 1, START + 1, 253_402_300_799_999_999):
        edge = await home.put_edge("a", "R", "b", valid_from=time)
        assert micros(edge.valid_from) == time
    bad = edge_of("a", "R", "c")
    bad.valid_from.seconds = 2**62
    fine = edge_of("a", "R", "c")
    fine.valid_from.CopyFrom(stamp(START))
    fine.valid_from.nanos += 1

    for edge in (bad, fine):
        failure = await refused(home.upsert(edge))
        assert [violation.field for violation in failure.violations] == ["edge.valid_from"]


async def test_a_write_is_seen_by_the_next_read_when_the_clock_steps_back(
    live: World, home: Calls
) -> None:
    """G13 T2 Record time grows with each request; nothing written is in the reader's future."""
    await home.put_node("first")
    live.clock.pass_(-30 * DAY)
    old = await home.put_edge("a", "R", "b")
    new = await home.put_edge("a", "R", "c")
    await home.relate(SUPERSEDES, new.id, old.id)
    memory = await home.add("written in the past")
    newer = await home.add(f"Supersedes: [[memory:{memory.id}]]")
    changes = await home.changes()
    times = [micros(change.record_time) for change in changes]

    assert times == sorted(times)
    assert len(set(times)) == 6
    assert times[0] == START
    assert [n.edge.id for n in (await home.neighbors("a")).neighbors] == [new.id]
    assert (await home.get_edge(old.id)).supersession.is_superseded
    assert (await home.get_triple("a", "R", "b")).id == old.id
    assert (await home.get(memory.id)).supersession.is_superseded
    assert await home.listed() == [newer.id]
    (state,) = await home.states((memory.id, 0))
    assert state.memory.supersession.is_superseded
    assert all(path.edges for path in (await home.paths("a", "c")).paths)
    assert (await home.get_edge(new.id)).relevance_score == pytest.approx(1.0)
