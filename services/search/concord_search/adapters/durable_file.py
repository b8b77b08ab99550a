"""Files that survive a crash of the machine: their bytes and their names are on the disk."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from concord_search.domain.errors import IndexCorrupt

T = TypeVar("T")


def read_json(path: Path, parsed: Callable[[Any], T], absent: T) -> T:
    """What `parsed` makes of a file that `replace_json` wrote; `absent` without a file.

    Raises `IndexCorrupt`.
    """
    try:
        return parsed(json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return absent
    except (OSError, ValueError, AttributeError) as error:
        raise IndexCorrupt(
            f"{path} cannot be read. Delete {path.parent}: it is rebuilt from graph."
        ) from error


def replace_json(path: Path, content: object) -> None:
    """Replaces a file by JSON, in one durable step."""
    draft = path.with_suffix(".tmp")
    with draft.open("w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Writes to the disk which files a folder has."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
