"""JSON Schemas of a tool's arguments and answer, from the contract's descriptors and rules."""

from __future__ import annotations

from collections.abc import Mapping

from concord.rules.v1 import rules_pb2
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from concord_mcp.tool import Argument, ComposedTool, Json, Shape, Tool

COUNT = "#"
"""The begin of a path that counts the list that it ends at."""
OR = "|"
"""Between two paths: the second one counts where the first one's message is absent."""
MAX_TOKENS = 50_000
DEFAULT_MAX_TOKENS = 4_000

_INTEGERS = {FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64}
_NUMBERS = {FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT}


def field_at(message: Descriptor, path: str) -> FieldDescriptor:
    """The field at a dotted path below a message; of two paths, the first one's."""
    path, _, other = path.partition(OR)
    if other:
        field_at(message, other)  # fails where there is none
    name, _, rest = path.partition(".")
    field: FieldDescriptor = message.fields_by_name[name]
    return field_at(message_of(field), rest) if rest else field


def message_of(field: FieldDescriptor) -> Descriptor:
    """The descriptor of a message field's messages."""
    found: Descriptor | None = field.message_type
    if found is None:
        raise TypeError(f"{field.full_name} is no message")
    return found


def of_arguments(tool: Tool | ComposedTool) -> dict[str, Json]:
    """The schema of a tool's arguments; others are refused."""
    if isinstance(tool, ComposedTool):
        return {
            "type": "object",
            "properties": {
                name: {"type": "string", "description": hint}
                for name, hint in tool.arguments.items()
            },
            "required": [name for name in tool.arguments if name not in tool.optional],
        }
    taken = {each.name: _argument(tool.request, each) for each in tool.arguments}
    if tool.lists:
        taken["max_tokens"] = {"type": "integer", "maximum": MAX_TOKENS}
    if tool.brief:
        taken["details"] = {"type": "boolean"}
    schema: dict[str, Json] = {"type": "object", "properties": taken}
    if required := [each.name for each in tool.arguments if each.required]:
        schema["required"] = required
    return schema


def of_answer(tool: Tool | ComposedTool) -> dict[str, Json] | None:
    """The schema of a tool's answer; empty fields are left out of answers."""
    if isinstance(tool, ComposedTool):
        return {"type": "object", "properties": dict(tool.answer)} if tool.answer else None
    answer = dict(tool.answer)
    if tool.brief:
        (path, short), whole = tool.brief, tool.answer[tool.lists]
        answer[tool.lists] = (path, {**short, **(whole[1] if isinstance(whole, tuple) else {})})
    properties = _shaped(tool.answered, answer)["properties"]
    if tool.lists:
        properties["left_out"] = {"type": "integer"}
    if tool.notes:
        properties["note"] = {"type": "string"}
    return {"type": "object", "properties": properties}


def is_map(field: FieldDescriptor) -> bool:
    """Whether a field is a protobuf map."""
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def words(argument: Argument, request: Descriptor) -> str:
    """The values that an argument may have, as a sentence."""
    schema = _argument(request, argument)
    if "enum" in schema:
        return f"It is one of {', '.join(schema['enum'])}."
    kind = schema.get("type", "object")
    if kind == "array" and "enum" in schema["items"]:
        return f"It is a list of {', '.join(schema['items']['enum'])}."
    text = {
        "array": "It is a list.",
        "string": "It is a date or a time, such as 2026-01-31 or 2026-01-31T12:00:00Z."
        if schema.get("format")
        else "It is a text.",
        "integer": "It is a whole number.",
        "number": "It is a number.",
        "boolean": "It is true or false.",
    }.get(kind, "It is an object.")
    if required := schema.get("items", schema).get("required"):
        return f"{text[:-1]} with {', '.join(required)}."
    if "maximum" in schema:
        return f"{text[:-1]} from {schema.get('minimum', 0)} to {schema['maximum']}."
    if kind == "object" and (members := _members(request, argument)):
        return f"{text[:-1]} with one of {', '.join(members)}."
    return text


def _members(request: Descriptor, argument: Argument) -> list[str]:
    """The fields of a oneof, if an argument's message consists of just that oneof."""
    message = field_at(request, argument.path).message_type if argument.path else None
    whole = message.oneofs[0].fields if message and message.oneofs else ()
    return [each.name for each in whole] if message and len(whole) == len(message.fields) else []


def short(enum: EnumDescriptor, name: str) -> str:
    """A value's name without the prefix of its enum: "HIGH", not "IMPORTANCE_HIGH"."""
    first: str = enum.values[0].name
    return name.removeprefix(first.removesuffix("UNSPECIFIED"))


def named(enum: EnumDescriptor, number: int) -> str:
    """The short name of a value; empty for zero and for values that the contract does not know."""
    value = enum.values_by_number.get(number)
    return short(enum, value.name) if value and number else ""


def choices(enum: EnumDescriptor) -> list[str]:
    """The short names of an enum's values, without that of zero."""
    return [short(enum, value.name) for value in enum.values if value.number]


def _argument(request: Descriptor, argument: Argument) -> dict[str, Json]:
    schema = dict(argument.schema or _stated(field_at(request, argument.path)))
    if argument.hint:
        schema["description"] = argument.hint
    if argument.default is not None:
        schema["default"] = argument.default
    return schema


def _stated(field: FieldDescriptor) -> dict[str, Json]:
    one = _type(field) | _range(field)
    if field.message_type and field.message_type.full_name not in _WELL_KNOWN:
        required = [each.name for each in field.message_type.fields if _rules(each).required]
        one |= {
            "properties": {each.name: _type(each) for each in field.message_type.fields
                           if each.name in required},
            "required": required,
        }  # fmt: skip
    return {"type": "array", "items": one} if field.is_repeated else one


def _type(field: FieldDescriptor) -> dict[str, Json]:
    if field.enum_type is not None:
        return {"enum": choices(field.enum_type)}
    if field.message_type is not None:
        return dict(_WELL_KNOWN.get(field.message_type.full_name, {"type": "object"}))
    if field.cpp_type in _INTEGERS:
        return {"type": "integer"}
    if field.cpp_type in _NUMBERS:
        return {"type": "number"}
    return {"type": "boolean" if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL else "string"}


_WELL_KNOWN: Mapping[str, Mapping[str, Json]] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Struct": {"type": "object"},
}


def _rules(field: FieldDescriptor) -> rules_pb2.FieldRules:
    rules = rules_pb2.FieldRules()
    stated = field.GetOptions().Extensions[rules_pb2.field]
    if stated.preset:
        preset = rules_pb2.Preset.DESCRIPTOR.values_by_number[stated.preset]
        rules.CopyFrom(preset.GetOptions().Extensions[rules_pb2.preset])
    rules.MergeFrom(stated)
    return rules


def _range(field: FieldDescriptor) -> dict[str, Json]:
    number = _rules(field).number
    found: dict[str, Json] = {}
    bounds = {
        "minimum": number.gte or None,  # a number has at least 0 unless it says so
        "maximum": number.lte if number.HasField("lte") else None,
    }
    for word, value in bounds.items():
        if value is not None:
            found[word] = int(value) if value == int(value) else value
    return found


def _shaped(message: Descriptor, shape: Shape) -> dict[str, Json]:
    properties: dict[str, Json] = {}
    for name, field_shape in shape.items():
        path, inner = (field_shape, None) if isinstance(field_shape, str) else field_shape
        if path.startswith(COUNT):
            properties[name] = {"type": "integer"}
            continue
        field = field_at(message, path)
        one = _answered(field) if inner is None else _shaped(message_of(field), inner)
        is_list = field.is_repeated and not is_map(field)
        properties[name] = {"type": "array", "items": one} if is_list else one
    return {"type": "object", "properties": properties}


def _answered(field: FieldDescriptor) -> dict[str, Json]:
    """As `_type`, but without an enum's values and a text's format, which would cost tokens."""
    kind = _type(field)
    return {"type": "string"} if "enum" in kind or "format" in kind else kind
