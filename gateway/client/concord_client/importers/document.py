"""Reads the objects of a JSON document or of JSON Lines."""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from concord_client.importers.outcome import Defect, ItemUnreadable, LeftOut, as_text
from concord_client.importers.text_file import read_text


def values(path: Path) -> Iterator[tuple[int, Any] | Defect]:
    """Yield (0, the document's value), or (number, value) of each line; a Defect for a bad one."""
    try:
        text = read_text(path)
    except ItemUnreadable as unreadable:
        yield Defect(str(path), unreadable.line, unreadable.reason)
        return
    try:
        yield 0, read_value(text)
        return
    except ItemUnreadable:
        pass
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, read_value(line)
            except ItemUnreadable as unreadable:
                yield Defect(str(path), number, unreadable.reason, text=line)


def read_value(text: str) -> Any:
    """The JSON value of a text. Of a key that stands twice, the last value counts, as is usual;
    the others get keys of their own, "key (1)" and so on.

    Raises `ItemUnreadable`, with the line.
    """
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        raise ItemUnreadable(
            f"not JSON: {error.msg}, at column {error.colno}", error.lineno
        ) from None
    except RecursionError:
        raise ItemUnreadable("the JSON is nested too deeply") from None
    except ValueError:  # a number of more digits than Python reads
        raise ItemUnreadable("not JSON that can be read") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    times: dict[str, int] = {}
    for name, value in pairs:
        times[name] = times.get(name, 0) + 1
        if value != found[name]:
            found[f"{name} ({times[name]})"] = value
    return found


def list_at(record: Mapping[str, Any], name: str) -> list[Any]:
    """The list in a field, empty without one. Raises `ItemUnreadable`."""
    found = record.get(name)
    if found in (None, ""):
        return []
    if not isinstance(found, list):
        raise ItemUnreadable(f"{name}: a list is expected")
    return found


def object_at(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object in a field, empty without one. Raises `ItemUnreadable`."""
    found = record.get(name)
    if found in (None, "", []):
        return {}
    if not isinstance(found, dict):
        raise ItemUnreadable(f"{name}: an object is expected")
    return found


def beside(record: Mapping[str, Any], known: Collection[str]) -> list[LeftOut]:
    """The fields of an export that stand beside its items, but for the `known` ones."""
    return [
        LeftOut("field beside the items", f"{as_text(name)}: {as_text(value)}")
        for name, value in record.items()
        if name not in known and value is not None
    ]


def united(*objects: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of all objects; a name that an earlier one has is numbered, as "name (2)"."""
    found: dict[str, Any] = {}
    for number, each in enumerate(objects, 1):
        for name, value in each.items():
            taken = name in found and found[name] != value
            found[f"{name} ({number})" if taken else name] = value
    return found
