"""Reads a graph of Graphiti (`graphiti-core` 0.2x and 0.3x): its models as JSON.

The file is an object with lists `nodes`, `edges` and `episodes` of EntityNode, EntityEdge and
EpisodicNode as `model_dump(mode="json")` writes them, or JSON Lines of such objects or models.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from concord_client.importers.document import list_at, object_at, values
from concord_client.importers.jsonl import memory_of
from concord_client.importers.outcome import MAX_CONTENT, Defect, Draft, ItemUnreadable
from concord_client.importers.rfc3339 import rfc3339

_LISTS = {
    "episodes": ("episodes", "episodic_nodes"),
    "nodes": ("nodes", "entity_nodes"),
    "edges": ("edges", "entity_edges"),
}


def read_graphiti(path: Path) -> Iterator[Draft | Defect]:
    """Yield one outcome per episode, per entity with a summary, and per edge, in this order.

    An edge becomes a memory that states its fact, valid from `valid_at` to `invalid_at`, with its
    episodes as sources; an episode a memory of its text, at `valid_at`; an entity one of its
    summary. Embeddings are left out; attributes, labels and group ids become properties.
    """
    kinds: dict[str, list[tuple[int, Any]]] = {name: [] for name in _LISTS}
    for found in values(path):
        if isinstance(found, Defect):
            yield found
            continue
        line, value = found
        if not isinstance(value, Mapping):
            yield Defect(str(path), line, "an object with nodes, edges and episodes is expected")
            continue
        if "uuid" in value:
            kinds[_kind(value)].append((line, value))
            continue
        try:
            for kind, spellings in _LISTS.items():
                for name in spellings:
                    kinds[kind] += [(line, each) for each in list_at(value, name)]
        except ItemUnreadable as unreadable:
            yield Defect(str(path), line, unreadable.reason)
    names = {str(node.get("uuid")): str(node.get("name", "")) for _, node in kinds["nodes"]
             if isinstance(node, Mapping)}  # fmt: skip
    readers = {
        "episodes": _episode,
        "nodes": _node,
        "edges": lambda record: _edge(record, names),
    }
    for kind, records in kinds.items():
        yield from _outcomes(path, kind, records, readers[kind])


def _outcomes(
    path: Path, kind: str, records: list[tuple[int, Any]], read: Any
) -> Iterator[Draft | Defect]:
    for number, (line, record) in enumerate(records, 1):
        part = "" if line else f"{kind} {number}"
        try:
            if not isinstance(record, Mapping) or not record.get("uuid"):
                raise ItemUnreadable("no uuid: an object with a uuid is expected")
            if value := read(record):
                yield Draft(memory_of(value), str(path), line, part)
        except ItemUnreadable as unreadable:
            yield Defect(str(path), line, unreadable.reason, part)


def _kind(record: Mapping[str, Any]) -> str:
    if "source_node_uuid" in record:
        return "edges"
    return "episodes" if "content" in record else "nodes"


def _episode(record: Mapping[str, Any]) -> dict[str, Any]:
    return _known(record, str(record.get("content", ""))) | {
        "valid_from": rfc3339(record, "valid_at") or None,
        "sources": [{"file": str(record.get("source_description") or "")}],
    }


def _node(record: Mapping[str, Any]) -> dict[str, Any]:
    name, summary = str(record.get("name", "")), str(record.get("summary") or "")
    return _known(record, f"{name}: {summary}"[:MAX_CONTENT]) if summary else {}


def _edge(record: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    ends = [names.get(str(record.get(f"{end}_node_uuid")), "") for end in ("source", "target")]
    relation = str(record.get("name", ""))
    found = _known(record, str(record.get("fact", ""))) | {
        "valid_from": rfc3339(record, "valid_at") or None,
        "valid_until": rfc3339(record, "invalid_at") or None,
        "sources": [{"memory_ids": [_id(each) for each in list_at(record, "episodes")]}],
    }
    if all(ends) and relation:
        found["facts"] = [{"subject": ends[0], "relation": relation, "object": ends[1]}]
    return found


def _known(record: Mapping[str, Any], content: str) -> dict[str, Any]:
    """The memory's fields that come from the common fields of Graphiti's models."""
    properties = dict(object_at(record, "attributes"))
    for name in ("group_id", "labels", "expired_at"):
        if record.get(name):
            properties[name] = record[name]
    return {
        "id": _id(record["uuid"]),
        "external_id": f"graphiti/{record['uuid']}",
        "content": content,
        "properties": properties,
    }


def _id(identity: object) -> str:
    return f"graphiti-{identity}"
