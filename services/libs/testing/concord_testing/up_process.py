"""A real `concord up` in a process of its own, for tests that stop it or kill it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

STOP_WITHIN = 100.0
"""Seconds; a stop takes below one where nothing else is at work."""

COMMAND = (sys.executable, "-W", "error", "-m", "concord_client")
"""`concord`, with everything that Python warns of being an error."""


@dataclass(frozen=True)
class Spawned:
    """A running process and where it listens."""

    process: subprocess.Popen[str]
    data: Path
    url: str
    http_url: str

    @property
    def environ(self) -> dict[str, str]:
        """What a command needs to find it, and nothing of Concord's that the machine has set."""
        return clean_environ() | {"CONCORD_DATA": str(self.data)}

    def stop(self) -> int:
        """Sends SIGTERM and returns the exit status."""
        self.process.terminate()
        return self.process.wait(STOP_WITHIN)

    def kill(self) -> None:
        """Sends SIGKILL: nothing is flushed or cleaned up."""
        self.process.kill()
        self.process.wait(STOP_WITHIN)


def clean_environ() -> dict[str, str]:
    """The process's environment without Concord's own variables."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CONCORD_")}


@contextmanager
def spawned(
    data: Path, port: int = 0, settings: Mapping[str, str] | None = None
) -> Iterator[Spawned]:
    """`concord up` on `data`, ready; stopped after the block if it still runs."""
    command = [*COMMAND, "up", "--data", str(data), "--port", str(port), "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=clean_environ() | dict(settings or {})
    ) as process:
        try:
            assert process.stdout is not None  # noqa: S101 - piped above
            told = json.loads(process.stdout.readline())
            yield Spawned(process, data, told["url"], told["httpUrl"])
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(STOP_WITHIN)
