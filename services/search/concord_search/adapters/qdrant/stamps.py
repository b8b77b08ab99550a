"""The stamp of a part: a file that names its model and its current shard."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from concord_search.adapters.durable_file import replace_json
from concord_search.domain.errors import IndexCorrupt


def read(directory: Path) -> Mapping[str, Any] | None:
    """A part's stamp; None for a part whose making was interrupted. Raises `IndexCorrupt`."""
    try:
        found = json.loads((directory / "stamp.json").read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise IndexCorrupt(
            f"{directory / 'stamp.json'} cannot be read. Delete {directory}: it is rebuilt."
        ) from error
    return found if isinstance(found, dict) else None


def write(directory: Path, stamp: Mapping[str, Any]) -> None:
    """Writes the stamp to the disk, since the shard that it no longer names is removed next."""
    replace_json(directory / "stamp.json", stamp)
