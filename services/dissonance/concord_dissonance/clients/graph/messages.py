"""Translates graph's messages into statements and rules, and findings into messages."""

from enum import Enum
from typing import Any

from concord.dissonance.v1 import dissonance_pb2
from concord.graph.v1 import conflict_pb2, feed_pb2, relation_pb2
from concord.type.v1 import type_pb2
from concord_reading.tokens import Span
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from concord_dissonance.domain.dialectic.theses import Source
from concord_dissonance.domain.sides import (
    Kind,
    Micros,
    RelationRule,
    Side,
    TemporalClass,
    TypedFact,
)
from concord_dissonance.domain.statements import Finding, Statement, Versions
from concord_dissonance.domain.verdicts import JUDGES, Older, Verdict

MOST_SPANS = 16
CONSTITUTIVE = type_pb2.EDGE_TYPE_CONSTITUTIVE
_SCOPES = ("region", "version", "environment")
_KINDS = {
    getattr(type_pb2, f"MEMORY_KIND_{kind.name}"): kind for kind in Kind if kind is not Kind.EDGE
}
_TEMPORAL = {getattr(relation_pb2, f"TEMPORAL_CLASS_{each.name}"): each for each in TemporalClass}
_WRITTEN = frozenset(
    {
        feed_pb2.CHANGE_TYPE_CREATED,
        feed_pb2.CHANGE_TYPE_UPDATED,
        feed_pb2.CHANGE_TYPE_RESTORED,
    }
)
_AUTHORITY = {
    type_pb2.TRUST_LEVEL_DOUBTFUL: 0.2,
    type_pb2.TRUST_LEVEL_REPORTED: 0.5,
    type_pb2.TRUST_LEVEL_VERIFIED: 0.9,
}
_RECORDS = frozenset({"SUPERSEDES", "DEPRECATES", "AMENDS", "CONTRADICTS", "RELATED_TO", "ERASED"})


def states_something(edge: type_pb2.Edge) -> bool:
    """Whether an edge is a statement: no lineage, no link, no record of Concord's own."""
    plain = edge.edge_type in (CONSTITUTIVE, type_pb2.EDGE_TYPE_DESCRIPTIVE)
    return plain and edge.relation not in _RECORDS and not edge.relation.startswith("concord:")


def of_edge(edge: type_pb2.Edge) -> Statement:
    """An edge as a statement."""
    fact = TypedFact(_end(edge.source), edge.relation, _end(edge.target))
    side = Side(
        id=edge.id,
        kind=Kind.EDGE,
        fact=fact,
        valid_from=stated(edge, "valid_from"),
        valid_until=stated(edge, "valid_until"),
        written=micros(edge.create_time),
        scope=_scope(edge.properties),
        is_constitutive=edge.edge_type == CONSTITUTIVE,
    )
    return Statement(
        side,
        edge.etag,
        changed=micros(edge.modify_time),
        read=micros(edge.access.last_access_time),
        stated_by=frozenset(edge.sources),
        is_superseded=edge.supersession.is_superseded,
        is_extracted=edge.extracted,
    )


def of_memory(memory: type_pb2.Memory) -> Statement:
    """A memory as a statement."""
    side = Side(
        id=memory.id,
        kind=_KINDS[memory.kind],
        text=memory.content,
        valid_from=stated(memory, "valid_from"),
        valid_until=stated(memory, "valid_until"),
        written=micros(memory.create_time),
        sources=frozenset(each.speaker or each.file for each in memory.sources) - {""},
        speakers=frozenset(each.speaker for each in memory.sources) - {""},
        concepts=frozenset(memory.concepts),
        domain=memory.domain,
        scope=_scope(memory.properties),
        is_constitutive=memory.edge_type == CONSTITUTIVE,
    )
    return Statement(
        side,
        memory.etag,
        changed=micros(memory.modify_time),
        read=micros(memory.access.last_access_time),
        session_id=memory.session_id,
        is_superseded=memory.supersession.is_superseded,
        facts=tuple(TypedFact(each.subject, each.relation, each.object) for each in memory.facts),
        is_amended=bool(memory.supersession.amendment_ids),
        names=tuple(filter(None, (memory.external_id, *(each.file for each in memory.sources)))),
    )


def is_gone(memory: type_pb2.Memory) -> bool:
    """Whether a memory was forgotten or erased."""
    return memory.HasField("forget_time") or memory.HasField("erase_time")


def of_source(memory: type_pb2.Memory) -> Source:
    """A memory as a source of theses, by its speakers if it has any; its authority is that of its
    most trusted source, as far as the server established it: a claim alone gives none."""
    statement = of_memory(memory)
    speakers = ", ".join(sorted(statement.side.sources))
    authorities = (
        _AUTHORITY[min(each.trust, memory.trust or each.trust)]
        for each in memory.sources
        if each.trust
    )
    return Source(
        speakers,
        text=memory.content,
        memory=statement,
        authority=max(authorities, default=None),
    )


def of_relation(relation: relation_pb2.Relation) -> RelationRule:
    """The declarations about a relation."""
    return RelationRule(
        functional=relation.functional,
        temporal_class=_TEMPORAL.get(relation.temporal_class),
        transitive=relation.transitive,
        exclusive=tuple(frozenset(each.names) for each in relation.exclusive_sets),
    )


def versions(conflict: conflict_pb2.Conflict) -> Versions:
    """The sides of a conflict as they were judged."""
    return frozenset((side.id, side.etag) for side in (conflict.first, conflict.second))


def triggers(change: feed_pb2.Change) -> bool:
    """Whether a change triggers a check or a suggestion."""
    ended = change.type == feed_pb2.CHANGE_TYPE_SESSION_ENDED
    is_memory = change.item_kind == type_pb2.ITEM_KIND_MEMORY
    return not change.imported and (ended or (is_memory and change.type in _WRITTEN))


def is_import(change: feed_pb2.Change) -> bool:
    """Whether a memory came with a batch of others, for which no suggestions are made."""
    return change.method == "BatchAddMemories"


def finding(found: Finding) -> conflict_pb2.Finding:
    """A finding as graph's message."""
    message = conflict_pb2.Finding(
        first_id=found.first.id,
        first_etag=found.first.etag,
        second_id=found.second.id,
        second_etag=found.second.etag,
        confidence=found.confidence,
        rule=found.rule,
        group_id=found.group_id,
        judges_version=JUDGES,
    )
    verdict = found.verdict
    if verdict is None:
        message.conflict_class = conflict_pb2.CONFLICT_CLASS_UNDECIDED
        message.judge = conflict_pb2.JUDGE_OVERLAP
        return message
    message.conflict_class = enum_number(conflict_pb2, "CONFLICT_CLASS", verdict.conflict)
    add_verdict(message, verdict)
    if verdict.older is not Older.NEITHER:
        older = found.first if verdict.older is Older.FIRST else found.second
        message.older_id = older.id
    message.first_spans.extend(span(each) for each in verdict.first[:MOST_SPANS])
    message.second_spans.extend(span(each) for each in verdict.second[:MOST_SPANS])
    return message


def add_verdict(
    message: conflict_pb2.Finding | conflict_pb2.Conflict | dissonance_pb2.Verdict, said: Verdict
) -> None:
    """Add a verdict's judge, type and severity."""
    message.judge = enum_number(conflict_pb2, "JUDGE", said.judge)
    if said.type is not None:
        message.type = enum_number(conflict_pb2, "CONFLICT_TYPE", said.type)
    if said.severity is not None:
        message.severity = enum_number(conflict_pb2, "CONFLICT_SEVERITY", said.severity)


def span(place: Span) -> conflict_pb2.Span:
    """A place in a text."""
    return conflict_pb2.Span(start=place.start, end=place.end)


def micros(stamp: Timestamp) -> Micros:
    """Microseconds since 1970 UTC."""
    return Micros(stamp.seconds * 1_000_000 + stamp.nanos // 1_000)


def stated(item: type_pb2.Edge | type_pb2.Memory, field: str) -> Micros | None:
    """A time that an item states; None: it states none."""
    return micros(getattr(item, field)) if item.HasField(field) else None  # type: ignore[arg-type]


def _end(end: type_pb2.EdgeEnd) -> str:
    return end.name or end.id


def _scope(properties: Struct) -> dict[str, str]:
    found = {name: properties[name] for name in _SCOPES if name in properties}
    return {name: value for name, value in found.items() if isinstance(value, str) and value}


def enum_number(
    contract: Any, prefix: str, word: Enum
) -> Any:  # the contracts' enums share no type
    """The number of a word in an enum of a contract's module."""
    return getattr(contract, f"{prefix}_{word.name}")
