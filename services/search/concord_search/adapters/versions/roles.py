"""The file that maps the versions of each space to parts of an index.

A version begins to serve when the file is replaced, in one durable step. A space that is not in the
file has one version, the part with the space's name.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from concord_search.adapters.durable_file import replace_json
from concord_search.domain.errors import IndexCorrupt
from concord_search.ports.index import Version

Roles = Mapping[Version, str]
"""The parts of one space by version."""


def read(path: Path) -> dict[str, Roles]:
    """The roles by space. Raises `IndexCorrupt`."""
    try:
        found = json.loads(path.read_text("utf-8"))
        return {
            space: {Version(version): str(part) for version, part in roles.items()}
            for space, roles in found.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise IndexCorrupt(
            f"{path} cannot be read. Delete {path.parent}: it is rebuilt from graph."
        ) from error


def write(path: Path, roles: Mapping[str, Roles]) -> None:
    """Writes the roles to the disk, since parts that they no longer name are removed next."""
    replace_json(path, roles)
