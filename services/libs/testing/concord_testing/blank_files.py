"""Store files that are made once and copied: making one costs ten times as much."""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from concord_stores.sqlite_file import Schema, open_file

_made: dict[str, bytes] = {}


def lay(path: Path, schema: Schema) -> Path:
    """Put a file of this schema at a path where there is none, with an epoch of its own."""
    if path.exists():
        return path
    path.write_bytes(_blank(schema))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM meta WHERE key = 'epoch'")
        schema.begin(db)
    return path


def _blank(schema: Schema) -> bytes:
    if schema.tables not in _made:
        with tempfile.TemporaryDirectory(prefix="concord-") as folder:
            file = Path(folder) / "blank.db"
            open_file(file, schema, name="blank").close()
            _made[schema.tables] = file.read_bytes()
    return _made[schema.tables]
