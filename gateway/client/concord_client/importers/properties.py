"""Adds a file's other fields to a memory's properties (spec M1)."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from google.protobuf.struct_pb2 import Struct

from concord_client.importers.front_matter import Written
from concord_client.importers.outcome import ItemUnreadable

_MOST_VALUES = 10_000
_MOST_DEEP = 20  # a message cannot hold much more; graph takes less
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
        if key in properties:
            raise ItemUnreadable(f"{key[:60]}: stands in the properties, too")
        try:
            properties.update({key: _kept(value, key, room, _MOST_DEEP)})
        except UnicodeError:
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
