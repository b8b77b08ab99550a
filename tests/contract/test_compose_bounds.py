"""What the composed system may take of a machine, and what `make` says where it cannot start."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "deploy").glob("compose*.yaml"))
MEASURED = {
    **{"search": 273, "dissonance": 184, "graph": 113, "gateway": 104, "governance": 77},
    "neo4j": 800,
}
"""MB that each took, as compose.yaml says."""


class Loader(yaml.SafeLoader):
    """Reads Compose's own tags, too."""


Loader.add_multi_constructor("!", lambda loader, _, node: loader.construct_sequence(node))


def services(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return what a file says of each service."""
    read: Mapping[str, Any] = yaml.load(path.read_text("utf-8"), Loader)
    found: Mapping[str, Mapping[str, Any]] = read["services"]
    return found


BASE = services(ROOT / "deploy" / "compose.yaml")


def merged() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each service of each file, over what it builds on: an overlay's is compose.yaml's."""
    for path in FILES:
        for name, said in services(path).items():
            extended = said.get("extends", {})
            assert extended.get("file", "compose.yaml") == "compose.yaml"
            under = BASE.get(extended.get("service", name), {})
            yield f"{path.name}: {name}", {**under, **said}


def test_every_service_has_bounds() -> None:
    """W6 W10 Logs, memory, processes and threads of each are bounded, whichever files are put
    over one another."""
    found = dict(merged())
    assert {"compose.yaml: operator", "compose.replicas.yaml: search"} <= found.keys()
    for name, service in found.items():
        logging = service["logging"]
        assert logging["driver"] == "json-file", name
        assert re.fullmatch(r"\d+m", logging["options"]["max-size"]), name
        assert int(logging["options"]["max-file"]) > 1, name
        assert 0 < service["pids_limit"] <= 1024, name
        assert megabytes(service["mem_limit"]) > 0, name


@pytest.mark.parametrize("name", MEASURED)
def test_a_services_limit_leaves_it_room(name: str) -> None:
    """W10 It is for leaks: what was measured is well below it, and stands in the file."""
    comment = (ROOT / "deploy" / "compose.yaml").read_text("utf-8").split("x-bounds")[0]

    assert re.search(rf"{name} {MEASURED[name]}\b", comment, re.I)
    assert megabytes(BASE[name]["mem_limit"]) >= 1.5 * MEASURED[name]


def megabytes(limit: str) -> int:
    """Return the limit that a file names, where no setting names another."""
    number, unit = re.fullmatch(r"\$\{[A-Z0-9]+_MEMORY:-(\d+)([mg])\}", limit).groups()  # type: ignore[union-attr]
    return int(number) * {"m": 1, "g": 1024}[unit]


@pytest.mark.parametrize("target", ["compose-up", "compose-backup", "compose-down"])
def test_without_compose_make_says_what_to_install(tmp_path: Path, target: str) -> None:
    """W1 Before it does anything: which packages, and which variable."""
    (tmp_path / "docker").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "docker").chmod(0o755)
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MAKE", "COMPOSE"))
    }
    made = subprocess.run(
        ["make", "-s", target],
        cwd=ROOT,
        env=environ | {"PATH": f"{tmp_path}:{environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert made.returncode != 0
    for word in ("docker.io", "docker-compose-v2", "docker-compose-plugin", "COMPOSE_PROGRAM"):
        assert word in made.stderr
    assert made.stdout == ""


def played(target: str) -> str:
    """What `make` would do."""
    words = ["make", "-n", target, "COMPOSE_PROGRAM=compose", "BACKUP=concord-1"]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        words, cwd=ROOT, env=environ, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout


def test_the_operators_image_is_built_with_the_others() -> None:
    """W10 Once, with the services that it must fit; a backup builds nothing, nor does a restore."""
    assert "--profile operator build" in played("compose-up")
    for target in ("compose-backup", "compose-restore"):
        assert "run --rm operator backup" in played(target)
        assert "build" not in played(target)
