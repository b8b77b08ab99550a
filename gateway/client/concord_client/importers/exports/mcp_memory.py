"""Reads the file of the official MCP memory server (`@modelcontextprotocol/server-memory` 0.6 and
2025.x): JSON Lines of entities and relations, or the object that `read_graph` returns."""

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from concord.type.v1.type_pb2 import Memory

from concord_client.importers.document import beside, list_at
from concord_client.importers.exports.items import ReadItem, read_export
from concord_client.importers.jsonl import memory_of
from concord_client.importers.outcome import ItemUnreadable, LeftOut, Outcome

_LISTS = ("entities", "relations")


def read_mcp_memory(path: Path) -> Iterator[Outcome]:
    """Yield a memory for each observation about an entity, and for each relation, which states it
    as a fact. An entity without observations becomes a memory of its name and type."""
    return read_export(path, _items)


def is_mcp_memory(value: object) -> bool:
    """Whether a JSON value is a line, or the whole, of the server's file."""
    if not isinstance(value, Mapping):
        return False
    is_line = value.get("type") in ("entity", "relation")
    return (is_line and ("entityType" in value or "relationType" in value)) or (
        isinstance(value.get("entities"), list) and isinstance(value.get("relations"), list)
    )


def _items(value: Any, left: list[LeftOut]) -> Iterator[tuple[Any, ReadItem]]:
    if isinstance(value, Mapping) and any(isinstance(value.get(name), list) for name in _LISTS):
        yield from ((each, _entity) for each in list_at(value, "entities"))
        yield from ((each, _relation) for each in list_at(value, "relations"))
        left += beside(value, _LISTS)
    else:
        is_relation = isinstance(value, Mapping) and "relationType" in value
        yield value, _relation if is_relation else _entity


def _entity(record: Mapping[str, Any], left: list[LeftOut]) -> list[Memory]:
    rest = dict(record)
    name, kind = str(rest.pop("name", "")).strip(), str(rest.pop("entityType", "")).strip()
    observations = list_at(rest, "observations")
    rest.pop("observations", None)
    if not name:
        raise ItemUnreadable("no name: an entity with a name is expected")
    rest = {key: each for key, each in rest.items() if (key, each) != ("type", "entity")}
    properties = rest | {"entity": name, "entity_type": kind}
    texts = [f"{name}: {each}" for each in observations] or [f"{name}: {kind}"]
    return [
        memory_of({"content": text, "properties": properties, "external_id": _key(text)}, left)
        for text in dict.fromkeys(texts)
    ]


def _relation(record: Mapping[str, Any], left: list[LeftOut]) -> list[Memory]:
    rest = dict(record)
    words = [str(rest.pop(name, "")).strip() for name in ("from", "relationType", "to")]
    if not all(words):
        raise ItemUnreadable("no relation: from, relationType and to are expected")
    subject, relation, target = words
    rest = {key: each for key, each in rest.items() if (key, each) != ("type", "relation")}
    text = f"{subject} {relation} {target}"
    stated = {"subject": subject, "object": target}
    fact = stated | {"relation": re.sub(r"\W+", "_", relation).upper()}
    found = {"content": text, "facts": [fact], "properties": rest, "external_id": _key(text)}
    return [memory_of(found, left)]


def _key(text: str) -> str:
    return f"mcp-memory/{sha256(text.encode(errors='replace')).hexdigest()[:32]}"
