"""Translates requests into drafts. The contract's rules have checked their shapes before."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from concord.graph.v1 import (
    graph_pb2,
    lineage_pb2,
    memory_pb2,
    relation_pb2,
    session_pb2,
    space_pb2,
)
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import ListValue, Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

from concord_graph.domain.drafts import (
    CHANGEABLE,
    EdgeDraft,
    EndRef,
    LineageDraft,
    MemoryDraft,
    NodeDraft,
    Patch,
)
from concord_graph.domain.errors import FieldInvalid, MaskInvalid
from concord_graph.domain.facts import Fact, distinct
from concord_graph.domain.fields import Field, fields_of
from concord_graph.domain.items import (
    FOREVER,
    AsOf,
    EdgeType,
    Importance,
    ItemKind,
    MemoryKind,
    MemoryOrigin,
    Properties,
    Relation,
    Source,
    TemporalClass,
    Trust,
)
from concord_graph.domain.reach import Reach
from concord_graph.ports import (
    Author,
    ChangeType,
    EdgeFilter,
    MemoryFilter,
    OperationFilter,
    SessionFilter,
    Walk,
)
from concord_graph.usecases.items.relations import Declaration


def author(caller: Caller, request: Message, method: str) -> Author:
    """Return the author of a write. Only importers write in batches."""
    request_id: str = request.request_id  # type: ignore[attr-defined] # every write has one
    origin = "IMPORT" if method == "BatchAddMemories" else caller.origin or "UNSPECIFIED"
    reach = Reach[caller.reach.name]
    return Author(caller.principal, method, request_id, caller.kind, MemoryOrigin[origin], reach)


def text(value: str) -> str:
    """Return a name in the form that names are compared in: Unicode NFC."""
    return unicodedata.normalize("NFC", value)


def instant(message: Message, field: str) -> int | None:
    """Return a Timestamp field in microseconds, None when absent."""
    if not message.HasField(field):
        return None
    stamp: Timestamp = getattr(message, field)
    return stamp.seconds * 1_000_000 + stamp.nanos // 1_000


def as_of(request: Message) -> AsOf:
    """Return the instant that a read asks about."""
    asked: type_pb2.AsOf = request.as_of  # type: ignore[attr-defined] # every read has one
    return AsOf(instant(asked, "valid_time"), instant(asked, "record_time"))


def plain(struct: Struct) -> dict[str, Any]:
    """Return a Struct as JSON values."""
    return {key: _plain_value(value) for key, value in struct.fields.items()}


def node_draft(node: type_pb2.Node) -> NodeDraft:
    """Return the draft of a node."""
    return NodeDraft(text(node.name), text(node.label), plain(node.properties), node.vector_id)


def node_patch(node: type_pb2.Node, mask: FieldMask) -> Patch:
    """Return the named fields of a node."""
    readers: dict[str, Callable[[], Any]] = {
        "label": lambda: text(node.label),
        "name": lambda: text(node.name),
        "properties": lambda: _without_nulls(plain(node.properties)),
        "vector_id": lambda: node.vector_id,
    }
    return _patch(node.id, node.etag, mask, readers, "node")


def edge_draft(edge: type_pb2.Edge) -> EdgeDraft:
    """Return the draft of an edge."""
    return EdgeDraft(
        source=end_ref(edge.source, "edge.source"),
        relation=text(edge.relation),
        target=end_ref(edge.target, "edge.target"),
        weight=_weight(edge),
        properties=plain(edge.properties),
        edge_type=EdgeType(edge.edge_type) if edge.edge_type else None,
        importance=Importance(edge.importance),
        valid_from=instant(edge, "valid_from"),
        valid_until=instant(edge, "valid_until"),
    )


def edge_patch(edge: type_pb2.Edge, mask: FieldMask) -> Patch:
    """Return the named fields of an edge."""
    readers: dict[str, Callable[[], Any]] = {
        "weight": lambda: _weight(edge),
        "properties": lambda: _without_nulls(plain(edge.properties)),
        "edge_type": lambda: EdgeType(edge.edge_type) if edge.edge_type else None,
        "importance": lambda: Importance(edge.importance),
        "valid_from": lambda: instant(edge, "valid_from"),
        "valid_until": lambda: instant(edge, "valid_until"),
        "source": lambda: end_ref(edge.source, "edge.source"),
        "target": lambda: end_ref(edge.target, "edge.target"),
    }
    return _patch(edge.id, edge.etag, mask, readers, "edge")


def end_ref(end: type_pb2.EdgeEnd, field: str) -> EndRef:
    """Return an end by name or id; one of them is required."""
    if not end.name and not end.id:
        raise FieldInvalid(field, "needs a name or an id")
    return EndRef(text(end.name), end.id)


def triple(message: graph_pb2.Triple) -> tuple[EndRef, str, EndRef]:
    """Return source, relation and target."""
    return (
        end_ref(message.source, "triple.source"),
        text(message.relation),
        end_ref(message.target, "triple.target"),
    )


def memory_draft(memory: type_pb2.Memory) -> MemoryDraft:
    """Return the draft of a memory."""
    return MemoryDraft(**{field.name: _stated(memory, field) for field in fields_of(MemoryDraft)})


def memory_patch(memory: type_pb2.Memory, mask: FieldMask) -> Patch:
    """Return the named fields of a memory."""
    draft = memory_draft(memory)
    readers = {name: partial(getattr, draft, name) for name in CHANGEABLE}
    names = {wire_name(name): name for name in CHANGEABLE}
    renamed = FieldMask(paths=[names.get(path, path) for path in mask.paths])
    return _patch(memory.id, memory.etag, renamed, readers, "memory")


def wire_name(field: str) -> str:
    """Return the contract's name of a memory's field."""
    return "kind" if field == "memory_kind" else field


def _stated(memory: type_pb2.Memory, field: Field) -> Any:
    """Return the value that a request states for a field of a memory."""
    if field.is_time:
        return instant(memory, field.name)
    value = getattr(memory, wire_name(field.name))
    if field.name in _AS_GIVEN:
        return value
    if field.name == "edge_type":
        return EdgeType(value) if value else None
    if field.type in _OF_TYPE:
        return _OF_TYPE[field.type](value)
    return field.type(value or field.default)  # an enum: an unset value becomes the default


def lineage_draft(request: lineage_pb2.AddLineageRequest) -> LineageDraft:
    """Return the draft of a lineage."""
    relation = type_pb2.LineageRelation.Name(request.relation)
    return LineageDraft(
        Relation(relation.removeprefix("LINEAGE_RELATION_")),
        request.newer_id,
        request.older_id,
        request.context,
        newer_etag=request.newer_etag,
        older_etag=request.older_etag,
    )


def edge_filter(filter_: graph_pb2.EdgeFilter) -> EdgeFilter:
    """Return a request's filter of edges."""
    return EdgeFilter(
        relations=tuple(map(text, filter_.relations)),
        edge_types=tuple(EdgeType(value) for value in filter_.edge_types if value),
        importances=tuple(Importance(value) for value in filter_.importances if value),
        properties=_scalars(plain(filter_.properties)),
        participants=tuple(map(text, filter_.participants)),
        modified_since=instant(filter_, "modified_since"),
        modified_before=instant(filter_, "modified_before"),
    )


def memory_filter(request: memory_pb2.ListMemoriesRequest) -> MemoryFilter:
    """Return a request's filter of memories."""
    filter_ = request.filter
    return MemoryFilter(
        kinds=tuple(MemoryKind(value) for value in filter_.kinds if value),
        tag=text(filter_.tag),
        domain=text(filter_.domain),
        edge_type=EdgeType(filter_.edge_type) if filter_.edge_type else None,
        session_id=filter_.session_id,
        properties=_scalars(_composed(plain(filter_.properties))),
        origins=tuple(MemoryOrigin(value) for value in filter_.origins if value),
        words_origins=tuple(MemoryOrigin(value) for value in filter_.words_origins if value),
        principal=filter_.principal,
        include_superseded=request.include_superseded,
    )


def operation_filter(request: space_pb2.ListOperationsRequest) -> OperationFilter:
    """Return a request's filter of operations."""
    return OperationFilter(
        item_id=request.item_id,
        item_kinds=tuple(ItemKind(value) for value in request.item_kinds if value),
        principal=request.principal,
        session_id=request.session_id,
        import_id=request.import_id,
        types=tuple(ChangeType(value) for value in request.types if value),
        since=instant(request, "since"),
        before=instant(request, "before"),
        oldest_first=request.oldest_first,
    )


def walk(request: graph_pb2.QueryNeighborsRequest | graph_pb2.FindPathRequest, now: int) -> Walk:
    """Return the rules by which a request follows edges."""
    direction = request.direction or type_pb2.DIRECTION_BOTH
    return Walk(
        at=as_of(request).at(now),
        outgoing=direction != type_pb2.DIRECTION_INCOMING,
        incoming=direction != type_pb2.DIRECTION_OUTGOING,
        filter=replace(edge_filter(request.filter), now=now),
        include_superseded=request.include_superseded,
        include_resolutions=getattr(request, "include_resolutions", False),
    )


def _sources(sources: Iterable[type_pb2.Source]) -> tuple[Source, ...]:
    return tuple(
        Source(
            speaker=text(source.speaker),
            file=text(source.file),
            turn_ids=tuple(source.turn_ids),
            trust=Trust(source.trust or Trust.REPORTED),
            memory_ids=tuple(source.memory_ids),
        )
        for source in sources
    )


def _fact(fact: type_pb2.Fact) -> Fact:
    weight = _weight(fact)
    return Fact(
        subject=text(fact.subject),
        relation=text(fact.relation),
        object=text(fact.object),
        weight=1.0 if weight is None else weight,
        properties=_without_nulls(plain(fact.properties)),
        extracted=fact.extracted,
    )


def _weight(stated: type_pb2.Edge | type_pb2.Fact) -> float | None:
    """Return the weight, None when absent; -0.0 becomes 0.0: digests need the value that a store
    returns, and SQLite stores one whole number for both."""
    return stated.weight + 0.0 if stated.HasField("weight") else None


def _patch(
    item_id: str,
    etag: str,
    mask: FieldMask,
    readers: Mapping[str, Callable[[], Any]],
    field: str,
) -> Patch:
    for name, value in (("id", item_id), ("etag", etag)):
        if not value:
            raise FieldInvalid(f"{field}.{name}", "is required")
    if not mask.paths:
        raise MaskInvalid("update_mask", "names no field")
    unknown = sorted(set(mask.paths) - readers.keys())
    if unknown:
        raise MaskInvalid("update_mask", f"cannot change {', '.join(unknown)}")
    return Patch(item_id, etag, {name: readers[name]() for name in mask.paths})


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(text, values)))


def _without_nulls(properties: dict[str, Any]) -> Properties:
    return {key: value for key, value in properties.items() if value is not None}


def _composed(value: Any) -> Any:
    """Return JSON values with keys and texts in NFC, the form in which texts are compared."""
    match value:
        case str():
            return text(value)
        case list():
            return [_composed(part) for part in value]
        case dict():
            return {text(key): _composed(part) for key, part in value.items()}
    return value


def _scalars(properties: Properties) -> Properties:
    for key, value in properties.items():
        if not isinstance(value, (str, float, bool)):
            raise FieldInvalid(f"filter.properties.{key}", "must be a string, a number or a bool")
    return properties


def _plain_value(value: Value) -> Any:
    match value.WhichOneof("kind"):
        case "number_value":
            return value.number_value
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case "struct_value":
            return plain(value.struct_value)
        case "list_value":
            return _plain_list(value.list_value)
        case _:
            return None


def _plain_list(values: ListValue) -> list[Any]:
    return [_plain_value(value) for value in values.values]


def declaration(request: relation_pb2.DeclareRelationRequest) -> Declaration:
    """Return a request's declaration, without the fields that the request leaves out."""
    declared = Declaration(functional=request.functional)
    if request.HasField("temporal_class"):
        declared["temporal_class"] = TemporalClass(request.temporal_class)
    if request.HasField("transitive"):
        declared["transitive"] = request.transitive
    if request.HasField("exclusive_sets"):
        sets = {tuple(sorted(set(map(text, each.names)))) for each in request.exclusive_sets.sets}
        declared["exclusive_sets"] = tuple(sorted(sets))
    return declared


_AS_GIVEN = frozenset({"id", "content", "session_id"})
_OF_TYPE: Mapping[Any, Callable[[Any], Any]] = {
    str: text,
    tuple[str, ...]: _unique,
    tuple[Source, ...]: _sources,
    tuple[Fact, ...]: lambda facts: distinct(tuple(map(_fact, facts))),
    Properties: lambda struct: _composed(_without_nulls(plain(struct))),
}


def session_filter(request: session_pb2.ListSessionsRequest) -> SessionFilter:
    """Return a request's filter of sessions."""
    idle_since = instant(request, "idle_since")
    ended = request.state == session_pb2.SESSION_STATE_ENDED
    return SessionFilter(
        FOREVER if idle_since is None else idle_since, ended if request.state else None
    )
