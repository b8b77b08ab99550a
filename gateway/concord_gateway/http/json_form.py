"""Parses JSON as a protobuf message, and names the path of the first field that does not fit.

protobuf's own parser refuses most misfits with texts for programmers, and silently loses some:
bytes that are not base64, a list or an empty text for a message, one field under both of its
names. Those are looked for first.
"""

import binascii
import functools
import re
from collections.abc import Iterator, Mapping

from concord_chassis.call.failure import FieldViolation
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

MAX_DEPTH = 100
"""The depth to which protobuf's own parser reads nested messages."""

MAX_LOCATED_DEPTH = 8
"""Nesting to which a misfit is located; for deeper ones the field at this depth is named."""

MAX_SHOWN_NAME = 80

# All that protobuf's parser raises on hostile values: not every error is wrapped in ParseError.
_MISFITS = (json_format.ParseError, ValueError, TypeError, OverflowError, RecursionError, KeyError)

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")

_KINDS = {
    FieldDescriptor.CPPTYPE_BOOL: "true or false",
    FieldDescriptor.CPPTYPE_DOUBLE: "a number",
    FieldDescriptor.CPPTYPE_FLOAT: "a number",
    FieldDescriptor.CPPTYPE_INT32: "a whole number",
    FieldDescriptor.CPPTYPE_INT64: "a whole number",
    FieldDescriptor.CPPTYPE_UINT32: "a whole number that is not negative",
    FieldDescriptor.CPPTYPE_UINT64: "a whole number that is not negative",
}
_TEXTUAL_MESSAGES = {
    "google.protobuf.Timestamp": 'a time such as "2026-11-21T08:20:00Z"',
    "google.protobuf.Duration": 'a duration such as "1.5s"',
    "google.protobuf.FieldMask": 'field names such as "name,properties"',
}


def parsed(kind: Descriptor, value: object) -> Message | FieldViolation:
    """The message of type `kind` parsed from the JSON `value`, or its first misfit."""
    misfit = _lost(kind, value, "", 0)
    if misfit is not None:
        return misfit
    message = _message(kind, value)
    return _located(kind, value, "", 0) if message is None else message


def _message(kind: Descriptor, value: object) -> Message | None:
    message = GetMessageClass(kind)()
    try:
        json_format.ParseDict(value, message)  # type: ignore[arg-type]  # `_lost` saw a dict
    except _MISFITS:
        return None
    return message


def _lost(kind: Descriptor, value: object, path: str, depth: int) -> FieldViolation | None:
    """The first unknown field in `value`, or the first value that protobuf's parser would lose."""
    if not isinstance(value, dict):
        return FieldViolation(path, "must be a JSON object")
    if depth > MAX_DEPTH:
        return None
    fields = _fields(kind)
    seen: set[int] = set()
    for key, item in value.items():
        field = fields.get(key)
        if field is None:
            return FieldViolation(_join(path, _shown(key)), f"is not a field of {kind.full_name}")
        if field.number in seen:
            return FieldViolation(_join(path, field.name), "stands under two names")
        seen.add(field.number)
        for where, each in _values(field, item, _join(path, field.name)):
            misfit = _lost_in(field, each, where, depth)
            if misfit is not None:
                return misfit
    return None


@functools.cache
def _fields(kind: Descriptor) -> Mapping[str, FieldDescriptor]:
    """The fields of a message by either name; cached, since contracts are few and fixed."""
    return {f.name: f for f in kind.fields} | {f.json_name: f for f in kind.fields}


def _lost_in(field: FieldDescriptor, item: object, path: str, depth: int) -> FieldViolation | None:
    nested = field.message_type
    if nested is not None and nested.GetOptions().map_entry:
        return _lost_in(nested.fields_by_name["value"], item, path, depth)
    if nested is not None and not _is_well_known(nested):
        return _lost(nested, item, path, depth + 1)
    if field.type == FieldDescriptor.TYPE_BYTES and not _is_base64(item):
        return FieldViolation(path, f"must be {_wanted_one(field)}")
    return None


def _values(field: FieldDescriptor, item: object, path: str) -> Iterator[tuple[str, object]]:
    """The single values of a field's JSON; nothing for null, which means absent."""
    if item is None:
        return
    if not field.is_repeated:
        yield path, item
    elif isinstance(item, dict):
        for each in item.values():
            yield path, each
    elif isinstance(item, list):
        for index, each in enumerate(item):
            yield f"{path}[{index}]", each


def _is_base64(item: object) -> bool:
    """Whether `item` is standard or URL-safe base64, padded or not."""
    if not isinstance(item, str) or not _BASE64.fullmatch(item):
        return False
    bare = item.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        binascii.a2b_base64(bare + "=" * (-len(bare) % 4), strict_mode=True)
    except binascii.Error:
        return False
    return True


def _located(kind: Descriptor, value: object, path: str, depth: int) -> FieldViolation:
    """The first field of `value` that does not parse as `kind`; `_lost` found nothing in it."""
    fields = _fields(kind)
    for key, item in value.items() if isinstance(value, dict) else ():
        if _message(kind, {key: item}) is None:
            return _located_in(fields[key], item, _join(path, fields[key].name), depth)
    return FieldViolation(path, "sets two fields of which only one may be set")


def _located_in(field: FieldDescriptor, item: object, path: str, depth: int) -> FieldViolation:
    nested = field.message_type
    if nested is None or _is_well_known(nested) or depth >= MAX_LOCATED_DEPTH:
        return FieldViolation(path, f"must be {_wanted(field)}")
    if nested.GetOptions().map_entry:
        return FieldViolation(path, "must be a JSON object of fitting values")
    if not field.is_repeated:
        return _located(nested, item, path, depth + 1)
    for index, each in enumerate(item if isinstance(item, list) else ()):
        if _message(nested, each) is None:
            return _located(nested, each, f"{path}[{index}]", depth + 1)
    return FieldViolation(path, "must be a list, no item of which is null")


def _wanted(field: FieldDescriptor) -> str:
    one = _wanted_one(field)
    return f"a list, each item {one}" if field.is_repeated else one


def _wanted_one(field: FieldDescriptor) -> str:
    if field.enum_type is not None:
        return f"the name of a value of {field.enum_type.full_name}"
    if field.message_type is not None:
        name = field.message_type.full_name
        return _TEXTUAL_MESSAGES.get(name, f"the JSON form of {name}")
    if field.type == FieldDescriptor.TYPE_BYTES:
        return "bytes in base64"
    return _KINDS.get(field.cpp_type, "text in valid Unicode")


def _is_well_known(kind: Descriptor) -> bool:
    return kind.file.package == "google.protobuf"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(name: str) -> str:
    """A stranger's field name, short and printable."""
    return "".join(c if c.isprintable() else "?" for c in name[:MAX_SHOWN_NAME])
