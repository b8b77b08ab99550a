"""Items to the properties and labels of their nodes, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from concord_stores.neo4j_server import RESERVED

from concord_graph.adapters.neo4j.patterns import LIVE, VERSION
from concord_graph.adapters.neo4j.tokens import Tokens
from concord_graph.domain.facts import Fact
from concord_graph.domain.items import (
    FOREVER,
    REPLACING,
    DeclaredRelation,
    Edge,
    EdgeType,
    End,
    Entry,
    Importance,
    Item,
    ItemKind,
    Memory,
    MemoryKind,
    Node,
    Origin,
    Record,
    Relation,
    Revision,
    Source,
    TemporalClass,
    Trust,
)
from concord_graph.domain.spelling import backwards, folded

Fields = dict[str, Any]

_ENTRY_LABEL = {
    ItemKind.EPISODE: "Episode",
    ItemKind.WORKING_MEMORY: "WorkingMemory",
    ItemKind.CONFLICT: "Conflict",
}
ENTRIES = frozenset(_ENTRY_LABEL)
OWN_LABELS = frozenset(
    {
        *VERSION.values(),
        *LIVE.values(),
        *_ENTRY_LABEL.values(),
        *(
            "EntryVersion",
            "Entry",
            "Turn",
            "Item",
            "Tombstone",
            "Ghost",
            "Constitutive",
            "Governed",
            "Agreed",
            "Held",
            "Defined",
            "Replacing",
            "Amending",
            "Support",
            "SupportVersion",
            "Deriving",
        ),
        *("Lineage", "FromContent", "Resolution", "Access", "Change", "Request", "Nonce"),
        *("Genesis", "Space", "Store", "EarlyRefusal", "Imported"),
    }
)
"""What a caller's label must not pass itself off as."""
_OWN_KEYS = frozenset(
    {
        *(
            "of_facts",
            "erase_time",
            "space",
            "id",
            "kind",
            "revision",
            "seq",
            "record_from",
            "record_until",
            "deleted",
        ),
        *("principal", "salt", "create_time", "name", "label", "properties", "vector_id"),
        *("source_id", "source_kind", "relation", "target_id", "target_kind", "weight", "stated"),
        *("participants", "edge_type", "importance", "valid_from", "valid_until", "origin"),
        *("effective_from", "governed", "id_stated", "content", "content_digest", "memory_kind"),
        *("concepts", "concepts_stated", "domain", "surfaces_when", "sources", "external_id"),
        *(
            "functional",
            "category",
            "tags",
            "session_id",
            "turn_order",
            "turn_place",
            "shelf",
            "rank",
            "body",
            "words",
            "first_id",
            "second_id",
            "conflict_class",
        ),
        *("folded", "backwards", "folded_id", "backwards_id", "folded_key", "backwards_key"),
        *("folded_session", "backwards_session"),
    }
)
"""What a caller's property must not pass itself off as: indexes and constraints stand on these."""


def version(kind: ItemKind) -> str:
    """Return the label of every revision of a kind."""
    return "RelationVersion" if kind == ItemKind.RELATION else VERSION.get(kind, "EntryVersion")


def revision(fields_: Fields) -> Record:
    """Return what a node's properties hold."""
    if fields_["kind"] == ItemKind.RELATION:
        return relation(fields_)
    return entry(fields_) if fields_["kind"] in _ENTRY_LABEL else item(fields_)


def item(record: Fields) -> Item:
    """Return the item that a node's properties hold."""
    kind = record["kind"]
    if kind == ItemKind.NODE:
        return node(record)
    return edge(record) if kind == ItemKind.EDGE else memory(record)


def node(record: Fields) -> Node:
    """Return a node."""
    return Node(
        id=record["id"],
        revision=_revision(record),
        deleted=record["deleted"],
        create_time=record["create_time"],
        name=record["name"],
        label=record["label"],
        properties=json.loads(record["properties"]),
        vector_id=record["vector_id"],
        of_facts=record.get("of_facts", False),
        erase_time=record.get("erase_time", 0),
    )


def edge(record: Fields) -> Edge:
    """Return an edge."""
    return Edge(
        id=record["id"],
        revision=_revision(record),
        deleted=record["deleted"],
        create_time=record["create_time"],
        source=End(record["source_id"], ItemKind(record["source_kind"])),
        relation=record["relation"],
        target=End(record["target_id"], ItemKind(record["target_kind"])),
        weight=record["weight"],
        properties=json.loads(record["properties"]),
        edge_type=EdgeType(record["edge_type"]),
        importance=Importance(record["importance"]),
        valid_from=record.get("valid_from"),
        valid_until=record.get("valid_until"),
        origin=Origin(record["origin"]),
        governed=record["governed"],
        erase_time=record["erase_time"],
    )


def memory(record: Fields) -> Memory:
    """Return a memory."""
    return Memory(
        id=record["id"],
        revision=_revision(record),
        deleted=record["deleted"],
        create_time=record["create_time"],
        id_stated=record["id_stated"],
        content=record["content"],
        memory_kind=MemoryKind(record["memory_kind"]),
        concepts=tuple(record["concepts"]),
        concepts_stated=record["concepts_stated"],
        domain=record["domain"],
        importance=Importance(record["importance"]),
        surfaces_when=tuple(record["surfaces_when"]),
        sources=tuple(_source(part) for part in json.loads(record["sources"])),
        external_id=record.get("external_id", ""),
        category=record["category"],
        tags=tuple(record["tags"]),
        session_id=record["session_id"],
        edge_type=EdgeType(record["edge_type"]),
        valid_from=record.get("valid_from"),
        valid_until=record.get("valid_until"),
        turn_order=record["turn_order"],
        facts=_facts(record.get("facts", "[]")),
        properties=json.loads(record.get("properties", "{}")),
        erase_time=record["erase_time"],
    )


def entry(record: Fields) -> Entry:
    """Return an entry."""
    return Entry(
        id=record["id"],
        revision=_revision(record),
        deleted=record["deleted"],
        create_time=record["create_time"],
        kind=ItemKind(record["kind"]),
        session_id=record["session_id"],
        shelf=record["shelf"],
        rank=record["rank"],
        body=json.loads(record["body"]),
        words=json.loads(record.get("words", "{}")),
        erase_time=record.get("erase_time", 0),
    )


def relation(record: Fields) -> DeclaredRelation:
    """Return a declared relation."""
    return DeclaredRelation(
        id=record["id"],
        revision=_revision(record),
        create_time=record["create_time"],
        name=record["name"],
        functional=record["functional"],
        temporal_class=TemporalClass(record.get("temporal_class", 0)),
        transitive=record.get("transitive", False),
        exclusive_sets=tuple(map(tuple, json.loads(record.get("exclusive_sets", "[]")))),
    )


def fields(space: str, item_: Record, tokens: Tokens) -> Fields:
    """Return an item's properties; what is None is absent."""
    revision = item_.revision
    record = {
        "space": space,
        "id": item_.id,
        "kind": int(item_.kind),
        "revision": revision.number,
        "seq": revision.seq,
        "record_from": revision.record_from,
        "record_until": revision.record_until,
        "deleted": item_.deleted,
        "principal": revision.principal,
        "salt": revision.salt,
        "create_time": item_.create_time,
    }
    if isinstance(item_, Node):
        record |= _node_fields(item_)
        record |= tokens.shown(item_.properties, _OWN_KEYS)
    elif isinstance(item_, DeclaredRelation):
        record |= _relation_fields(item_)
    elif isinstance(item_, Edge):
        record |= _edge_fields(item_)
    else:
        record |= _memory_fields(item_) if isinstance(item_, Memory) else _entry_fields(item_)
    return {name: value for name, value in record.items() if value is not None}


def labels(item_: Record, tokens: Tokens) -> list[str]:
    """Return the labels of an item's current node.

    Those beside `Item` and the kind's version stand for the partial indexes of the schema.
    """
    found = ["Item", version(item_.kind)]
    if item_.deleted or item_.revision.record_until != FOREVER:  # of a former one: it ends at once
        return [*found, "Tombstone"]
    if isinstance(item_, DeclaredRelation):
        return [*found, "Relation", "Functional"] if item_.functional else [*found, "Relation"]
    if isinstance(item_, Entry):
        return [*found, "Entry", _ENTRY_LABEL[item_.kind]]
    found.append(LIVE[item_.kind])
    if isinstance(item_, Node):
        is_ours = item_.label in OWN_LABELS or item_.label.startswith(RESERVED)
        own = [] if is_ours else tokens.label(item_.label)
        return found + own
    if item_.edge_type == EdgeType.CONSTITUTIVE:
        found.append("Constitutive")
    if isinstance(item_, Edge):
        return found + _edge_labels(item_)
    if item_.derived_from:
        found.append("Deriving")
    return [*found, "Turn"] if item_.memory_kind == MemoryKind.TURN else found


def link(space: str, edge_: Edge, tokens: Tokens) -> Fields:
    """Return what an edge's relationship shows."""
    record = {
        "space": space,
        "id": edge_.id,
        "relation": edge_.relation,
        "weight": float(edge_.weight),
        "edge_type": edge_.edge_type.name,
        "importance": edge_.importance.name,
        "effective_from": edge_.effective_from,
        "valid_until": edge_.valid_until,
        "record_from": edge_.revision.record_from,
    }
    record |= tokens.shown(edge_.properties, _OWN_KEYS)
    return {name: value for name, value in record.items() if value is not None}


def stated(key: str, value: Any) -> str:
    """Return a property as one text that equal values share: 1 and 1.0 do, 1 and true do not."""
    return f"{key}\x1f{json.dumps(_numbers_alike(value), sort_keys=True)}"


def _relation_fields(declared: DeclaredRelation) -> Fields:
    return {
        "name": declared.name,
        "functional": declared.functional,
        "temporal_class": int(declared.temporal_class),
        "transitive": declared.transitive,
        "exclusive_sets": json.dumps(declared.exclusive_sets, ensure_ascii=False),
    }


def _node_fields(node_: Node) -> Fields:
    return {
        "name": node_.name,
        "label": node_.label,
        "properties": json.dumps(dict(node_.properties), ensure_ascii=False),
        "vector_id": node_.vector_id,
        "of_facts": node_.of_facts,
        "erase_time": node_.erase_time,
        "folded": folded(node_.name),
        "backwards": backwards(node_.name),
    }


def _entry_fields(entry_: Entry) -> Fields:
    session = entry_.session_id
    return {
        "session_id": session,
        "shelf": entry_.shelf,
        "rank": int(entry_.rank),
        "body": json.dumps(dict(entry_.body), ensure_ascii=False),
        "words": json.dumps(dict(entry_.words), ensure_ascii=False),
        "erase_time": entry_.erase_time,
        **(_conflict_fields(entry_) if entry_.kind == ItemKind.CONFLICT else {}),
        "folded_session": folded(session) if session else None,
        "backwards_session": backwards(session) if session else None,
    }


def _conflict_fields(entry_: Entry) -> Fields:
    """Return what conflicts are looked for by."""
    body = entry_.body
    return {
        "first_id": body["first"]["id"],
        "second_id": body["second"]["id"],
        "conflict_class": int(body["conflict_class"]),
    }


def _edge_fields(edge_: Edge) -> Fields:
    return {
        "source_id": edge_.source.id,
        "source_kind": int(edge_.source.kind),
        "relation": edge_.relation,
        "target_id": edge_.target.id,
        "target_kind": int(edge_.target.kind),
        "weight": float(edge_.weight),
        "properties": json.dumps(dict(edge_.properties), ensure_ascii=False),
        "stated": [stated(key, value) for key, value in edge_.properties.items()],
        "participants": _participants(edge_),
        "edge_type": int(edge_.edge_type),
        "importance": int(edge_.importance),
        "valid_from": edge_.valid_from,
        "valid_until": edge_.valid_until,
        "effective_from": edge_.effective_from,
        "origin": int(edge_.origin),
        "governed": edge_.governed,
        "erase_time": edge_.erase_time,
    }


def _memory_fields(memory_: Memory) -> Fields:
    key = memory_.external_id
    sources = [
        {
            **{"speaker": s.speaker, "file": s.file, "turn_ids": list(s.turn_ids)},
            **{"trust": int(s.trust), "memory_ids": list(s.memory_ids)},
        }
        for s in memory_.sources
    ]
    return {
        "id_stated": memory_.id_stated,
        "content": memory_.content,
        "content_digest": "" if memory_.erase_time else memory_.content_digest,
        "memory_kind": int(memory_.memory_kind),
        "concepts": list(memory_.concepts),
        "concepts_stated": memory_.concepts_stated,
        "domain": memory_.domain,
        "importance": int(memory_.importance),
        "surfaces_when": list(memory_.surfaces_when),
        "sources": json.dumps(sources, ensure_ascii=False),
        "external_id": key or None,
        "category": memory_.category,
        "tags": list(memory_.tags),
        "session_id": memory_.session_id,
        "edge_type": int(memory_.edge_type),
        "valid_from": memory_.valid_from,
        "valid_until": memory_.valid_until,
        "effective_from": memory_.effective_from,
        "turn_order": memory_.turn_order,
        "facts": json.dumps(
            [[*f.triple, f.weight, dict(f.properties)] for f in memory_.facts], ensure_ascii=False
        ),
        "properties": json.dumps(dict(memory_.properties), ensure_ascii=False),
        "stated": [stated(key, value) for key, value in memory_.properties.items()],
        "erase_time": memory_.erase_time,
        "turn_place": memory_.turn_order or None,
        "folded_id": folded(memory_.id) if memory_.id_stated else None,
        "backwards_id": backwards(memory_.id) if memory_.id_stated else None,
        "folded_key": folded(key) if key else None,
        "backwards_key": backwards(key) if key else None,
    }


def _edge_labels(edge_: Edge) -> list[str]:
    tests = {
        "Governed": edge_.governed,
        "Replacing": edge_.relation in REPLACING,
        "Amending": edge_.relation == Relation.AMENDS,
        "Lineage": edge_.is_lineage,
        "FromContent": edge_.origin == Origin.CONTENT,
        "Resolution": edge_.edge_type == EdgeType.RESOLUTION,
    }
    return [label for label, holds in tests.items() if holds]


def _participants(edge_: Edge) -> list[str]:
    stated_ones = edge_.properties.get("participants")
    given = stated_ones if isinstance(stated_ones, list) else [stated_ones]
    return [name for name in given if isinstance(name, str)]


def _numbers_alike(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, list):
        return [_numbers_alike(part) for part in value]
    if isinstance(value, Mapping):
        return {key: _numbers_alike(part) for key, part in value.items()}
    return value


def _revision(record: Fields) -> Revision:
    return Revision(
        record["revision"],
        record["seq"],
        record["record_from"],
        record["record_until"],
        record["principal"],
        bytes(record["salt"]),
    )


def _facts(text: str) -> tuple[Fact, ...]:
    return () if text == "[]" else tuple(Fact(*parts) for parts in json.loads(text))


def _source(part: Fields) -> Source:
    return Source(
        speaker=part["speaker"],
        file=part["file"],
        turn_ids=tuple(part["turn_ids"]),
        trust=Trust(part["trust"]),
        memory_ids=tuple(part.get("memory_ids", ())),
    )
