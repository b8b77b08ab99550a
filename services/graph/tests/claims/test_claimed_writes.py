"""Writes of a lower writer on what a person said itself: none acts, each is a claim (W9)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from claim_world import action_name, ada, add, claims, helper, said, tool, update
from concord.graph.v1 import conflict_pb2, graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from google.protobuf.field_mask_pb2 import FieldMask
from graph_world import START, Calls, World, edge_of, fact, reason, stamp, struct

Write = Callable[[Calls, type_pb2.Memory], Awaitable[Any]]


async def _forget(calls: Calls, memory: type_pb2.Memory) -> Any:
    request = memory_pb2.ForgetMemoryRequest(
        request_id=calls.request_id(), id=memory.id, etag=memory.etag
    )
    return await calls.memory.ForgetMemory(request)


async def _ends(calls: Calls, memory: type_pb2.Memory) -> Any:
    memory.valid_until.CopyFrom(stamp(START + 1))
    return await update(calls, memory, "valid_until")


async def _lowers(calls: Calls, memory: type_pb2.Memory) -> Any:
    memory.importance = type_pb2.IMPORTANCE_LOW
    return await update(calls, memory, "importance")


async def _states_otherwise(calls: Calls, memory: type_pb2.Memory) -> Any:
    memory.facts[0].object = "Paris"
    return await update(calls, memory, "facts")


async def _untags(calls: Calls, memory: type_pb2.Memory) -> Any:
    del memory.tags[:]
    return await update(calls, memory, "tags")


@pytest.mark.parametrize(
    ("write", "action"),
    [
        (_forget, "FORGET"),
        (lambda calls, memory: calls.erase(memory), "ERASE"),
        (_ends, "UPDATE"),
        (_lowers, "UPDATE"),
        (_states_otherwise, "UPDATE"),
        (_untags, "UPDATE"),
    ],
    ids=["forget", "erase", "valid_until", "importance", "facts", "tags"],
)
async def test_a_write_on_a_persons_memory_claims(live: World, write: Write, action: str) -> None:
    """W9 The reply shows the memory as it is, with its etag; a repeated request the same."""
    person, agent = ada(live), helper(live)
    fields = {"facts": [fact("Ada", "LIVES_IN", "Berlin")], "tags": ["home"]}
    before = await person.add("I live in Berlin.", id="m", **fields)

    reply = await write(agent, await agent.get("m"))

    assert said(reply) == [(action, "m", "")]
    assert reply.memory.etag == before.etag
    assert not reply.memory.HasField("forget_time")
    now = await person.get("m")
    assert (now.etag, now.content, now.importance) == (
        before.etag,
        before.content,
        before.importance,
    )
    assert [action_name(mark.action) for mark in now.claims] == [action]
    assert (await person.get_triple("Ada", "LIVES_IN", "Berlin")).sources == ["m"]
    again = await write(agent, await agent.get("m"))
    assert again.claims[0].id == reply.claims[0].id
    assert len(await claims(person)) == 1


async def test_additions_to_a_persons_memory_act(live: World) -> None:
    """W9 A tag more and a higher importance take nothing away."""
    person, agent = ada(live), helper(live)
    memory = await person.add("I live in Berlin.", id="m", tags=["home"])
    memory.tags.append("city")
    memory.importance = type_pb2.IMPORTANCE_HIGH

    reply = await update(agent, memory, "tags", "importance")

    assert said(reply) == []
    assert list((await person.get("m")).tags) == ["home", "city"]


async def test_what_a_person_forgot_does_not_come_back(live: World) -> None:
    """W9 RestoreMemory over a person's forgetting, of whichever memory."""
    person, agent = ada(live), helper(live)
    hers = await person.forget(await person.add("I live in Bonn.", id="hers"))
    its = await person.forget(await agent.add("She lives in Bonn.", id="its"))

    for gone in (hers, its):
        request = memory_pb2.RestoreMemoryRequest(
            request_id=agent.request_id(), id=gone.id, etag=gone.etag
        )
        reply = await agent.memory.RestoreMemory(request)
        assert said(reply) == [("RESTORE", gone.id, "")]
        assert (await person.get(gone.id)).HasField("forget_time")


async def test_edges_and_nodes_of_a_person_stay(live: World) -> None:
    """W9 UpdateEdge, UpsertEdge, DeleteEdge, UpsertNode, UpdateNode, DeleteNode."""
    person, agent = ada(live), helper(live)
    node = await person.put_node("Ada", label="Person", properties=struct({"born": 1815}))
    edge = await person.put_edge("Ada", "LIKES", "tea", properties={"why": "warm"})
    other = graph_pb2.UpdateEdgeRequest(
        request_id="1", edge=edge, update_mask=FieldMask(paths=["valid_until"])
    )
    other.edge.valid_until.CopyFrom(stamp(START + 1_000_000))
    upsert = edge_of("Ada", "LIKES", "tea", properties={"why": "cold"})
    renamed = type_pb2.Node(id=node.id, name="Eve", etag=node.etag)
    stated = type_pb2.Node(name="Ada", properties=struct({"born": 1900}))
    graph = agent.graph

    replies: list[Any] = [
        await graph.UpdateEdge(other),
        await agent.upsert(upsert),
        await graph.DeleteEdge(
            graph_pb2.DeleteEdgeRequest(request_id="2", id=edge.id, etag=edge.etag)
        ),
        await graph.UpsertNode(graph_pb2.UpsertNodeRequest(request_id="3", node=stated)),
        await graph.UpdateNode(
            graph_pb2.UpdateNodeRequest(
                request_id="4", node=renamed, update_mask=FieldMask(paths=["name"])
            )
        ),
        await graph.DeleteNode(
            graph_pb2.DeleteNodeRequest(request_id="5", id=node.id, etag=node.etag, cascade=True)
        ),
    ]

    assert [said(reply)[0][:2] for reply in replies] == [
        ("UPDATE", edge.id),
        ("UPDATE", edge.id),
        ("DELETE", edge.id),
        ("UPDATE", node.id),
        ("UPDATE", node.id),
        ("DELETE", node.id),
    ]
    assert (await person.get_edge(edge.id)).etag == edge.etag
    assert (await person.get_node("Ada")).etag == node.etag
    assert replies[5].deleted_edge_count == 0


async def test_a_node_is_as_high_as_the_edges_at_it(live: World) -> None:
    """W9 To rename or delete the agent's own node would change what a person's edge says."""
    person, agent = ada(live), helper(live)
    node = await agent.put_node("Ada")
    edge = await person.put_edge("Ada", "LIKES", "tea")
    renamed = type_pb2.Node(id=node.id, name="Eve", etag=node.etag)
    mask = FieldMask(paths=["name"])

    reply = await agent.graph.UpdateNode(
        graph_pb2.UpdateNodeRequest(request_id="1", node=renamed, update_mask=mask)
    )
    gone = await agent.graph.DeleteNode(
        graph_pb2.DeleteNodeRequest(request_id="2", id=node.id, etag=node.etag, cascade=True)
    )

    assert said(reply) == [("UPDATE", edge.id, "")]
    assert said(gone) == [("DELETE", edge.id, "")]
    assert (await person.get_edge(edge.id)).source.name == "Ada"


async def test_an_edge_stands_as_the_highest_memory_that_states_it(live: World) -> None:
    """W9 An agent's memory stated it first; an agent may no longer change it, nor take it along."""
    person, agent = ada(live), helper(live)
    its = await agent.add("Ada likes tea.", facts=[fact("Ada", "LIKES", "tea")])
    hers = await person.add("I like tea.", facts=[fact("Ada", "LIKES", "tea", weight=0.5)])
    edge = await person.get_triple("Ada", "LIKES", "tea")
    edge.weight = 0.1
    request = graph_pb2.UpdateEdgeRequest(
        request_id="1", edge=edge, update_mask=FieldMask(paths=["weight"])
    )

    reply = await agent.graph.UpdateEdge(request)
    assert said(reply) == [("UPDATE", edge.id, "")]
    gone = await _forget(agent, its)
    assert said(gone) == []
    assert gone.memory.HasField("forget_time")
    assert (await person.get_edge(edge.id)).sources == [hers.id]
    await person.forget(hers)
    again = await person.memory.GetMemory(memory_pb2.GetMemoryRequest(id=hers.id, peek=True))
    assert again.memory.HasField("forget_time")


async def test_an_agent_that_states_a_persons_fact_changes_nothing_of_it(live: World) -> None:
    """W9 The same triple with another weight, end and property: the edge gains a source."""
    person, agent = ada(live), helper(live)
    await person.add("I like tea.", facts=[fact("Ada", "LIKES", "tea", properties={"why": "a"})])
    before = await person.get_triple("Ada", "LIKES", "tea")

    stated = fact("Ada", "LIKES", "tea", weight=1, properties={"why": "b", "how": "cold"})
    reply = await add(agent, "Ada likes tea.", facts=[stated])

    assert said(reply) == []
    now = await person.get_triple("Ada", "LIKES", "tea")
    assert (now.etag, now.properties) == (before.etag, before.properties)
    assert len(now.sources) == 2


async def test_words_said_again_by_an_agent_confirm_no_extracted_fact(live: World) -> None:
    """W9 Extraction: what a program took from a person's words is the person's to confirm."""
    person, agent = ada(live), helper(live)
    taken = fact("Ada", "LIVES_IN", "Berlin", extracted=True)
    await person.add("I live in Berlin.", id="m", facts=[taken])

    stated = fact("Ada", "LIVES_IN", "Berlin")
    reply = await agent.add_memory(type_pb2.Memory(content="I live in Berlin.", facts=[stated]))

    assert reply.memory.id == "m"
    assert said(reply) == []
    assert (await person.get_triple("Ada", "LIVES_IN", "Berlin")).extracted
    more = await agent.get("m")
    more.facts.add(subject="Ada", relation="LIVES_IN", object="Paris", extracted=True)
    assert said(await update(agent, more, "facts")) == [("UPDATE", "m", "")]


async def test_a_resolution_against_a_person_claims(live: World) -> None:
    """W9 ResolveConflict by an agent: the conflict stays open, and the person's side current."""
    person, agent = ada(live), helper(live)
    await person.add("I drink tea.", id="tea")
    await agent.add("She drinks no tea.", id="no-tea")
    await person.relate(type_pb2.LINEAGE_RELATION_CONTRADICTS, "no-tea", "tea")
    (conflict,) = (
        await person.conflict.ListConflicts(conflict_pb2.ListConflictsRequest())
    ).conflicts

    resolve = conflict_pb2.ResolveConflictRequest(
        request_id="1",
        conflict_id=conflict.id,
        etag=conflict.etag,
        resolution_type=conflict_pb2.CONFLICT_CLASS_CONTRADICTION,
        superseded_id="tea",
    )
    reply = await agent.conflict.ResolveConflict(resolve)

    assert said(reply) == [("RESOLVE", "tea", "")]
    assert reply.conflict.state == conflict_pb2.CONFLICT_STATE_CONFIRMED
    assert not (await person.get("tea")).supersession.is_superseded
    resolve.request_id, resolve.superseded_id = "2", "no-tea"
    assert said(await agent.conflict.ResolveConflict(resolve)) == []


@pytest.mark.parametrize("by_link", [True, False])
async def test_a_contradiction_of_a_person_moves_nothing(live: World, by_link: bool) -> None:
    """W9 D5 `Contradicts:` at a person's memory is POTENTIAL; confirming it is a claim."""
    person, agent = ada(live), helper(live)
    await person.add("I drink tea.", id="tea", facts=[fact("Ada", "DRINKS", "tea")])
    link = "\n\nContradicts: [[memory:tea]]" if by_link else ""
    await agent.add(f"She drinks no tea.{link}", id="no-tea")
    if not by_link:
        await agent.relate(type_pb2.LINEAGE_RELATION_CONTRADICTS, "no-tea", "tea")

    (conflict,) = (
        await person.conflict.ListConflicts(conflict_pb2.ListConflictsRequest())
    ).conflicts
    assert conflict.state == conflict_pb2.CONFLICT_STATE_POTENTIAL
    assert (await person.get("tea")).health.status == type_pb2.HEALTH_STATUS_HEALTHY
    confirm = conflict_pb2.ReviewConflictRequest(
        request_id="1",
        conflict_id=conflict.id,
        etag=conflict.etag,
        decision=conflict_pb2.REVIEW_DECISION_CONFIRM,
    )
    reply = await agent.conflict.ReviewConflict(confirm)
    assert said(reply) == [("CONFIRM", min("tea", "no-tea", key=lambda i: i != "tea"), "")]
    assert reply.conflict.state == conflict_pb2.CONFLICT_STATE_POTENTIAL
    confirm.request_id = "2"
    assert said(await person.conflict.ReviewConflict(confirm)) == []


async def test_a_tools_dismissal_of_what_an_agent_said_claims(live: World) -> None:
    """W9 D5 The agent's CONTRADICTS stands above the tool: the reply shows the conflict."""
    person, agent = ada(live), helper(live)
    await person.add("I drink tea.", id="tea")
    await agent.add("She drinks no tea.", id="no-tea")
    edge = (await agent.relate(type_pb2.LINEAGE_RELATION_CONTRADICTS, "no-tea", "tea")).edge
    listed = await person.conflict.ListConflicts(conflict_pb2.ListConflictsRequest())
    (conflict,) = listed.conflicts
    dismiss = conflict_pb2.ReviewConflictRequest(
        request_id="1",
        conflict_id=conflict.id,
        etag=conflict.etag,
        decision=conflict_pb2.REVIEW_DECISION_DISMISS,
    )

    reply = await tool(live).conflict.ReviewConflict(dismiss)

    assert said(reply) == [("DELETE", edge.id, "")]
    assert (reply.conflict.id, reply.conflict.state) == (conflict.id, conflict.state)


async def test_a_stale_etag_is_still_refused(live: World) -> None:
    """W9 Nothing becomes a claim against a version that is not there."""
    person, agent = ada(live), helper(live)
    memory = await person.add("I drink tea.")
    memory.etag = "other"

    assert await reason(_forget(agent, memory)) == "ERROR_REASON_ETAG_MISMATCH"
    assert await claims(person) == []
