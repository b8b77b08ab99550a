"""What a process has on its own disk of an index on a server.

ROOT/server.json    the server and the installation's name: who leaves the server is told of them
ROOT/secret         what spaces' secrets are encrypted under, unless a setting says it (0600)
ROOT/holder         the name under which this process takes the lease, the same after a restart
"""

import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from concord_search.adapters.durable_file import read_json, replace_json
from concord_search.adapters.qdrant_server.settings import QdrantConfig

SERVER_FILE = "server.json"


def settle(root: Path, settings: QdrantConfig, delete: Callable[[str], None]) -> None:
    """Removes what an embedded index, or one that was not shared, left in a directory.

    `delete` removes the collections whose names begin with an alias.
    """
    replace_json(root / SERVER_FILE, {"url": settings.url, "prefix": settings.prefix})
    for stamp in root.glob("*/stamp.json"):
        found: dict[str, Any] = read_json(stamp, dict, {})
        if found.get("engine") == "qdrant":
            delete(str(found["shard"]))
        shutil.rmtree(stamp.parent)
    for left in (*root.glob("spaces.db*"), root / "versions.json", root / "cursors.json"):
        left.unlink(missing_ok=True)


def secret(root: Path, settings: QdrantConfig) -> bytes:
    """The installation's secret: the setting, else a file's that is made once."""
    given = settings.index_secret.get_secret_value().strip()
    return (given or _kept(root / "secret")).encode()


def holder(root: Path) -> str:
    """The name of the process that has this directory."""
    return _kept(root / "holder")


def _kept(path: Path) -> str:
    """The words of a file, which is drawn if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        draft = path.with_suffix(".tmp")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_hex(16))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    return path.read_text("utf-8").strip()
