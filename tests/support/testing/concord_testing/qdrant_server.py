"""A Qdrant server for tests: the one that QDRANT_URL names, else one that runs only for them.

The program that QDRANT_PROGRAM names runs it, else the stand-in, `tests/support/qdrant_stand_in`.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from concord_testing.scraping import two_free_ports

PROGRAM = "QDRANT_PROGRAM"
"""The variable with the path of a program: called as `PROGRAM DIR PORT`, it serves gRPC on PORT and
may serve HTTP on the next, writes only in DIR, its data in DIR/storage, demands the key that
QDRANT_API_KEY holds if any, and prints a line "ready"."""
_ROOT = Path(__file__).parents[4]
STAND_IN = (sys.executable, "-m", "tests.support.qdrant_stand_in")
"""The stand-in as such a program; its folder is the repository."""


class QdrantMissing(Exception):
    """There is no server to test with; the text names the settings."""


class LocalQdrant:
    """A server for the tests alone. It ends with this process, even if that is killed."""

    def __init__(self, folder: Path, program: Sequence[str]) -> None:
        self._storage = folder / "storage"
        self._command = ["setpriv", "--pdeathsig", "KILL", *program, str(folder.resolve())]
        self._port = two_free_ports()
        self._process: subprocess.Popen[str] | None = None
        self.url = f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Starts the server, on the data of a former run if any; returns once it is ready."""
        self._process = subprocess.Popen(
            [*self._command, str(self._port)], stdout=subprocess.PIPE, text=True, cwd=_ROOT
        )
        for line in self._process.stdout or ():
            if line.strip() == "ready":
                return
        raise QdrantMissing(f"{self._command} ended with {self._process.wait()}")

    def kill(self) -> None:
        """Ends it as a power cut would: kill -9."""
        self._end(signal.SIGKILL)

    def wipe(self) -> None:
        """Removes the server's data, while it does not run."""
        shutil.rmtree(self._storage)

    def pause(self, *, paused: bool) -> None:
        """Suspends the server, or lets it go on."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP if paused else signal.SIGCONT)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None and self._process.stdout is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process.stdout.close()
        self._process = None

    def __enter__(self) -> "LocalQdrant":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def local(folder: Path, environ: Mapping[str, str]) -> LocalQdrant:
    """A server by the program that QDRANT_PROGRAM names, else by the stand-in; not started yet.

    Raises:
        QdrantMissing: there is no such program. Tests must fail then, not be skipped.
    """
    if not (named := environ.get(PROGRAM)):
        return LocalQdrant(folder, STAND_IN)
    program = Path(named).resolve()
    if not os.access(program, os.X_OK) or program.is_dir():
        raise QdrantMissing(
            f"{PROGRAM} names no program ({program}). Without it, tests of the Qdrant server take "
            "the stand-in; QDRANT_URL names a server that they may write to."
        )
    return LocalQdrant(folder, [str(program)])


def stands_in(environ: Mapping[str, str]) -> bool:
    """Whether the server of the tests is the stand-in, whose figures are not a server's."""
    return not environ.get("QDRANT_URL") and not environ.get(PROGRAM)


@contextmanager
def serving(folder: Path, environ: Mapping[str, str]) -> Iterator[str]:
    """The address of the server that QDRANT_URL names, else of a local one within the block."""
    if url := environ.get("QDRANT_URL"):
        yield url
        return
    with local(folder, environ) as server:
        yield server.url


@contextmanager
def chosen(folder: Path) -> Iterator[None]:
    """While INDEX_STORE chooses a server, have QDRANT_URL name one."""
    if os.environ.get("INDEX_STORE") != "qdrant":
        yield
        return
    with serving(folder, os.environ) as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("QDRANT_URL", url)
        yield
