"""Reads a graph of Graphiti (`graphiti-core` 0.2x and 0.3x): its models as JSON.

The file is an object with lists `nodes`, `edges` and `episodes` of EntityNode, EntityEdge and
EpisodicNode as `model_dump(mode="json")` writes them, or JSON Lines of such objects or models.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from concord.type.v1 import type_pb2

from concord_client.importers.document import beside, list_at, object_at, united, values
from concord_client.importers.jsonl import memory_of
from concord_client.importers.outcome import (
    MAX_CONTENT,
    Defect,
    Draft,
    ItemUnreadable,
    LeftOut,
    Outcome,
    as_text,
    at_place,
)
from concord_client.importers.rfc3339 import rfc3339

_LISTS = {
    "episodes": ("episodes", "episodic_nodes"),
    "nodes": ("nodes", "entity_nodes"),
    "edges": ("edges", "entity_edges"),
}


_EMBEDDING = re.compile(r"\w*embedding")
_Reader = Callable[[dict[str, Any], list[LeftOut]], dict[str, Any]]


def read_graphiti(path: Path) -> Iterator[Outcome]:
    """Yield the outcomes of the episodes, the entities and the edges, in this order.

    An edge becomes a memory that states its fact, valid from `valid_at` to `invalid_at`, with its
    episodes as sources; an episode a memory of its text, at `valid_at`; an entity one of its
    summary. Other fields become properties. Embeddings, and entities without a summary, are left
    out; the names of these are in their edges.
    """
    kinds: dict[str, list[tuple[int, Any]]] = {name: [] for name in _LISTS}
    for found in values(path):
        if isinstance(found, Defect):
            yield found
            continue
        line, value = found
        if not isinstance(value, Mapping):
            why = "an object with nodes, edges and episodes is expected"
            yield Defect(str(path), line, why, text=as_text(value))
            continue
        if "uuid" in value:
            kinds[_kind(value)].append((line, value))
            continue
        try:
            for kind, spellings in _LISTS.items():
                for name in spellings:
                    kinds[kind] += [(line, each) for each in list_at(value, name)]
        except ItemUnreadable as unreadable:
            yield Defect(str(path), line, unreadable.reason, text=as_text(value))
        known = [name for spellings in _LISTS.values() for name in spellings]
        yield from at_place(beside(value, known), str(path), line)
    names = {str(node.get("uuid")): str(node.get("name", "")) for _, node in kinds["nodes"]
             if isinstance(node, Mapping)}  # fmt: skip
    readers: dict[str, _Reader] = {
        "episodes": _episode,
        "nodes": _node,
        "edges": lambda rest, _: _edge(rest, names),
    }
    for kind, records in kinds.items():
        yield from _outcomes(path, kind, records, readers[kind])


def _outcomes(
    path: Path, kind: str, records: list[tuple[int, Any]], read: _Reader
) -> Iterator[Outcome]:
    for number, (line, record) in enumerate(records, 1):
        part = "" if line else f"{kind} {number}"
        left: list[LeftOut] = []
        try:
            if not isinstance(record, Mapping) or not record.get("uuid"):
                raise ItemUnreadable("no uuid: an object with a uuid is expected")
            memory = _read(dict(record), read, left)
        except ItemUnreadable as unreadable:
            yield Defect(str(path), line, unreadable.reason, part, as_text(record))
            continue
        yield from at_place(left, str(path), line, part)
        if memory:
            yield Draft(memory, str(path), line, part)


def _read(rest: dict[str, Any], read: _Reader, left: list[LeftOut]) -> type_pb2.Memory | None:
    """The memory of a record; None for one that is left out whole. Raises `ItemUnreadable`."""
    whole = as_text(rest)
    for name in [name for name in rest if _EMBEDDING.fullmatch(name)]:
        if vector := rest.pop(name):
            left.append(LeftOut("embedding", f"{name}: {as_text(vector)}"))
    identity = rest.pop("uuid")
    if not (found := read(rest, left)):
        left[:] = [LeftOut("entity without a summary", whole)]
        return None
    attributes = object_at(rest, "attributes")
    rest.pop("attributes", None)
    common = {
        "id": _id(identity),
        "external_id": f"graphiti/{identity}",
        "properties": united(attributes, rest),
    }
    return memory_of(found | common, left)


def _kind(record: Mapping[str, Any]) -> str:
    if "source_node_uuid" in record:
        return "edges"
    return "episodes" if "content" in record else "nodes"


def _episode(rest: dict[str, Any], _: list[LeftOut]) -> dict[str, Any]:
    return {
        "content": str(rest.pop("content", "")),
        "valid_from": _time(rest, "valid_at"),
        "sources": [{"file": str(rest.pop("source_description", None) or "")}],
    }


def _node(rest: dict[str, Any], left: list[LeftOut]) -> dict[str, Any]:
    name, summary = str(rest.pop("name", "")), str(rest.pop("summary", None) or "")
    content = f"{name}: {summary}"
    if len(content) > MAX_CONTENT:
        left.append(LeftOut("end of a summary that is too long", content[MAX_CONTENT:]))
    return {"content": content[:MAX_CONTENT]} if summary else {}


def _edge(rest: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    ends = [names.get(str(rest.get(f"{end}_node_uuid")), "") for end in ("source", "target")]
    relation = str(rest.get("name", ""))
    found: dict[str, Any] = {
        "content": str(rest.pop("fact", "")),
        "valid_from": _time(rest, "valid_at"),
        "valid_until": _time(rest, "invalid_at"),
        "sources": [{"memory_ids": [_id(each) for each in list_at(rest, "episodes")]}],
    }
    rest.pop("episodes", None)
    if all(ends) and relation:
        found["facts"] = [{"subject": ends[0], "relation": relation, "object": ends[1]}]
        del rest["name"]
    return found


def _time(rest: dict[str, Any], name: str) -> str | None:
    time = rfc3339(rest, name)
    rest.pop(name, None)
    return time or None


def _id(identity: object) -> str:
    return f"graphiti-{identity}"
