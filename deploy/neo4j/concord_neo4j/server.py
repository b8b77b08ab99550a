"""One Neo4j server in its own folder: starts, finds, stops and kills it."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from neo4j import GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

from concord_neo4j import distribution
from concord_neo4j.errors import CannotStart

LOOPBACK = "127.0.0.1"
USER = "neo4j"
_START_SECONDS = 120.0
_STOP_SECONDS = 60.0
_SETTINGS = f"""\
server.bolt.enabled=true
server.bolt.listen_address={LOOPBACK}:{{port}}
server.http.enabled=false
server.https.enabled=false
dbms.security.auth_enabled=true
dbms.usage_report.enabled=false
server.memory.pagecache.size=256m
"""
_LAUNCHER = Path(__file__).with_name("Launcher.java")
_UNTIL_INPUT_ENDS = "until-input-ends"
_JAVA_OPTIONS = ("-Xms512m", "-Xmx512m", "-XX:+UseG1GC", "-XX:+ExitOnOutOfMemoryError")


class LocalNeo4j:
    """A server whose data, password, settings, log and process id are in one folder.

    `java_options` are added to Java's command line. With `dies_with_us` the server ends with this
    process, even if that is killed; without it the server outlives this process.
    """

    def __init__(
        self, folder: Path, *, java_options: Sequence[str] = (), dies_with_us: bool = False
    ) -> None:
        self._dies_with_us = dies_with_us
        self._java_options = (*_JAVA_OPTIONS, *java_options)
        self._folder = folder.resolve()
        self._home = self._folder / "home"
        self._settings = self._folder / "neo4j.conf"
        self._pid = self._folder / "pid"
        self._port = self._folder / "port"
        self.log = self._folder / "log"
        self.password_file = self._folder / "password"
        self.environ_file = self._folder / "env"
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        """The address that the server listens on, `bolt://HOST:PORT`."""
        return f"bolt://{LOOPBACK}:{self._port.read_text()}"

    @property
    def password(self) -> str:
        """The generated password of the user `neo4j`."""
        return self.password_file.read_text()

    def start(self, port: int = 0) -> None:
        """Start the server and wait until it answers; leave a running one as it is.

        `port` 0 takes the port of the last start, else a free one.

        Raises:
            CannotStart: Java or Maven is missing, the port is in use, or the server does not
                answer.
        """
        if self.process_id() is not None:
            return
        port = port or self._last_port() or _free_port()
        _demand_free(port)
        java, jars = distribution.java(), distribution.class_path(distribution.cache())
        self._home.mkdir(parents=True, exist_ok=True)
        self._settings.write_text(_SETTINGS.format(port=port))
        self._port.write_text(str(port))
        self._keep_password()
        command = [java, *self._java_options, "-cp", jars, str(_LAUNCHER)]
        command += [str(self._home), str(self._settings), str(self.password_file)]
        if self._dies_with_us:
            command.append(_UNTIL_INPUT_ENDS)  # the pipe closes when this process ends
        with self.log.open("w") as log:
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE if self._dies_with_us else subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that Ctrl-C in the terminal does not stop the server
            )
        self._pid.write_text(str(self._child.pid))
        self._keep_environ()
        self._wait_until_ready(self._child)

    def stop(self) -> None:
        """Stop the server with SIGTERM, if it runs."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the server with SIGKILL, as in a crash; its data stays."""
        self._end(signal.SIGKILL)

    def remove(self) -> None:
        """Kill the server and remove its data and password."""
        self.kill()
        shutil.rmtree(self._home, ignore_errors=True)
        for file in (self._settings, self._port, self.password_file, self.environ_file, self.log):
            file.unlink(missing_ok=True)

    def process_id(self) -> int | None:
        """Return the id of the server's process; None if it does not run."""
        try:
            pid = int(self._pid.read_text())
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except (OSError, ValueError):
            return None
        # the id may belong to another process by now
        return pid if os.fsencode(self._settings) in command else None

    def _last_port(self) -> int:
        return int(self._port.read_text()) if self._port.exists() else 0

    def _keep_password(self) -> None:
        if not self.password_file.exists():
            _write_for_owner(self.password_file, secrets.token_urlsafe(24))

    def _keep_environ(self) -> None:
        """Write the settings with which Concord connects, for a shell to source."""
        self.environ_file.unlink(missing_ok=True)
        _write_for_owner(
            self.environ_file,
            f"NEO4J_URI={self.uri}\nNEO4J_USER={USER}\nNEO4J_PASSWORD={self.password}\n",
        )

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + _START_SECONDS
        while "ready" not in self.log.read_text(errors="replace").splitlines():
            if process.poll() is not None:
                raise CannotStart(f"Neo4j ended at once: {self.log} says why")
            if time.monotonic() > until:
                self.stop()
                raise CannotStart(f"Neo4j is not up after {_START_SECONDS:.0f} s: see {self.log}")
            time.sleep(0.05)
        try:
            with GraphDatabase.driver(self.uri, auth=(USER, self.password)) as driver:
                driver.verify_connectivity()
        except (DriverError, Neo4jError) as error:
            raise CannotStart(f"Neo4j is up at {self.uri} but does not answer: {error}") from error

    def _end(self, how: signal.Signals) -> None:
        pid = self.process_id()
        if pid is not None:
            os.kill(pid, how)
            until = time.monotonic() + _STOP_SECONDS
            while self.process_id() is not None:
                if time.monotonic() > until:
                    os.kill(pid, signal.SIGKILL)
                time.sleep(0.02)
        if self._child is not None:
            self._child.wait()
            if self._child.stdin is not None:
                self._child.stdin.close()
        self._pid.unlink(missing_ok=True)


def _write_for_owner(path: Path, content: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "w") as out:
        out.write(content)


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _demand_free(port: int) -> None:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise CannotStart(
                f"Port {port} is in use by another program: stop that one "
                f"(`ss -ltnp 'sport = :{port}'` names it), or choose another with PORT="
            ) from error
