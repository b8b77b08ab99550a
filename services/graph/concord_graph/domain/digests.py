"""Digests of items: their versions, what they state, and the words of memories."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any
from unicodedata import normalize

from concord_graph.domain.facts import Fact
from concord_graph.domain.items import (
    DeclaredRelation,
    Edge,
    End,
    Entry,
    Memory,
    MemoryKind,
    MemoryStatement,
    Node,
    Record,
    Source,
)

_UNSAID = frozenset({"revision", "erase_time"})
_CAME_LATER: Mapping[type, frozenset[str]] = {
    Node: frozenset({"of_facts"}),
    Edge: frozenset({"claimed"}),
    Memory: frozenset({"turn_order", "facts", "properties", "role", "origin", "words_origin"}),
    Source: frozenset({"memory_ids"}),
    Fact: frozenset({"extracted"}),
    DeclaredRelation: frozenset({"temporal_class", "transitive", "exclusive_sets"}),
    Entry: frozenset({"words"}),
}
"""Fields newer than some stored revisions: left out while unset, so that old digests hold."""


def etag(item: Record) -> str:
    """Return the opaque version of an item: over id and revision, so reads do not change it."""
    return hashlib.sha256(f"etag {item.revision.number} {item.id}".encode()).hexdigest()[:24]


def content_digest(said: MemoryStatement) -> str:
    """Return the key that finds a memory of the same text (M5): content in NFC, kind, first source.

    Only the first source counts, so that a merge keeps the digest: it appends the other memory's
    sources, after a blank one if the kept memory names none.
    """
    first = said.sources[:1] if said.sources[:1] != (Source(),) else ()
    return _content_digest(said.content, said.memory_kind, first)


@lru_cache(maxsize=1)  # the writer needs it twice in a row: to find equal memories, and to store it
def _content_digest(content: str, kind: MemoryKind, sources: tuple[Source, ...]) -> str:
    return _digest(b"", [normalize("NFC", content), kind, _plain(sources)])


def digest(item: Record) -> str:
    """Return the salted hex SHA-256 of an item's fields, without its revision's own data."""
    return _digest(item.revision.salt, [item.kind, stated(item)])


def stated(item: Record | End | Source | Fact) -> dict[str, Any]:
    """Return an item's fields as JSON values, without its revision and erase time."""
    return {
        name: _plain(value)
        for name, is_later in _NAMES[type(item)]
        if (value := getattr(item, name)) or not is_later
    }


_NAMES = {
    kind: [
        (f.name, f.name in _CAME_LATER.get(kind, ())) for f in fields(kind) if f.name not in _UNSAID
    ]
    for kind in (Node, Edge, Memory, Entry, DeclaredRelation, End, Source, Fact)
}
"""The field names of each kind, and whether the field is newer than some stored revisions."""


def _plain(value: Any) -> Any:
    if isinstance(value, (str, int)):  # most values are, so it is the first test
        return value
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, (End, Source, Fact)):
        return stated(value)
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return value


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _digest(salt: bytes, value: Any) -> str:
    return hashlib.sha256(salt + _CANONICAL.encode(value).encode()).hexdigest()
