"""Turns the reply of an RPC into a tool's answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from concord_mcp import schema
from concord_mcp.brief import brief
from concord_mcp.tool import Json, Shape, Tool

CHARACTERS_PER_TOKEN = 4
LEAST_TEXT = 200
"""Characters that a shortened text keeps."""


def answer_of(
    tool: Tool, reply: Message, max_tokens: int, *, details: bool = True
) -> dict[str, Json]:
    """The tool's answer, in short without `details`; one with a list is cut to about `max_tokens`.

    The last items are left out and counted as `left_out`. If a single item is still too long, its
    longest text is shortened and ends in "…". Where another field stands for the list, it is not
    sent.
    """
    if tool.brief and not details:
        answer = brief(shaped(reply, {**tool.answer, tool.lists: tool.brief}), tool.lists)
    else:
        answer = shaped(reply, tool.answer)
    if tool.instead:
        text, left_out = tool.instead[0], len(getattr(reply, tool.instead[1]))
        if left_out or text in answer:
            answer.pop(tool.lists, None)
            return answer | ({"left_out": left_out} if left_out else {})
    if not tool.lists:
        return answer
    room = max_tokens * CHARACTERS_PER_TOKEN
    items = answer.setdefault(tool.lists, [])  # `shaped` leaves out an empty list
    kept = len(items)
    while kept > 1 and _length(answer) > room:
        kept -= 1
        answer[tool.lists] = items[:kept]
    if kept == 1 and (over := _length(answer) - room) > 0:
        answer[tool.lists] = [_shortened(items[0], over)]
    if kept < len(items):
        answer["left_out"] = len(items) - kept
    return answer


def shaped(message: Message, shape: Shape) -> dict[str, Json]:
    """The fields that a shape names; empty ones are left out."""
    found = {}
    for name, field_shape in shape.items():
        path, inner = (field_shape, None) if isinstance(field_shape, str) else field_shape
        *above, last = _present(message, path.removeprefix(schema.COUNT)).split(".")
        owner = _owner(message, above)
        if owner is None:
            continue
        field: FieldDescriptor = owner.DESCRIPTOR.fields_by_name[last]
        value = getattr(owner, last)
        if last == "head_ids" and not owner.is_superseded:
            continue  # an item that nothing supersedes is its own head
        if path.startswith(schema.COUNT):
            shown: Json = len(value) or None
        elif schema.is_map(field):
            shown = dict(value)
        elif field.is_repeated:
            shown = [_shown(field, each, inner) for each in value]
        elif field.has_presence and not owner.HasField(last):
            continue
        else:
            shown = _shown(field, value, inner)
        if shown not in ("", [], {}, None):
            found[name] = shown
    return found


def _present(message: Message, path: str) -> str:
    """Of two paths the one whose first message is there."""
    first, _, second = path.partition(schema.OR)
    return second if second and not message.HasField(first.partition(".")[0]) else first


def _owner(message: Message, above: list[str]) -> Any:
    """The message that has a path's last field: of a list on the way the first, else None."""
    owner: Any = message
    for name in above:
        owner = getattr(owner, name)
        if isinstance(owner, Sequence):
            if not owner:
                return None
            owner = owner[0]
    return owner


def _shown(field: FieldDescriptor, value: Json, inner: Shape | None) -> Json:
    if inner is not None:
        return shaped(value, inner)
    if field.enum_type is not None:
        return schema.named(field.enum_type, value)
    if field.message_type is not None:
        return json_format.MessageToDict(value, preserving_proto_field_name=True)
    if field.cpp_type == FieldDescriptor.CPPTYPE_DOUBLE:
        return round(value, 4)
    return value


def _length(answer: Json) -> int:
    return len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def _shortened(item: Json, over: int) -> Json:
    """The item with its longest text cut by `over` characters, but not below `LEAST_TEXT`."""
    if not isinstance(item, dict):
        return item
    texts = {name: value for name, value in item.items() if isinstance(value, str)}
    name = max(texts, key=lambda each: len(texts[each]), default="")
    if not name or len(texts[name]) <= LEAST_TEXT:
        return item
    return item | {name: texts[name][: max(len(texts[name]) - over - 1, LEAST_TEXT)] + "…"}
