"""The paths of Neo4j's jars, which Maven fetches if they are missing."""

import fcntl
import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

from concord_neo4j.errors import CannotStart

_POM = Path(__file__).with_name("pom.xml")
_FETCH_SECONDS = 900
_LAST_LINES = 15


def java() -> str:
    """Return the path of the Java program.

    Raises:
        CannotStart: Java is not installed.
    """
    return _program("java", "openjdk-17-jdk-headless")


def cache() -> Path:
    """Return the folder in which the class path is cached."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "concord" / "neo4j"


def class_path(folder: Path) -> str:
    """Return Neo4j's class path from the cache in `folder`, or from Maven if it is not there.

    Raises:
        CannotStart: Maven is missing, or cannot fetch the jars.
    """
    known = folder / f"class-path-{sha256(_POM.read_bytes()).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:  # of concurrent processes only one fetches
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (known.exists() and all(Path(jar).exists() for jar in known.read_text().split(":"))):
            fetched = known.with_suffix(".tmp")
            _maven("-f", str(_POM), "dependency:build-classpath", f"-Dmdep.outputFile={fetched}")
            fetched.replace(known)
        return known.read_text()


def _maven(*arguments: str) -> None:
    command = [_program("mvn", "maven"), "-q", "-B", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_FETCH_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise CannotStart(
            f"Maven did not fetch Neo4j within {_FETCH_SECONDS} s: try again, it goes on from there"
        ) from None
    if done.returncode:
        output = "\n".join((done.stdout + done.stderr).strip().splitlines()[-_LAST_LINES:])
        raise CannotStart(f"Maven cannot fetch Neo4j (`{' '.join(command)}`):\n{output}")


def _program(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise CannotStart(f"`{name}` is missing: apt-get install {package}")
    return found
