"""Reads the objects of a JSON document or of JSON Lines."""

import json
from collections.abc import Iterator
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
                why = error.msg if isinstance(error, json.JSONDecodeError) else "cannot be read"
                yield Defect(str(path), number, f"not JSON: {why}")
