"""`python -m tests.composed [PYTEST-ARGUMENTS]`: builds, starts, tests, and takes everything down.

The suites that are run are clients of the system: with CONCORD_SYSTEM naming the folder of its
`credentials.json`, they run against any other just so.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from concord_embedded import distributed_secrets
from concord_testing.scraping import free_port

from tests.composed import engine, images

SUITES = (
    "tests/page/test_page_story.py",
    "tests/e2e/test_client_through_gateway.py",
    "tests/e2e/test_mcp.py",
    "tests/e2e/test_one_key_starves_none.py",
    "tests/composed",
)
DEPLOY = images.ROOT / "deploy"
PAGE = Path(__file__).parent / "page.yaml"
PROJECT = "concord-test"


def main(arguments: Sequence[str]) -> int:
    """Run the suites, or what pytest is told to; return its exit status."""
    with tempfile.TemporaryDirectory(prefix="concord-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        with engine.running(folder) as environ:
            images.build(environ, folder)
            with _started(environ, folder) as tested:
                command = [sys.executable, "-W", "error", "-m", "pytest", "-m", "", "-n", "0"]
                return subprocess.run(
                    [*command, *(arguments or SUITES)], cwd=images.ROOT, env=tested, check=False
                ).returncode


@contextmanager
def _started(environ: Mapping[str, str], folder: Path) -> Iterator[Mapping[str, str]]:
    """The composed system, up and ready; what tests need to reach it and to kill its parts."""
    secrets = folder / "secrets"
    grpc, http = free_port(), free_port()
    distributed_secrets.make(secrets, url=f"127.0.0.1:{grpc}", http_url=f"http://127.0.0.1:{http}")
    user = distributed_secrets.CONTAINER_USER if os.geteuid() == 0 else os.geteuid()
    instead = images.instead_of_public(environ)
    environ = {
        **environ,
        **instead,
        "CONCORD_SECRETS": str(secrets),
        "CONCORD_USER": f"{user}:{user if os.geteuid() == 0 else os.getegid()}",
        "CONCORD_IMAGES": images.NAMES,
        "CONCORD_PORT": str(grpc),
        "CONCORD_HTTP_PORT": str(http),
    }
    files = [DEPLOY / "compose.yaml", *([DEPLOY / "compose.test.yaml"] if instead else []), PAGE]
    compose = [*_program(environ, folder), "-p", PROJECT]
    compose += [part for file in files for part in ("-f", str(file))]
    try:
        up = [*compose, "up", "-d", "--no-build", "--wait", "--wait-timeout", "300"]
        if subprocess.run(up, env=environ, check=False).returncode:
            subprocess.run([*compose, "logs", "--tail", "20"], env=environ, check=False)
            raise SystemExit("The composed system did not come up: its logs stand above.")
        yield {**environ, "CONCORD_SYSTEM": str(secrets), "COMPOSE_COMMAND": shlex.join(compose)}
    finally:
        down = [*compose, "down", "--volumes", "--timeout", "5"]
        subprocess.run(down, env=environ, check=False)


def _program(environ: Mapping[str, str], folder: Path) -> list[str]:
    """Compose: COMPOSE_PROGRAM, which may name an .xz file that holds it."""
    program = shlex.split(environ.get("COMPOSE_PROGRAM") or "docker compose")
    if program[0].endswith(".xz"):
        return [images.unpacked(Path(program[0]), folder / "docker-compose")]
    return program


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except engine.EngineMissing as missing:
        sys.exit(str(missing))
