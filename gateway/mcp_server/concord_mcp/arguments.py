"""Turns a tool's arguments into the request of its RPC."""

from __future__ import annotations

from collections.abc import Mapping

from concord_attestation.instants import stated_time
from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from concord_mcp import halves, schema
from concord_mcp.calls import Refusal
from concord_mcp.tool import Argument, ComposedTool, Json, Tool

INVALID = "ERROR_REASON_FIELD_INVALID"

CONSENT_GIVEN = (
    "A word is no consent. Propose the change with smf_propose; each principal signs it by itself."
)
"""The refusal of `consent_given`, by which callers of other systems claim that all agreed."""


def request_of(tool: Tool, given: Mapping[str, Json]) -> Message:
    """The request with the arguments' values. Raises `Refusal` naming each wrong argument."""
    called = {tool.aliases.get(name, name): name for name in given}
    faults = _unknown(tool, called)
    is_named = not faults
    if tool.demand and is_named:
        try:
            tool.demand({name: given[stated] for name, stated in called.items()})
        except Refusal as refusal:
            (name, problem), *_ = refusal.fields
            raise refused(called.get(name, name), problem) from None
    request = tool.new_request()
    if tool.fixed:
        tool.fixed(request)
    for argument in tool.arguments:
        stated = called.get(argument.name, argument.name)
        value = given.get(stated, argument.default)
        if value is not None:
            try:
                _put(tool, request, argument, value, stated)
            except Refusal as refusal:
                faults += refusal.fields
        elif argument.required and is_named:  # an unknown name may stand for it
            faults.append((stated, f"{tool.name} needs it."))
    if faults:
        told = " ".join(f"{name}: {problem}" for name, problem in faults)
        raise Refusal(INVALID, told, faults)
    if tool.complete:
        tool.complete(request)
    return request


def _unknown(tool: Tool, called: Mapping[str, str]) -> list[tuple[str, str]]:
    """The names that a tool does not take, each with those that it takes. Raises `Refusal`."""
    if "consent_given" in called:
        raise refused("consent_given", CONSENT_GIVEN)
    known = [each.name for each in tool.arguments]
    taken = {*known, *(["max_tokens"] if tool.lists else []), *(["details"] if tool.brief else [])}
    problem = f"{tool.name} takes {', '.join(known) or 'no arguments'}."
    return [(stated, problem) for name, stated in called.items() if name not in taken]


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


def argument_at(tool: Tool, given: Mapping[str, Json], path: str) -> str:
    """The argument that fills the field at a path of the request, as the caller named it.

    The path itself, if none of the arguments given or required fills it.
    """
    called = {tool.aliases.get(name, name): name for name in given}
    filling = [
        (argument.name, below)
        for argument in tool.arguments
        for filled in (argument.path, argument.or_path)
        if (below := _below(path, filled)) is not None
    ]
    for name, below in sorted(filling, key=lambda each: each[0] not in called):
        return called.get(name, name) + below
    return path


def _below(path: str, filled: str) -> str | None:
    """The rest of a path at or below the field that an argument fills, else None.

    An argument that names a node fills its end, too.
    """
    if not filled or path == filled.removesuffix(".name"):
        return "" if filled else None
    rest = path.removeprefix(filled)
    return rest if path.startswith(filled) and rest[:1] in {"", "[", "."} else None


def details(given: Mapping[str, Json]) -> bool:
    """Whether the caller wants all that is known of each item. Raises `Refusal`."""
    value = given.get("details", False)
    if not isinstance(value, bool):
        raise refused("details", "It is true or false.")
    return value


def demand_whole(given: Json, name: str = "arguments") -> None:
    """Raises `Refusal` for a text that held half of a surrogate pair, naming its argument."""
    if isinstance(given, str) and halves.MARK in given:
        raise refused(name, "It holds half of a surrogate pair: send whole characters.")
    if isinstance(given, Mapping):
        for key, value in given.items():
            demand_whole(key, name)
            demand_whole(value, key if name == "arguments" else name)
    elif isinstance(given, list):
        for value in given:
            demand_whole(value, name)


def refused(name: str, description: str) -> Refusal:
    """The refusal of a wrong argument; `description` says which values it may have."""
    return Refusal(INVALID, f"{name}: {description}", [(name, description)])


def _put(tool: Tool, request: Message, argument: Argument, value: Json, stated: str) -> None:
    """Write an argument's value into the request; `stated`: what the caller calls the argument."""
    try:
        if argument.put:
            argument.put(request, value)
            return
        path = argument.or_path if _is_begun(request, argument.or_path) else argument.path
        at_path(request, path, value)
    except (TypeError, ValueError, json_format.ParseError):
        problem = schema.words(argument, tool.request)
        raise refused(stated, problem) from None


def at_path(request: Message, path: str, value: Json) -> None:
    """Set the field at a path. Raises `TypeError`, `ValueError` or `ParseError`."""
    *above, name = path.split(".")
    message = request
    for each in above:
        message = getattr(message, each)
    _set(message, message.DESCRIPTOR.fields_by_name[name], value)  # type: ignore[arg-type] # the stubs name two classes


def _is_begun(request: Message, path: str) -> bool:
    """Whether the message of the field at a path is set; False for no path."""
    *above, _name = path.split(".")
    for each in above:
        if not request.HasField(each):
            return False
        request = getattr(request, each)
    return bool(path)


def _set(message: Message, field: FieldDescriptor, value: Json) -> None:
    """Set a field to a JSON value. Raises `TypeError`, `ValueError` or `ParseError`."""
    if field.is_repeated and not isinstance(value, list):
        raise TypeError
    stated = value if field.is_repeated else [value]
    is_text = field.cpp_type == FieldDescriptor.CPPTYPE_STRING
    if is_text and not all(isinstance(each, str) for each in stated):
        raise TypeError
    if field.message_type is not None and field.message_type == Timestamp.DESCRIPTOR:
        getattr(message, field.name).CopyFrom(instant(value))
        return
    if field.enum_type is not None:
        names = [_value(field, each) for each in stated]
        value = names if field.is_repeated else names[0]
    json_format.ParseDict({field.name: value}, message)


def instant(value: Json) -> Timestamp:
    """The instant of a date or time, in UTC without a zone. Raises `TypeError` or `ValueError`."""
    made = Timestamp()
    made.FromDatetime(stated_time(value))
    return made


def _value(field: FieldDescriptor, value: Json) -> str:
    enum = field.enum_type
    if not isinstance(value, str) or enum is None:
        raise TypeError
    for each in enum.values:
        if value.upper() in (each.name, schema.short(enum, each.name)) and each.number:
            return str(each.name)
    raise ValueError
