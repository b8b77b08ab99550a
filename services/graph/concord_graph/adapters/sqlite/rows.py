"""Rows to items and back. A kind's columns are its fields, in their order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any, TypeVar

from concord_graph.adapters.stored import Codec, Convert, codec, to_json
from concord_graph.domain.digests import content_digest
from concord_graph.domain.fields import Field, erased_fields, own_fields
from concord_graph.domain.items import (
    HIDING,
    DeclaredRelation,
    Edge,
    EdgeType,
    End,
    Entry,
    Importance,
    Item,
    ItemKind,
    Memory,
    Node,
    Origin,
    Record,
    Revision,
)

RecordT = TypeVar("RecordT", Node, Memory, Entry, DeclaredRelation)
Row = tuple[Any, ...]


def _texts(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text != "[]" else ()


_TYPES: Mapping[Any, Codec] = {bool: (int, bool), tuple[str, ...]: (to_json, _texts)}


def _columns(field: Field) -> Iterable[tuple[str, Convert]]:
    """Yield the columns of a field, each with the function from an item to its value."""
    value = attrgetter(field.name)
    keep, _ = codec(field, _TYPES)
    if field.type is End:
        yield f"{field.name}_id", lambda item: value(item).id
        yield f"{field.name}_kind", lambda item: value(item).kind
    else:
        yield field.name, value if keep is None else lambda item: keep(value(item))


_REVISION = "id, revision, seq, record_from, record_until, deleted, principal, salt, create_time"
_KINDS = (Node, Edge, Memory, DeclaredRelation, Entry)
_KEPT = {kind: [each for f in own_fields(kind) for each in _columns(f)] for kind in _KINDS}
_NAMES: Mapping[type, list[str]] = {kind: [f.name for f in own_fields(kind)] for kind in _KINDS}
_READ: Mapping[type, list[tuple[str, Convert]]] = {
    kind: [(f.name, back) for f in own_fields(kind) if (back := codec(f, _TYPES)[1]) is not None]
    for kind in _KINDS
}
"""The fields whose values are not those of their columns."""
NODE, EDGE, MEMORY, RELATION, ENTRY = (
    ", ".join([_REVISION, *(name for name, _ in _KEPT[kind])]) for kind in _KINDS
)
TABLE = {ItemKind.NODE: "node", ItemKind.EDGE: "edge", ItemKind.MEMORY: "memory"}
# a look-up costs a sixth of a call of the enum, and a page of edges makes a hundred
_ITEM_KIND = {int(value): value for value in ItemKind}
_EDGE_TYPE = {int(value): value for value in EdgeType}
_IMPORTANCE = {int(value): value for value in Importance}
_ORIGIN = {int(value): value for value in Origin}
ENTRIES = frozenset({ItemKind.EPISODE, ItemKind.WORKING_MEMORY, ItemKind.CONFLICT})
COLUMNS = {
    **{ItemKind.NODE: NODE, ItemKind.EDGE: EDGE, ItemKind.MEMORY: MEMORY},
    **{ItemKind.RELATION: RELATION, **dict.fromkeys(ENTRIES, ENTRY)},
}
CONTENT = {
    ItemKind.NODE: [each.name for each in erased_fields(Node)],
    ItemKind.EDGE: [*(each.name for each in erased_fields(Edge)), "relation"],
    ItemKind.MEMORY: [*(each.name for each in erased_fields(Memory)), "content_digest"],
    ItemKind.CONFLICT: [each.name for each in erased_fields(Entry)],
    ItemKind.EPISODE: ["body", *(each.name for each in erased_fields(Entry))],
    ItemKind.WORKING_MEMORY: ["body", *(each.name for each in erased_fields(Entry))],
}
"""The columns of items' content, which erasure empties."""


def qualified(columns: str, alias: str) -> str:
    """Return a column list with every name behind an alias."""
    return ", ".join(f"{alias}.{name.strip()}" for name in columns.split(","))


def item(kind: ItemKind, row: Row) -> Item:
    """Return the item that a row of its table's columns holds."""
    if kind == ItemKind.NODE:
        return read(Node, row)
    return edge(row) if kind == ItemKind.EDGE else read(Memory, row)


def record(kind: ItemKind, row: Row) -> Record:
    """Return the item, entry or relation that a row of its table's columns holds."""
    if kind == ItemKind.RELATION:
        return read(DeclaredRelation, row)
    return read(Entry, row) if kind in ENTRIES else item(kind, row)


def read(kind: type[RecordT], row: Row) -> RecordT:
    """Return the item, entry or relation that a row of its columns holds."""
    return kind(**_fields(kind, row))


def edge(row: Row) -> Edge:
    """Return an edge."""
    # by position: a page has a hundred edges, and keywords take a quarter of making one
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


def table(kind: ItemKind) -> str:
    """Return the table that holds a kind."""
    if kind == ItemKind.RELATION:
        return "relation"
    return "entry" if kind in ENTRIES else TABLE[kind]


def values(space: int, item_: Record) -> dict[str, Any]:
    """Return an item's columns by name."""
    revision = item_.revision
    return {
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
        **{name: kept(item_) for name, kept in _KEPT[type(item_)]},
        **_derived(item_),
    }


def _derived(item_: Record) -> dict[str, Any]:
    """Return the derived columns that statements use beside an item's own."""
    if isinstance(item_, Edge):
        return {
            "effective_from": item_.effective_from,
            "hides": int(item_.relation in HIDING),
        }
    if isinstance(item_, Memory):
        return {
            "effective_from": item_.effective_from,
            "content_digest": "" if item_.erase_time else content_digest(item_),
        }
    return {}


def _fields(kind: type, row: Row) -> dict[str, Any]:
    found: dict[str, Any] = dict(zip(_NAMES[kind], row[9:], strict=False))  # more may follow
    for name, read in _READ[kind]:
        found[name] = read(found[name])
    revision, is_deleted = _revision(row), row[5] == 1
    return found | {
        "id": row[0],
        "revision": revision,
        "deleted": is_deleted,
        "create_time": row[8],
    }


def _revision(row: Row) -> Revision:
    return Revision(row[1], row[2], row[3], row[4], row[6], row[7])
