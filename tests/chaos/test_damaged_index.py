"""The index is derived: damage to it is a sentence that says what to delete, not a traceback."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from concord.graph.v1.memory_pb2 import AddMemoryRequest
from concord.type.v1.type_pb2 import Memory
from concord_embedded.testing import COMMAND, clean_environ, spawned

from tests.chaos.checking import caught_up
from tests.chaos.killing import client_of


def complaint(data: Path) -> str:
    """What `concord up` says when it does not start."""
    command = [*COMMAND, "up", "--data", str(data), "--port", "0", "--json"]
    ended = subprocess.run(
        command, capture_output=True, text=True, env=clean_environ(), timeout=30, check=False
    )
    assert ended.returncode == 1
    return ended.stderr


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with one memory, indexed and stopped."""
    data = tmp_path_factory.mktemp("sound") / "data"
    with spawned(data) as server, client_of(server) as client:
        added = client.memory.AddMemory(AddMemoryRequest(memory=Memory(content="Tea at five.")))
        caught_up(client, added.token)
        assert server.stop() == 0
    return data


@pytest.mark.parametrize("damaged", ["stamp.json", "key", "shard/edge_config.json"])
def test_a_damaged_index_is_told_in_a_sentence(sound: Path, tmp_path: Path, damaged: str) -> None:
    """Must hold: a corrupt data directory is a sentence that says what to do, and no more."""
    data = tmp_path / "data"
    shutil.copytree(sound, data)
    (file,) = (data / "index").glob(f"*/{damaged}")
    file.write_bytes(b"\xff no longer what it was")

    said = complaint(data)

    assert "Traceback" not in said
    told = re.search(r"Delete (\S+): it is rebuilt", said)
    assert told, said
    assert Path(told[1]) in file.parents
    assert Path(told[1]).parent == data / "index"
