"""A container engine: the one that answers, else one of the tests' own while they run."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

STARTS_WITHIN = 60.0
STOPS_WITHIN = 60.0


class EngineMissing(Exception):
    """There is no engine to test with; the text says what to do."""


@contextmanager
def running(folder: Path) -> Iterator[Mapping[str, str]]:
    """The environment in which `docker` reaches an engine. One that is started here keeps all that
    it has in `folder`, and is gone after the block, with every container and image.

    Raises:
        EngineMissing: none answers, and none can be started.
    """
    environ = {**os.environ, "DOCKER_BUILDKIT": "0"}  # the classic builder: it is everywhere
    if _answers(environ):
        yield environ
        return
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        raise EngineMissing(
            "No container engine answers: start Docker, or set DOCKER_HOST to one. As root one is "
            "started for the tests where `dockerd` is installed: apt-get install docker.io"
        )
    environ["DOCKER_HOST"] = f"unix://{folder / 'docker.sock'}"
    with (folder / "dockerd.log").open("w") as log:
        daemon = subprocess.Popen(_command(folder, environ["DOCKER_HOST"]), stdout=log, stderr=log)
    try:
        until = time.monotonic() + STARTS_WITHIN
        while not _answers(environ):
            if daemon.poll() is not None or time.monotonic() > until:
                raise EngineMissing((folder / "dockerd.log").read_text()[-2000:])
            time.sleep(0.1)
        yield environ
    finally:
        daemon.terminate()
        daemon.wait(STOPS_WITHIN)
        # Builds on the host's network leave this mounted, and the folder could not be removed.
        mounted = folder / "exec" / "netns" / "default"
        subprocess.run(["umount", str(mounted)], capture_output=True, check=False)


def _command(folder: Path, address: str) -> list[str]:
    """Without rules of the firewall's: containers reach one another, and nothing beyond."""
    return [
        *("dockerd", "-H", address, "--pidfile", str(folder / "pid")),
        *("--data-root", str(folder / "data"), "--exec-root", str(folder / "exec")),
        *("--iptables=false", "--ip-masq=false", "--oom-score-adjust", "0"),
    ]


def _answers(environ: Mapping[str, str]) -> bool:
    if shutil.which("docker", path=environ.get("PATH")) is None:
        return False
    asked = subprocess.run(["docker", "version"], env=environ, capture_output=True, check=False)
    return asked.returncode == 0
