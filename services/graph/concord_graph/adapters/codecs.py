"""Codecs for item fields whose types no store has: the same for every store."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Mapping
from typing import Any

from concord_graph.domain.facts import Fact
from concord_graph.domain.fields import Field
from concord_graph.domain.items import Properties, Source, Trust

Convert = Callable[[Any], Any]
Codec = tuple[Convert | None, Convert | None]
"""The functions that encode a value for the store and decode it; None: unchanged."""


to_json = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
"""JSON values as text."""


def properties_text(properties: Properties) -> str:
    """Return a JSON object as text."""
    return to_json(dict(properties)) if properties else "{}"


def properties(text: str) -> Properties:
    """Return the JSON object of a text."""
    return json.loads(text) if text != "{}" else {}


def _sources_text(sources: tuple[Source, ...]) -> str:
    names = ("speaker", "file", "turn_ids", "trust", "memory_ids")
    return to_json([{name: getattr(source, name) for name in names} for source in sources])


def _sources(text: str) -> tuple[Source, ...]:
    return tuple(
        Source(
            speaker=part["speaker"],
            file=part["file"],
            turn_ids=tuple(part["turn_ids"]),
            trust=Trust(part["trust"]),
            memory_ids=tuple(part.get("memory_ids", ())),
        )
        for part in json.loads(text)
    )


def _facts_text(facts: tuple[Fact, ...]) -> str:
    return to_json([[*fact.triple, fact.weight, dict(fact.properties)] for fact in facts])


def _facts(text: str) -> tuple[Fact, ...]:
    return tuple(Fact(*parts) for parts in json.loads(text)) if text != "[]" else ()


def _tuples(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, json.loads(text)))


_AS_JSON: Mapping[Any, Codec] = {
    Properties: (properties_text, properties),
    tuple[Source, ...]: (_sources_text, _sources),
    tuple[Fact, ...]: (_facts_text, _facts),
    tuple[tuple[str, ...], ...]: (to_json, _tuples),
}


def codec(field: Field, own: Mapping[Any, Codec]) -> Codec:
    """Return a field's codec; `own`, a store's own codecs by type, come first."""
    kind = field.type
    if field.name == "external_id":  # unique, but for absent ones
        return (lambda key: key or None), (lambda key: key or "")
    if isinstance(kind, type) and issubclass(kind, enum.IntEnum):
        # a look-up costs a sixth of a call of the enum
        return int, {int(member): member for member in kind}.__getitem__
    return own.get(kind) or _AS_JSON.get(kind, (None, None))


def record_name(kind: str, key: str) -> str:
    """Return the stored name of a service's record: its kind, with its key if it has one."""
    return f"{kind}\n{key}" if key else kind
