"""Translates the contract's memories and changes into search's values."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from concord.graph.v1 import conflict_pb2, feed_pb2, graph_pb2, relation_pb2
from concord.type.v1 import type_pb2
from concord_chassis.channel.cursors import Cursor
from concord_chassis.channel.feed import through_of
from concord_concepts import extract, normalise
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from concord_search.domain.instants import NEVER, PRESENT, AsOf, Micros
from concord_search.domain.memory import MemoryState, Origin, property_of
from concord_search.ports.graph import (
    Assessed,
    Change,
    Changes,
    Followed,
    Hydrated,
    OpenConflict,
    Partitions,
    Statement,
)

STATEMENT_CHARACTERS = 200
_UNKNOWN_TRUST = type_pb2.TRUST_LEVEL_UNSPECIFIED
RESERVED = "concord:"
"""The prefix of the relations of Concord's own edges."""

_WRITES_EDGES = frozenset({"UpsertEdge", "UpdateEdge", "ApplyGovernedChange", "ImportSpace"})
"""The methods that write edges which no memory has to state. What others write are facts of a
memory, which has their words: to read each of these would cost an import one call a fact."""

_normal_form = lru_cache(maxsize=1 << 14)(normalise)


def clear_cache() -> None:
    """Clears the cache of normal forms, which holds words of memories."""
    _normal_form.cache_clear()


def micros(stamp: Timestamp) -> Micros:
    """Microseconds since 1970; finer parts are cut off."""
    return stamp.seconds * 1_000_000 + stamp.nanos // 1_000


def as_of(asked: AsOf) -> type_pb2.AsOf | None:
    """An instant in the contract's form; None for now."""
    if asked == PRESENT:
        return None
    return type_pb2.AsOf(
        valid_time=None if asked.valid is None else _stamp(asked.valid),
        record_time=None if asked.record is None else _stamp(asked.record),
    )


def _stamp(instant: Micros) -> Timestamp:
    seconds, part = divmod(instant, 1_000_000)
    return Timestamp(seconds=seconds, nanos=part * 1_000)


def partitions(found: feed_pb2.ListPartitionsResponse) -> Partitions:
    """The partitions, and which of them lack what was asked about."""
    return Partitions(
        epoch=found.epoch,
        heads=[Cursor(each.number, each.change_digest) for each in found.partitions],
        lacking={at for at, each in enumerate(found.partitions) if each.lacks_cursor},
    )


def changes(message: feed_pb2.WatchChangesResponse) -> Changes:
    """Some changes of one space, and how far its partition is followed with them."""
    found = changes_of(message.changes, message.epoch)
    return replace(found, partition=message.partition, through=through_of(message))


def changes_of(found: feed_pb2.SpaceChanges, epoch: str) -> Changes:
    """Some changes of one space."""
    return Changes(
        space=found.space,
        epoch=epoch,
        head_seq=found.head_seq,
        changes=[_change(each) for each in found.changes],
    )


def _change(change: feed_pb2.Change) -> Change:
    return Change(
        seq=change.seq,
        record_time=micros(change.record_time),
        item_id=change.item_id,
        is_memory=change.item_kind == type_pb2.ITEM_KIND_MEMORY,
        kind=change.type,
        is_indexed_edge=_is_indexed_edge(change),
    )


def _is_indexed_edge(change: feed_pb2.Change) -> bool:
    """Whether a change was written on an edge that is or was indexed."""
    if change.item_kind != type_pb2.ITEM_KIND_EDGE:
        return False
    ends = change.type in (feed_pb2.CHANGE_TYPE_DELETED, feed_pb2.CHANGE_TYPE_ERASED)
    return ends or change.HasField("attestation") or change.method in _WRITES_EDGES


def hydrated(
    revision: feed_pb2.Revision, record_from: Micros | None = None, *, is_logged: bool = False
) -> Hydrated | None:
    """A state with the message to show; None when graph does not know the memory.

    `record_from` is the begin of the state, if later than its revision's: a change of its
    supersession also begins a state.
    """
    if not revision.HasField("memory"):
        return None
    began = micros(revision.record_time) if record_from is None else record_from
    memory = revision.memory
    found = state(memory, revision.seq, began)
    return Hydrated(found, memory, memory.conflict_ids, is_logged)


def assessed(memory: type_pb2.Memory) -> Assessed:
    """A memory's health, with the beginning of its content."""
    said = memory.content[:STATEMENT_CHARACTERS]
    return Assessed(memory.id, said, memory.health.status, memory.health)


def conflicts_by_side(
    found: Iterable[conflict_pb2.Conflict], ids: Collection[str]
) -> Mapping[str, Sequence[OpenConflict]]:
    """Conflicts by their sides among `ids`; those that were merely found in texts come last."""
    of_side: dict[str, list[OpenConflict]] = {}
    for each in sorted(found, key=lambda each: each.is_text_finding):
        for side, other in ((each.first, each.second), (each.second, each.first)):
            if side.id in ids:
                of_side.setdefault(side.id, []).append(
                    OpenConflict(
                        each.id,
                        each.state,
                        each.conflict_class,
                        other.id,
                        other.statement,
                        each.is_text_finding,
                        is_claimed=_is_claimed(each),
                    )
                )
    return of_side


def _is_claimed(conflict: conflict_pb2.Conflict) -> bool:
    is_open = conflict.state == conflict_pb2.CONFLICT_STATE_POTENTIAL
    return is_open and conflict.judge == conflict_pb2.JUDGE_CALLER


def state(memory: type_pb2.Memory, seq: int, record_from: Micros) -> MemoryState:
    """A memory's state; its concepts in normal form."""
    supersession = memory.supersession
    created = micros(memory.create_time)
    concepts = dict.fromkeys(map(_normal_form, memory.concepts))
    concepts.pop("", None)
    return MemoryState(
        id=memory.id,
        seq=seq,
        content=memory.content,
        kind=memory.kind,
        edge_type=memory.edge_type,
        importance=memory.importance,
        concepts=tuple(concepts),
        domain=memory.domain,
        category=memory.category,
        tags=tuple(memory.tags),
        session_id=memory.session_id,
        origins=tuple([Origin(each.speaker, each.file, each.trust) for each in memory.sources]),
        record_from=record_from,
        created=created,
        valid_from=_instant(supersession, "effective_valid_from", created),
        stated_until=_instant(memory, "valid_until", NEVER),
        superseded_from=_instant(supersession, "superseded_from", NEVER),
        predecessors=supersession.predecessor_count,
        heads=tuple(supersession.head_ids),
        access_count=memory.access.access_count,
        last_access=_instant(memory.access, "last_access_time", created),
        forgotten=memory.HasField("forget_time"),
        properties=_plain_ones(memory.properties) if memory.HasField("properties") else (),
        role=memory.role,
        origin=memory.origin,
        words_origin=memory.words_origin,
        principal=memory.principal,
        trust=memory.trust,
        facts=tuple([(each.subject, each.relation, each.object) for each in memory.facts]),
        amendments=tuple(supersession.amendment_ids),
        claimed_by=tuple(
            each.by_id for each in memory.claims if each.item_id == memory.id and each.by_id
        ),
        claims_on=tuple(each.item_id for each in memory.claims if each.by_id == memory.id),
    )


def _instant(message: Message, field: str, absent: Micros) -> Micros:
    return micros(getattr(message, field)) if message.HasField(field) else absent


def sentence(edge: type_pb2.Edge) -> str:
    """An edge as a sentence, e.g. "Ada VALUES Honesty"."""
    return f"{edge.source.name or edge.source.id} {edge.relation} {_target(edge)}"


def is_value(edge: type_pb2.Edge) -> bool:
    """Whether an edge is a value of the agent: constitutive, but not about principals' keys."""
    own = edge.relation.startswith(RESERVED)
    return edge.edge_type == type_pb2.EDGE_TYPE_CONSTITUTIVE and not own


def statement(edge: type_pb2.Edge) -> Statement:
    """An edge as a statement of its node."""
    fact = (edge.source.name or edge.source.id, edge.relation, _target(edge))
    ends = edge.supersession.HasField("effective_valid_until")
    until = micros(edge.supersession.effective_valid_until) if ends else None
    conflicts = tuple(edge.conflict_ids)
    return Statement(edge.id, sentence(edge), fact, tuple(edge.sources), until, conflicts)


def followed(reply: relation_pb2.FollowRelationsResponse) -> Followed:
    """Where relations lead."""
    held = reply.hops[-1].held_relations if reply.unheld_hop else ()
    return Followed(
        hops=[list(map(statement, each.edges)) for each in reply.hops if each.edges],
        held=tuple(held),
        near_names=tuple(reply.near_names),
        is_there=reply.status == type_pb2.LOOKUP_STATUS_FOUND,
    )


def items_of(neighbor: graph_pb2.Neighbor) -> Iterator[str]:
    """The ids of what an edge at a node says about it, and of a memory at the edge's far end."""
    yield from neighbor.edge.sources
    yield neighbor.edge.id
    if neighbor.neighbor.kind == type_pb2.ITEM_KIND_MEMORY:
        yield neighbor.neighbor.id


def _target(edge: type_pb2.Edge) -> str:
    return edge.target.name or edge.target.id


def is_relation(edge: type_pb2.Edge) -> bool:
    """Whether an edge relates two nodes, and is not one of Concord's own."""
    is_own = edge.relation.startswith(RESERVED) or edge.edge_type == type_pb2.EDGE_TYPE_RESOLUTION
    return bool(edge.source.name and edge.target.name) and not is_own


def hydrated_edge(edge: type_pb2.Edge, seq: int, record_from: Micros) -> Hydrated | None:
    """An edge as a sentence for the index; None if it is neither a value nor between two nodes."""
    if not (is_value(edge) or is_relation(edge)) or edge.HasField("erase_time"):
        return None
    words = sentence(edge).replace("_", " ")
    said = type_pb2.Memory(
        id=edge.id,
        content=words,
        concepts=extract(words),
        edge_type=edge.edge_type,
        importance=edge.importance,
        create_time=edge.create_time,
        access=edge.access,
        supersession=edge.supersession,
        properties=edge.properties,
        # both principals agreed to a value; of another edge nothing is established
        trust=type_pb2.TRUST_LEVEL_VERIFIED if is_value(edge) else _UNKNOWN_TRUST,
    )
    if edge.HasField("valid_until"):
        said.valid_until.CopyFrom(edge.valid_until)
    found = replace(state(said, seq, record_from), is_edge=True, facts=(statement(edge).fact,))
    return Hydrated(found, edge, edge.conflict_ids)


def _plain_ones(properties: Struct) -> tuple[str, ...]:
    return tuple(
        property_of(name, value)
        for name, value in properties.items()
        if isinstance(value, (str, float, bool))
    )
