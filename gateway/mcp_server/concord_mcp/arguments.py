"""Turns a tool's arguments into the request of its RPC."""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from concord_mcp import schema
from concord_mcp.calls import Refusal
from concord_mcp.tool import Argument, ComposedTool, Json, Tool

INVALID = "ERROR_REASON_FIELD_INVALID"

CONSENT_GIVEN = (
    "A word is no consent. Propose the change with smf_propose; each principal signs it by itself."
)
"""The refusal of `consent_given`, by which callers of other systems claim that all agreed."""


def request_of(tool: Tool, given: Mapping[str, Json]) -> Message:
    """The request with the arguments' values. Raises `Refusal` naming a wrong argument."""
    known = {each.name: each for each in tool.arguments}
    given = {tool.aliases.get(name, name): value for name, value in given.items()}
    for name in given:
        if name == "consent_given":
            raise refused(name, CONSENT_GIVEN)
        if name not in known and not (name == "max_tokens" and tool.lists):
            raise refused(name, f"{tool.name} takes {', '.join(known)}.")
    request = tool.new_request()
    if tool.fixed:
        tool.fixed(request)
    for argument in tool.arguments:
        value = given.get(argument.name, argument.default)
        if value is not None:
            _put(tool, request, argument, value)
        elif argument.required:
            problem = f"{tool.name} needs {argument.name}."
            raise Refusal(INVALID, problem, [(argument.name, "It is required.")])
    return request


def texts_of(tool: ComposedTool, given: Mapping[str, Json]) -> dict[str, str]:
    """The arguments of a composed tool, checked. Raises `Refusal` naming a wrong argument."""
    for name in given:
        if name == "consent_given":
            raise refused(name, CONSENT_GIVEN)
        if name not in tool.arguments:
            raise refused(name, f"{tool.name} takes {', '.join(tool.arguments)}.")
    for name in tool.arguments:
        if name in tool.optional and name not in given:
            continue
        if not isinstance(given.get(name), str) or not given[name]:
            required = "" if name in tool.optional else ", and required"
            raise refused(name, f"It is a text{required}.")
    return dict(given)


def max_tokens(given: Mapping[str, Json]) -> int:
    """The longest answer in tokens, of about four characters each. Raises `Refusal`."""
    value = given.get("max_tokens", schema.DEFAULT_MAX_TOKENS)
    if isinstance(value, bool) or not isinstance(value, int):
        raise refused("max_tokens", "It is a whole number.")
    if not 1 <= value <= schema.MAX_TOKENS:
        raise refused("max_tokens", f"It is 1 to {schema.MAX_TOKENS}.")
    return value


def argument_at(tool: Tool, path: str) -> str:
    """The argument that fills the field at a path of the request, else the path."""
    for argument in tool.arguments:
        if argument.path and (path == argument.path or path.startswith((argument.path + "[",))):
            return argument.name + path.removeprefix(argument.path)
    return path


def refused(name: str, description: str) -> Refusal:
    """The refusal of a wrong argument; `description` says which values it may have."""
    return Refusal(INVALID, f"{name}: {description}", [(name, description)])


def _put(tool: Tool, request: Message, argument: Argument, value: Json) -> None:
    try:
        if argument.put:
            argument.put(request, value)
            return
        *above, _name = argument.path.split(".")
        message = request
        for each in above:
            message = getattr(message, each)
        _set(message, schema.field_at(tool.request, argument.path), value)
    except (TypeError, ValueError, json_format.ParseError):
        problem = schema.words(argument, tool.request)
        raise refused(argument.name, problem) from None


def _set(message: Message, field: FieldDescriptor, value: Json) -> None:
    """Set a field to a JSON value. Raises `TypeError`, `ValueError` or `ParseError`."""
    if field.is_repeated and not isinstance(value, list):
        raise TypeError
    stated = value if field.is_repeated else [value]
    is_text = field.cpp_type == FieldDescriptor.CPPTYPE_STRING
    if is_text and not all(isinstance(each, str) for each in stated):
        raise TypeError
    if field.enum_type is not None:
        names = [_value(field, each) for each in stated]
        value = names if field.is_repeated else names[0]
    json_format.ParseDict({field.name: value}, message)


def _value(field: FieldDescriptor, value: Json) -> str:
    enum = field.enum_type
    if not isinstance(value, str) or enum is None:
        raise TypeError
    for each in enum.values:
        if value.upper() in (each.name, schema.short(enum, each.name)) and each.number:
            return str(each.name)
    raise ValueError
