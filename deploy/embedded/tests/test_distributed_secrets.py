"""What a distributed system's services are given."""

import json
import os
import stat
from hashlib import sha256
from pathlib import Path

from concord_embedded import distributed_secrets


def contents(folder: Path) -> dict[str, bytes]:
    """Every file's bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_secrets_are_made_once_for_their_owner_alone(tmp_path: Path) -> None:
    """W6 W7 Each start after the first finds the same; nobody else can read them; digests, not
    keys, are what governance and graph are given."""
    folder = tmp_path / "secrets"
    distributed_secrets.make(folder, url="127.0.0.1:7600", http_url="http://127.0.0.1:7601")
    first = contents(folder)
    distributed_secrets.make(folder, url="127.0.0.1:7600", http_url="http://127.0.0.1:7601")

    assert first == contents(folder)
    for path in (folder / "keys", *(each for each in folder.rglob("*") if each.is_file())):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
        assert path.stat().st_uid == (os.geteuid() or distributed_secrets.CONTAINER_USER)
    known = json.loads(first["credentials.json"])
    digests = {sha256(key.encode()).hexdigest() for key in known["keys"].values()}
    assert digests <= json.loads(first["keys/api_keys.json"]).keys()
    assert first["keys/neo4j_auth"] == b"neo4j/" + first["keys/neo4j_password"]
    assert first["keys/qdrant_api_key"] in first["keys/qdrant.yaml"]
