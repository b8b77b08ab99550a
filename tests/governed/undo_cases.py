"""Changes, and what may stand in the way of undoing them by then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import governed_pb2, graph_pb2, graph_pb2_grpc, memory_pb2
from concord.type.v1 import type_pb2
from google.protobuf.timestamp_pb2 import Timestamp
from governed_steps import does
from governed_world import DAY, START, Party, edge_action, request_id
from writing import (
    action_of,
    salt,
    to_add,
    to_delete_edge,
    to_forget,
    to_update_edge,
    to_update_node,
    to_upsert_edge,
    to_upsert_node,
)

Action = governed_pb2.GovernedAction


DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE


async def edge(
    party: Party, source: str, relation: str, target: str, days: int | None = None
) -> type_pb2.Edge:
    """Write a descriptive edge with nothing but a credential; `days`: valid from so far ahead."""
    said = edge_action(source, relation, target, edge_type=DESCRIPTIVE).upsert_edge.edge
    if days is not None:
        said.valid_from.CopyFrom(ahead(days))
    return (await party.graph.UpsertEdge(to_upsert_edge(said))).edge


def ahead(days: int) -> Timestamp:
    """Return a time some days after the start."""
    time = Timestamp()
    time.FromMicroseconds(START + days * DAY)
    return time


async def node(party: Party, name: str) -> type_pb2.Node:
    """Write a node."""
    return (await party.graph.UpsertNode(to_upsert_node(type_pb2.Node(name=name)))).node


async def called(party: Party, name: str) -> type_pb2.Node:
    """Read a node."""
    return (await party.graph.GetNode(graph_pb2.GetNodeRequest(name=name))).node


async def renamed(party: Party, name: str, new: str) -> type_pb2.Node:
    """Give a node another name, as a person: an edge that both agreed to may be there."""
    found = await called(party, name)
    found.name = new
    assert party.persons_channel is not None
    graph = graph_pb2_grpc.GraphServiceStub(party.persons_channel)
    return (await graph.UpdateNode(to_update_node(found, "name"))).node


async def dropped(party: Party, name: str) -> type_pb2.Node:
    """Delete a node."""
    found = await called(party, name)
    request = graph_pb2.DeleteNodeRequest(request_id=request_id(), id=found.id, etag=found.etag)
    await party.graph.DeleteNode(request)
    return found


def deleting(item: type_pb2.Edge | type_pb2.Node) -> Action:
    """Return the action that deletes an edge or a node."""
    if isinstance(item, type_pb2.Edge):
        return action_of(to_delete_edge(item))
    node_gone = graph_pb2.DeleteNodeRequest(request_id=salt(), id=item.id, etag=item.etag)
    return action_of(node_gone)


async def held(party: Party, source: str, relation: str, target: str) -> type_pb2.Edge:
    """Return an edge that is there."""
    found = await party.edge(source, relation, target)
    assert found is not None
    return found


Scene = Callable[[Party], Awaitable[proposal_pb2.Proposal]]


Since = Callable[[Party], Awaitable[str]]


@dataclass(frozen=True)
class Case:
    """What was done, and what comes in the way of undoing it: the id of that."""

    was: Scene
    since: Since


async def _an_edge_was_made(party: Party) -> proposal_pb2.Proposal:
    return await does(party, edge_action())


async def _an_edge_was_deleted(party: Party) -> proposal_pb2.Proposal:
    await does(party, edge_action())
    return await does(party, deleting(await held(party, "agent", "VALUES", "honesty")))


async def _an_edge_was_demoted(party: Party) -> proposal_pb2.Proposal:
    await does(party, edge_action())
    found = await held(party, "agent", "VALUES", "honesty")
    found.edge_type = DESCRIPTIVE
    return await does(party, to_update_edge(found, "edge_type"))


async def _a_node_was_deleted(party: Party) -> proposal_pb2.Proposal:
    return await does(party, deleting(await node(party, "honesty")))


async def _a_plain_edge_was_deleted(party: Party) -> proposal_pb2.Proposal:
    return await does(party, deleting(await edge(party, "agent", "VALUES", "honesty", 100)))


async def _a_memory_with_facts_was_forgotten(party: Party) -> proposal_pb2.Proposal:
    fact = type_pb2.Fact(subject="agent", relation="VALUES", object="honesty")
    memory = type_pb2.Memory(id="creed", content="I am honest.", facts=[fact])
    await does(party, to_add(memory))
    known = (await party.memory.GetMemory(memory_pb2.GetMemoryRequest(id="creed"))).memory
    return await does(party, to_forget(known))


async def _a_memory_of_a_written_edge_was_forgotten(party: Party) -> proposal_pb2.Proposal:
    await edge(party, "agent", "VALUES", "honesty")
    return await _a_memory_with_facts_was_forgotten(party)


async def _somebody_uses_the_node(party: Party) -> str:
    return (await edge(party, "honesty", "IS_A", "virtue")).id


async def _something_constitutive_uses_the_node(party: Party) -> str:
    await does(party, edge_action("ada"))
    return (await held(party, "ada", "VALUES", "honesty")).id


async def _the_end_is_dropped(party: Party) -> str:
    return (await dropped(party, "honesty")).id


async def _the_end_is_renamed(party: Party) -> str:
    return (await renamed(party, "honesty", "profit")).id


async def _the_edge_is_moved(party: Party) -> str:
    found = await held(party, "agent", "VALUES", "honesty")
    found.target.CopyFrom(type_pb2.EdgeEnd(name="profit"))
    await party.graph.UpdateEdge(to_update_edge(found, "target"))
    return found.id


async def _the_name_is_taken(party: Party) -> str:
    return (await node(party, "honesty")).id


async def _the_place_is_taken(party: Party) -> str:
    return (await edge(party, "agent", "VALUES", "honesty", 100)).id


async def _its_triple_defines_the_agent(party: Party) -> str:
    await does(party, edge_action())
    return (await held(party, "agent", "VALUES", "honesty")).id


async def _a_twin_is_made(party: Party) -> str:
    return (await edge(party, "agent", "VALUES", "honesty", 50)).id


CASES = {
    "an edge hangs on what would go": Case(_an_edge_was_made, _somebody_uses_the_node),
    "something constitutive hangs there": Case(
        _an_edge_was_made, _something_constitutive_uses_the_node
    ),
    "an end is gone": Case(_an_edge_was_deleted, _the_end_is_dropped),
    "an end has another name": Case(_an_edge_was_deleted, _the_end_is_renamed),
    "an end of a demoted edge has another name": Case(_an_edge_was_demoted, _the_end_is_renamed),
    "an end of a plain edge is gone": Case(_a_plain_edge_was_deleted, _the_end_is_dropped),
    "an end of a fact is gone": Case(_a_memory_with_facts_was_forgotten, _the_end_is_dropped),
    "an end of a fact has another name": Case(
        _a_memory_with_facts_was_forgotten, _the_end_is_renamed
    ),
    "an end of what a fact says again has another name": Case(
        _a_memory_of_a_written_edge_was_forgotten, _the_end_is_renamed
    ),
    "the edge of a fact says something else": Case(
        _a_memory_of_a_written_edge_was_forgotten, _the_edge_is_moved
    ),
    "its name is taken": Case(_a_node_was_deleted, _the_name_is_taken),
    "its place is taken": Case(_a_plain_edge_was_deleted, _the_place_is_taken),
    "its triple is constitutive by now": Case(
        _a_plain_edge_was_deleted, _its_triple_defines_the_agent
    ),
    "a plain edge came to its triple": Case(_an_edge_was_deleted, _a_twin_is_made),
}
