"""Explains to people why a line is not the protobuf JSON of a message.

The library's own errors name its classes and list every field, which does not help to fix a file.
"""

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_UNKNOWN = re.compile(r'no field named "(?P<name>[^"]*)" at "\w+\.?(?P<place>[^"]*)"')
_EXPECTED = {
    FieldDescriptor.CPPTYPE_STRING: "a text is expected",
    FieldDescriptor.CPPTYPE_BOOL: "true or false is expected",
    FieldDescriptor.CPPTYPE_MESSAGE: "an object is expected",
}
_TIME = 'a time with its zone is expected, such as "2026-11-21T12:00:00Z"'


def why_not(text: str, kind: type[Message], complaint: str) -> str:
    """The reason why `text` is no JSON of `kind`; `complaint`: the library's error."""
    try:
        found = read_json(text)
    except DoubleKey as double:
        return f"the key {double} stands twice"
    except json.JSONDecodeError as error:
        return f"not JSON: {error.msg}, at column {error.colno}"
    except (ValueError, RecursionError):
        return "not JSON that can be read"
    if unknown := _UNKNOWN.search(complaint):
        place = f"{unknown['place']}." if unknown["place"] else ""
        return f"no such field: {place}{unknown['name']}{_near(unknown['name'], kind)}"
    for name, value in found.items():
        field = _field(kind, name)
        if field and re.search(rf"\b{re.escape(name)} field", complaint):
            return f"{name}: {_expected(field, value)}"
    return "a field has a value of the wrong kind"


def read_json(text: str) -> Any:
    """The JSON value of `text`. Raises `DoubleKey`, ValueError or RecursionError."""
    return json.loads(text.rstrip(), object_pairs_hook=_without_doubles)


class DoubleKey(Exception):
    """An object has a key twice."""


def _without_doubles(pairs: list[tuple[str, object]]) -> Mapping[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise DoubleKey(name)
        found[name] = value
    return found


def _near(name: str, kind: type[Message]) -> str:
    near = get_close_matches(name, [field.json_name for field in kind.DESCRIPTOR.fields], n=1)
    return f"; is {near[0]} meant?" if near else ""


def _field(kind: type[Message], name: str) -> FieldDescriptor | None:
    fields = kind.DESCRIPTOR.fields
    named = (each for each in fields if name in (each.name, each.json_name))
    return cast(FieldDescriptor | None, next(named, None))  # its type has two names


def _expected(field: FieldDescriptor, value: object) -> str:
    if field.is_repeated and not isinstance(value, list):
        return "a list is expected"
    if field.message_type and field.message_type.full_name == "google.protobuf.Timestamp":
        return _TIME
    if field.enum_type:
        return f"one of {', '.join(each.name for each in field.enum_type.values[1:])} is expected"
    if isinstance(value, str) and any("\ud800" <= each <= "\udfff" for each in value):
        return "half of a character (a lone surrogate)"
    part = "each item: " if field.is_repeated else ""
    return part + _EXPECTED.get(field.cpp_type, "a number is expected")
