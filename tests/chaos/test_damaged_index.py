"""The index is derived: damage to it is told in a sentence that says what to do, and mended."""

import json
import re
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from concord.graph.v1.memory_pb2 import AddMemoryRequest
from concord.type.v1.type_pb2 import Memory
from concord_search.adapters.edge import shard as shards
from concord_testing.command_line import CommandLine
from concord_testing.index_files import every_state
from concord_testing.up_process import clean_environ, ran, spawned

from tests.chaos.checking import caught_up
from tests.chaos.killing import client_of


def complaint(data: Path) -> str:
    """What `concord up` says when it does not start."""
    ended = ran("up", "--data", str(data), "--port", "0", "--json", environ=clean_environ())
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


@pytest.mark.parametrize("damaged", ["*/stamp.json", "spaces.db", "*/shard/edge_config.json"])
def test_a_damaged_index_is_told_in_a_sentence(sound: Path, tmp_path: Path, damaged: str) -> None:
    """Must hold: a corrupt data directory is a sentence that says what to do, and no more."""
    data = tmp_path / "data"
    shutil.copytree(sound, data)
    (file,) = (data / "index").glob(damaged)
    file.write_bytes(b"\xff no longer what it was" * 100)

    said = complaint(data)

    assert "Traceback" not in said
    told = re.search(r"Delete (\S+): it is rebuilt", said)
    assert told, said
    assert Path(told[1]) in (file, *file.parents)
    assert Path(told[1]).parent == data / "index"


def empty(data: Path) -> None:
    """Take every state out of the only part's files that has any."""
    for stamp in (data / "index").glob("*/stamp.json"):
        told = json.loads(stamp.read_text("utf-8"))
        with closing(shards.load(stamp.parent / told["shard"])) as shard:
            shard.delete([point for point, _ in every_state(shard)])


def test_an_index_that_lost_states_is_found_and_mended(sound: Path, tmp_path: Path) -> None:
    """S10 W4 `concord reconcile` tells that index and graph differ, and mends the index."""
    data = tmp_path / "data"
    shutil.copytree(sound, data)
    empty(data)
    with spawned(data) as server, client_of(server) as client:
        concord = CommandLine(server.environ)
        caught_up(client, "")
        lost = concord("reconcile")
        mended = concord.done("reconcile", "--repair")
        after = concord.done("reconcile")

    assert lost.exit_code == 1
    assert "the index lacked 1 state" in lost.stdout
    assert "--repair" in lost.stderr
    assert "index and graph agree" in mended
    assert after == "Index and graph agree on 1 state through change 1.\n"
