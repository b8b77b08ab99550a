"""How a refused call is mended: one rule, whatever is wrong.

Each argument that a refusal names comes with an `example`, which is put in its place: the caller's
value made right where that can be told, else a value of its kind. And with `instead`, if another
name was meant, which then has the `example`, or the value as it is. The example of an argument
that no value mends is null, which stands for none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Set
from difflib import get_close_matches

from concord_attestation.instants import stated_time

from concord_mcp import schema
from concord_mcp.tool import ComposedTool, Json, Tool

_ALIKE = 0.75
"""Least likeness of two names of which one is a slip of the other."""
_DATE = "2026-01-31"
_FALSE = frozenset({"false", "no", "off", "0", "n"})


def mend(tool: Tool | ComposedTool, given: Mapping[str, Json], name: str) -> dict[str, Json]:
    """What to do about a refused argument: its `example`, `instead`, or both.

    Neither if it is required and the value is of its kind.
    """
    stated = schema.of_arguments(tool)
    taken = stated["properties"]
    aliases: Mapping[str, str] = tool.aliases if isinstance(tool, Tool) else {}
    name = re.split(r"[.\[]", name, maxsplit=1)[0]
    known = taken.get(aliases.get(name, name))
    if known is not None:
        value = given.get(name)
        right = _right(known, value)
        if right != value or name not in given:
            return {"example": right}
        return {} if aliases.get(name, name) in stated.get("required", ()) else {"example": None}
    called = {aliases.get(each, each) for each in given}
    meant = _meant(tool, name, given.get(name), called)
    if meant is None:
        return {"example": None}
    right = _right(taken[aliases.get(meant, meant)], given.get(name))
    return {"instead": meant} | ({} if right == given.get(name) else {"example": right})


def _meant(tool: Tool | ComposedTool, name: str, value: Json, called: Set[str]) -> str | None:
    """The argument that an unknown name stands for, unless it is given already.

    One that is spelled nearly so; else the only one whose words hold those of the name, or the
    other way round (`memory_id`, `id`); else, for a text of a tool that only reads, the only
    required one that is missing.
    """
    stated = schema.of_arguments(tool)
    names: list[str] = list(stated["properties"])
    required: list[str] = stated.get("required", [])
    aliases: Mapping[str, str] = tool.aliases if isinstance(tool, Tool) else {}
    if near := get_close_matches(name, [*names, *aliases], n=1, cutoff=_ALIKE):
        return near[0] if aliases.get(near[0], near[0]) not in called else None
    free = [each for each in names if each not in called]
    missing = [each for each in required if each in free]
    words = _words(name)
    for some in (missing, free):
        alike = [each for each in some if words <= _words(each) or words >= _words(each)]
        if len(alike) == 1:
            return alike[0]
    is_guess = len(missing) == 1 and isinstance(value, str) and tool.reads
    return missing[0] if is_guess else None


def _words(name: str) -> frozenset[str]:
    """The words of a name in snake_case or camelCase."""
    return frozenset(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_"))


def _right(known: Mapping[str, Json], value: Json) -> Json:
    """The value, if its kind is known, else the nearest that is: `known` is a JSON Schema."""
    if "enum" in known:
        near = get_close_matches(str(value).upper(), known["enum"], n=1)
        return (near or known["enum"])[0]
    match known.get("type", "object"):
        case "array":
            return _list(known["items"], value)
        case "string":
            return _date(value) if known.get("format") else _text(value)
        case "boolean":
            return str(value).strip().lower() not in _FALSE
        case "integer" | "number":
            return _number(known, value)
    return _object(known, value)


def _list(items: Mapping[str, Json], value: Json) -> list[Json]:
    if isinstance(value, str) and value.strip()[:1] == "[":
        value = _read(value)
    return [_right(items, each) for each in (value if isinstance(value, list) else [value])]


def _date(value: Json) -> Json:
    try:
        stated_time(value)
    except (TypeError, ValueError):
        return _DATE
    return value


def _text(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, dict) and len(value) == 1:  # such as {"name": "Ada"}
        return _text(*value.values())
    if value is None or value == "":
        return "text"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _number(known: Mapping[str, Json], value: Json) -> Json:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return known.get("default", known.get("minimum", 1))
    number = max(known.get("minimum", 0), min(known.get("maximum", number), number))
    return round(number) if known["type"] == "integer" else number


def _object(known: Mapping[str, Json], value: Json) -> Json:
    if isinstance(value, str):
        value = _read(value)
    members: Mapping[str, Json] = known.get("properties", {})
    found = dict(value) if isinstance(value, dict) else {}
    for name in [each for each in found if each not in members]:
        near = get_close_matches(name, [each for each in members if each not in found], n=1)
        for meant in near:
            found[meant] = found.pop(name)
    return found | {
        name: _right(each, found.get(name))
        for name, each in members.items()
        if name in known.get("required", ()) or name in found
    }


def _read(text: str) -> Json:
    """A value that came as the JSON of it; the text itself if it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text
