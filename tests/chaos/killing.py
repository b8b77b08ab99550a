"""Running the real system and killing it: `concord up` in a process of its own."""

import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Timer

from concord_client import credentials
from concord_client.client import Client
from concord_client.credentials import Role, Target
from concord_client.refusal import Refused
from concord_testing.up_process import COMMAND, Spawned, clean_environ

SEED_SETTING = "CONCORD_CHAOS_SEED"


def seed() -> int:
    """The setting's, to repeat a run; else a new one, printed."""
    drawn = int(os.environ.get(SEED_SETTING) or random.randrange(1 << 31))
    print(f"{SEED_SETTING}={drawn}")
    return drawn


@contextmanager
def client_of(server: Spawned, role: Role = Role.AGENT) -> Iterator[Client]:
    """A client of the server's space "default"."""
    key = credentials.read(server.data / credentials.FILE_NAME).key("default", role)
    assert key
    with Client(Target(server.url, key)) as client:
        yield client


@contextmanager
def killed_after(server: Spawned, seconds: float) -> Iterator[None]:
    """Kills the server (SIGKILL) so many seconds after the block began, whatever that does then.

    The block's calls are refused from then on, which is not told; the server is dead afterwards.
    """
    dead = Event()

    def kill() -> None:
        dead.set()
        server.process.kill()

    timer = Timer(seconds, kill)
    timer.start()
    try:
        yield
    except Refused:
        if not dead.is_set():
            timer.cancel()
            raise
    timer.join()
    server.ended()


def kill_while_starting(data: Path, seconds: float) -> None:
    """Starts the system and kills it so soon that it may not be ready."""
    command = [*COMMAND, "up", "--data", str(data), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=clean_environ()) as process:
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        process.kill()
