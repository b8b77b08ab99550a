"""The tour's second part: two statements that cannot both hold are found, reviewed and resolved."""

from datetime import UTC, datetime

from concord.dissonance.v1 import dissonance_pb2
from concord.graph.v1 import conflict_pb2, graph_pb2, memory_pb2, relation_pb2
from concord.type.v1 import type_pb2
from google.protobuf.message import Message

from concord_client.cli.demo.stage import Stage, Step, demand
from concord_client.cli.render.page import show, text

WHO, RELATION, BEFORE, NOW = "Mira", "LIVES_IN", "Oslo", "Bergen"
SINCE = datetime(2026, 1, 1, tzinfo=UTC)


def steps() -> list[Step]:
    """The steps, in order."""
    return [
        Step("conflict", f"Two sources disagree about {WHO}: a check finds it", _find),
        Step("review", "Somebody looks at it: it is one", _confirm),
        Step("resolution", "Resolved: one side gives way, and stays readable", _resolve),
    ]


def _find(stage: Stage) -> Message:
    from concord_client.cli.render.conflict_page import checked, listed

    stage.client.relation.DeclareRelation(
        relation_pb2.DeclareRelationRequest(
            name=RELATION, functional=True, temporal_class=relation_pb2.TEMPORAL_CLASS_STATE
        )
    )
    for place in (BEFORE, NOW):
        memory = type_pb2.Memory(
            content=f"{WHO} lives in {place}.",
            facts=[type_pb2.Fact(subject=WHO, relation=RELATION, object=place)],
        )
        memory.valid_from.FromDatetime(SINCE)
        stage.client.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory))
    reply = stage.client.dissonance.CheckDissonance(
        dissonance_pb2.CheckDissonanceRequest(context_node=WHO)
    )
    demand(len(reply.conflicts) == 1, "the check finds the one disagreement that there is")
    found = reply.conflicts[0]
    demand(found.state == conflict_pb2.CONFLICT_STATE_POTENTIAL, "a finding alone asserts nothing")
    stage.conflict_id = found.id
    if stage.shown:
        show(*checked(reply.status, reply.coverage), listed(reply.conflicts))
    return reply


def _confirm(stage: Stage) -> Message:
    from concord_client.cli.render.conflict_page import whole

    reply = stage.client.dissonance.ReviewConflict(
        dissonance_pb2.ReviewConflictRequest(
            conflict_id=stage.conflict_id, action=dissonance_pb2.REVIEW_ACTION_CONFIRM
        )
    )
    confirmed = conflict_pb2.CONFLICT_STATE_CONFIRMED
    demand(reply.conflict.state == confirmed, "who reviews a conflict decides about it")
    if stage.shown:
        show(*whole(reply.conflict))
    return reply


def _resolve(stage: Stage) -> Message:
    before = _edge(stage, BEFORE)
    reply = stage.client.dissonance.ResolveDissonance(
        dissonance_pb2.ResolveDissonanceRequest(
            conflict_id=stage.conflict_id,
            resolution_type=conflict_pb2.CONFLICT_CLASS_EVOLUTION,
            superseded_id=before.id,
            context="She moved, and the first source did not know.",
        )
    )
    demand(_edge(stage, BEFORE).supersession.is_superseded, f"{BEFORE} gave way to {NOW}")
    demand(not _edge(stage, NOW).supersession.is_superseded, f"{NOW} holds")
    if stage.shown:
        show(text(f"{WHO} lives in {NOW}; {BEFORE} is what was believed before.", "green"))
    return reply


def _edge(stage: Stage, place: str) -> type_pb2.Edge:
    triple = graph_pb2.Triple(
        source=type_pb2.EdgeEnd(name=WHO), relation=RELATION, target=type_pb2.EdgeEnd(name=place)
    )
    return stage.client.graph.GetEdge(graph_pb2.GetEdgeRequest(triple=triple, peek=True)).edge
