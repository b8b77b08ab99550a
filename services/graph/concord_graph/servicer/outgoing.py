"""Items to replies."""

from __future__ import annotations

from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_chassis.opaque import seal
from google.protobuf.timestamp_pb2 import Timestamp

from concord_graph.domain.items import (
    FOREVER,
    Access,
    Edge,
    EdgeType,
    End,
    ItemKind,
    Memory,
    Node,
    etag,
)
from concord_graph.domain.standing import Standing
from concord_graph.ports import View
from concord_graph.usecases.chains import Link
from concord_graph.usecases.commands import Done
from concord_graph.usecases.shown import Shown, show, statement

_ENTRENCHMENT = {
    EdgeType.CONSTITUTIVE: type_pb2.ENTRENCHMENT_MAXIMAL,
    EdgeType.DESCRIPTIVE: type_pb2.ENTRENCHMENT_DEFAULT,
    EdgeType.RESOLUTION: type_pb2.ENTRENCHMENT_DEFAULT,
}


def token(space: str, epoch: str, seq: int) -> str:
    """Return the freshness token of a write."""
    fresh = type_pb2.FreshnessToken(space=space, epoch=epoch, seq=seq)
    return seal(fresh.SerializeToString(deterministic=True))


def stamp(time: int) -> Timestamp:
    """Return microseconds since 1970 as a Timestamp."""
    seconds, micros = divmod(time, 1_000_000)
    return Timestamp(seconds=seconds, nanos=micros * 1_000)


def node(item: Node) -> type_pb2.Node:
    """Return a node."""
    message = type_pb2.Node(
        id=item.id,
        label=item.label,
        name=item.name,
        vector_id=item.vector_id,
        create_time=stamp(item.create_time),
        modify_time=stamp(item.revision.record_from),
        etag=etag(item),
    )
    message.properties.update(dict(item.properties))
    return message


def edge(shown: Shown, now: int) -> type_pb2.Edge:
    """Return an edge with its standing at `now` (µs)."""
    view = shown.view
    item = view.item
    if not isinstance(item, Edge):
        raise TypeError(item)
    message = type_pb2.Edge(
        id=item.id,
        source=end(item.source, view),
        relation=item.relation,
        target=end(item.target, view),
        weight=item.weight,
        edge_type=int(item.edge_type),  # type: ignore[arg-type] # numbers are the contract's
        entrenchment=_ENTRENCHMENT[item.edge_type],
        importance=int(shown.importance),  # type: ignore[arg-type] # numbers are the contract's
        valid_from=None if item.valid_from is None else stamp(item.valid_from),
        valid_until=None if item.valid_until is None else stamp(item.valid_until),
        create_time=stamp(item.create_time),
        modify_time=stamp(item.revision.record_from),
        etag=etag(item),
        access=access(view.access),
        standing=standing(view.standing, now),
        relevance_score=shown.relevance,
    )
    if item.properties:
        message.properties.update(dict(item.properties))
    return message


def end(value: End, view: View) -> type_pb2.EdgeEnd:
    """Return one end of an edge."""
    return type_pb2.EdgeEnd(
        name=view.names.get(value.id, ""),
        id=value.id,
        kind=int(value.kind),  # type: ignore[arg-type] # numbers are the contract's
    )


def memory(shown: Shown, now: int) -> type_pb2.Memory:
    """Return a memory with its standing at `now` (µs)."""
    item = shown.view.item
    if not isinstance(item, Memory):
        raise TypeError(item)
    message = bare_memory(item)
    message.importance = int(shown.importance)  # type: ignore[assignment] # numbers are the contract's
    message.access.CopyFrom(access(shown.view.access))
    message.standing.CopyFrom(standing(shown.view.standing, now))
    message.relevance_score = shown.relevance
    return message


def bare_memory(item: Memory) -> type_pb2.Memory:
    """Return a memory as its revision states it: without standing, access and relevance."""
    return type_pb2.Memory(
        id=item.id,
        content=item.content,
        kind=int(item.memory_kind),  # type: ignore[arg-type] # numbers are the contract's
        concepts=item.concepts,
        domain=item.domain,
        importance=int(item.importance),  # type: ignore[arg-type] # numbers are the contract's
        surfaces_when=item.surfaces_when,
        sources=[
            type_pb2.Source(
                speaker=source.speaker,
                file=source.file,
                turn_ids=source.turn_ids,
                trust=int(source.trust),  # type: ignore[arg-type] # numbers are the contract's
            )
            for source in item.sources
        ],
        external_id=item.external_id,
        category=item.category,
        tags=item.tags,
        session_id=item.session_id,
        edge_type=int(item.edge_type),  # type: ignore[arg-type] # numbers are the contract's
        entrenchment=_ENTRENCHMENT[item.edge_type],
        valid_from=None if item.valid_from is None else stamp(item.valid_from),
        valid_until=None if item.valid_until is None else stamp(item.valid_until),
        create_time=stamp(item.create_time),
        modify_time=stamp(item.revision.record_from),
        etag=etag(item),
        forget_time=stamp(item.revision.record_from) if item.deleted else None,
    )


def version(item: Memory) -> memory_pb2.MemoryVersion:
    """Return a memory's revision with its record interval."""
    revision = item.revision
    return memory_pb2.MemoryVersion(
        revision=revision.number,
        memory=bare_memory(item),
        record_from=stamp(revision.record_from),
        record_until=None if revision.record_until == FOREVER else stamp(revision.record_until),
        principal=revision.principal,
    )


def access(value: Access) -> type_pb2.Access:
    """Return how often and when an item was read."""
    return type_pb2.Access(last_access_time=stamp(value.last_time), access_count=value.count)


def standing(value: Standing, now: int) -> type_pb2.Standing:
    """Return what follows from lineage and time at `now` (µs)."""
    superseded, until = value.superseded_from, value.effective_until
    return type_pb2.Standing(
        is_superseded=value.is_superseded(now),
        superseded_from=None if superseded == FOREVER else stamp(superseded),
        effective_valid_from=stamp(value.effective_from),
        effective_valid_until=None if until == FOREVER else stamp(until),
        head_ids=value.head_ids,
        predecessor_count=value.predecessor_count,
    )


def lineage_item(link: Link, now: int) -> memory_pb2.LineageItem:
    """Return one item of a chain; one without a view is a ghost."""
    if link.view is None:
        return memory_pb2.LineageItem(id=link.id, kind=type_pb2.ITEM_KIND_GHOST, is_undeclared=True)
    return memory_pb2.LineageItem(
        id=link.id,
        kind=int(link.view.item.kind),  # type: ignore[arg-type] # numbers are the contract's
        statement=statement(link.view),
        standing=standing(link.view.standing, now),
        is_head=link.is_head,
        is_deleted=link.view.item.deleted,
    )


def done_token(space: str, done: Done) -> str:
    """Return the freshness token of what a command did."""
    return token(space, done.epoch, done.seq)


def done_edge(done: Done) -> type_pb2.Edge:
    """Return the edge that a command wrote or found."""
    return edge(show(done.views[0], done.now), done.now)


def done_memory(done: Done) -> type_pb2.Memory:
    """Return the memory that a command wrote or found."""
    return memory(show(done.views[0], done.now), done.now)


def done_node(done: Done) -> type_pb2.Node:
    """Return the node that a command wrote or found."""
    item = done.views[0].item
    if not isinstance(item, Node):
        raise TypeError(item)
    return node(item)


def is_kind(done: Done, kind: ItemKind) -> bool:
    """Return whether a command's first reference is live and of a kind."""
    return bool(done.views) and done.views[0].item.kind == kind and not done.views[0].item.deleted
