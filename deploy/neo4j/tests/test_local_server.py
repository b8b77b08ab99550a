"""A Neo4j without Docker: closed to others, intact after a kill, with helpful errors."""

import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from concord_neo4j.errors import CannotStart
from concord_neo4j.server import USER, LocalNeo4j
from concord_testing.neo4j_server import Address, running
from neo4j import GraphDatabase
from neo4j.exceptions import AuthError


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalNeo4j]:
    """A started server."""
    own = LocalNeo4j(tmp_path_factory.mktemp("neo4j"), dies_with_us=True)
    own.start()
    yield own
    own.remove()


def query(server: LocalNeo4j, text: str, password: str = "") -> list[object]:
    """Run a statement and return its first column."""
    auth = ("neo4j", password or server.password)
    with GraphDatabase.driver(server.uri, auth=auth) as driver:
        return [record[0] for record in driver.execute_query(text).records]


def command(verb: str, folder: Path, *port: str) -> subprocess.CompletedProcess[str]:
    """Run what `make neo4j-up` and `make neo4j-down` run."""
    return subprocess.run(
        [sys.executable, "-m", "concord_neo4j", verb, str(folder), *port],
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )


@pytest.mark.neo4j
def test_it_is_the_pinned_version_on_loopback_with_a_password_of_its_own(
    server: LocalNeo4j,
) -> None:
    """Must hold: Neo4j 5.26, with a generated password that only its owner can read."""
    assert query(server, "CALL dbms.components() YIELD versions RETURN versions[0]") == ["5.26.30"]
    assert server.uri.startswith("bolt://127.0.0.1:")
    told = dict(line.split("=", 1) for line in server.environ_file.read_text().splitlines())
    assert told == {
        "NEO4J_URI": server.uri,
        "NEO4J_USER": USER,
        "NEO4J_PASSWORD": server.password,
    }
    for file in (server.password_file, server.environ_file):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(AuthError):
        query(server, "RETURN 1", password="neo4j")


@pytest.mark.neo4j
@pytest.mark.timeout(150)
def test_a_killed_one_comes_back_with_its_data(server: LocalNeo4j) -> None:
    """Must hold: after a kill and a restart it has the same address and all committed data."""
    query(server, "CREATE (:Kept)")
    uri = server.uri
    server.kill()
    assert server.process_id() is None
    server.start()

    assert server.uri == uri
    assert query(server, "MATCH (n:Kept) RETURN count(n)") == [1]


@pytest.mark.neo4j
@pytest.mark.timeout(300)
def test_up_twice_is_one_server_and_down_twice_is_none(tmp_path: Path) -> None:
    """`make neo4j-up` and `make neo4j-down` are safe to call twice."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    first, process = command("up", tmp_path, port), LocalNeo4j(tmp_path).process_id()
    again = command("up", tmp_path, port)
    same = LocalNeo4j(tmp_path).process_id()
    password = (tmp_path / "password").read_text()
    down, down_again = command("down", tmp_path), command("down", tmp_path)

    assert (first.returncode, again.returncode) == (0, 0), first.stderr
    assert process is not None
    assert process == same
    assert f"Neo4j answers at bolt://127.0.0.1:{port}" in first.stdout
    assert str(tmp_path / "password") in first.stdout
    assert password not in first.stdout
    assert (down.returncode, down_again.returncode) == (0, 0)
    assert LocalNeo4j(tmp_path).process_id() is None
    assert not (tmp_path / "home").exists()


TEST_RUN = """
import sys, time
from pathlib import Path
from concord_testing.neo4j_server import running
with running(Path(sys.argv[1]), {}):
    print("ready", flush=True)
    time.sleep(600)
"""


@pytest.mark.neo4j
@pytest.mark.timeout(200)
def test_a_tests_server_dies_with_a_run_that_is_ended(tmp_path: Path) -> None:
    """Must hold: `timeout` ends a test run by SIGTERM, which cleans nothing up; no Java stays."""
    server = LocalNeo4j(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", TEST_RUN, str(tmp_path)], stdout=subprocess.PIPE
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"ready\n"
        before = server.process_id()
        run.terminate()
    until = time.monotonic() + 20
    while server.process_id() is not None and time.monotonic() < until:
        time.sleep(0.05)
    after = server.process_id()
    server.remove()

    assert before is not None
    assert after is None


@pytest.mark.parametrize(("program", "package"), [("java", "openjdk-17"), ("mvn", "maven")])
def test_a_missing_program_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, package: str
) -> None:
    """Must hold: the error names the package to install."""
    (tmp_path / "bin").mkdir()
    for other in {"java", "mvn"} - {program}:
        (tmp_path / "bin" / other).symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    with pytest.raises(CannotStart, match=f"`{program}` is missing: apt-get install {package}"):
        LocalNeo4j(tmp_path / "server").start()


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    """Must hold: the error names the port, how to find its holder, and how to choose another."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = command("up", tmp_path, str(port))

    assert ended.returncode == 1
    assert f"Port {port} is in use by another program" in ended.stderr
    assert "PORT=" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_another_process_with_the_noted_id_is_left_alone(tmp_path: Path) -> None:
    """Must hold: a process id that was reused since is not taken for the server."""
    (tmp_path / "pid").write_text(str(os.getpid()))

    LocalNeo4j(tmp_path).stop()


def test_tests_use_the_server_that_they_are_given(tmp_path: Path) -> None:
    """If NEO4J_URI names a running server, none is started."""
    given = {"NEO4J_URI": "bolt://there:1", "NEO4J_USER": "ann", "NEO4J_PASSWORD": "secret"}
    with running(tmp_path, given) as address:
        assert address == Address("bolt://there:1", "ann", "secret")
        assert "secret" not in repr(address)
    assert list(tmp_path.iterdir()) == []
