"""Explains to people why a line is not the protobuf JSON of a message.

The library's own errors name its classes and list every field, which does not help to fix a file.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from concord_client.importers.outcome import ItemUnreadable

_EXPECTED = {
    FieldDescriptor.CPPTYPE_STRING: "a text is expected",
    FieldDescriptor.CPPTYPE_BOOL: "true or false is expected",
}
_TIME = 'a time with its zone is expected, such as "2026-11-21T12:00:00Z"'
_WELL_KNOWN = "google.protobuf."
_LONGEST_REASON = 200


def read_json(text: str) -> Any:
    """The JSON value of `text`. Raises `ItemUnreadable`, also for a key that stands twice."""
    try:
        return json.loads(text.rstrip(), object_pairs_hook=_without_doubles)
    except json.JSONDecodeError as error:
        raise ItemUnreadable(f"not JSON: {error.msg}, at column {error.colno}") from None
    except ItemUnreadable:
        raise
    except ValueError:  # a number of thousands of digits
        raise ItemUnreadable("not JSON that can be read") from None


def why_not(value: Mapping[str, object], kind: type[Message]) -> str:
    """The reason why a JSON object is no message of `kind`: the first wrong field's path, and what
    is expected there, on one line of at most 200 characters."""
    reason = re.sub(r"\s+", " ", _why_not(value, kind, "")).strip()
    return reason if len(reason) <= _LONGEST_REASON else reason[: _LONGEST_REASON - 1] + "…"


def _why_not(value: Mapping[str, object], kind: type[Message], path: str) -> str:
    known = cast(Iterable[FieldDescriptor], kind.DESCRIPTOR.fields)  # the type has two names
    fields = {name: each for each in known for name in (each.name, each.json_name)}
    for name, each in value.items():
        if name not in fields:
            return f"{path}{name}: no such field; there are {_names(kind.DESCRIPTOR)}"
        if not _fits({name: each}, kind):
            return _wrong(fields[name], name, each, kind, path + name)
    return f"{path.removesuffix('.')}: a value of another kind is expected".removeprefix(": ")


def _wrong(field: FieldDescriptor, name: str, value: object, kind: type[Message], path: str) -> str:
    if field.is_repeated:
        if not isinstance(value, list):
            return f"{path}: a list is expected"
        wrong = (at for at, each in enumerate(value) if not _fits({name: [each]}, kind))
        at = next(wrong, 0)
        value, path = value[at], f"{path}[{at}]"
    inner = field.message_type
    if inner and not inner.full_name.startswith(_WELL_KNOWN) and isinstance(value, Mapping):
        return _why_not(value, GetMessageClass(inner), f"{path}.")
    return f"{path}: {_expected(field, value)}"


def _fits(value: Mapping[str, object], kind: type[Message]) -> bool:
    try:
        ParseDict(dict(value), kind())
    except ParseError:
        return False
    return True


def _expected(field: FieldDescriptor, value: object) -> str:
    if _has_half_a_character(value):
        return "half of a character (a lone surrogate)"
    if field.enum_type:
        return f"one of {', '.join(each.name for each in field.enum_type.values[1:])} is expected"
    inner = field.message_type
    if inner is None:
        return _EXPECTED.get(field.cpp_type, "a number is expected")
    if inner.full_name == "google.protobuf.Timestamp":
        return _TIME
    if isinstance(value, Mapping):
        return "it is nested too deep"
    its = "" if inner.full_name.startswith(_WELL_KNOWN) else f" with {_names(inner)}"
    return f"an object{its} is expected"


def _names(message: Any) -> str:
    return ", ".join(each.name for each in message.fields)


def _has_half_a_character(value: object) -> bool:
    return any("\ud800" <= each <= "\udfff" for each in json.dumps(value, ensure_ascii=False))


def _without_doubles(pairs: list[tuple[str, object]]) -> Mapping[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ItemUnreadable(f"the key {name[:60]!r} stands twice")
        found[name] = value
    return found
