"""Reads and writes the JSON of Mem0's memories (`mem0ai` 1.x and 2.x, API v1 and v2).

It is the result of `get_all()` or the platform's export: a list of memories, or an object with
them as `results` or `memories`, and with the triples of the graph memory as `relations`.
"""

import hashlib
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from concord.type.v1.type_pb2 import Memory

from concord_client.importers.document import beside, list_at, object_at, united
from concord_client.importers.exports.items import ReadItem, read_export
from concord_client.importers.jsonl import memory_of
from concord_client.importers.outcome import ItemUnreadable, LeftOut, Outcome, as_text
from concord_client.importers.rfc3339 import rfc3339

MEMORIES = ("results", "memories")
COMPUTED = "value that Mem0 computes"
_COMPUTED = ("hash", "score", "embedding", "vector")
_RELATED = ("relationship", "relation")
_TARGETS = ("target", "destination")
_OF_OURS = {"memory_kind": "kind", "importance": "importance", "domain": "domain"}


def read_mem0(path: Path) -> Iterator[Outcome]:
    """Yield one outcome per memory and relation, in order, each after what it left out.

    `created_at` becomes valid_from, `categories` the tags, `run_id` the session, `actor_id` the
    speaker; `metadata` and the other fields become properties. A relation becomes a memory that
    states it as a fact. Scores, hashes and vectors are left out.
    """
    return read_export(path, _records)


def _records(value: Any, left: list[LeftOut]) -> Iterator[tuple[Any, ReadItem]]:
    if isinstance(value, list):
        yield from ((each, _memory) for each in value)
    elif isinstance(value, Mapping) and any(name in value for name in (*MEMORIES, "relations")):
        for name in MEMORIES:
            yield from ((each, _memory) for each in list_at(value, name))
        yield from ((each, _relation) for each in list_at(value, "relations"))
        known = (*MEMORIES, "relations")
        left += beside(value, known)
    else:
        yield value, _memory


def _memory(record: Mapping[str, Any], left: list[LeftOut]) -> list[Memory]:
    rest = dict(record)
    name = next((each for each in ("memory", "text") if rest.get(each)), "")
    content = rest.pop(name, None)
    if not isinstance(content, str):
        raise ItemUnreadable("no memory: none of memory, text")
    metadata = dict(object_at(rest, "metadata"))
    rest.pop("metadata", None)
    left += (LeftOut(COMPUTED, f"{each}: {as_text(rest[each])}") for each in _COMPUTED
             if rest.get(each) is not None)  # fmt: skip
    found: dict[str, Any] = {
        ours: metadata.pop(name) for name, ours in _OF_OURS.items() if name in metadata
    }
    found["content"] = content
    if identity := rest.pop("id", None):
        found["external_id"] = f"mem0/{identity}"
    if categories := list_at(rest, "categories"):
        found["tags"] = list(map(str, categories))
    if begun := rfc3339(rest, "created_at"):
        found["valid_from"] = begun
    if session := rest.pop("run_id", None):
        found["session_id"] = str(session)
    if speaker := rest.pop("actor_id", None):
        found["sources"] = [{"speaker": str(speaker)}]
    for each in ("categories", "created_at", *_COMPUTED):
        rest.pop(each, None)
    found["properties"] = united(metadata, rest)
    return [memory_of(found, left)]


def _relation(record: Mapping[str, Any], left: list[LeftOut]) -> list[Memory]:
    names = ("source", *_RELATED, *_TARGETS)
    words = [str(record[name]) for name in names if record.get(name)]
    if len(words) != 3:
        raise ItemUnreadable("no relation: source, relationship and target are expected")
    subject, relation, target = words
    stated = {"subject": subject, "relation": relation.upper().replace(" ", "_"), "object": target}
    said = relation.replace("_", " ").lower()
    key = hashlib.sha256("\0".join(words).encode()).hexdigest()[:32]
    found = {
        "content": f"{subject} {said} {target}",
        "facts": [stated],
        "external_id": f"mem0/relation/{key}",
        "properties": {name: each for name, each in record.items() if name not in names},
    }
    return [memory_of(found, left)]


def to_mem0(lines: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Convert the memories and edges in the lines of a state export to Mem0's JSON."""
    results, relations = [], []
    for line in lines:
        if line.get("kind") == "memory":
            results.append(_result(line))
        elif line.get("kind") == "edge" and all(
            "node" in line[end] for end in ("source", "target")
        ):
            relations.append(
                {
                    "source": line["source"]["node"],
                    "relationship": line["relation"],
                    "target": line["target"]["node"],
                }
            )
    return {"results": results, "relations": relations}


def _result(line: Mapping[str, Any]) -> dict[str, Any]:
    content = str(line["content"])
    sources = line.get("sources") or [{}]
    metadata = {
        name: line[name] for name in ("memory_kind", "importance", "domain") if name in line
    }
    return {
        "id": line.get("id") or str(uuid.uuid5(uuid.NAMESPACE_OID, content)),
        "memory": content,
        "hash": hashlib.md5(content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": metadata | line.get("properties", {}),
        "categories": line.get("tags", []),
        "created_at": line.get("valid_from"),
        "updated_at": None,
        "run_id": line.get("session_id"),
        "actor_id": sources[0].get("speaker"),
    }
