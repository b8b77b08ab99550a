"""From the contract's messages to plain data."""

from datetime import UTC, datetime
from typing import Any

from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import conflict_pb2, graph_pb2, memory_pb2, relation_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from google.protobuf import json_format
from google.protobuf.message import Message

from concord_client.trust.review import review
from concord_client.verbs import things

CONSTITUTIVE = type_pb2.EDGE_TYPE_CONSTITUTIVE


def memory(told: type_pb2.Memory) -> things.Memory:
    """A memory."""
    return things.Memory(
        id=told.id,
        content=told.content,
        kind=name_of(type_pb2.MemoryKind, told.kind),
        importance=name_of(type_pb2.Importance, told.importance),
        domain=told.domain,
        tags=tuple(told.tags),
        facts=tuple(things.Fact(each.subject, each.relation, each.object) for each in told.facts),
        sources=tuple(
            things.Source(each.speaker, each.file, tuple(each.turn_ids), tuple(each.memory_ids))
            for each in told.sources
        ),
        session_id=told.session_id,
        origin=name_of(type_pb2.Origin, told.origin),
        properties=json_format.MessageToDict(told.properties),
        valid_from=time_of(told, "valid_from"),
        valid_until=time_of(told, "valid_until"),
        created=time_of(told, "create_time"),
        modified=time_of(told, "modify_time"),
        etag=told.etag,
        is_constitutive=told.edge_type == CONSTITUTIVE,
        is_superseded=told.supersession.is_superseded,
        superseded_by=tuple(told.supersession.head_ids) if told.supersession.is_superseded else (),
        conflict_ids=tuple(told.conflict_ids),
    )


def added(told: memory_pb2.AddMemoryResponse) -> things.Added:
    """What adding did."""
    return things.Added(memory(told.memory), told.created)


def answer(told: search_pb2.SearchResponse) -> things.Answer:
    """What a search found."""
    return things.Answer(
        results=tuple(_result(each) for each in told.results),
        confidence=name_of(search_pb2.ConfidenceBand, told.confidence),
        advice=tuple(told.stac_lines),
        next_action=name_of(search_pb2.NextAction, told.next_action),
        index_incomplete=told.index_incomplete,
        context=told.context,
    )


def _result(told: search_pb2.SearchResult) -> things.Result:
    return things.Result(
        memory=memory(told.memory),
        score=told.composite_score,
        confidence=name_of(search_pb2.ConfidenceBand, told.confidence),
        why=told.explanation.relevance_reason,
        provenance=told.provenance,
        signals={each.signal_name: each.score for each in told.explanation.signals},
        conflict_ids=tuple(each.conflict_id for each in told.potential_conflicts),
    )


def version(told: memory_pb2.MemoryVersion) -> things.Version:
    """One of a memory's versions."""
    return things.Version(
        told.revision,
        memory(told.memory),
        time_of(told, "record_from"),
        time_of(told, "record_until"),
        told.principal,
    )


def edge(told: type_pb2.Edge) -> things.Edge:
    """An edge."""
    return things.Edge(
        id=told.id,
        source=told.source.name or told.source.id,
        relation=told.relation,
        target=told.target.name or told.target.id,
        weight=told.weight,
        valid_from=time_of(told, "valid_from"),
        valid_until=time_of(told, "valid_until"),
        etag=told.etag,
        is_constitutive=told.edge_type == CONSTITUTIVE,
        is_superseded=told.supersession.is_superseded,
    )


def neighbor(told: graph_pb2.Neighbor) -> things.Neighbor:
    """A neighbour."""
    return things.Neighbor(told.neighbor.name or told.neighbor.id, told.distance, edge(told.edge))


def followed(told: relation_pb2.FollowRelationsResponse) -> things.Followed:
    """Where relations lead."""
    hops = tuple(
        things.Hop(
            each.relation,
            tuple(edge(walked) for walked in each.edges),
            each.truncated,
            tuple(each.held_relations),
        )
        for each in told.hops
    )
    return things.Followed(tuple(end.name or end.id for end in told.ends), hops, told.unheld_hop)


def proposal(told: proposal_pb2.Proposal) -> things.Proposal:
    """A proposal, compared with its stored bytes. Raises `ReviewError` where it is not theirs."""
    action = review(told).document["action"] if told.canonical else {}
    return things.Proposal(
        id=told.id,
        number=told.number,
        status=name_of(proposal_pb2.ProposalStatus, told.status),
        kind=name_of(proposal_pb2.ProposalKind, told.kind),
        level=name_of(proposal_pb2.ApprovalLevel, told.approval_level),
        says=told.framing.neutral_summary,
        digest=told.digest,
        action=action,
        canonical=told.canonical,
    )


def conflict(told: conflict_pb2.Conflict) -> things.Conflict:
    """A conflict."""
    return things.Conflict(
        id=told.id,
        conflict_class=name_of(conflict_pb2.ConflictClass, told.conflict_class),
        state=name_of(conflict_pb2.ConflictState, told.state),
        first_id=told.first.id,
        first_says=told.first.statement,
        second_id=told.second.id,
        second_says=told.second.statement,
        confidence=told.confidence,
    )


def time_of(told: Message, name: str) -> datetime | None:
    """A field's instant; None when it is absent."""
    if not told.HasField(name):
        return None
    found: datetime = getattr(told, name).ToDatetime(tzinfo=UTC)
    return found


def name_of(enum: Any, value: int) -> str:
    """A value's name without the enum's own in front; empty of what was not said.

    `enum` is the generated wrapper, which has one type when it runs and another in its stubs.
    """
    if not value or value not in enum.values():
        return ""
    prefix = str(enum.keys()[0]).removesuffix("UNSPECIFIED")
    return str(enum.Name(value)).removeprefix(prefix)
