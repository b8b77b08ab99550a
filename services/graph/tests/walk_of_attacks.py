"""Every write RPC that a key with the scope write may call, tried by an agent on a person's items.

An attack is tried for each door to the items: another field, another kind, another way round.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from concord.graph.v1 import (
    claim_pb2,
    conflict_pb2,
    dialogue_pb2,
    graph_pb2,
    lineage_pb2,
    memory_pb2,
    relation_pb2,
)
from concord.type.v1 import type_pb2
from google.protobuf.field_mask_pb2 import FieldMask
from graph_world import START, Calls, edge_of, fact, stamp, struct

TRIES = 6
LIKES, CITY = "LIKES", "LIVES_IN"
Attack = Callable[[Calls, random.Random], Awaitable[Any]]


@dataclass(frozen=True)
class Seen:
    """What default reads return of a person's items."""

    memories: tuple[Any, ...]
    edges: tuple[Any, ...]
    node: tuple[Any, ...]
    listed: frozenset[str]
    around: frozenset[str]
    declared: tuple[tuple[str, bool], ...]


async def furnish(person: Calls) -> None:
    """Let a person say something of each kind."""
    await person.declare(CITY)
    await person.put_node("Ada", label="Person", properties=struct({"born": 1815}))
    facts = [fact("Ada", CITY, "Berlin", properties={"since": "May"})]
    await person.add("I live in Berlin.", id="home", facts=facts, tags=["city"], domain="life")
    await person.add("I drink tea.", id="tea", external_id="note-1", concepts=["tea"])
    await person.add("I hike.", id="hike", properties=struct({"with": "Bob"}))
    for what in ("tea", "hiking"):
        await person.put_edge("Ada", LIKES, what, properties={"why": "so"}, weight=0.9)


MEMORIES = ("home", "tea", "hike")


async def seen(person: Calls) -> Seen:
    """Read a person's items as by default."""
    memories = []
    for memory_id in MEMORIES:
        reply = await person.memory.GetMemory(memory_pb2.GetMemoryRequest(id=memory_id, peek=True))
        memory = reply.memory
        supersession = memory.supersession
        memories.append(
            (
                *(
                    reply.status,
                    memory.etag,
                    memory.content,
                    memory.importance,
                    memory.health.status == type_pb2.HEALTH_STATUS_AT_RISK,
                ),
                *(supersession.is_superseded, tuple(supersession.amendment_ids)),
                *(memory.HasField("forget_time"), supersession.HasField("effective_valid_until")),
            )
        )
    edges = await _edges(person)
    node = (await person.graph.GetNode(graph_pb2.GetNodeRequest(name="Ada"))).node
    near = await person.neighbors("Ada", page_size=200)
    names = {each.neighbor.name for each in near.neighbors}
    return Seen(
        tuple(memories),
        tuple((e.id, e.etag, e.target.name, e.weight, e.supersession.is_superseded) for e in edges),
        (node.id, node.etag, node.name, node.label),
        frozenset(await person.listed(page_size=200)) & frozenset(MEMORIES),
        frozenset(names & {"Berlin", "tea", "hiking"}),
        tuple(sorted((await person.declared()).items())),
    )


async def _edges(calls: Calls) -> list[type_pb2.Edge]:
    request = graph_pb2.ListEdgesRequest(page_size=200)
    found = (await calls.graph.ListEdges(request)).edges
    targets = {"Berlin", "tea", "hiking"}
    hers = [each for each in found if each.source.name == "Ada" and each.target.name in targets]
    return sorted(hers, key=lambda each: each.id)


async def _memory(calls: Calls, chance: random.Random) -> type_pb2.Memory:
    request = memory_pb2.GetMemoryRequest(id=chance.choice(MEMORIES), peek=True)
    return (await calls.memory.GetMemory(request)).memory


async def _own(calls: Calls, chance: random.Random) -> type_pb2.Memory:
    """Return a new memory of the attacker's own."""
    return await calls.add(f"It is otherwise, {chance.random()}.")


async def adds(calls: Calls, chance: random.Random) -> Any:
    """AddMemory: with links, a later fact, the person's id, or the person's words."""
    word = chance.choice(("Supersedes", "Deprecates", "Amends", "Contradicts"))
    target = chance.choice(MEMORIES)
    memory = type_pb2.Memory(content=f"{chance.random()}\n\n{word}: [[memory:{target}]]")
    match chance.randrange(4):
        case 0:
            memory.facts.append(fact("Ada", CITY, "Paris", weight=0.1))
        case 1:
            memory.facts.append(fact("Ada", CITY, "Berlin", properties={"since": "never"}))
            memory.valid_until.CopyFrom(stamp(START * 2))
        case 2:
            memory.content, memory.external_id = "I drink rum.", "note-1"
    request = memory_pb2.AddMemoryRequest(
        request_id=calls.request_id(), memory=memory, extracted=chance.random() < 0.2
    )
    return await calls.memory.AddMemory(request)


async def imports(calls: Calls, chance: random.Random) -> Any:
    """BatchAddMemories, which updates what has the person's id or key."""
    memory = type_pb2.Memory(content=f"{chance.random()}\n\nSupersedes: [[memory:tea]]")
    match chance.randrange(3):
        case 0:
            memory.id = chance.choice(MEMORIES)
        case 1:
            memory.external_id = "note-1"
            memory.importance = type_pb2.IMPORTANCE_LOW
    return await calls.batch([memory], update_existing=True)


def updates(field: str) -> Attack:
    """UpdateMemory of one field."""

    async def attack(calls: Calls, chance: random.Random) -> Any:
        memory = await _memory(calls, chance)
        other = type_pb2.Memory(id=memory.id, etag=memory.etag, content="It is otherwise.")
        other.importance, other.kind = type_pb2.IMPORTANCE_LOW, type_pb2.MEMORY_KIND_PLAN
        other.valid_from.CopyFrom(stamp(START - 9_000_000))
        other.valid_until.CopyFrom(stamp(START + 1))
        other.facts.append(fact("Ada", CITY, "Paris"))
        other.domain, other.category, other.external_id = "other", "other", f"k{chance.random()}"
        other.concepts.append("other")
        other.sources.append(type_pb2.Source(speaker="nobody", trust=type_pb2.TRUST_LEVEL_DOUBTFUL))
        other.properties.update({"with": "Eve"})
        other.surfaces_when.append("file:*.py")
        request = memory_pb2.UpdateMemoryRequest(
            request_id=calls.request_id(), memory=other, update_mask=FieldMask(paths=[field])
        )
        return await calls.memory.UpdateMemory(request)

    return attack


async def forgets(calls: Calls, chance: random.Random) -> Any:
    """ForgetMemory."""
    memory = await _memory(calls, chance)
    return await calls.memory.ForgetMemory(
        memory_pb2.ForgetMemoryRequest(
            request_id=calls.request_id(), id=memory.id, etag=memory.etag
        )
    )


async def restores(calls: Calls, chance: random.Random) -> Any:
    """RestoreMemory of its own memory, whose lineage would take effect again."""
    own = await calls.add(f"{chance.random()}\n\nSupersedes: [[memory:tea]]")
    gone = await calls.forget(own)
    return await calls.restore(gone)


async def erases(calls: Calls, chance: random.Random) -> Any:
    """EraseMemory: the person's, or its own that states what the person states."""
    memory = await _memory(calls, chance)
    if chance.random() < 0.5:
        memory = await calls.add(f"{chance.random()}", facts=[fact("Ada", CITY, "Berlin")])
    return await calls.erase(memory)


async def relates(calls: Calls, chance: random.Random) -> Any:
    """AddLineage at a memory, or at an edge."""
    newer, older = (await _own(calls, chance)).id, chance.choice(MEMORIES)
    if chance.random() < 0.4:
        newer = (await calls.put_edge("Ada", "HATES", f"{chance.random()}")).id
        older = chance.choice(await _edges(calls)).id
    return await calls.lineage_service.AddLineage(
        lineage_pb2.AddLineageRequest(
            request_id=calls.request_id(),
            relation=chance.choice(type_pb2.LineageRelation.values()[1:]),
            newer_id=newer,
            older_id=older,
        )
    )


async def states_nodes(calls: Calls, chance: random.Random) -> Any:
    """UpsertNode."""
    node = type_pb2.Node(name="Ada", label="Ship", properties=struct({"born": chance.random()}))
    return await calls.graph.UpsertNode(
        graph_pb2.UpsertNodeRequest(request_id=calls.request_id(), node=node)
    )


async def renames(calls: Calls, chance: random.Random) -> Any:
    """UpdateNode: the person's node, or one of its own at a person's edge."""
    name = chance.choice(["Ada", "Berlin", "tea"])
    node = (await calls.graph.GetNode(graph_pb2.GetNodeRequest(name=name))).node
    node.name = f"Eve {chance.random()}"
    return await calls.graph.UpdateNode(
        graph_pb2.UpdateNodeRequest(
            request_id=calls.request_id(), node=node, update_mask=FieldMask(paths=["name"])
        )
    )


async def deletes_nodes(calls: Calls, chance: random.Random) -> Any:
    """DeleteNode, with its edges."""
    name = chance.choice(["Ada", "hiking", "tea"])
    node = (await calls.graph.GetNode(graph_pb2.GetNodeRequest(name=name))).node
    return await calls.graph.DeleteNode(
        graph_pb2.DeleteNodeRequest(
            request_id=calls.request_id(), id=node.id, etag=node.etag, cascade=True
        )
    )


async def states_edges(calls: Calls, chance: random.Random) -> Any:
    """UpsertEdge: another weight, an end, a later value, a value ahead."""
    match chance.randrange(4):
        case 0:
            edge = edge_of("Ada", LIKES, "tea", weight=0.1, properties={"why": None})
        case 1:
            edge = edge_of("Ada", LIKES, "tea", valid_until=START + 10**12)
        case 2:
            edge = edge_of("Ada", CITY, f"Paris {chance.random()}")
        case _:
            ahead = START + chance.randrange(10**9)
            edge = edge_of("Ada", CITY, f"Paris {chance.random()}", valid_from=ahead)
    return await calls.upsert(edge)


async def updates_edges(calls: Calls, chance: random.Random) -> Any:
    """UpdateEdge, of any field."""
    edge = chance.choice(await _edges(calls))
    path = chance.choice(["weight", "properties", "importance", "valid_until", "target"])
    edge.weight, edge.importance = 0.1, type_pb2.IMPORTANCE_LOW
    edge.valid_until.CopyFrom(stamp(START + 10**12))
    edge.target.CopyFrom(type_pb2.EdgeEnd(name=f"Rome {chance.random()}"))
    edge.properties.Clear()
    return await calls.graph.UpdateEdge(
        graph_pb2.UpdateEdgeRequest(
            request_id=calls.request_id(), edge=edge, update_mask=FieldMask(paths=[path])
        )
    )


async def deletes_edges(calls: Calls, chance: random.Random) -> Any:
    """DeleteEdge."""
    edge = chance.choice(await _edges(calls))
    return await calls.graph.DeleteEdge(
        graph_pb2.DeleteEdgeRequest(request_id=calls.request_id(), id=edge.id, etag=edge.etag)
    )


async def declares(calls: Calls, chance: random.Random) -> Any:
    """DeclareRelation: late, or taken back."""
    name = chance.choice([LIKES, CITY])
    return await calls.relation.DeclareRelation(
        relation_pb2.DeclareRelationRequest(
            request_id=calls.request_id(), name=name, functional=name == LIKES
        )
    )


async def talks(calls: Calls, chance: random.Random) -> Any:
    """AppendDialogue, whose turns say that they take a memory's place."""
    said = f"{chance.random()}\n\nSupersedes: [[memory:{chance.choice(MEMORIES)}]]"
    turn = dialogue_pb2.DialogueTurn(speaker="owner", content=said)
    return await calls.dialogue_service.AppendDialogue(
        dialogue_pb2.AppendDialogueRequest(
            request_id=calls.request_id(), session_id="s", turns=[turn]
        )
    )


async def _conflict(calls: Calls, chance: random.Random) -> conflict_pb2.Conflict:
    """Return a conflict with a person's memory, after the attacker has said that there is one."""
    own = await _own(calls, chance)
    await calls.relate(type_pb2.LINEAGE_RELATION_CONTRADICTS, own.id, chance.choice(MEMORIES))
    reply = await calls.conflict.ListConflicts(conflict_pb2.ListConflictsRequest(page_size=50))
    return chance.choice(list(reply.conflicts))


async def reviews(calls: Calls, chance: random.Random) -> Any:
    """ReviewConflict, with any decision."""
    found = await _conflict(calls, chance)
    return await calls.conflict.ReviewConflict(
        conflict_pb2.ReviewConflictRequest(
            request_id=calls.request_id(),
            conflict_id=found.id,
            etag=found.etag,
            decision=chance.choice(conflict_pb2.ReviewDecision.values()[1:4]),
            context="so it is said",
        )
    )


async def resolves(calls: Calls, chance: random.Random) -> Any:
    """ResolveConflict, so that the person's side gives way."""
    found = await _conflict(calls, chance)
    sides = [each.id for each in (found.first, found.second) if each.id in MEMORIES]
    return await calls.conflict.ResolveConflict(
        conflict_pb2.ResolveConflictRequest(
            request_id=calls.request_id(),
            conflict_id=found.id,
            etag=found.etag,
            resolution_type=conflict_pb2.CONFLICT_CLASS_CONTRADICTION,
            superseded_id=sides[0] if sides else "",
        )
    )


async def reopens(calls: Calls, chance: random.Random) -> Any:
    """ReopenConflict."""
    found = await _conflict(calls, chance)
    return await calls.conflict.ReopenConflict(
        conflict_pb2.ReopenConflictRequest(
            request_id=calls.request_id(), conflict_id=found.id, etag=found.etag
        )
    )


def settles(form: Any) -> Attack:
    """AcceptClaims and its like, of whatever is open."""

    async def attack(calls: Calls, chance: random.Random) -> Any:
        await relates(calls, chance)
        listed = await calls.claim.ListClaims(claim_pb2.ListClaimsRequest(page_size=50))
        ids = [each.id for each in listed.claims][:3] or ["none"]
        request = form(request_id=calls.request_id(), named=claim_pb2.ClaimsNamed(ids=ids))
        name = form.DESCRIPTOR.name.removesuffix("Request")
        return await getattr(calls.claim, name)(request)

    return attack


UPDATED = (
    *("content", "importance", "valid_from", "valid_until", "facts", "domain", "category"),
    *("external_id", "concepts", "sources", "properties", "surfaces_when", "tags", "kind"),
)
ATTACKS: Mapping[str, Sequence[Attack]] = {
    "AddMemory": [adds],
    "BatchAddMemories": [imports],
    "UpdateMemory": [updates(field) for field in UPDATED],
    "ForgetMemory": [forgets],
    "RestoreMemory": [restores],
    "EraseMemory": [erases],
    "AddLineage": [relates],
    "UpsertNode": [states_nodes],
    "UpdateNode": [renames],
    "DeleteNode": [deletes_nodes],
    "UpsertEdge": [states_edges],
    "UpdateEdge": [updates_edges],
    "DeleteEdge": [deletes_edges],
    "DeclareRelation": [declares],
    "AppendDialogue": [talks],
    "ReviewConflict": [reviews],
    "ResolveConflict": [resolves],
    "ReopenConflict": [reopens],
    "AcceptClaims": [settles(claim_pb2.AcceptClaimsRequest)],
    "RefuseClaims": [settles(claim_pb2.RefuseClaimsRequest)],
    "WithdrawClaims": [settles(claim_pb2.WithdrawClaimsRequest)],
}


async def tried(attack: Attack, calls: Calls, chance: random.Random) -> Any:
    """Try an attack; None for whatever refusal, which is no bug of graph's."""
    try:
        return await attack(calls, chance)
    except grpc.aio.AioRpcError as error:
        if error.code() in {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN}:
            raise
        return None
