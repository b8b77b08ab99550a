"""Items to the properties and labels of their nodes, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from concord_stores.neo4j_server import RESERVED

from concord_graph.adapters.neo4j.patterns import LIVE, VERSION
from concord_graph.adapters.neo4j.schema import LABELS
from concord_graph.adapters.neo4j.tokens import Tokens
from concord_graph.adapters.stored import Codec, codec
from concord_graph.domain.digests import content_digest
from concord_graph.domain.fields import erased_fields, fields_of, own_fields
from concord_graph.domain.items import (
    FOREVER,
    DeclaredRelation,
    Edge,
    EdgeType,
    End,
    Entry,
    Item,
    ItemKind,
    Memory,
    MemoryKind,
    Node,
    Origin,
    Record,
    Relation,
    Revision,
)
from concord_graph.domain.spelling import NameKind, backwards, folded, names_of

RecordT = TypeVar("RecordT", Node, Memory, Entry, DeclaredRelation)
Fields = dict[str, Any]

_ENTRY_LABEL = {
    ItemKind.EPISODE: "Episode",
    ItemKind.WORKING_MEMORY: "WorkingMemory",
    ItemKind.CONFLICT: "Conflict",
    ItemKind.CLAIM: "Claim",
}
ENTRIES = frozenset(_ENTRY_LABEL)
OWN_LABELS = LABELS | {"Defined", "Ghost", "Held", "Resolution", "Store", "WorkingMemory"}
"""Labels that a caller's label must not equal."""
_TYPES: Mapping[Any, Codec] = {tuple[str, ...]: (list, tuple), float: (float, None)}
_CODECS: Mapping[type, Mapping[str, Codec]] = {
    kind: {each.name: codec(each, _TYPES) for each in own_fields(kind)}
    for kind in (Node, Edge, Memory, DeclaredRelation, Entry)
}
OWN_KEYS = frozenset(
    {
        *(each.name for kind in _CODECS for each in fields_of(kind)),
        *("space", "kind", "seq", "record_from", "record_until", "principal", "salt"),
        *("source_id", "source_kind", "target_id", "target_kind", "effective_from"),
        *("participants", "stated", "content_digest", "turn_place"),
        *("folded", "backwards", "folded_id", "backwards_id", "folded_key", "backwards_key"),
        *("folded_session", "backwards_session", "first_id", "second_id", "conflict_class"),
        "claimant",
    }
)
"""Property names that a caller's must not equal: indexes and constraints depend on them."""


_NAMED = {
    NameKind.NODE: "",
    NameKind.MEMORY_ID: "_id",
    NameKind.EXTERNAL_ID: "_key",
    NameKind.SESSION: "_session",
}
_LEFT = frozenset(
    {"effective_from", "turn_place", "folded_id", "backwards_id", "folded_session"}
    | {"backwards_session", "first_id", "second_id", "conflict_class", "run_id", "claimant"}
)
"""The derived properties, used by statements, that a tombstone keeps."""


def version(kind: ItemKind) -> str:
    """Return the label of every revision of a kind."""
    return "RelationVersion" if kind == ItemKind.RELATION else VERSION.get(kind, "EntryVersion")


def revision(fields_: Fields) -> Record:
    """Return the record that a node's properties hold."""
    if fields_["kind"] == ItemKind.RELATION:
        return read(DeclaredRelation, fields_)
    return read(Entry, fields_) if fields_["kind"] in _ENTRY_LABEL else item(fields_)


def item(record: Fields) -> Item:
    """Return the item that a node's properties hold."""
    kind = record["kind"]
    if kind == ItemKind.NODE:
        return read(Node, record)
    return edge(record) if kind == ItemKind.EDGE else read(Memory, record)


def read(kind: type[RecordT], record: Fields) -> RecordT:
    """Return the item, entry or relation that a node's properties hold."""
    return kind(**_read(kind, record))


def edge(record: Fields) -> Edge:
    """Return an edge."""
    return Edge(
        source=End(record["source_id"], ItemKind(record["source_kind"])),
        target=End(record["target_id"], ItemKind(record["target_kind"])),
        **_read(Edge, record),
    )


def _read(kind: type, record: Fields) -> dict[str, Any]:
    """Return the values of a kind's fields; absent ones get their defaults."""
    found = {name: record[name] for name in ("id", "deleted", "create_time")}
    found["revision"] = _revision(record)
    for name, (_, back) in _CODECS[kind].items():
        if name in record:
            found[name] = record[name] if back is None else back(record[name])
    return found


def fields(space: str, item_: Record, tokens: Tokens) -> Fields:
    """Return an item's properties; a property that is None is not stored."""
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
    for name in _CODECS[type(item_)]:
        record |= _kept(name, item_)
    record |= _looked_into(item_)
    if isinstance(item_, Node):
        record |= tokens.shown(item_.properties, OWN_KEYS)
    return {name: value for name, value in record.items() if value is not None}


def erased(item_: Record) -> Fields:
    """Return the properties that replace the content in every revision of an erased item.

    A property that is None is removed there.
    """
    record: Fields = {"salt": b""} | _kept("erase_time", item_)
    kind: type = type(item_)
    for field in erased_fields(kind):
        record |= _kept(field.name, item_)
    if isinstance(item_, Entry) and item_.kind != ItemKind.CONFLICT:
        record |= _kept("body", item_)
    if isinstance(item_, Edge):
        record["relation"] = item_.relation
        if item_.target.id == item_.id:  # it named a ghost
            record["target_id"] = item_.id
    looked_into = _looked_into(item_).items()
    return record | {key: value for key, value in looked_into if key not in _LEFT}


def labels(item_: Record, tokens: Tokens) -> list[str]:
    """Return the labels of an item's current node.

    Labels beside `Item` and the kind's version select nodes for the schema's partial indexes.
    """
    found = ["Item", version(item_.kind)]
    is_gone = item_.deleted and not isinstance(item_, DeclaredRelation)  # which is found by name
    if is_gone or item_.revision.record_until != FOREVER:  # a former revision ends at once
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
    """Return the properties of an edge's relationship."""
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
    record |= tokens.shown(edge_.properties, OWN_KEYS)
    return {name: value for name, value in record.items() if value is not None}


def stated(key: str, value: Any) -> str:
    """Return a property as a text that equal values share: 1 and 1.0 do, 1 and true do not."""
    return f"{key}\x1f{json.dumps(_numbers_alike(value), sort_keys=True)}"


def _kept(name: str, item_: Record) -> Fields:
    value = getattr(item_, name)
    if isinstance(value, End):
        return {f"{name}_id": value.id, f"{name}_kind": int(value.kind)}
    keep, _ = _CODECS[type(item_)][name]
    return {name: value if keep is None else keep(value)}


def _looked_into(item_: Record) -> Fields:
    """Return the derived properties that statements use beside an item's own."""
    found: Fields = {}
    for kind, _, name in names_of(item_):  # None: there is none
        suffix = _NAMED[kind]
        found[f"folded{suffix}"] = folded(name) if name else None
        found[f"backwards{suffix}"] = backwards(name) if name else None
    if isinstance(item_, (Edge, Memory)):
        found["effective_from"] = item_.effective_from
        found["stated"] = [stated(*each) for each in item_.properties.items()]
    match item_:
        case Edge():
            found["participants"] = _participants(item_)
        case Memory():
            found["content_digest"] = "" if item_.erase_time else content_digest(item_)
            found["turn_place"] = item_.turn_order or None
        case Entry(kind=ItemKind.CONFLICT, body=body):
            found["first_id"] = body["first"]["id"]
            found["second_id"] = body["second"]["id"]
            found["conflict_class"] = int(body["conflict_class"])
            found["run_id"] = body.get("run_id") or None
        case Entry(kind=ItemKind.CLAIM, body=body):
            found["first_id"] = body["first"]["id"]
            found["second_id"] = body["second"]["id"]
            found["claimant"] = body["claimant"]
    return found


def _edge_labels(edge_: Edge) -> list[str]:
    tests = {
        "Governed": edge_.governed,
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
