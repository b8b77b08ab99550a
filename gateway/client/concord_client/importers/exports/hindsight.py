"""Reads memories of Hindsight (`hindsight-api` 0.4 to 0.10): the replies of its list and recall."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from concord.type.v1.type_pb2 import Memory

from concord_client.importers.document import beside, list_at
from concord_client.importers.exports.items import ReadItem, read_export
from concord_client.importers.jsonl import memory_of
from concord_client.importers.outcome import ItemUnreadable, LeftOut, Outcome
from concord_client.importers.rfc3339 import rfc3339

_LISTS = ("items", "results", "memories")
_BEGUN = ("occurred_start", "mentioned_at", "date")


def read_hindsight(path: Path) -> Iterator[Outcome]:
    """Yield a memory for each fact: valid from when it occurred, else was mentioned, until
    `occurred_end`; with its tags, and its type, context and entities as properties."""
    return read_export(path, _items)


def is_hindsight(value: object) -> bool:
    """Whether a JSON value is a list of Hindsight's memories."""
    lists = [value.get(name) for name in _LISTS] if isinstance(value, Mapping) else []
    facts = next((each for each in lists if isinstance(each, list)), [])
    return any(
        isinstance(each, Mapping)
        and "text" in each
        and ("fact_type" in each or "mentioned_at" in each)
        for each in facts
    )


def _items(value: Any, left: list[LeftOut]) -> Iterator[tuple[Any, ReadItem]]:
    if isinstance(value, list):
        yield from ((each, _fact) for each in value)
    elif isinstance(value, Mapping) and any(name in value for name in _LISTS):
        for name in _LISTS:
            yield from ((each, _fact) for each in list_at(value, name))
        left += beside(value, _LISTS)
    else:
        yield value, _fact


def _fact(record: Mapping[str, Any], left: list[LeftOut]) -> list[Memory]:
    rest = dict(record)
    text = rest.pop("text", None)
    if not isinstance(text, str):
        raise ItemUnreadable("text: a text is expected")
    found: dict[str, Any] = {"content": text}
    if identity := rest.pop("id", None):
        found["external_id"] = f"hindsight/{identity}"
    begun = next((name for name in _BEGUN if rest.get(name)), "")
    for name, ours in ((begun, "valid_from"), ("occurred_end", "valid_until")):
        if name and (time := rfc3339(rest, name)):
            found[ours] = time
            del rest[name]
    tags = rest.get("tags")
    if isinstance(tags, list) and all(isinstance(each, str) for each in tags):
        found["tags"] = rest.pop("tags")
    return [memory_of(found | {"properties": rest}, left)]
