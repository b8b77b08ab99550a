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
    """Put a file of this schema at a path where there is none, with an epoch of its own."""
    if not path.exists():
        made, epoch = _blank(schema)
        # Another one of the same length stays in its place: no connection must be opened for it.
        path.write_bytes(made.replace(epoch, str(uuid.uuid4()).encode()) if epoch else made)
    return path


def _blank(schema: Schema) -> tuple[bytes, bytes]:
    """Return a new file, and the epoch that stands in it if it has one."""
    if schema.tables not in _made:
        with tempfile.TemporaryDirectory(prefix="concord-") as folder:
            file = Path(folder) / "blank.db"
            open_file(file, schema, name="blank").close()
            with closing(sqlite3.connect(file)) as db:
                row = db.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()
            _made[schema.tables] = file.read_bytes(), row[0].encode() if row else b""
    return _made[schema.tables]
