"""What both principals agree to, down to the words of the ends that an edge stands between."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import governed_pb2, graph_pb2, lineage_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_client.trust import review as reviewing
from governed_world import AGENT, CONSTITUTIVE, HUMAN, STATUS, Party, edge_action, eventually
from writing import (
    action_of,
    salt,
    to_add,
    to_erase,
    to_update_edge,
    to_update_memory,
    to_update_node,
    to_upsert_node,
)

DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE
Action = governed_pb2.GovernedAction


async def node(party: Party, name: str, **said: Any) -> type_pb2.Node:
    """Write a node, with nothing but a credential."""
    return (await party.graph.UpsertNode(to_upsert_node(type_pb2.Node(name=name, **said)))).node


async def rename(party: Party, name: str) -> None:
    """Give a node the opposite name."""
    found = (await party.graph.GetNode(graph_pb2.GetNodeRequest(name=name))).node
    found.name = f"not {name}"
    await party.graph.UpdateNode(to_update_node(found, "name"))


async def memory(party: Party, memory_id: str, content: str) -> type_pb2.Memory:
    """Write a memory."""
    said = type_pb2.Memory(id=memory_id, content=content)
    return (await party.memory.AddMemory(to_add(said))).memory


async def rewrite(party: Party, memory_id: str) -> None:
    """Let a memory say something else."""
    request = memory_pb2.GetMemoryRequest(id=memory_id, peek=True)
    found = (await party.memory.GetMemory(request)).memory
    found.content = "Ada is my enemy."
    await party.memory.UpdateMemory(to_update_memory(found, "content"))


async def plain_edge(party: Party, target: str) -> type_pb2.Edge:
    """Write an edge that defines nothing."""
    action = edge_action(target=target, edge_type=DESCRIPTIVE)
    return (await party.graph.UpsertEdge(action.upsert_edge)).edge


async def to_an_end_by_name(party: Party) -> Action:
    """A new edge at a node that is there."""
    await node(party, "honesty", label="Value", properties={"means": "the truth"})
    return edge_action()


async def to_an_end_by_id(party: Party) -> Action:
    """A new edge at a node by its id."""
    action = edge_action()
    action.upsert_edge.edge.target.Clear()
    action.upsert_edge.edge.target.id = (await node(party, "honesty")).id
    return action


async def to_a_memory(party: Party) -> Action:
    """A new edge at a text."""
    await memory(party, "friend", "Ada is my friend.")
    action = edge_action(relation="BELIEVES")
    action.upsert_edge.edge.target.Clear()
    action.upsert_edge.edge.target.id = "friend"
    return action


async def to_nobody_yet(_: Party) -> Action:
    """A new edge whose end the action makes."""
    return edge_action()


async def a_promotion(party: Party) -> Action:
    """What was said before becomes constitutive."""
    edge = await plain_edge(party, "honesty")
    edge.edge_type = CONSTITUTIVE
    return action_of(to_update_edge(edge, "edge_type"))


async def a_memory_with_a_fact(party: Party) -> Action:
    """A constitutive memory whose fact ends at a node that is there."""
    await node(party, "honesty")
    fact = type_pb2.Fact(subject="agent", relation="VALUES", object="honesty")
    said = type_pb2.Memory(content="I value it.", edge_type=CONSTITUTIVE, facts=[fact])
    return action_of(to_add(said))


async def a_link_to_nothing_yet(_: Party) -> Action:
    """A constitutive memory that supersedes one that nobody wrote."""
    said = type_pb2.Memory(content="I keep. Supersedes: [[memory:old]]", edge_type=CONSTITUTIVE)
    return action_of(to_add(said))


async def an_heir(party: Party) -> Action:
    """A descriptive edge is to stand for a constitutive one."""
    await party.decide(await party.propose(edge_action(target="silence")))
    older = await party.edge("agent", "VALUES", "silence")
    assert older is not None
    request = lineage_pb2.AddLineageRequest(
        request_id=salt(),
        newer_id=(await plain_edge(party, "honesty")).id,
        relation=type_pb2.LINEAGE_RELATION_SUPERSEDES,
        older_id=older.id,
    )
    return action_of(request)


@dataclass(frozen=True)
class Between:
    """What is proposed, and what somebody does alone between the two consents."""

    proposed: Callable[[Party], Awaitable[Action]]
    done: Callable[[Party], Awaitable[object]]
    says: str
    """What the reviewed bytes say of the end; of one that is not there yet the action does."""


EVIL = {"means": "obey"}
CASES = {
    "the end is described": Between(
        to_an_end_by_name,
        lambda party: node(party, "honesty", label="Evil", properties=EVIL),
        'honesty (Value) {"means": "the truth"}',
    ),
    "the end is renamed": Between(
        to_an_end_by_id, lambda party: rename(party, "honesty"), "honesty"
    ),
    "the end's words change": Between(
        to_a_memory, lambda party: rewrite(party, "friend"), "Ada is my friend."
    ),
    "the end is made by somebody else": Between(
        to_nobody_yet,
        lambda party: node(party, "honesty", properties=EVIL),
        "agent VALUES honesty",
    ),
    "the end of what is promoted": Between(
        a_promotion, lambda party: rename(party, "honesty"), "agent VALUES honesty"
    ),
    "the end of a fact": Between(
        a_memory_with_a_fact, lambda party: rename(party, "honesty"), "honesty"
    ),
    "what is replaced arrives": Between(
        a_link_to_nothing_yet, lambda party: memory(party, "old", "I am kind."), "I keep."
    ),
    "the end of the heir": Between(an_heir, lambda party: rename(party, "honesty"), "honesty"),
}


@pytest.mark.parametrize("name", CASES)
async def test_an_end_that_changes_between_the_consents_voids_them(name: str, party: Party) -> None:
    """G5 V6 What a new constitutive item rests on is agreed to as it was, or nothing is done."""
    case = CASES[name]
    await plain_edge(party, "tea")  # the agent is there already
    proposal = await party.propose(await case.proposed(party))
    await party.approve(proposal, AGENT)
    await case.done(party)
    before = await party.state()

    after = await party.approve(proposal, HUMAN)

    assert (after.status, after.failure_reason) == (
        STATUS.PROPOSAL_STATUS_FAILED,
        "ERROR_REASON_GRANT_INVALID",
    )
    assert await party.state() == before


@pytest.mark.parametrize("older", ["friend", "nobody"])
async def test_lineage_that_the_agent_decides_is_of_the_versions_it_read(
    older: str, party: Party
) -> None:
    """V6 An end that says something else by then, or arrives unread, keeps the lineage unmade."""
    newer = await memory(party, "newer", "Ada is nobody's friend.")
    if older == "friend":
        await memory(party, older, "Ada is my friend.")
    request = lineage_pb2.AddLineageRequest(
        request_id=salt(),
        newer_id=newer.id,
        relation=type_pb2.LINEAGE_RELATION_SUPERSEDES,
        older_id=older,
    )
    proposal = await party.propose(request)
    assert reviewing.review(proposal).canonical == proposal.canonical
    assert proposal.approval_level == proposal_pb2.APPROVAL_LEVEL_AGENT
    assert {item.id for item in proposal.affected if item.pinned} == {newer.id, older}
    assert [item.statement for item in proposal.affected if not item.pinned] == [
        f"newer SUPERSEDES {older}"
    ]
    await (rewrite(party, older) if older == "friend" else memory(party, older, "Ada is late."))

    after = await party.approve(proposal, AGENT)

    assert (after.status, after.failure_reason) == (
        STATUS.PROPOSAL_STATUS_FAILED,
        "ERROR_REASON_GRANT_INVALID",
    )


async def test_two_proposals_may_name_the_same_new_end(party: Party) -> None:
    """G5 V6 The second finds what it would have made: a node of that name which says no more."""
    proposals = [await party.propose(edge_action(target=value)) for value in ("a", "b")]

    done = [await party.decide(each) for each in proposals]

    assert [each.status for each in done] == [STATUS.PROPOSAL_STATUS_EXECUTED] * 2


@pytest.mark.parametrize("name", CASES)
async def test_what_stays_as_it_was_seen_is_done_and_undone(name: str, party: Party) -> None:
    """G5 G6 V6 V8 Reading an end is no change of it; and the state before comes back exactly. Who
    signs an id signs words: those of the ends stand in the signed bytes and in the reply alike."""
    case = CASES[name]
    await plain_edge(party, "tea")
    action = await case.proposed(party)
    before = await party.state()
    proposal = await party.propose(action)
    demand_words(proposal, case.says)
    await party.approve(proposal, AGENT)
    for each in ("agent", "honesty"):
        await party.graph.GetNode(graph_pb2.GetNodeRequest(name=each))
    await party.memory.GetMemory(memory_pb2.GetMemoryRequest(id="friend"))

    done = await party.approve(proposal, HUMAN)
    undone = await party.decide(await party.undo(done))

    assert done.status == undone.status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert await party.state() == before
    assert (await party.verified()).executed >= 2


def demand_words(proposal: proposal_pb2.Proposal, says: str) -> None:
    """Demand that an end's words are what is reviewed, and that the proposal is pinned to ends."""
    assert reviewing.review(proposal).canonical == proposal.canonical
    said = [item.statement for item in proposal.affected if item.needs_consent]
    assert any(each.startswith(says) for each in said)
    assert all(each.encode() in proposal.canonical for each in said if '"' not in each)
    assert any(item.pinned for item in proposal.affected)  # of them all, the agent at least
    assert proposal.approval_level == proposal_pb2.APPROVAL_LEVEL_BILATERAL


async def test_words_of_ends_are_erased_with_them(party: Party) -> None:
    """M4 V6 A text that a proposal showed as an end is gone from it once the text is erased."""
    proposal = await party.propose(await to_a_memory(party))
    await party.reject(proposal, HUMAN)
    found = (await party.memory.GetMemory(memory_pb2.GetMemoryRequest(id="friend"))).memory
    await party.memory.EraseMemory(to_erase(found))

    after = await eventually(lambda: party.get(proposal), lambda now: not now.canonical)
    assert [item.statement for item in after.affected if item.statement] == []
