"""Adds a file's other fields to a memory's properties (spec M1)."""

import json
from collections.abc import Mapping
from contextlib import suppress
from math import isfinite
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct

from concord_client.importers.front_matter import Written
from concord_client.importers.outcome import ItemUnreadable, LeftOut, as_text

_MOST_VALUES = 10_000
_MOST_DEEP = 20  # a message cannot hold much more; graph takes less
_DEEPEST = 14
"""Levels of a value that graph takes for sure, of its 16."""
_MOST_BYTES = 60_000
"""Bytes of the properties as JSON that graph takes for sure, of its 65,536."""
UNFIT = "value that no property can hold"
FINITE = "a finite number is expected, neither NaN nor Infinity"
_MOST_EXACT = 1 << 53  # a property's numbers are doubles


def add_properties(properties: Struct, values: Mapping[str, object]) -> None:
    """Add JSON or YAML values to properties.

    A whole number beyond a double's exact range becomes a text of its digits. Raises ItemUnreadable
    for a value that JSON cannot have (NaN and infinite numbers, too), for a key that exists
    already, for more than 10,000 values, and for values nested too deep.
    """
    room = [_MOST_VALUES]  # YAML's aliases can make millions of values from a few lines
    for key, value in values.items():
        _add(properties, key, _kept(value, key, room, _MOST_DEEP))


def add_fitting_properties(
    properties: Struct, values: Mapping[str, object], left: list[LeftOut]
) -> None:
    """Add JSON or YAML values to properties; those that graph would refuse go to `left`."""
    room = [_MOST_VALUES]
    size = _size(MessageToDict(properties))
    for key, value in values.items():
        try:
            kept = _kept(value, key, room, _DEEPEST)
            if size + _size({key: kept}) > _MOST_BYTES or "\\u0000" in json.dumps((key, kept)):
                raise ItemUnreadable(UNFIT)
            _add(properties, key, kept)
            size += _size({key: kept})
        except ItemUnreadable:
            left.append(LeftOut(UNFIT, f"{as_text(key)}: {as_text(value)}"))


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode(errors="replace"))


def _add(properties: Struct, key: str, value: Any) -> None:
    if key in properties:
        raise ItemUnreadable(f"{key[:60]}: stands in the properties, too")
    try:
        properties.update({key: value})
    except UnicodeError:
        with suppress(UnicodeError):
            properties.fields.pop(key, None)
        raise ItemUnreadable(f"{key[:60]}: half of a character (a lone surrogate)") from None


def _kept(value: object, key: str, room: list[int], deep: int) -> Any:
    room[0] -= 1
    if not deep:
        raise ItemUnreadable(f"{key[:60]}: nested too deep")
    if room[0] < 0:
        raise ItemUnreadable(f"{key[:60]}: more than {_MOST_VALUES:,} values beside the memory")
    if isinstance(value, Written):
        value = value.plain
    if isinstance(value, list):
        return [_kept(each, key, room, deep - 1) for each in value]
    if isinstance(value, dict):
        return {str(name): _kept(each, key, room, deep - 1) for name, each in value.items()}
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _MOST_EXACT:
        return str(value)
    if isinstance(value, float) and not isfinite(value):
        raise ItemUnreadable(f"{key[:60]}: {FINITE}")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ItemUnreadable(f"{key[:60]}: a text, number, true, false, list or mapping is expected")
