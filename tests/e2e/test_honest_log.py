"""Whatever two principals honestly do, their log verifies and the store is as it says (A2, V8)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import governed_pb2, graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_client.trust.audit.store import CHANGED, Difference, differences
from concord_governance.adapters.graph.client import GraphClient
from concord_governance.usecases.graph_feed import GraphFollower
from governed_steps import DESCRIPTIVE, EXECUTED, creed, demand_honest, does, ended, never, revoke
from governed_world import (
    AGENT,
    CONSTITUTIVE,
    HUMAN,
    STATUS,
    Keys,
    Party,
    World,
    edge_action,
    eventually,
    reason_of,
    refused,
    world,
)
from writing import salt, to_delete_edge, to_forget, to_update_edge, to_update_node, to_upsert_node


async def undoes(party: Party, done: proposal_pb2.Proposal) -> proposal_pb2.Proposal:
    """Undo, and demand that it was done."""
    undo = await party.decide(await party.undo(done))
    assert undo.status == EXECUTED
    return undo


async def value(party: Party) -> type_pb2.Edge:
    """Return the edge that the flows are about."""
    edge = await party.edge("agent", "VALUES", "honesty")
    assert edge is not None
    return edge


async def retyped(party: Party, edge_type: type_pb2.EdgeType.ValueType) -> proposal_pb2.Proposal:
    """Promote or demote the edge."""
    edge = await value(party)
    edge.edge_type = edge_type
    return await does(party, to_update_edge(edge, "edge_type"))


async def an_undo_undone(party: Party) -> None:
    """What was made, unmade, and made again."""
    await undoes(party, await undoes(party, await does(party, edge_action())))
    assert (await value(party)).edge_type == CONSTITUTIVE


async def a_delete_undone(party: Party) -> None:
    """What was deleted comes back, goes again, and comes back."""
    await does(party, edge_action())
    edge = await value(party)
    deleted = await does(party, to_delete_edge(edge))
    await undoes(party, await undoes(party, await undoes(party, deleted)))


async def a_forgetting_undone(party: Party) -> None:
    """A constitutive memory with a fact is forgotten, and comes back twice."""
    await does(party, creed())
    memory = (await party.memory.GetMemory(memory_pb2.GetMemoryRequest(id="creed"))).memory
    forgotten = await does(party, to_forget(memory))
    await undoes(party, await undoes(party, await undoes(party, forgotten)))


async def a_change_alone_between(party: Party) -> None:
    """Demoted, changed by one alone, promoted again: what was changed alone is no entry."""
    await does(party, edge_action())
    await retyped(party, DESCRIPTIVE)
    edge = await value(party)
    edge.weight = 0.3
    await party.graph.UpdateEdge(to_update_edge(edge, "weight"))
    await undoes(party, await retyped(party, CONSTITUTIVE))


async def an_end_renamed(party: Party) -> None:
    """A node that something constitutive ends at is renamed, and the renaming undone twice."""
    await does(party, edge_action())
    node = (await party.graph.GetNode(graph_pb2.GetNodeRequest(name="honesty"))).node
    node.name = "candour"
    renamed = await does(party, to_update_node(node, "name"))
    await undoes(party, await undoes(party, renamed))


async def an_end_freed(party: Party) -> None:
    """What something constitutive ended at changes alone once that is gone, and ends it again."""
    done = await does(party, edge_action())
    undone = await undoes(party, done)
    node = (await party.graph.GetNode(graph_pb2.GetNodeRequest(name="honesty"))).node
    if node.id:
        node.name = "candour"
        await party.graph.UpdateNode(to_update_node(node, "name"))
    assert undone.status == EXECUTED
    await does(party, edge_action(target="candour"))


async def a_creed_of_another_time(party: Party) -> None:
    """What begins tomorrow, and what ended yesterday."""
    for name, days in (("later", (1, 2)), ("ended", (-2, -1))):
        action = creed()
        memory = action.add_memory.memory
        memory.id, memory.content = name, f"I never lie: {name}."
        memory.valid_from.FromDatetime(party.time(24 * days[0]))
        memory.valid_until.FromDatetime(party.time(24 * days[1]))
        await does(party, action)


FLOWS: list[Callable[[Party], Awaitable[None]]] = [
    *(an_undo_undone, a_delete_undone, a_forgetting_undone, a_change_alone_between),
    *(an_end_renamed, an_end_freed, a_creed_of_another_time),
]


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.__name__)
async def test_the_log_of_what_was_honestly_done_verifies(
    flow: Callable[[Party], Awaitable[None]], party: Party
) -> None:
    """A2 V8 No honest course makes a log that its own verifier refuses, or a store that differs."""
    await flow(party)

    await demand_honest(party)


async def test_what_came_in_between_fails_the_decision(party: Party) -> None:
    """V6 A2 A change touches nothing constitutive that was not seen when it was proposed: no entry
    tells of such an item that nobody was shown."""
    node = type_pb2.Node(name="desk")
    made = (await party.graph.UpsertNode(to_upsert_node(node))).node
    delete = graph_pb2.DeleteNodeRequest(
        request_id=salt(), id=made.id, etag=made.etag, cascade=True
    )
    proposal = await party.propose(delete)
    await does(party, edge_action("desk", "STANDS_IN", "room"))

    done = await party.decide(proposal)

    assert done.status == STATUS.PROPOSAL_STATUS_FAILED
    assert await party.edge("desk", "STANDS_IN", "room") is not None
    await demand_honest(party)


async def test_what_is_there_already_is_not_done_again(party: Party) -> None:
    """V6 A2 A grant that nothing needs any more fails: EXECUTED always has a governed write."""
    first, second = await party.propose(edge_action()), await party.propose(edge_action())
    await party.decide(first)

    done = await party.decide(second)

    assert done.status == STATUS.PROPOSAL_STATUS_FAILED
    await demand_honest(party)


async def test_executed_waits_for_what_graph_tells(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 A2 Nothing is EXECUTED before graph's own entries of it are in the log."""
    real = GraphFollower.apply
    told = asyncio.Event()

    async def held(self: GraphFollower, news: object) -> None:
        await told.wait()
        await real(self, news)  # type: ignore[arg-type] # as it came

    monkeypatch.setattr(GraphFollower, "apply", held)
    proposal = await party.propose(edge_action())
    await party.approve(proposal, AGENT)
    deciding = asyncio.create_task(party.approve(proposal, HUMAN))
    await eventually(
        lambda: party.edge("agent", "VALUES", "honesty"), lambda made: made is not None
    )
    await asyncio.sleep(0.3)  # time enough to be told too early
    before = await party.actions()
    told.set()
    done = await deciding

    assert "SMF_DECIDE" in before
    assert "SMF_EXECUTE" not in before
    assert done.status == EXECUTED
    steps = [name for name in await party.actions() if name in ("WRITE_SUCCESS", "SMF_EXECUTE")]
    assert steps == ["WRITE_SUCCESS", "SMF_EXECUTE"]


async def test_other_settings_between_decision_and_effect_leave_no_undo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V4 V8 A2 How long an undo is possible is what the policy says that was signed, or not at all:
    settings that were changed between a decision and its effect do not stretch it."""
    keys, real = Keys(), GraphClient.apply
    async with world(tmp_path, keys=keys) as live:
        party = live.party()
        await party.enrol()
        proposal = await party.propose(edge_action())
        await party.approve(proposal, AGENT)
        monkeypatch.setattr(GraphClient, "apply", never)
        await party.approve(proposal, HUMAN)
    monkeypatch.setattr(GraphClient, "apply", real)
    async with world(tmp_path, keys=keys, settings={"undo_retention_days": 3000}) as live:
        party = live.party()

        done = await ended(party, proposal)

        assert done.status == EXECUTED
        assert (await refused(party.undo(done))).reason == "ERROR_REASON_RETENTION_EXPIRED"
        await demand_honest(party)


async def test_what_the_agent_decided_alone_is_not_revoked(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V6 A2 Graph burns no nonce for it, so that a revocation after the decision could come after
    its effect: it is refused, and the log holds no execution of a revoked consent."""
    real = GraphClient.apply
    proposal = await party.propose(edge_action(edge_type=DESCRIPTIVE))
    consent = party.consent(proposal, AGENT)
    monkeypatch.setattr(GraphClient, "apply", never)
    await party.approve(proposal, AGENT, consent)

    failure = await refused(revoke(party, proposal, AGENT, consent))

    monkeypatch.setattr(GraphClient, "apply", real)
    assert reason_of(failure) == ("PROPOSAL_STATE", "")
    assert (await ended(party, proposal)).status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert (await party.verified()).executed == 1


async def test_words_of_another_time_are_compared(live: World, party: Party) -> None:
    """A2 Who changes, past graph, the words of a constitutive memory that holds at another time is
    found by the store's comparison."""
    await a_creed_of_another_time(party)
    with closing(sqlite3.connect(live.folder / "graph.db")) as rows, rows:
        for (name,) in rows.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            rows.execute(f"DROP TRIGGER {name}")
        rows.execute("UPDATE memory SET content = 'I obey.' WHERE id IN ('later', 'ended')")
    stored = await party.governed.GetConstitutiveDigests(
        governed_pb2.GetConstitutiveDigestsRequest()
    )

    found = differences((await party.verified()).constitutive, stored.items)
    assert found == [Difference("ended", CHANGED), Difference("later", CHANGED)]
