"""Translates items into replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from concord.graph.v1 import lineage_pb2, memory_pb2, relation_pb2, session_pb2, space_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.opaque import seal
from google.protobuf.timestamp_pb2 import Timestamp

from concord_graph.domain.claims import OpenClaims
from concord_graph.domain.digests import etag
from concord_graph.domain.erasure import Erasure
from concord_graph.domain.facts import Fact
from concord_graph.domain.fields import own_fields
from concord_graph.domain.health import health
from concord_graph.domain.items import (
    FOREVER,
    DeclaredRelation,
    Edge,
    EdgeType,
    End,
    ItemKind,
    Memory,
    Node,
    Source,
    is_erased,
)
from concord_graph.domain.origins import trust_of
from concord_graph.domain.relevance import Access
from concord_graph.domain.sessions import Session
from concord_graph.domain.supersession import Supersession
from concord_graph.ports import Change, Result
from concord_graph.servicer.incoming import wire_name
from concord_graph.usecases.read.chains import Link
from concord_graph.usecases.read.shown import Shown, show, statement
from concord_graph.usecases.write.commands import Done

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


def fill_stamp(message: Timestamp, time: int) -> None:
    """Write microseconds since 1970 into a Timestamp."""
    message.seconds, micros = divmod(time, 1_000_000)
    message.nanos = micros * 1_000


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


def relation(declared: DeclaredRelation) -> relation_pb2.Relation:
    """Return a declared relation."""
    return relation_pb2.Relation(
        id=declared.id,
        name=declared.name,
        functional=declared.functional,
        create_time=stamp(declared.create_time),
        modify_time=stamp(declared.revision.record_from),
        etag=etag(declared),
        temporal_class=relation_pb2.TemporalClass.ValueType(declared.temporal_class),
        transitive=declared.transitive,
        exclusive_sets=[relation_pb2.ExclusiveSet(names=each) for each in declared.exclusive_sets],
    )


def edge(shown: Shown) -> type_pb2.Edge:
    """Return an edge."""
    message = type_pb2.Edge()
    fill_edge(message, shown)
    return message


def fill_edge(message: type_pb2.Edge, shown: Shown) -> None:
    """Write an edge into an empty message: for a page, a third of the cost of build and copy."""
    view = shown.view
    item = view.item
    if not isinstance(item, Edge):
        raise TypeError(item)
    message.id = item.id
    fill_end(message.source, item.source, view.names)
    message.relation = item.relation
    fill_end(message.target, item.target, view.names)
    message.weight = item.weight
    message.edge_type = int(item.edge_type)  # type: ignore[assignment] # numbers are the contract's
    message.entrenchment = _ENTRENCHMENT[item.edge_type]
    message.importance = int(shown.importance)  # type: ignore[assignment] # the contract's numbers
    if item.valid_from is not None:
        fill_stamp(message.valid_from, item.valid_from)
    if item.valid_until is not None:
        fill_stamp(message.valid_until, item.valid_until)
    fill_stamp(message.create_time, item.create_time)
    fill_stamp(message.modify_time, item.revision.record_from)
    message.etag = etag(item)
    fill_access(message.access, view.access)
    fill_supersession(message.supersession, view.supersession, shown.valid)
    message.relevance_score = shown.relevance
    message.extracted = item.is_extracted
    if item.erase_time:
        fill_stamp(message.erase_time, item.erase_time)
    if item.properties:
        message.properties.update(dict(item.properties))
    if view.sources:
        message.sources.extend(view.sources)
    message.conflict_ids.extend(view.conflicts.ids)
    message.conflict_count = view.conflicts.total
    message.claimed = item.claimed
    if view.claims.total:
        fill_claims(message, view.claims)


def fill_claims(message: type_pb2.Edge | type_pb2.Memory, claims: OpenClaims) -> None:
    """Write the open claims at an item."""
    message.claim_count = claims.total
    for each in claims.shown:
        message.claims.add(
            id=each.claim_id,
            number=each.rank,
            action=int(each.action),
            item_id=each.item_id,
            by_id=each.by_id,
            claimant=each.claimant,
        )


def fill_end(message: type_pb2.EdgeEnd, value: End, names: Mapping[str, str]) -> None:
    """Write one end of an edge."""
    message.name = names.get(value.id, "")
    message.id, message.kind = value.id, int(value.kind)  # type: ignore[assignment] # the contract's


def memory(shown: Shown, now: int) -> type_pb2.Memory:
    """Return a memory with its supersession at `now` (µs)."""
    item = shown.view.item
    if not isinstance(item, Memory):
        raise TypeError(item)
    message = bare_memory(item)
    message.importance = int(shown.importance)  # type: ignore[assignment] # numbers are the contract's
    fill_access(message.access, shown.view.access)
    fill_supersession(message.supersession, shown.view.supersession, now)
    message.relevance_score, message.principal = shown.relevance, shown.view.writer
    message.conflict_ids.extend(shown.view.conflicts.ids)
    message.conflict_count = shown.view.conflicts.total
    if shown.view.claims.total:
        fill_claims(message, shown.view.claims)
    _fill_health(message.health, shown, now)
    return message


def _fill_health(message: type_pb2.Health, shown: Shown, now: int) -> None:
    view = shown.view
    if view.is_connected is None:
        return
    found = health(
        view.access,
        now,
        is_superseded=view.supersession.is_superseded(shown.valid),
        open_conflicts=view.conflicts.risks,
        is_connected=view.is_connected,
    )
    message.status = int(found.status)  # type: ignore[assignment] # numbers are the contract's
    message.reasons.extend(found.reasons)


def bare_memory(item: Memory) -> type_pb2.Memory:
    """Return a memory as its revision states it: without supersession, access and relevance."""
    message = type_pb2.Memory(
        id=item.id,
        entrenchment=_ENTRENCHMENT[item.edge_type],
        create_time=stamp(item.create_time),
        modify_time=stamp(item.revision.record_from),
        etag=etag(item),
        forget_time=stamp(item.revision.record_from) if item.deleted else None,
        erase_time=stamp(item.erase_time) if item.erase_time else None,
        trust=int(trust_of(item)),  # type: ignore[arg-type] # numbers are the contract's
        **{name: convert(getattr(item, field)) for name, field, convert in _SHOWN},
    )
    if item.properties:
        message.properties.update(dict(item.properties))
    return message


def source(value: Source) -> type_pb2.Source:
    """Return a source of a memory."""
    return type_pb2.Source(
        speaker=value.speaker,
        file=value.file,
        turn_ids=value.turn_ids,
        trust=int(value.trust),  # type: ignore[arg-type] # numbers are the contract's
        memory_ids=value.memory_ids,
    )


def _fact(fact: Fact) -> type_pb2.Fact:
    message = type_pb2.Fact(
        subject=fact.subject,
        relation=fact.relation,
        object=fact.object,
        weight=fact.weight,
        extracted=fact.extracted,
    )
    if fact.properties:
        message.properties.update(dict(fact.properties))
    return message


def _stamp_of(time: int | None) -> Timestamp | None:
    return None if time is None else stamp(time)


def _as_it_is(value: Any) -> Any:
    return value


_OF_TYPE: Mapping[Any, Callable[[Any], Any]] = {
    tuple[Source, ...]: lambda sources: map(source, sources),
    tuple[Fact, ...]: lambda facts: map(_fact, facts),
}
_SHOWN: list[tuple[str, str, Callable[[Any], Any]]] = [
    (
        wire_name(field.name),
        "whose_words" if field.name == "words_origin" else field.name,
        _stamp_of if field.is_time else _OF_TYPE.get(field.type, _as_it_is),
    )
    for field in own_fields(Memory)
    if field.name not in {"id_stated", "concepts_stated", "erase_time", "properties"}
]
"""The fields that a memory states: contract's name, field name, and function to its message."""


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


def operation(change: Change) -> space_pb2.Operation:
    """Return one operation of the record."""
    return space_pb2.Operation(
        seq=change.seq,
        record_time=stamp(change.record_time),
        principal=change.author.principal,
        method=change.author.method,
        request_id=change.author.request_id,
        type=int(change.type),  # type: ignore[arg-type] # numbers are the contract's
        item_id=change.item_id,
        item_kind=int(change.item_kind),  # type: ignore[arg-type] # numbers are the contract's
        revision=change.revision,
        before_digest=change.before_digest,
        after_digest=change.digest,
        reason=change.reason,
    )


def erase_receipt(erasure: Erasure) -> memory_pb2.EraseReceipt:
    """Return the receipt of an erasure, with its confirmations."""
    complete = erasure.complete_time
    return memory_pb2.EraseReceipt(
        erase_id=erasure.id,
        memory_id=erasure.memory_id,
        erase_time=stamp(erasure.time),
        principal=erasure.principal,
        reason=erasure.reason,
        digest=erasure.digest,
        edge_count=erasure.edge_count,
        confirmations=[
            memory_pb2.EraseConfirmation(
                confirmer=each.confirmer,
                confirm_time=None if each.time is None else stamp(each.time),
            )
            for each in erasure.confirmations
        ],
        complete_time=None if complete is None else stamp(complete),
    )


def fill_access(message: type_pb2.Access, value: Access) -> None:
    """Write an item's number of reads and the time of its last one."""
    fill_stamp(message.last_access_time, value.last_time)
    message.access_count = value.count


def fill_supersession(message: type_pb2.Supersession, value: Supersession, now: int) -> None:
    """Write an item's supersession at `now` (µs)."""
    message.is_superseded = value.is_superseded(now)
    if value.superseded_from != FOREVER:
        fill_stamp(message.superseded_from, value.superseded_from)
    fill_stamp(message.effective_valid_from, value.effective_from)
    until = value.effective_until
    if until != FOREVER:
        fill_stamp(message.effective_valid_until, until)
    message.head_ids.extend(value.head_ids)
    message.predecessor_count = value.predecessor_count
    message.is_orphaned = value.orphaned
    if value.amendment_ids:
        message.amendment_ids.extend(value.amendment_ids)


def lineage_item(link: Link, now: int) -> lineage_pb2.LineageItem:
    """Return one item of a chain; one without a view is a ghost."""
    if link.view is None:
        return lineage_pb2.LineageItem(
            id=link.id, kind=type_pb2.ITEM_KIND_GHOST, is_undeclared=True
        )
    message = lineage_pb2.LineageItem(
        id=link.id,
        kind=int(link.view.item.kind),  # type: ignore[arg-type] # numbers are the contract's
        statement=statement(link.view),
        is_head=link.is_head,
        is_deleted=link.view.item.deleted,
        is_erased=is_erased(link.view.item),
        derived_from=[lineage_item(source, now) for source in link.derived_from],
    )
    fill_supersession(message.supersession, link.view.supersession, now)
    return message


def done_token(space: str, done: Done[Result]) -> str:
    """Return the freshness token of a command's change."""
    return token(space, done.epoch, done.seq)


def done_edge(done: Done[Result]) -> type_pb2.Edge:
    """Return the edge that a command wrote or found."""
    return edge(show(done.views[0], done.now))


def done_memory(done: Done[Result]) -> type_pb2.Memory:
    """Return the memory that a command wrote or found."""
    return memory(show(done.views[0], done.now), done.now)


def done_memories(done: Done[Result]) -> list[type_pb2.Memory]:
    """Return the memories that a command wrote or found, in order."""
    return [memory(show(view, done.now), done.now) for view in done.views]


def done_relation(done: Done[Result]) -> relation_pb2.Relation:
    """Return the relation that a command declared or found."""
    if done.relation is None:
        raise TypeError(done.result)
    return relation(done.relation)


def done_node(done: Done[Result]) -> type_pb2.Node:
    """Return the node that a command wrote or found."""
    item = done.views[0].item
    if not isinstance(item, Node):
        raise TypeError(item)
    return node(item)


def is_kind(done: Done[Result], kind: ItemKind) -> bool:
    """Return whether the first item of a command's reply is live and of a kind."""
    return bool(done.views) and done.views[0].item.kind == kind and not done.views[0].item.deleted


def session(found: Session) -> session_pb2.Session:
    """Return a session's record."""
    return session_pb2.Session(
        id=found.id,
        start_time=stamp(found.start_time),
        last_use_time=stamp(found.last_use_time),
        end_time=stamp(found.end_time) if found.end_time else None,
    )
