"""Reads the objects of a JSON document or of JSON Lines."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from concord_client.importers.outcome import Defect

MAX_FILE_BYTES = 256 << 20
"""A document is read whole."""


def values(path: Path) -> Iterator[tuple[int, Any] | Defect]:
    """Yield the document's value, with line 0, or that of each line; else why there is none."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            yield Defect(str(path), 0, f"the file has more than {MAX_FILE_BYTES} bytes")
            return
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        yield Defect(str(path), 0, error.strerror or "cannot be read")
        return
    except UnicodeDecodeError as error:
        yield Defect(str(path), error.object.count(b"\n", 0, error.start) + 1, "not UTF-8")
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
