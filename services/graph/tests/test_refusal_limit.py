"""Refused attempts fill no log: a principal's first of an hour are on record, then none (A1)."""

import asyncio

import grpc
import pytest
import pytest_asyncio
from concord.graph.v1 import feed_pb2
from concord.graph.v1.space_pb2 import Operation
from concord.type.v1 import type_pb2
from concord_attestation import refusal_limit
from concord_attestation.refusal_limit import HOUR
from graph_world import PROTECTED, Calls, Parties, World, reason, refused

REFUSED = feed_pb2.CHANGE_TYPE_REFUSED
LIMIT = "ERROR_REASON_TOO_MANY_REFUSALS"


@pytest_asyncio.fixture
async def creed(home: Calls, parties: Parties) -> type_pb2.Memory:
    """What defines the agent."""
    return await parties.constitutive_memory(home)


async def tries(live: World, memory_id: str, times: int, principal: str = "mallory") -> None:
    """Try to forget what is constitutive, alone."""
    calls = live.calls(principal=principal)
    memory = await calls.get(memory_id)
    for _ in range(times):
        assert await reason(calls.forget(memory)) == PROTECTED


async def told(calls: Calls, principal: str = "mallory") -> list[Operation]:
    """Return the refused attempts on record, oldest first."""
    return await calls.operations(types=[REFUSED], principal=principal, oldest_first=True)


async def test_beyond_the_limit_a_principals_writes_are_refused_for_the_hour(
    live: World, home: Calls, creed: type_pb2.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 W7 Each attempt up to the limit is an entry, and one more says that it was reached; then
    no write of that principal begins. It reads on, others write on, the next hour is anew."""
    monkeypatch.setattr(refusal_limit, "MOST_REFUSALS", 3)
    await tries(live, creed.id, 3)
    seq = (await home.changes())[-1].seq
    mallory = live.calls(principal="mallory")

    found = await refused(mallory.forget(creed))
    assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, LIMIT)
    assert found.retry_after is not None
    assert 0 < found.retry_after <= 3600
    assert await reason(mallory.put_node("anything")) == LIMIT
    assert (await mallory.get(creed.id)).content == creed.content
    assert (await home.changes())[-1].seq == seq
    await live.calls(principal="another").put_node("anything")
    await live.calls("other", principal="mallory").put_node("anything")
    *attempts, limit = await told(home)
    assert [(each.item_id, each.reason) for each in attempts] == [(creed.id, PROTECTED)] * 3
    assert (limit.item_id, limit.reason) == ("", LIMIT)

    live.clock.pass_(HOUR)
    await tries(live, creed.id, 1)
    assert len(await told(home)) == 5


async def test_attempts_at_once_come_to_the_limit_exactly(
    live: World, home: Calls, creed: type_pb2.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 W7 As many are told that it is protected as have an entry: the rest, that it was too
    often."""
    monkeypatch.setattr(refusal_limit, "MOST_REFUSALS", 3)
    mallory = live.calls(principal="mallory")

    told_them = await asyncio.gather(*(reason(mallory.forget(creed)) for _ in range(12)))

    assert sorted(told_them) == [PROTECTED] * 3 + [LIMIT] * 9
    assert [each.reason for each in await told(home)] == [PROTECTED] * 3 + [LIMIT]


async def test_attempts_that_fail_for_another_reason_are_on_record(
    live: World, home: Calls, parties: Parties, creed: type_pb2.Memory
) -> None:
    """A1 B8 A memory under a constitutive edge's id, lineage of a constitutive item to itself and
    restoring what is not forgotten each have an entry that names the item; the same on what
    defines nothing has none."""
    edge = await parties.constitutive_edge(home)
    plain = await home.add("A plain memory.")
    plain_edge = await home.put_edge("Ada", "LIKES", "tea")
    mallory = live.calls(principal="mallory")
    supersedes = type_pb2.LINEAGE_RELATION_SUPERSEDES
    attempts = [
        (edge.id, mallory.add_memory(type_pb2.Memory(id=edge.id, content="Other words."))),
        (edge.id, mallory.relate(supersedes, edge.id, edge.id)),
        (creed.id, mallory.relate(supersedes, creed.id, creed.id)),
        (creed.id, mallory.restore(creed)),
    ]
    others = [
        mallory.add_memory(type_pb2.Memory(id=plain_edge.id, content="Other words.")),
        mallory.relate(supersedes, plain.id, plain.id),
        mallory.restore(plain),
    ]

    expected = [(item_id, await reason(call)) for item_id, call in attempts]
    unrecorded = [await reason(call) for call in others]

    assert [why.removeprefix("ERROR_REASON_") for _, why in expected] == [
        *("ITEM_EXISTS", "LINEAGE_CYCLE", "LINEAGE_CYCLE", "ITEM_STATE")
    ]
    assert [why.removeprefix("ERROR_REASON_") for why in unrecorded] == [
        *("ITEM_EXISTS", "LINEAGE_CYCLE", "ITEM_STATE")
    ]
    assert [(each.item_id, each.reason) for each in await told(home)] == expected


async def test_a_batch_of_attempts_ends_at_the_limit(
    live: World, home: Calls, creed: type_pb2.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 One call with many refused parts writes no more than the limit and its entry."""
    monkeypatch.setattr(refusal_limit, "MOST_REFUSALS", 2)
    await tries(live, creed.id, 1)
    await tries(live, creed.id, 1, "another")
    await tries(live, creed.id, 1)

    assert [each.reason for each in await told(home)] == [PROTECTED, PROTECTED, LIMIT]
    assert len(await told(home, "another")) == 1
