"""Which backups a receipt of an erasure lists as older copies (M4)."""

import json
from pathlib import Path

from concord_graph.config import read_backups


def test_the_times_of_backups_are_read_and_damage_is_none(tmp_path: Path) -> None:
    """M4 Each time once, in order; a file that is missing or damaged stops no erasure."""
    file = tmp_path / "last_backup.json"
    missing = read_backups(file)
    file.write_text(json.dumps({"path": "/b/3", "time": 3, "made": {"3": "/b/3", "1": "/b/1"}}))
    both = read_backups(file)
    file.write_text(json.dumps({"path": "/b/2", "time": 2}))
    former = read_backups(file)
    file.write_text("{")

    assert (missing, both, former, read_backups(file)) == ([], [1, 3], [2], [])
