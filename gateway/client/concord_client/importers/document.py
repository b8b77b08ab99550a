"""Reads the objects of a JSON document or of JSON Lines."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from concord_client.importers.outcome import Defect, ItemUnreadable
from concord_client.importers.text_file import read_text


def values(path: Path) -> Iterator[tuple[int, Any] | Defect]:
    """Yield (0, the document's value), or (number, value) of each line; a Defect for a bad one."""
    try:
        text = read_text(path)
    except ItemUnreadable as unreadable:
        yield Defect(str(path), unreadable.line, unreadable.reason)
        return
    try:
        yield 0, json.loads(text)
        return
    except (ValueError, RecursionError):
        pass
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                why = "cannot be read"
                if isinstance(error, json.JSONDecodeError):
                    why = f"{error.msg}, at column {error.colno}"
                yield Defect(str(path), number, f"not JSON: {why}")


def list_at(record: Mapping[str, Any], name: str) -> list[Any]:
    """The list in a field, empty without one. Raises `ItemUnreadable`."""
    found = record.get(name) or []
    if not isinstance(found, list):
        raise ItemUnreadable(f"{name}: a list is expected")
    return found


def object_at(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object in a field, empty without one. Raises `ItemUnreadable`."""
    found = record.get(name) or {}
    if not isinstance(found, dict):
        raise ItemUnreadable(f"{name}: an object is expected")
    return found
