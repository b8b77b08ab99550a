"""Rows to items and back. Column order is the schema's."""

from __future__ import annotations

import json
from typing import Any

from concord_graph.domain.facts import Fact
from concord_graph.domain.items import (
    HIDING,
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
    Revision,
    Source,
    Trust,
)

Row = tuple[Any, ...]

_REVISION = "id, revision, seq, record_from, record_until, deleted, principal, salt, create_time"
NODE = f"{_REVISION}, name, label, properties, vector_id, of_facts, erase_time"
EDGE = (
    f"{_REVISION}, source_id, source_kind, relation, target_id, target_kind, weight, properties, "
    "edge_type, importance, valid_from, valid_until, origin, governed, erase_time"
)
MEMORY = (
    f"{_REVISION}, id_stated, content, memory_kind, concepts, concepts_stated, domain, importance, "
    "surfaces_when, sources, external_id, category, tags, session_id, edge_type, valid_from, "
    "valid_until, turn_order, erase_time, facts, properties"
)
RELATION = f"{_REVISION}, name, functional"
ENTRY = f"{_REVISION}, kind, session_id, shelf, rank, body"
TABLE = {ItemKind.NODE: "node", ItemKind.EDGE: "edge", ItemKind.MEMORY: "memory"}
# a look-up costs a sixth of a call of the enum, and a page of edges makes a hundred
_ITEM_KIND = {int(value): value for value in ItemKind}
_EDGE_TYPE = {int(value): value for value in EdgeType}
_IMPORTANCE = {int(value): value for value in Importance}
_ORIGIN = {int(value): value for value in Origin}
ENTRIES = frozenset({ItemKind.EPISODE, ItemKind.WORKING_MEMORY})
COLUMNS = {ItemKind.NODE: NODE, ItemKind.EDGE: EDGE, ItemKind.MEMORY: MEMORY}


def qualified(columns: str, alias: str) -> str:
    """Return a column list with every name behind an alias."""
    return ", ".join(f"{alias}.{name.strip()}" for name in columns.split(","))


def item(kind: ItemKind, row: Row) -> Item:
    """Return the item that a row of its table's columns holds."""
    if kind == ItemKind.NODE:
        return node(row)
    return edge(row) if kind == ItemKind.EDGE else memory(row)


def node(row: Row) -> Node:
    """Return a node."""
    return Node(
        id=row[0],
        revision=_revision(row),
        deleted=bool(row[5]),
        create_time=row[8],
        name=row[9],
        label=row[10],
        properties=json.loads(row[11]),
        vector_id=row[12],
        of_facts=bool(row[13]),
        erase_time=row[14],
    )


def edge(row: Row) -> Edge:
    """Return an edge."""
    # by place: a page has a hundred, and names cost a quarter of making one
    return Edge(
        row[0],
        End(row[9], _ITEM_KIND[row[10]]),
        row[11],
        End(row[12], _ITEM_KIND[row[13]]),
        row[14],
        json.loads(row[15]) if row[15] != "{}" else {},
        _EDGE_TYPE[row[16]],
        _IMPORTANCE[row[17]],
        row[18],
        row[19],
        _ORIGIN[row[20]],
        row[21] == 1,
        row[8],
        row[5] == 1,
        row[22],
        _revision(row),
    )


def memory(row: Row) -> Memory:
    """Return a memory."""
    return Memory(
        id=row[0],
        revision=_revision(row),
        deleted=bool(row[5]),
        create_time=row[8],
        id_stated=bool(row[9]),
        content=row[10],
        memory_kind=MemoryKind(row[11]),
        concepts=tuple(json.loads(row[12])),
        concepts_stated=bool(row[13]),
        domain=row[14],
        importance=Importance(row[15]),
        surfaces_when=tuple(json.loads(row[16])),
        sources=tuple(_source(part) for part in json.loads(row[17])),
        external_id=row[18] or "",
        category=row[19],
        tags=tuple(json.loads(row[20])),
        session_id=row[21],
        edge_type=EdgeType(row[22]),
        valid_from=row[23],
        valid_until=row[24],
        turn_order=row[25],
        erase_time=row[26],
        facts=_facts(row[27]),
        properties=json.loads(row[28]),
    )


def entry(row: Row) -> Entry:
    """Return an entry."""
    return Entry(
        id=row[0],
        revision=_revision(row),
        deleted=bool(row[5]),
        create_time=row[8],
        kind=_ITEM_KIND[row[9]],
        session_id=row[10],
        shelf=row[11],
        rank=row[12],
        body=json.loads(row[13]),
    )


def relation(row: Row) -> DeclaredRelation:
    """Return a declared relation."""
    return DeclaredRelation(
        id=row[0],
        revision=_revision(row),
        create_time=row[8],
        name=row[9],
        functional=bool(row[10]),
    )


def table(kind: ItemKind) -> str:
    """Return the table that holds a kind."""
    if kind == ItemKind.RELATION:
        return "relation"
    return "entry" if kind in ENTRIES else TABLE[kind]


def values(space: int, item_: Record) -> dict[str, Any]:
    """Return an item's columns by name."""
    revision = item_.revision
    common = {
        "space": space,
        "id": item_.id,
        "revision": revision.number,
        "seq": revision.seq,
        "record_from": revision.record_from,
        "record_until": revision.record_until,
        "deleted": int(item_.deleted),
        "principal": revision.principal,
        "salt": revision.salt,
        "create_time": item_.create_time,
    }
    if isinstance(item_, DeclaredRelation):
        return common | {"name": item_.name, "functional": int(item_.functional)}
    if isinstance(item_, Node):
        return common | _node_values(item_)
    if isinstance(item_, Entry):
        return common | _entry_values(item_)
    return common | (_edge_values(item_) if isinstance(item_, Edge) else _memory_values(item_))


def _node_values(node_: Node) -> dict[str, Any]:
    return {
        "name": node_.name,
        "label": node_.label,
        "properties": _json(node_.properties),
        "vector_id": node_.vector_id,
        "of_facts": int(node_.of_facts),
        "erase_time": node_.erase_time,
    }


def _edge_values(edge_: Edge) -> dict[str, Any]:
    return {
        "source_id": edge_.source.id,
        "source_kind": edge_.source.kind,
        "relation": edge_.relation,
        "target_id": edge_.target.id,
        "target_kind": edge_.target.kind,
        "weight": float(edge_.weight),
        "properties": _json(edge_.properties),
        "edge_type": edge_.edge_type,
        "importance": edge_.importance,
        "valid_from": edge_.valid_from,
        "valid_until": edge_.valid_until,
        "effective_from": edge_.effective_from,
        "origin": edge_.origin,
        "governed": int(edge_.governed),
        "replaces": int(edge_.relation in REPLACING),
        "hides": int(edge_.relation in HIDING),
        "erase_time": edge_.erase_time,
    }


def _memory_values(memory_: Memory) -> dict[str, Any]:
    sources = [
        {
            **{"speaker": s.speaker, "file": s.file, "turn_ids": list(s.turn_ids)},
            **{"trust": s.trust, "memory_ids": list(s.memory_ids)},
        }
        for s in memory_.sources
    ]
    return {
        "id_stated": int(memory_.id_stated),
        "content": memory_.content,
        "content_digest": "" if memory_.erase_time else memory_.content_digest,
        "memory_kind": memory_.memory_kind,
        "concepts": _json(memory_.concepts),
        "concepts_stated": int(memory_.concepts_stated),
        "domain": memory_.domain,
        "importance": memory_.importance,
        "surfaces_when": _json(memory_.surfaces_when),
        "sources": _json(sources),
        "external_id": memory_.external_id or None,
        "category": memory_.category,
        "tags": _json(memory_.tags),
        "session_id": memory_.session_id,
        "edge_type": memory_.edge_type,
        "valid_from": memory_.valid_from,
        "valid_until": memory_.valid_until,
        "effective_from": memory_.effective_from,
        "turn_order": memory_.turn_order,
        "erase_time": memory_.erase_time,
        "facts": _json([[*f.triple, f.weight, dict(f.properties)] for f in memory_.facts]),
        "properties": _json(memory_.properties),
    }


def _entry_values(entry_: Entry) -> dict[str, Any]:
    return {
        "kind": entry_.kind,
        "session_id": entry_.session_id,
        "shelf": entry_.shelf,
        "rank": entry_.rank,
        "body": _json(entry_.body),
    }


def _revision(row: Row) -> Revision:
    return Revision(row[1], row[2], row[3], row[4], row[6], row[7])


def _source(part: dict[str, Any]) -> Source:
    return Source(
        speaker=part["speaker"],
        file=part["file"],
        turn_ids=tuple(part["turn_ids"]),
        trust=Trust(part["trust"]),
        memory_ids=tuple(part.get("memory_ids", ())),
    )


def _facts(text: str) -> tuple[Fact, ...]:
    if text == "[]":
        return ()
    return tuple(Fact(*parts) for parts in json.loads(text))


def _json(value: Any) -> str:
    return (
        json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        if value
        else ("{}" if isinstance(value, dict) else "[]")
    )
