"""Store files that are made once and copied: making one costs a hundred times as much."""

import sqlite3
import tempfile
import uuid
from contextlib import closing
from pathlib import Path

from concord_stores.sqlite_file import open_file
from concord_stores.sqlite_schema import Schema

_made: dict[str, tuple[bytes, bytes]] = {}


def lay(path: Path, schema: Schema) -> Path:
    """Put a new file of this schema, with its own epoch, at a path unless a file is there."""
    if not path.exists():
        made, epoch = _blank(schema)
        # Epochs have the same length, so the bytes can be replaced without opening a connection.
        path.write_bytes(made.replace(epoch, str(uuid.uuid4()).encode()) if epoch else made)
    return path


def _blank(schema: Schema) -> tuple[bytes, bytes]:
    """Return the bytes of a new file, and its epoch if it has one."""
    if schema.tables not in _made:
        with tempfile.TemporaryDirectory(prefix="concord-") as folder:
            file = Path(folder) / "blank.db"
            open_file(file, schema, name="blank").close()
            with closing(sqlite3.connect(file)) as db:
                row = db.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()
            _made[schema.tables] = file.read_bytes(), row[0].encode() if row else b""
    return _made[schema.tables]
