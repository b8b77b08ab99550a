"""JSON Schemas of the contract's messages and enums, from their descriptors, rules and comments.

A message that is sent and replied has two: the rules hold for what is sent alone. The forms are
those of protobuf's JSON mapping, with names in camelCase.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from concord.rules.v1 import rules_pb2
from concord_chassis.call.rules import rules_of
from concord_chassis.call.rules.compiler import DEFAULT_MAX_ITEMS
from concord_chassis.call.rules.scalars import DEFAULT_MAX_STRING
from google.protobuf.descriptor import (
    Descriptor,
    EnumDescriptor,
    FieldDescriptor,
    OneofDescriptor,
)

Json: TypeAlias = dict[str, Any]
REF = "#/components/schemas/"

_WELL_KNOWN: Mapping[str, Json] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$"},
    "google.protobuf.FieldMask": {"type": "string", "examples": ["name,properties"]},
    "google.protobuf.Struct": {"type": "object", "additionalProperties": True},
    "google.protobuf.ListValue": {"type": "array", "items": {}},
    "google.protobuf.Value": {},
}
_KINDS: Mapping[int, Json] = {
    FieldDescriptor.CPPTYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.CPPTYPE_DOUBLE: {"type": "number", "format": "double"},
    FieldDescriptor.CPPTYPE_FLOAT: {"type": "number", "format": "float"},
    FieldDescriptor.CPPTYPE_INT32: {"type": "integer", "format": "int32"},
    FieldDescriptor.CPPTYPE_UINT32: {"type": "integer", "format": "uint32", "minimum": 0},
    FieldDescriptor.CPPTYPE_INT64: {"format": "int64", "pattern": "^-?[0-9]{1,19}$"},
    FieldDescriptor.CPPTYPE_UINT64: {"format": "uint64", "pattern": "^[0-9]{1,20}$", "minimum": 0},
}
_LONG = {FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64}
_POSITIVE: Mapping[float, str] = {0: "^[0-9]{1,19}$", 1: "^[1-9][0-9]{0,18}$"}
"""By the smallest value of a 64-bit number, the pattern of its text."""
_CONTROL = r"\u0000-\u0008\u000b-\u001f\u007f-\u009f"
PRINTABLE = f"[^{_CONTROL}]*"
NOT_BLANK = r"[\s\S]*\S[\s\S]*"
PRINTABLE_NOT_BLANK = rf"{PRINTABLE}[^{_CONTROL}\s]{PRINTABLE}"


class Schemas:
    """The schemas by name: the full name, but of a sent message that is also replied `….Input`."""

    def __init__(
        self,
        comments: Mapping[str, str],
        *,
        sent: Iterable[Descriptor],
        replied: Iterable[Descriptor],
    ) -> None:
        """With the schemas of all that the messages `sent` and `replied` hold, at any depth.

        `comments` are by full name.
        """
        self._comments = comments
        self.named: dict[str, Json] = {}
        sent_kinds, replied_kinds = _reachable(sent), _reachable(replied)
        self._both = sent_kinds.keys() & replied_kinds.keys()
        for kind in replied_kinds.values():
            self.named[self.name(kind)] = self._message(kind, is_sent=False)
        for kind in sent_kinds.values():
            self.named[self.name(kind, is_sent=True)] = self._message(kind, is_sent=True)

    def name(self, kind: Descriptor, *, is_sent: bool = False) -> str:
        """The name of a message's schema."""
        return f"{kind.full_name}{'.Input' * (is_sent and kind.full_name in self._both)}"

    def enum(self, kind: EnumDescriptor) -> Json:
        """A reference to an enum's schema, which is added if there is none yet."""
        if kind.full_name not in self.named:
            names = [value.name for value in kind.values]
            told = [
                f"- `{name}`: {text}"
                for name in names
                if (text := self._comments.get(f"{kind.full_name}.{name}"))
            ]
            text = "\n".join(filter(None, (self._comments.get(kind.full_name, ""), "", *told)))
            self.named[kind.full_name] = {"type": "string", "enum": names, **described(text)}
        return {"$ref": REF + kind.full_name}

    def _message(self, kind: Descriptor, *, is_sent: bool) -> Json:
        oneofs = [each for each in kind.oneofs if _is_choice(each)]
        text = [self._comments.get(kind.full_name, ""), *map(_choice, oneofs)]
        schema: Json = {
            "type": "object",
            **described("\n\n".join(filter(None, text))),
            "properties": {
                field.json_name: self._field(field, is_sent=is_sent) for field in kind.fields
            },
        }
        if not is_sent:
            return schema
        schema["additionalProperties"] = False
        if required := [field.json_name for field in kind.fields if _is_required(field)]:
            schema["required"] = required
        # No schema that is `false`, and `not` for one of several: generators read both otherwise,
        # `oneOf` and `anyOf` as types of their own.
        if others := {
            field.json_name: {"not": {"anyOf": _stating(each.fields, but=field)}}
            for each in oneofs
            for field in each.fields
            if len(each.fields) > 1
        }:
            schema["dependentSchemas"] = others
        if demanded := [
            {"not": {"anyOf": _stating(each.fields)}} for each in oneofs if _demanded(each)
        ]:
            schema["not"] = {"anyOf": demanded}
        return schema

    def _field(self, field: FieldDescriptor, *, is_sent: bool) -> Json:
        rules = rules_of(field) if is_sent else None
        value = field
        if is_map := field.message_type is not None and field.message_type.GetOptions().map_entry:
            value = field.message_type.fields_by_name["value"]
        one = self._one(value, rules, is_item=field.is_repeated)
        text = described(self._comments.get(field.full_name, ""))
        if not field.is_repeated:
            return {**one, **text}
        most = (rules.repeated.max_items or DEFAULT_MAX_ITEMS) if rules else None
        least = max(rules.repeated.min_items, int(rules.required)) if rules else 0
        if is_map:
            limits = {"minProperties": least or None, "maxProperties": most}
            return {"type": "object", "additionalProperties": one, **_set(limits), **text}
        unique = rules.repeated.unique if rules else False
        limits = {"minItems": least or None, "maxItems": most, "uniqueItems": unique or None}
        return {"type": "array", "items": one, **_set(limits), **text}

    def _one(
        self, field: FieldDescriptor, rules: rules_pb2.FieldRules | None, *, is_item: bool
    ) -> Json:
        """The schema of a single value; `rules`: of what is sent."""
        kind = field.message_type
        if kind is not None:
            known = _WELL_KNOWN.get(kind.full_name)
            name = self.name(kind, is_sent=rules is not None)
            return {"$ref": REF + name} if known is None else dict(known)
        stated = rules is not None and (rules.required or is_item)
        if field.enum_type is not None:
            zero = {"not": {"const": field.enum_type.values_by_number[0].name}} if stated else {}
            return {**self.enum(field.enum_type), **zero}
        if field.type == FieldDescriptor.TYPE_BYTES:
            limits = _bytes_limits(rules.bytes, is_stated=stated) if rules else {}
            return {"type": "string", "contentEncoding": "base64", **limits}
        if field.type == FieldDescriptor.TYPE_STRING:
            return {"type": "string", **(_string_limits(rules, is_item=is_item) if rules else {})}
        return _number(field, rules)


def described(text: str) -> Json:
    """The description of a schema; nothing for ""."""
    return {"description": text} if text else {}


def _reachable(kinds: Iterable[Descriptor]) -> dict[str, Descriptor]:
    """The messages and all that they hold, by name, in the order of the names."""
    found: dict[str, Descriptor] = {}
    waiting = list(kinds)
    while waiting:
        kind = waiting.pop()
        if kind.full_name in _WELL_KNOWN or kind.full_name in found:
            continue
        found[kind.full_name] = kind
        waiting.extend(_held(kind))
    kept = {name: kind for name, kind in found.items() if not kind.GetOptions().map_entry}
    return dict(sorted(kept.items()))


def _held(kind: Descriptor) -> Iterator[Descriptor]:
    return (field.message_type for field in kind.fields if field.message_type is not None)


def _is_choice(oneof: OneofDescriptor) -> bool:
    """Whether it is a oneof of the contract: an `optional` field has one of its own."""
    return oneof.name != f"_{oneof.fields[0].name}"


def _demanded(oneof: OneofDescriptor) -> bool:
    return bool(oneof.GetOptions().Extensions[rules_pb2.oneof].required)


def _choice(oneof: OneofDescriptor) -> str:
    names = ", ".join(f"`{field.json_name}`" for field in oneof.fields)
    return f"{'Exactly' if _demanded(oneof) else 'At most'} one of {names}."


def _stating(fields: Iterable[FieldDescriptor], but: FieldDescriptor | None = None) -> list[Json]:
    """A schema of each field's presence."""
    return [{"required": [field.json_name]} for field in fields if field != but]


def _is_required(field: FieldDescriptor) -> bool:
    oneof = field.containing_oneof
    if oneof is not None and _is_choice(oneof):
        return False
    rules = rules_of(field)
    return bool(rules.required or (field.is_repeated and rules.repeated.min_items))


def _string_limits(rules: rules_pb2.FieldRules, *, is_item: bool) -> Json:
    """An empty text that need not be stated passes, whatever the rules are."""
    filled = rules.required and not is_item
    least = max(rules.string.min_len, int(filled)) if filled or is_item else 0
    limits: Json = {"maxLength": rules.string.max_len or DEFAULT_MAX_STRING}
    if least:
        limits["minLength"] = least
    if pattern := _pattern(rules.string):
        limits["pattern"] = f"^(?:{pattern})$" if filled or is_item else f"^(?:{pattern})?$"
    return limits


def _pattern(rules: rules_pb2.StringRules) -> str:
    """One pattern of the whole text for all rules; one that the contract states is stricter."""
    if rules.pattern:
        return rules.pattern
    if rules.not_blank:
        return PRINTABLE_NOT_BLANK if rules.printable else NOT_BLANK
    return PRINTABLE if rules.printable else ""


def _bytes_limits(rules: rules_pb2.BytesRules, *, is_stated: bool) -> Json:
    """Limits of the length as base64, of which four characters are three bytes."""
    least = max(rules.min_len, 1) if is_stated else 0
    return _set(
        {
            "minLength": -(-least * 4 // 3) or None,
            "maxLength": -(-rules.max_len // 3) * 4 or None,
        }
    )


def _number(field: FieldDescriptor, rules: rules_pb2.FieldRules | None) -> Json:
    schema = dict(_KINDS[field.cpp_type])
    if field.cpp_type in _LONG:
        # A client may send the number itself; replies have text.
        schema = {"type": ["integer", "string"] if rules else "string", **schema}
        if not rules:
            schema.pop("minimum", None)
    if rules and rules.number.HasField("gte"):
        schema["minimum"] = _short(rules.number.gte)
        if field.cpp_type in _LONG:
            schema["pattern"] = _POSITIVE.get(rules.number.gte, schema["pattern"])
    if rules and rules.number.HasField("lte"):
        schema["maximum"] = _short(rules.number.lte)
    return schema


def _short(number: float) -> float:
    return int(number) if number.is_integer() else number


def _set(limits: Mapping[str, int | None]) -> Json:
    return {name: value for name, value in limits.items() if value is not None}
