"""The keys of a note's front matter that fill a memory's fields; the others become properties."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from concord.type.v1 import type_pb2
from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from concord_client.facts import fact_of
from concord_client.importers.contract import fits
from concord_client.importers.front_matter import (
    LINEAGE_KEYS,
    list_of,
    text_of,
    time_of,
)
from concord_client.importers.outcome import ItemUnreadable, LeftOut
from concord_client.importers.spelling import contract_name

MOST_FACTS = 10
"""The contract's limit for a memory."""
_LONGEST_TITLE = 512
_TEXTS = ("id", "title", "domain", "external_id")
_LISTS = ("tags", "concepts", "aliases", "surfaces_when")
_ENUMS: Mapping[str, EnumDescriptor] = {
    "kind": type_pb2.MemoryKind.DESCRIPTOR,
    "importance": type_pb2.Importance.DESCRIPTOR,
}
_TIMES = ("valid_from", "valid_until")
KEYS = frozenset([*_TEXTS, *_LISTS, *_ENUMS, *_TIMES, "facts", *LINEAGE_KEYS])
"""The keys that find a field."""


def divided(keys: Mapping[str, object]) -> tuple[Mapping[str, object], Mapping[str, object]]:
    """The keys whose values their fields can hold, and all others, which are kept as written."""
    usable = {key: value for key, value in keys.items() if key in KEYS and _is_usable(keys, key)}
    return usable, {key: value for key, value in keys.items() if key not in usable}


def _is_usable(keys: Mapping[str, object], key: str) -> bool:
    with suppress(ItemUnreadable):
        if key in _TIMES:
            time = time_of(keys, key)
            return time is not None and is_in_range(time)
        if key in _ENUMS:
            text = text_of(keys, key)
            return not text or contract_name(_ENUMS[key], text) is not None
        if key == "title":
            return len(text_of(keys, key)) <= _LONGEST_TITLE
        if key in _TEXTS:
            text = text_of(keys, key)
            return not text or fits(key, [text])
        texts = list_of(keys, key)
        return key not in _LISTS or fits("concepts" if key == "aliases" else key, texts)
    return False


def is_in_range(time: datetime) -> bool:
    """Whether the contract can express a time: the years 1 to 9999 in UTC."""
    try:
        Timestamp().FromDatetime(time)
    except (ValueError, OverflowError):
        return False
    return True


def kind_of(keys: Mapping[str, object]) -> type_pb2.MemoryKind.ValueType:
    """The kind that the front matter states; UNSPECIFIED without one."""
    name = contract_name(_ENUMS["kind"], text_of(keys, "kind"))
    return type_pb2.MemoryKind.Value(name or "MEMORY_KIND_UNSPECIFIED")


def importance_of(keys: Mapping[str, object]) -> type_pb2.Importance.ValueType:
    """The importance that the front matter states; UNSPECIFIED without one."""
    name = contract_name(_ENUMS["importance"], text_of(keys, "importance"))
    return type_pb2.Importance.Value(name or "IMPORTANCE_UNSPECIFIED")


def facts_of(keys: Mapping[str, object], left: list[LeftOut]) -> list[type_pb2.Fact]:
    """The facts that a note states, at most ten; what is none, or too many, goes to `left`."""
    facts: list[type_pb2.Fact] = []
    for entry in list_of(keys, "facts"):
        try:
            fact = fact_of(entry)
        except ValueError:
            left.append(LeftOut('fact that is not "SUBJECT|RELATION|OBJECT"', entry))
            continue
        if len(facts) < MOST_FACTS:
            facts.append(fact)
        else:
            left.append(LeftOut(f"fact beyond the {MOST_FACTS} of a memory", entry))
    return facts
