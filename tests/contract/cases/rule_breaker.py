"""One message for every way in which a field can break its rule, made from the descriptors.

What a rule means is read here from `rules.proto` anew, not from the chassis that enforces it.
"""

import math
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast  # field values, whose type only the descriptor knows

from concord.rules.v1 import rules_pb2
from concord_chassis.call.rules import rules_of
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

MOST_STRING, MOST_ITEMS, MOST_STRUCT_BYTES, MOST_STRUCT_DEPTH = 65_536, 10_000, 65_536, 16
_FLOATS = {FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT}
_WHOLE = {
    FieldDescriptor.CPPTYPE_INT32,
    FieldDescriptor.CPPTYPE_INT64,
    FieldDescriptor.CPPTYPE_UINT32,
    FieldDescriptor.CPPTYPE_UINT64,
}


@dataclass(frozen=True)
class Breach:
    """A message that breaks one rule: where, how, and the message."""

    path: str
    how: str
    message: Message


# Brings one field of a message that is given to it, or an item of one, into a bad state.
_Spoil = Callable[[Message], None]


def breaches(good: Message, known: Container[str] = ()) -> Iterator[Breach]:
    """Yield a spoilt copy of `good` for every rule of every field in reach of its type.

    Fields that `good` leaves out are filled in. A type that holds itself is entered once. Of a
    type that is `known`, each field that holds it is spoilt in one way alone.
    """
    for path, how, spoil in _of_message(cast(Descriptor, good.DESCRIPTOR), (), known):
        message = type(good)()
        message.CopyFrom(good)
        spoil(message)
        yield Breach(path, how, message)


_Found = Iterator[tuple[str, str, _Spoil]]


def types_below(descriptor: Descriptor) -> dict[str, Descriptor]:
    """Return the message types in reach of a type's fields, by name."""
    found: dict[str, Descriptor] = {}
    left = [descriptor]
    while left:
        for field in left.pop().fields:
            nested = field.message_type
            if nested is not None and nested.full_name not in found:
                found[nested.full_name] = nested
                left.append(nested)
    return found


def has_rules(descriptor: Descriptor) -> bool:
    """Return whether a rule is stated of any field or oneof in reach of a type."""
    reached = [descriptor, *types_below(descriptor).values()]
    return any(
        any(rules_of(field).ListFields() for field in each.fields)
        or any(oneof.GetOptions().HasExtension(rules_pb2.oneof) for oneof in each.oneofs)
        for each in reached
    )


def _of_message(descriptor: Descriptor, above: tuple[str, ...], known: Container[str]) -> _Found:
    for oneof in descriptor.oneofs:
        if oneof.GetOptions().Extensions[rules_pb2.oneof].required:
            yield oneof.name, "no member", _clear_oneof(oneof.name)
    for field in descriptor.fields:
        yield from _of_field(field, (*above, descriptor.full_name), known)


def _of_field(field: FieldDescriptor, above: tuple[str, ...], known: Container[str]) -> _Found:
    rules = rules_of(field)
    yield from _presence(field, rules)
    if field.is_repeated:
        yield from _items(field, rules)
    at = f"{field.name}[0]" if field.is_repeated else field.name
    for how, value in _bad_values(field, rules):
        yield at, how, _put(field, value)
    nested = field.message_type
    if nested is None or nested.full_name in above:
        return
    if nested.file.package == "google.protobuf":
        for how, fill in _bad_well_known(nested.full_name, rules):
            yield at, how, _below(field, fill)
        return
    most = 1 if nested.full_name in known else None
    for path, how, spoil in islice(_of_message(nested, above, known), most):
        yield f"{at}.{path}", how, _below(field, spoil)


def _presence(field: FieldDescriptor, rules: rules_pb2.FieldRules) -> _Found:
    oneof = field.containing_oneof
    if rules.required and (oneof is None or oneof.name == f"_{field.name}"):
        yield field.name, "missing", lambda message: message.ClearField(field.name)
    elif rules.required and field.type == FieldDescriptor.TYPE_STRING:
        yield field.name, "chosen but empty", _put(field, "")


def _items(field: FieldDescriptor, rules: rules_pb2.FieldRules) -> _Found:
    most = rules.repeated.max_items or MOST_ITEMS
    yield field.name, f"{most + 1} items", lambda message: _fill(message, field, most + 1)
    if rules.repeated.min_items:
        fewer = rules.repeated.min_items - 1
        yield field.name, f"{fewer} items", lambda message: _fill(message, field, fewer)
    if rules.repeated.unique:
        yield field.name, "equal items", lambda message: _fill(message, field, 2)


def _bad_values(
    field: FieldDescriptor, rules: rules_pb2.FieldRules
) -> Iterator[tuple[str, object]]:
    if field.type == FieldDescriptor.TYPE_STRING:
        yield from _bad_strings(rules.string)
    elif field.type == FieldDescriptor.TYPE_BYTES and rules.bytes.max_len:
        yield "too long", b"x" * (rules.bytes.max_len + 1)
    elif field.enum_type is not None and (
        field.is_repeated or rules.defined_only or rules.required
    ):
        yield "undefined", max(field.enum_type.values_by_number) + 1
        if field.is_repeated:
            yield "unspecified", 0
    elif field.type in _FLOATS or field.cpp_type in _WHOLE:
        yield from _bad_numbers(rules.number, whole=field.type not in _FLOATS)


def _bad_strings(rules: rules_pb2.StringRules) -> Iterator[tuple[str, str]]:
    yield "NUL", "a\0b"
    yield "too long", "x" * ((rules.max_len or MOST_STRING) + 1)
    if rules.min_len > 1:
        yield "too short", "x" * (rules.min_len - 1)
    if rules.not_blank:
        yield "blank", " \t "
    if rules.printable:
        yield "control character", "a\x1bb"
        yield "C1 control character", "a\x9bb"
    if rules.pattern:
        yield "pattern", " . "
        yield "pattern and a newline", "a\n"


def _bad_numbers(rules: rules_pb2.NumberRules, *, whole: bool) -> Iterator[tuple[str, float]]:
    if not whole:
        yield from (
            ("not a number", math.nan),
            ("infinite", math.inf),
            ("minus infinite", -math.inf),
        )
    step: float = 1 if whole else 1e-6
    if rules.HasField("gte"):
        yield "too small", int(rules.gte) - 1 if whole else rules.gte - step
    if rules.HasField("lte"):
        yield "too large", int(rules.lte) + 1 if whole else rules.lte + step


def _bad_well_known(
    name: str, rules: rules_pb2.FieldRules
) -> Iterator[tuple[str, Callable[[Any], None]]]:
    if name == "google.protobuf.Timestamp":
        yield "before year 1", lambda time: _set(time, seconds=-62_135_596_801)
        yield "after year 9999", lambda time: _set(time, seconds=253_402_300_800)
        yield "finer than a microsecond", lambda time: _set(time, seconds=1, nanos=1)
        yield "negative nanos", lambda time: _set(time, seconds=1, nanos=-1_000)
        if rules.timestamp.not_future:
            yield "in the future", lambda time: _set(time, seconds=253_402_300_000)
    if name == "google.protobuf.FieldMask":
        yield "no path", lambda mask: mask.paths.append("Not A Path")
        yield "too many paths", lambda mask: mask.paths.extend(f"p{n}" for n in range(101))
    if name == "google.protobuf.Struct":
        most = rules.struct.max_bytes or MOST_STRUCT_BYTES
        depth = rules.struct.max_depth or MOST_STRUCT_DEPTH
        yield "too large", lambda struct: struct.update({"x": "x" * most})
        yield "too deep", lambda struct: _nest(struct, depth)
        yield "NUL in a key", lambda struct: struct.update({"a\0b": 1})
        yield "NUL in a text", lambda struct: struct.update({"a": "a\0b"})
        yield "infinity", lambda struct: struct.update({"a": math.inf})
        yield "no kind", lambda struct: struct.fields["a"].SetInParent()


def _set(message: Message, **values: int) -> None:
    message.Clear()
    for name, value in values.items():
        setattr(message, name, value)


def _nest(struct: Struct, depth: int) -> None:
    inner = struct
    for _ in range(depth):
        inner = inner.fields["a"].struct_value
    inner.update({"a": 1})


def _clear_oneof(name: str) -> _Spoil:
    def spoil(message: Message) -> None:
        member = message.WhichOneof(name)
        if member is not None:
            message.ClearField(member)

    return spoil


def _put(field: FieldDescriptor, value: object) -> _Spoil:
    """Set a field, or the first item of a repeated one."""

    def spoil(message: Message) -> None:
        if field.is_repeated:
            getattr(message, field.name)[:] = [value]
        else:
            setattr(message, field.name, value)

    return spoil


def _below(field: FieldDescriptor, spoil: Callable[[Any], None]) -> _Spoil:
    """Spoil the message in a field, or the first one of a repeated field."""

    def spoil_below(message: Message) -> None:
        if field.is_repeated:
            items = getattr(message, field.name)
            spoil(items[0] if items else items.add())
        else:
            inner = getattr(message, field.name)
            inner.SetInParent()
            spoil(inner)

    return spoil_below


def _fill(message: Message, field: FieldDescriptor, count: int) -> None:
    """Give a repeated field so many equal items."""
    message.ClearField(field.name)
    items = getattr(message, field.name)
    for _ in range(count):
        if field.message_type is not None:
            items.add()
        else:
            items.append("x" if field.type == FieldDescriptor.TYPE_STRING else 1)
