"""The file that maps the versions of each space to parts of an index.

A version begins to serve when the file is replaced, in one durable step. A space that is not in the
file has one version, the part with the space's name.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from concord_search.adapters.durable_file import read_json, replace_json
from concord_search.ports.index import Version

Roles = Mapping[Version, str]
"""The parts of one space by version."""


def read(path: Path) -> Mapping[str, Roles]:
    """The roles by space. Raises `IndexCorrupt`."""
    return read_json(path, _by_space, {})


def _by_space(found: Any) -> Mapping[str, Roles]:
    return {
        space: {Version(version): str(part) for version, part in roles.items()}
        for space, roles in found.items()
    }


def write(path: Path, roles: Mapping[str, Roles]) -> None:
    """Writes the roles to the disk, since parts that they no longer name are removed next."""
    replace_json(path, roles)
