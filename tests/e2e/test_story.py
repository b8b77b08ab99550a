"""The life of a proposal: proposed, consented, executed, undone (V1, V6, V7, V8)."""

import json
import uuid
from collections.abc import Awaitable, Callable

import pytest
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import graph_pb2, lineage_pb2
from concord.type.v1 import type_pb2
from governed_world import (
    AGENT,
    CONSTITUTIVE,
    HOUR,
    HUMAN,
    STATUS,
    Party,
    World,
    edge_action,
    reason_of,
    refused,
    request_id,
)
from writing import to_add, to_forget, to_update_edge

DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE
LEVEL = proposal_pb2.ApprovalLevel
SUPERSEDES = type_pb2.LINEAGE_RELATION_SUPERSEDES
KIND = proposal_pb2.ProposalKind


async def test_nothing_happens_before_the_last_consent(party: Party) -> None:
    """V1 V6 What is constitutive needs both slots; until the second signs, nothing changes."""
    before = await party.state()
    proposal = await party.propose(edge_action())

    assert proposal.approval_level == LEVEL.APPROVAL_LEVEL_BILATERAL
    after_one = await party.approve(proposal, AGENT)
    assert after_one.status == STATUS.PROPOSAL_STATUS_PENDING
    assert before == await party.state()

    done = await party.approve(proposal, HUMAN)

    assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert done.resolved_by == ["ada", "agent"]
    edge = await party.edge("agent", "VALUES", "honesty")
    assert edge is not None
    assert edge.edge_type == CONSTITUTIVE


async def test_the_order_of_consents_does_not_matter(party: Party) -> None:
    """V6 The decision loops over the required slots, not over the order in which they answered."""
    proposal = await party.propose(edge_action())
    await party.approve(proposal, HUMAN)

    assert (await party.approve(proposal, AGENT)).status == STATUS.PROPOSAL_STATUS_EXECUTED


async def test_what_is_descriptive_needs_the_agent_alone(party: Party) -> None:
    """V1 The level follows from what is touched: nothing constitutive, the agent's consent."""
    proposal = await party.propose(edge_action(edge_type=DESCRIPTIVE))

    assert proposal.approval_level == LEVEL.APPROVAL_LEVEL_AGENT
    assert (await party.approve(proposal, AGENT)).status == STATUS.PROPOSAL_STATUS_EXECUTED


async def test_undo_brings_back_exactly_what_was(party: Party) -> None:
    """V8 The state export after an undo is byte for byte the one before; it is bilateral again."""
    await party.decide(await party.propose(edge_action()))
    before = await party.state()
    edge = await party.edge("agent", "VALUES", "honesty")
    assert edge is not None
    edge.weight = 0.4
    edge.properties.update({"why": "said so"})
    changed = await party.decide(await party.propose(to_update_edge(edge, "weight", "properties")))
    assert changed.status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert before != await party.state()

    undo = await party.undo(changed)
    assert (undo.kind, undo.approval_level) == (
        KIND.PROPOSAL_KIND_UNDO,
        LEVEL.APPROVAL_LEVEL_BILATERAL,
    )
    undone = await party.decide(undo)

    assert undone.status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert before == await party.state()
    original = await party.get(changed)
    assert (original.status, original.undone_by) == (STATUS.PROPOSAL_STATUS_UNDONE, undo.id)


async def test_undo_of_a_forgotten_memory(party: Party) -> None:
    """V8 Forgetting is undone with everything that hung on the memory."""
    added = await party.memory.AddMemory(
        to_add(type_pb2.Memory(id="m/1", content="Tea is at four."))
    )
    before = await party.state()
    done = await party.decide(await party.propose(to_forget(added.memory)))
    assert done.kind == KIND.PROPOSAL_KIND_FORGET
    assert before != await party.state()

    await party.decide(await party.undo(done))

    assert before == await party.state()


async def test_a_resolution_whose_end_is_undone_is_orphaned(party: Party) -> None:
    """V8 The undo, its reply, the log and the resolution itself say that it hangs on nothing."""
    old = (await _edge(party, "Paris")).id
    kept = await _resolved(party, (await _edge(party, "Rome")).id, old)
    added = await party.decide(
        await party.propose(edge_action("ada", "LIVES_IN", "Graz", edge_type=DESCRIPTIVE))
    )
    newer = await party.edge("ada", "LIVES_IN", "Graz")
    assert newer is not None
    resolution = await _resolved(party, newer.id, old)
    assert not resolution.supersession.is_orphaned

    undone = await party.decide(await party.undo(added))
    (told, *_) = await party.entries()

    assert list(undone.orphaned_ids) == [resolution.id]
    assert json.loads(told.leaf)["action"] == "SMF_UNDO"
    assert json.loads(told.leaf)["properties"]["orphaned"] == [resolution.id]
    assert list((await party.get(undone)).orphaned_ids) == [resolution.id]
    assert (await _by_id(party, resolution.id)).supersession.is_orphaned
    assert not (await _by_id(party, kept.id)).supersession.is_orphaned
    chain = await party.lineage_service.GetLineage(lineage_pb2.GetLineageRequest(id=old))
    marks = {edge.id: edge.supersession.is_orphaned for edge in chain.edges}
    assert marks == {resolution.id: True, kept.id: False}
    await party.verified()


async def test_a_resolution_counts_again_when_its_end_is_back(party: Party) -> None:
    """V8 The mark follows from what is there: an undo of the undo takes it away."""
    older = await _edge(party, "Paris")
    added = await party.decide(
        await party.propose(edge_action("ada", "LIVES_IN", "Graz", edge_type=DESCRIPTIVE))
    )
    newer = await party.edge("ada", "LIVES_IN", "Graz")
    assert newer is not None
    resolution = await _resolved(party, newer.id, older.id)
    undone = await party.decide(await party.undo(added))

    again = await party.decide(await party.undo(undone))

    assert again.status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert list(again.orphaned_ids) == []
    assert not (await _by_id(party, resolution.id)).supersession.is_orphaned


async def _edge(party: Party, city: str) -> type_pb2.Edge:
    action = edge_action("ada", "LIVES_IN", city, edge_type=DESCRIPTIVE)
    return (await party.graph.UpsertEdge(action.upsert_edge)).edge


async def _resolved(party: Party, newer: str, older: str) -> type_pb2.Edge:
    reply = await party.lineage_service.AddLineage(
        lineage_pb2.AddLineageRequest(
            request_id=request_id(), newer_id=newer, relation=SUPERSEDES, older_id=older
        )
    )
    return reply.edge


async def _by_id(party: Party, edge_id: str) -> type_pb2.Edge:
    return (await party.graph.GetEdge(graph_pb2.GetEdgeRequest(id=edge_id, peek=True))).edge


async def test_an_undo_can_say_why_otherwise(party: Party) -> None:
    """V6 V8 An undo's note is revised as any; what it does and undoes stays, also on replay."""
    done = await party.decide(await party.propose(edge_action()))
    undo = await party.undo(done)
    note = "The value was noted twice."

    revised, again = [
        await party.revise(undo, undo.action, note=note, request_id="same") for _ in range(2)
    ]
    await party.decide(revised)

    assert (revised.kind, revised.undo_of, revised.note) == (undo.kind, done.id, note)
    assert again == revised
    assert (await party.get(done)).status == STATUS.PROPOSAL_STATUS_UNDONE


async def test_proposals_have_ids_in_order_of_time(party: Party) -> None:
    """V1 An id is a UUIDv7 of the instant at which the proposal was made."""
    made = uuid.UUID((await party.propose(edge_action())).id)

    assert made.version == 7
    assert made.int >> 80 == party.clock.now // 1000


async def test_rejection_leaves_everything_as_it_was(party: Party) -> None:
    """V7 Either required slot's rejection ends a proposal; the reason is kept; items stay."""
    before = await party.state()
    for slot in (AGENT, HUMAN):
        proposal = await party.propose(edge_action())

        rejected = await party.reject(proposal, slot, "we agreed otherwise")

        assert rejected.status == STATUS.PROPOSAL_STATUS_REJECTED
        assert rejected.resolution == "we agreed otherwise"
        failure = await refused(party.approve(proposal, AGENT))
        assert reason_of(failure)[0] == "PROPOSAL_STATE"
    assert before == await party.state()


async def test_a_rejection_says_why(party: Party) -> None:
    """V7 A rejection without a reason is none."""
    proposal = await party.propose(edge_action())

    failure = await refused(party.reject(proposal, HUMAN, " "))

    assert reason_of(failure) == ("CONSENT_INVALID", "reason")


async def test_silence_is_rejection(live: World, party: Party) -> None:
    """V4 After 48 hours without an answer the proposal is over, swept or not."""
    proposal = await party.propose(edge_action())
    await party.approve(proposal, AGENT, party.consent(proposal, AGENT, hours=100))
    live.clock.pass_(48 * HOUR)

    failure = await refused(party.approve(proposal, HUMAN))

    assert failure.metadata["status"] == "EXPIRED"
    assert (await party.get(proposal)).status == STATUS.PROPOSAL_STATUS_EXPIRED
    assert not (await party.get(proposal)).resolved_by
    assert await party.edge("agent", "VALUES", "honesty") is None


async def test_an_edit_voids_earlier_consents(live: World, party: Party) -> None:
    """V6 V4 A new revision starts anew: old consents are void, and the clock begins again."""
    proposal = await party.propose(edge_action())
    old = party.consent(proposal, HUMAN)
    await party.approve(proposal, AGENT)
    live.clock.pass_(HOUR)
    revised = await party.revise(proposal, edge_action(target="kindness"))

    assert (revised.revision, list(revised.consents)) == (2, [])
    assert revised.expire_time.seconds - proposal.expire_time.seconds == 3600
    failure = await refused(party.approve(revised, HUMAN, old))
    assert reason_of(failure) == ("CONSENT_INVALID", "proposal")
    assert (await party.decide(revised)).status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert await party.edge("agent", "VALUES", "honesty") is None


async def test_bulk_is_for_the_agents_level_alone(party: Party) -> None:
    """V7 Bulk approval has a dry run, and never takes what is constitutive."""
    small = [await party.propose(edge_action(target=name, edge_type=DESCRIPTIVE)) for name in "abc"]
    big = await party.propose(edge_action())
    outcomes = [(STATUS.PROPOSAL_STATUS_EXECUTED, "")] * 3 + [(0, "ERROR_REASON_BULK_FORBIDDEN")]

    dry = await party.bulk(*((each, b"") for each in (*small, big)), dry_run=True)
    assert dry == outcomes
    assert (await party.get(small[0])).status == STATUS.PROPOSAL_STATUS_PENDING

    real = await party.bulk(*((each, party.consent(each, AGENT)) for each in (*small, big)))
    assert real == outcomes
    assert (await party.get(big)).status == STATUS.PROPOSAL_STATUS_PENDING


async def _weighed(party: Party) -> None:
    action = edge_action(target="tea", weight=0.7, edge_type=DESCRIPTIVE)
    await party.graph.UpsertEdge(action.upsert_edge)


async def _promoted(party: Party) -> None:
    await party.decide(await party.propose(edge_action(target="tea")))


async def _nothing(_: Party) -> None:
    """Leave everything as it is."""


@pytest.mark.parametrize("meanwhile", [_nothing, _weighed, _promoted])
@pytest.mark.parametrize("envelope", ["the agent's", "the human's", "garbage", "for another"])
async def test_a_dry_run_says_what_the_real_one_does(
    meanwhile: Callable[[Party], Awaitable[None]], envelope: str, party: Party
) -> None:
    """V7 Consents that were sent are verified and versions compared, as when it is done."""
    await party.graph.UpsertEdge(edge_action(target="tea", edge_type=DESCRIPTIVE).upsert_edge)
    proposal = await party.propose(edge_action(target="tea", weight=0.5, edge_type=DESCRIPTIVE))
    other = await party.propose(edge_action(target="milk", edge_type=DESCRIPTIVE))
    await meanwhile(party)
    consent = {
        "the agent's": party.consent(proposal, AGENT),
        "the human's": party.consent(proposal, HUMAN),
        "garbage": b"garbage",
        "for another": party.consent(other, AGENT),
    }[envelope]

    told = await party.bulk((proposal, consent), dry_run=True)

    assert told == await party.bulk((proposal, consent))
    done = (STATUS.PROPOSAL_STATUS_EXECUTED, "")
    assert (told == [done]) == (envelope == "the agent's" and meanwhile is _nothing)


async def test_a_dry_run_sees_that_an_undo_has_no_object(party: Party) -> None:
    """V7 V8 What was undone already is not undone again: told, and then done so."""
    done = await party.decide(await party.propose(edge_action(target="tea", edge_type=DESCRIPTIVE)))
    first, second = await party.undo(done), await party.undo(done)
    await party.decide(first)

    for dry in (True, False):
        told = await party.bulk((second, party.consent(second, AGENT)), dry_run=dry)
        assert told == [(0, "ERROR_REASON_UNDO_IMPOSSIBLE")]


async def test_the_briefing_lists_what_waits(live: World, party: Party) -> None:
    """V9 The session's start names what waits: number, kind, a line, who has not answered."""
    first = await party.propose(edge_action())
    await party.approve(first, AGENT)
    await party.propose(edge_action(edge_type=DESCRIPTIVE, target="tea"))

    found = await party.proposals.GetBriefing(proposal_pb2.GetBriefingRequest())

    assert [line.number for line in found.proposals] == [2, 1]
    assert list(found.proposals[1].missing_slots) == [type_pb2.SLOT_HUMAN]
    assert found.proposals[1].summary == "'agent VALUES honesty' is added"
    live.clock.pass_(48 * HOUR)
    assert not (await party.proposals.GetBriefing(proposal_pb2.GetBriefingRequest())).proposals
