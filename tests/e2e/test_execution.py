"""Carrying out: once, whatever happens in between (V6, design 5)."""

import asyncio
import io
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import relation_pb2
from concord.type.v1 import type_pb2
from concord_chassis.observe.log import json_lines
from concord_chassis.server import background
from concord_governance.adapters.graph.client import GraphClient
from concord_governance.domain.errors import GraphFaulty, LedgerBusy
from concord_governance.ports.graph import AppliedChange
from concord_governance.usecases import execution, graph_feed
from concord_governance.usecases.graph_feed import GraphFollower
from concord_graph.usecases.governed.apply import GovernedChanges
from governed_steps import Applying, ended, lost, never
from governed_world import (
    AGENT,
    CONSTITUTIVE,
    DAY,
    HOUR,
    HUMAN,
    SECONDS,
    STATUS,
    Clock,
    Keys,
    Party,
    World,
    edge_action,
    eventually,
    refused,
    request_id,
    world,
)
from writing import action_of, salt, to_upsert_node

T = TypeVar("T")
DECISIONS, WAITERS = 4, 20
DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE


async def test_an_answer_that_was_lost_is_asked_for_however_late(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V6 No effect without its entry: graph says what it did when its other receipts are gone;
    until then who consents last is told APPROVED."""
    real: Applying = GraphClient.apply
    proposal = await party.propose(edge_action())
    await party.approve(proposal, AGENT)
    monkeypatch.setattr(GraphClient, "apply", lost(real))
    waiting = await party.approve(proposal, HUMAN)
    party.clock.pass_(30 * DAY)
    beside = to_upsert_node(type_pb2.Node(name="whatever clears old receipts"))
    await party.graph.UpsertNode(beside)
    monkeypatch.setattr(GraphClient, "apply", real)

    done = await ended(party, proposal)

    assert waiting.status == STATUS.PROPOSAL_STATUS_APPROVED
    assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert (await party.verified()).executed == 1


async def test_a_decision_found_expired_fails(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V6 A consent that ran out before its effect makes the decision FAILED: nothing is done."""
    real: Applying = GraphClient.apply
    proposal = await party.propose(edge_action())
    await party.approve(proposal, AGENT)
    monkeypatch.setattr(GraphClient, "apply", never)
    await party.approve(proposal, HUMAN)
    party.clock.pass_(2 * HOUR)
    monkeypatch.setattr(GraphClient, "apply", real)

    done = await ended(party, proposal)

    assert (done.status, done.failure_reason) == (
        STATUS.PROPOSAL_STATUS_FAILED,
        "ERROR_REASON_GRANT_INVALID",
    )
    assert done.failed_check == "expiry"
    assert await party.edge("agent", "VALUES", "honesty") is None
    assert (await party.verified()).executed == 0


async def test_a_decision_that_is_stuck_keeps_no_other_waiting(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V6 What fails at one decision is tried again; those behind it come to their end. Who decides
    while graph does not answer is told APPROVED, and the effect follows."""
    real: Applying = GraphClient.apply

    async def stuck(
        self: GraphClient, revision: Any, decision: Any, *, expected_state: Any
    ) -> AppliedChange:
        if revision.action["upsert_edge"]["edge"]["target"]["name"] == "first":
            raise LedgerBusy
        return await real(self, revision, decision, expected_state=expected_state)

    monkeypatch.setattr(GraphClient, "apply", never)
    both = [await party.propose(edge_action(target=name)) for name in ("first", "second")]
    waiting = [await party.decide(each) for each in both]
    monkeypatch.setattr(GraphClient, "apply", stuck)

    done = await ended(party, both[1])

    assert {each.status for each in waiting} == {STATUS.PROPOSAL_STATUS_APPROVED}
    assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert await party.edge("agent", "VALUES", "second") is not None
    assert (await party.get(both[0])).status == STATUS.PROPOSAL_STATUS_APPROVED


async def test_concurrent_approvals_both_count_once(party: Party) -> None:
    """V7 Two approvals at once are two consents and one effect."""

    proposals = [await party.propose(edge_action(target=f"value {n}")) for n in range(5)]
    await asyncio.gather(
        *(party.approve(each, slot) for each in proposals for slot in (AGENT, HUMAN))
    )

    for each in proposals:
        done = await party.get(each)
        assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
    told = await party.actions()
    assert told.count("SMF_EXECUTE") == told.count("SMF_DECIDE") == 5


async def test_the_same_approval_at_once_counts_once(party: Party) -> None:
    """V7 One request sent twice at the same time is one consent."""

    proposal = await party.propose(edge_action())
    await party.approve(proposal, AGENT)
    approve = proposal_pb2.ApproveProposalRequest(
        request_id=request_id(), proposal_id=proposal.id, consent=party.consent(proposal, HUMAN)
    )

    replies = await asyncio.gather(
        *(party.proposals.ApproveProposal(approve) for _ in range(4)), return_exceptions=True
    )

    assert not [each for each in replies if isinstance(each, BaseException)]
    assert (await party.actions()).count("SMF_EXECUTE") == 1


async def test_what_is_declared_is_declared_otherwise(party: Party) -> None:
    """V1 T2 A relation's cardinality is proposed, carried out, and proposed the other way round."""
    for functional in (True, False, True):
        action = action_of(
            relation_pb2.DeclareRelationRequest(
                request_id=salt(), name="LIVES_IN", functional=functional
            )
        )
        done = await party.approve(await party.propose(action), AGENT)

        assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED


async def test_a_ledger_that_was_busy_is_written_to_later(
    party: Party, live: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 While the ledger cannot be written graph is not followed, and then from where it was."""
    tried = asyncio.Event()

    async def busy(*_: object) -> None:
        tried.set()
        raise LedgerBusy

    with monkeypatch.context() as patched:
        patched.setattr(live.app._ledger, "write", busy)
        await refused(party.graph.UpsertEdge(edge_action().upsert_edge))
        await asyncio.wait_for(tried.wait(), SECONDS)
    told = await eventually(party.actions, lambda told: "WRITE_ATTEMPT" in told)

    assert told.count("WRITE_ATTEMPT") == 1
    await eventually(live.app.ready)


@pytest.mark.parametrize("edge_type", [DESCRIPTIVE, CONSTITUTIVE])
async def test_a_decision_that_graph_always_fails_at_comes_to_its_end(
    party: Party, monkeypatch: pytest.MonkeyPatch, edge_type: type_pb2.EdgeType.ValueType
) -> None:
    """V6 A fault of graph's is tried again, but not for ever: then the decision is FAILED."""
    tries = 0

    async def broken(*_: object, **__: object) -> None:
        nonlocal tries
        tries += 1
        raise KeyError("a bug of graph's")

    monkeypatch.setattr(execution, "MOST_FAULTS", 3)
    monkeypatch.setattr(GovernedChanges, "change", broken)
    after = await party.decide(await party.propose(edge_action(edge_type=edge_type)))
    assert after.status == STATUS.PROPOSAL_STATUS_APPROVED
    after = await ended(party, after)

    assert (after.status, after.failure_reason) == (
        STATUS.PROPOSAL_STATUS_FAILED,
        "ERROR_REASON_INTERNAL",
    )
    assert tries == 3
    assert (await party.actions())[-1] == "SMF_FAIL"
    await party.verified()


async def test_what_was_done_is_no_failure(party: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    """V6 When graph only cannot answer for what it did, the log tells of it, and it is EXECUTED."""
    real: Applying = GraphClient.apply
    tries = 0

    async def done_and_failed(self: GraphClient, *args: Any, **named: Any) -> AppliedChange:
        nonlocal tries
        done = await real(self, *args, **named)
        tries += 1
        if tries > 5:
            return done
        raise GraphFaulty("no answer")

    monkeypatch.setattr(execution, "MOST_FAULTS", 2)
    monkeypatch.setattr(GraphClient, "apply", done_and_failed)
    after = await ended(party, await party.decide(await party.propose(edge_action())))

    assert after.status == STATUS.PROPOSAL_STATUS_EXECUTED
    await party.verified()


@pytest.mark.parametrize("work", ["write", "waiting"])
async def test_what_died_of_a_bug_is_told(
    work: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1 V6 Who follows graph or completes decisions no more is named, with why, and begins again;
    a bug in one space's work does not keep the others from being served."""
    said = io.StringIO()
    monkeypatch.setattr(background, "WELL_AFTER", 0.2)

    async def broken(*_: object, **__: object) -> None:
        raise KeyError("a bug of ours")

    log = json_lines("governance", stream=said)
    async with world(tmp_path, keys=Keys(), clock=Clock(), log=log) as live:
        party = live.party()
        await party.enrol()
        await eventually(live.app.ready)
        tasks = live.app.background
        with monkeypatch.context() as patched:
            patched.setattr(live.app._ledger, work, broken)
            await refused(party.graph.UpsertEdge(edge_action().upsert_edge))
            failing = await eventually(lambda: _now(tasks.failing))
            if work == "waiting":
                await eventually(lambda: _now(tasks.is_stuck))
        await eventually(lambda: _now(not tasks.failing))
        assert not tasks.is_stuck
        assert await party.entries()

    name = {"write": "follow graph", "waiting": "complete decisions"}[work]
    assert {name} == set(failing)
    assert failing[name].startswith("KeyError at ")
    assert f'"task": "{name}"' in said.getvalue()
    assert "a bug of ours" in said.getvalue()


async def _now(value: T) -> T:
    return value


async def test_decisions_wait_for_a_feed_that_lags_and_a_ledger_that_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V6 B1 No wait kills the task that completes decisions: each ends once the feed is there."""
    said, arrived = io.StringIO(), asyncio.Event()
    applied: Callable[..., Awaitable[None]] = GraphFollower.apply

    async def lags(self: GraphFollower, message: Any) -> None:
        await arrived.wait()
        await applied(self, message)

    monkeypatch.setattr(graph_feed, "_REACH_SECONDS", 0.2)
    monkeypatch.setattr(graph_feed, "_RETRY_SECONDS", 0.05)
    log = json_lines("governance", stream=said, level="warning")
    async with world(tmp_path, keys=Keys(), clock=Clock(), log=log) as live:
        party = live.party()
        await party.enrol()
        proposals = [
            await party.approve(await party.propose(edge_action(target=f"n{n}")), AGENT)
            for n in range(DECISIONS)
        ]
        ledger = live.app._ledger
        read = ledger.read

        async def slow(*args: Any, **named: Any) -> Any:
            await asyncio.sleep(random.uniform(0.0, 0.06))
            return await read(*args, **named)

        monkeypatch.setattr(GraphFollower, "apply", lags)
        monkeypatch.setattr(ledger, "read", slow)
        waiting = await asyncio.gather(*(party.approve(each, HUMAN) for each in proposals))
        for _ in range(5):  # the task that completes them waits, too, and in vain
            reached = await asyncio.gather(
                *(live.app._follower.wait_for("one", "of another store", 1) for _ in range(WAITERS))
            )
            assert not any(reached)
        arrived.set()
        done = [await ended(party, each) for each in proposals]

        assert {each.status for each in waiting} == {STATUS.PROPOSAL_STATUS_APPROVED}
        assert {each.status for each in done} == {STATUS.PROPOSAL_STATUS_EXECUTED}
        assert await eventually(live.app.ready)
        assert "died" not in said.getvalue()
