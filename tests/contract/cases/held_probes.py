"""What one principal alone may try at what both agreed to, and how both agree on it before."""

from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from concord.graph.v1 import governed_pb2, graph_pb2, lineage_pb2, memory_pb2, relation_pb2
from concord.type.v1 import type_pb2
from contract_homes import CONSTITUTIVE, Home, Template, apply, edge_said
from contract_live import Live, Request, member
from contract_registry import Refused
from google.protobuf.field_mask_pb2 import FieldMask
from guard_probes import Probe, is_done

SUPERSEDES = 1
Agree = Callable[[Live, Home], Awaitable[None]]
Ask = Callable[[Live, Home], Awaitable[Request]]


def held_attempt(method: str, ask: Ask) -> Probe:
    """Return the probe that tries to undo alone what both agreed to before."""

    async def probe(live: Live, template: Template) -> bool:
        answer = await live.ask(member("a"), method, await ask(live, template.a))
        demanded = Refused(grpc.StatusCode.FAILED_PRECONDITION, "CONSTITUTIVE_EDGE_PROTECTED")
        return is_done(answer, demanded)

    return probe


async def _heir(live: Live, home: Home) -> None:
    """Both agree that the heir, a descriptive memory, stands for the creed."""
    heir = await live.tell(member("a"), "GetMemory", memory_pb2.GetMemoryRequest(id="heir"))
    await _replaced(live, home, heir.memory.id, home.creed_id)


async def _heir_edge(live: Live, home: Home) -> None:
    """Both agree that an edge, a descriptive one, stands for what Ada values."""
    await _replaced(live, home, home.edge_id, home.rock_id)


async def _replaced(live: Live, home: Home, newer: str, older: str) -> Any:
    action = governed_pb2.GovernedAction()
    action.add_lineage.request_id = "inner"
    action.add_lineage.relation = SUPERSEDES  # type: ignore[assignment] # numbers are the contract's
    action.add_lineage.newer_id, action.add_lineage.older_id = newer, older
    return await apply(live, home, action)


async def _anchored(live: Live, home: Home) -> None:
    """Both agree on a constitutive edge that ends at a descriptive memory."""
    action = governed_pb2.GovernedAction()
    action.upsert_edge.request_id = "inner"
    edge = edge_said("KEEPS", "", edge_type=CONSTITUTIVE)
    edge.target.Clear()
    edge.target.id = "heir"
    action.upsert_edge.edge.CopyFrom(edge)
    await apply(live, home, action)


async def _heir_superseded(_: Live, home: Home) -> Request:
    return _lineage(home.memory_id, "heir")


async def _heir_amended_by_a_link(_: Live, __: Home) -> Request:
    return memory_pb2.AddMemoryRequest(
        request_id="x",
        memory={"content": "Amends: [[memory:heir]]"},  # type: ignore[arg-type] # a mapping will do
    )


async def _heir_edge_superseded(_: Live, home: Home) -> Request:
    return _lineage(home.later_edge_id, home.edge_id)


async def _heir_edge_shadowed(_: Live, __: Home) -> Request:
    edge = edge_said("WORKS_AT", "Acme", valid_from="2022-01-01T00:00:00Z")
    return graph_pb2.UpsertEdgeRequest(request_id="x", edge=edge)


async def _heir_edge_joined(live: Live, home: Home) -> Request:
    later = graph_pb2.GetEdgeRequest(id=home.later_edge_id, peek=True)
    edge = (await live.tell(member("a"), "GetEdge", later)).edge
    edge.target.Clear()
    edge.target.name = "Acme"
    return graph_pb2.UpdateEdgeRequest(
        request_id="x", edge=edge, update_mask=FieldMask(paths=["target"])
    )


def _lineage(newer: str, older: str) -> lineage_pb2.AddLineageRequest:
    return lineage_pb2.AddLineageRequest(
        request_id="x",
        newer_id=newer,
        older_id=older,
        relation=SUPERSEDES,  # type: ignore[arg-type] # numbers are the contract's
    )


# Every way in which somebody alone could hide what both principals put in place (G4), by its harm.
HELD: dict[str, tuple[Agree, str, Ask]] = {
    "superseded": (_heir, "AddLineage", _heir_superseded),
    "amended by a link": (_heir, "AddMemory", _heir_amended_by_a_link),
    "superseded at the end of a constitutive edge": (_anchored, "AddLineage", _heir_superseded),
    "superseded as an edge": (_heir_edge, "AddLineage", _heir_edge_superseded),
    "shadowed by an edge of its triple": (_heir_edge, "UpsertEdge", _heir_edge_shadowed),
    "joined by an edge that moved to its triple": (_heir_edge, "UpdateEdge", _heir_edge_joined),
}


async def a_moved_edge_succeeds_itself(live: Live, _: Template) -> bool:
    """Date a value before the one that it amends, which then succeeds it."""
    who = member("a")
    declared = relation_pb2.DeclareRelationRequest(
        request_id="one", name="SLEEPS_IN", functional=True
    )
    await live.tell(who, "DeclareRelation", declared)

    async def said(where: str, when: str) -> Any:
        edge = edge_said("SLEEPS_IN", where, valid_from=when)
        request = graph_pb2.UpsertEdgeRequest(request_id=when, edge=edge)
        return (await live.tell(who, "UpsertEdge", request)).edge

    older = await said("Bonn", "2020-01-01T00:00:00Z")
    newer = await said("Ulm", "2022-01-01T00:00:00Z")
    lineage = _lineage(newer.id, older.id)
    lineage.request_id = "resolve"
    lineage.relation = type_pb2.LINEAGE_RELATION_AMENDS
    await live.tell(who, "AddLineage", lineage)
    newer.valid_from.FromJsonString("2019-01-01T00:00:00Z")
    request = graph_pb2.UpdateEdgeRequest(
        request_id="x", edge=newer, update_mask=FieldMask(paths=["valid_from"])
    )
    answer = await live.ask(who, "UpdateEdge", request)
    demanded = Refused(grpc.StatusCode.FAILED_PRECONDITION, "LINEAGE_CYCLE")
    return is_done(answer, demanded)


async def a_text_is_said(live: Live, _: Home) -> None:
    """Say in a text that it amends another."""
    request = memory_pb2.AddMemoryRequest(
        request_id="said",
        memory={"id": "said", "content": "Amends: [[memory:heir]]"},  # type: ignore[arg-type] # a mapping will do
    )
    await live.tell(member("a"), "AddMemory", request)


async def an_edge_goes_behind_its_text(live: Live, _: Template) -> bool:
    """Delete the edge that the text still says."""
    asked = lineage_pb2.GetLineageRequest(id="said")
    edges = (await live.tell(member("a"), "GetLineage", asked)).edges
    edge = next(edge for edge in edges if edge.source.id == "said")
    request = graph_pb2.DeleteEdgeRequest(request_id="x", id=edge.id, etag=edge.etag)
    answer = await live.ask(member("a"), "DeleteEdge", request)
    demanded = Refused(grpc.StatusCode.FAILED_PRECONDITION, "ITEM_STATE")
    return is_done(answer, demanded)
