"""The fields of nodes, edges and memories, read off their dataclasses, for stores, requests,
replies, exports and erasure."""

from __future__ import annotations

import re
import typing
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any

from concord_graph.domain.items import Edge, Entry, Memory, Node

_TIMES = re.compile(r"(.*_)?time|(valid|record)_(from|until)")

HEAD = frozenset({"id", "revision", "create_time", "deleted"})
"""The fields that all kinds of records share."""

_LEFT: Mapping[type, frozenset[str]] = {
    Node: frozenset({"of_facts", "erase_time"}),
    Edge: frozenset(
        {"source", "relation", "target", "edge_type", "valid_from", "valid_until"}
        | {"origin", "governed", "erase_time"}
    ),
    Memory: frozenset(
        {"memory_kind", "session_id", "turn_order", "edge_type", "valid_from", "valid_until"}
        | {"origin", "id_stated", "erase_time"}
    ),
    Entry: frozenset({"kind", "body", "session_id", "shelf", "rank", "erase_time"}),
}
"""The fields that a tombstone keeps: others' supersession depends on its kinds and times. The body
of an entry stays for conflicts alone, whose sides it names (`domain.erasure`)."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field: its name, the type of its values, and its default (MISSING: required).

    `is_time`: its values are µs since 1970.
    """

    name: str
    type: Any
    default: Any
    is_time: bool


@cache
def fields_of(kind: type) -> tuple[Field, ...]:
    """Return the fields of a dataclass, in its order."""
    hints = typing.get_type_hints(kind)
    return tuple(
        Field(
            each.name,
            hints[each.name],
            each.default_factory() if each.default_factory is not MISSING else each.default,
            is_time=bool(_TIMES.fullmatch(each.name)),
        )
        for each in fields(kind)
    )


@cache
def own_fields(kind: type) -> tuple[Field, ...]:
    """Return the fields that a kind has beside the head."""
    return tuple(each for each in fields_of(kind) if each.name not in HEAD)


@cache
def erased_fields(kind: type) -> tuple[Field, ...]:
    """Return the fields of nodes, edges or memories that erasing empties in every revision."""
    return tuple(each for each in own_fields(kind) if each.name not in _LEFT[kind])
