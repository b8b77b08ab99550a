"""Commands in their own processes: a `concord up` to stop or to kill, others until they end."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import IO

from concord_client import Client, credentials
from concord_client.credentials import Target

STOP_WITHIN = 100.0
"""Seconds; a stop takes less than one on an idle machine."""

COMMAND = (sys.executable, "-W", "error", "-m", "concord_client")
"""`concord`, with Python's warnings as errors."""

# Loading the modules is most of a start: one process does it once, and each system is its fork.
_FORKS = get_context("forkserver")
_FORKS.set_forkserver_preload(["concord_client.cli.app", "concord_embedded.up"])


@dataclass(frozen=True)
class Spawned:
    """A running process with its data folder and addresses."""

    process: ForkServerProcess
    data: Path
    url: str
    http_url: str

    @property
    def environ(self) -> dict[str, str]:
        """An environment by which a command finds the process; of Concord's variables no other."""
        return clean_environ() | {"CONCORD_DATA": str(self.data)}

    def client(self, space: str = "default") -> Client:
        """A client with the saved key of a space."""
        known = credentials.read(self.data / credentials.FILE_NAME)
        return Client(Target(self.url, known.keys[space]))

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Sends a signal, unless it has ended already, and returns the exit status."""
        if self.process.is_alive() and self.process.pid:
            os.kill(self.process.pid, number)
        return self.ended()

    def kill(self) -> None:
        """Sends SIGKILL: nothing is flushed or cleaned up."""
        self.process.kill()
        self.ended()

    def ended(self) -> int:
        """The exit status, once it has one; after a signal that ended it, the negative number."""
        self.process.join(STOP_WITHIN)
        assert self.process.exitcode is not None, "it does not stop"
        return self.process.exitcode


def clean_environ() -> dict[str, str]:
    """The process's environment without Concord's own variables."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CONCORD_")}


@contextmanager
def spawned(
    data: Path, port: int = 0, settings: Mapping[str, str] | None = None
) -> Iterator[Spawned]:
    """`concord up` on `data`, ready; stopped after the block if it still runs."""
    arguments = ["up", "--data", str(data), "--port", str(port), "--json"]
    environ = clean_environ() | dict(settings or {})
    reader, writer = _FORKS.Pipe(duplex=False)
    with reader, open(reader.fileno(), encoding="utf-8", closefd=False) as output:
        with writer, Connection(os.dup(2), readable=False) as errors:
            process = _FORKS.Process(
                target=_run, args=(arguments, environ, writer, errors), daemon=True
            )
            process.start()
        try:
            ready = json.loads(output.readline())
            yield Spawned(process, data, ready["url"], ready["httpUrl"])
        finally:
            process.terminate()
            process.join(STOP_WITHIN)


def ran(
    *arguments: str, environ: Mapping[str, str], folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a command that ends by itself, in a folder; its output looks like pipes to it.

    It runs under `environ`, but for the variables that Python reads at its start: the modules are
    loaded already.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = _FORKS.Process(
            target=_run, args=(arguments, environ, _sink(out), _sink(err), folder), daemon=True
        )
        process.start()
        process.join(STOP_WITHIN)
        assert process.exitcode is not None, "it does not end"
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(
            arguments, process.exitcode, out.read().decode(), err.read().decode()
        )


def _sink(file: IO[bytes]) -> Connection:
    return Connection(os.dup(file.fileno()), readable=False)


def _run(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    stdout: Connection,
    stderr: Connection,
    folder: Path | None = None,
) -> None:
    """Run the command, in a process that has only loaded its modules."""
    if folder:
        os.chdir(folder)
    os.dup2(stdout.fileno(), 1)
    os.dup2(stderr.fileno(), 2)
    os.environ.clear()
    os.environ.update(environ)
    warnings.simplefilter("error")
    from concord_client.cli.app import app

    app(list(arguments))
