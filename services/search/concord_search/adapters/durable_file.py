"""Files that survive a crash of the machine: their bytes and their names are on the disk."""

import json
import os
from pathlib import Path


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
