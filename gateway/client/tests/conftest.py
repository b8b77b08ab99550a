"""One running system for the whole run, and the command line before it."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from concord_testing.command_line import CommandLine, Unique
from concord_testing.up_process import Spawned, spawned
from two_signers import enrolled, environ_of


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spawned]:
    """A running system, shared by all tests: each uses ids and names of its own."""
    with spawned(tmp_path_factory.mktemp("system") / "data") as running:
        yield running
        assert running.stop() == 0


@pytest.fixture(scope="session")
def concord(system: Spawned) -> CommandLine:
    """The command line, in this process."""
    return CommandLine(system.environ)


@pytest.fixture(scope="session")
def governed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spawned]:
    """A running system whose space "default" both principals govern (`signers`)."""
    with spawned(tmp_path_factory.mktemp("governed") / "data") as running:
        yield running


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the keys of both principals and their memory of the governed system are kept."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def environ(governed: Spawned, home: Path) -> dict[str, str]:
    """The variables of both principals' commands."""
    return environ_of(governed, home)


@pytest.fixture(scope="session")
def signers(environ: dict[str, str]) -> CommandLine:
    """The command line of somebody who holds both keys and has enrolled them."""
    return enrolled(environ)


@pytest.fixture
def unique() -> Unique:
    """Makes an id that no other test uses."""
    tail = uuid4().hex[:12]
    return lambda name: f"{name}-{tail}"
