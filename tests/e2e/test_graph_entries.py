"""What an entry about graph's own events says: who, when, what (A1, A3)."""

from __future__ import annotations

import asyncio

import pytest
from concord.governance.v1 import audit_pb2
from concord.graph.v1 import graph_pb2_grpc, memory_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from concord_governance.ports.graph import FeedMessage
from concord_governance.usecases.graph_feed import GraphFollower
from governed_steps import creed, does
from governed_world import HOUR, SCOPES, SECOND, Party, World, edge_action, eventually, refused
from writing import salt, to_delete_edge


@pytest.mark.parametrize(("kind", "who"), [("HUMAN", "ada"), ("SYSTEM", "search")])
async def test_an_entry_says_who_was_refused_and_when(
    kind: str, who: str, live: World, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 A3 What kind of caller it was stands in its credential, and when it tried is graph's own
    record time, however late the log heard of it."""
    await party.decide(await party.propose(edge_action()))
    edge = await party.edge("agent", "VALUES", "honesty")
    assert edge is not None
    real, told = GraphFollower.apply, asyncio.Event()

    async def held(self: GraphFollower, news: FeedMessage) -> None:
        await told.wait()
        await real(self, news)

    monkeypatch.setattr(GraphFollower, "apply", held)
    stub = graph_pb2_grpc.GraphServiceStub(live.graph.channel(Caller("one", who, SCOPES, kind)))
    await refused(stub.DeleteEdge(to_delete_edge(edge)))
    tried = live.clock.now
    live.clock.pass_(5 * HOUR)
    told.set()
    actor = type_pb2.PrincipalKind.Value(f"PRINCIPAL_KIND_{kind}")
    attempt = audit_pb2.AuditAction.AUDIT_ACTION_DELETE_ATTEMPT

    (entry,) = await eventually(lambda: party.entries(actor=actor, actions=[attempt]))

    assert (entry.actor, entry.principal) == (actor, who)
    assert abs(entry.record_time.ToMicroseconds() - tried) < SECOND
    assert entry.time.ToMicroseconds() >= tried + 5 * HOUR
    then, now = party.time(-5), party.time(0)
    assert list(await party.entries(since=then, until=now, actions=[attempt])) == [entry]
    assert not await party.entries(since=now, actions=[attempt])
    await party.verified()


async def test_an_erasure_is_a_deletion(party: Party) -> None:
    """A1 A3 What both agreed to erase is listed with the deletions, as an attempt at it is."""
    await does(party, creed())
    memory = (await party.memory.GetMemory(memory_pb2.GetMemoryRequest(id="creed"))).memory
    erase = memory_pb2.EraseMemoryRequest(
        request_id=salt(), id="creed", etag=memory.etag, reason="asked for"
    )
    await does(party, erase)
    removed = audit_pb2.AuditAction.AUDIT_ACTION_DELETE_SUCCESS

    found = await party.entries(actions=[removed], item_id="creed")

    assert [each.action for each in found] == [removed]
    assert (await party.verified()).executed == 2


async def test_an_added_item_has_its_governance(party: Party) -> None:
    """A1 A3 What a proposal made has no id before it is made; its entries are found by it all the
    same, as those of each of several items are."""
    await does(party, edge_action())
    edge = await party.edge("agent", "VALUES", "honesty")
    assert edge is not None

    for item_id in (edge.id, edge.target.id):
        found = await party.entries(item_id=item_id)
        told = [audit_pb2.AuditAction.Name(each.action) for each in reversed(found)]
        steps = [name.removeprefix("AUDIT_ACTION_") for name in told]
        assert [name for name in steps if name.startswith("SMF")] == [
            *("SMF_PROPOSE", "SMF_APPROVE", "SMF_APPROVE", "SMF_DECIDE", "SMF_EXECUTE"),
        ]
    assert "WRITE_SUCCESS" in [
        audit_pb2.AuditAction.Name(each.action).removeprefix("AUDIT_ACTION_")
        for each in await party.entries(item_id=edge.id)
    ]
    assert not await party.entries(item_id="another")
