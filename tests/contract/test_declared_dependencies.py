"""Every distribution declares what it imports, so that it can be installed alone."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DISTRIBUTIONS = sorted(
    path.parent
    for pattern in ("services/*", "services/libs/*", "gateway", "gateway/client", "deploy/*")
    for path in ROOT.glob(f"{pattern}/pyproject.toml")
)
PROVIDERS = packages_distributions()
OF_EXTRAS = {"langgraph": ["langgraph-checkpoint"]}
"""Those of extras that are not installed where the tests run."""


def normal(name: str) -> str:
    """Return a distribution's name as PyPI compares it, without versions."""
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=\[;~ ]", name)[0]).lower()


def declared(distribution: Path) -> set[str]:
    """Return what a distribution says that it needs."""
    project = tomllib.loads((distribution / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project.get("optional-dependencies", {}).values()
    return {normal(each) for part in (project["dependencies"], *extras) for each in part}


def imported(package: Path) -> Iterator[tuple[str, Path]]:
    """Yield the modules that a package imports, with the file that does."""
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((alias.name, file) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                yield node.module, file


def providers(module: str) -> set[str]:
    """Return the distributions that hold a module."""
    top = module.partition(".")[0]
    if top == "concord":
        return {"concord-protos"}
    if top.startswith("concord_"):
        return {normal(top)}
    if top == "google":  # shared by several distributions
        rpc = module.startswith("google.rpc")
        return {"googleapis-common-protos" if rpc else "protobuf"}
    return {normal(each) for each in PROVIDERS.get(top) or OF_EXTRAS.get(top, [top])}


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=lambda path: path.name)
def test_a_distribution_declares_what_it_imports(distribution: Path) -> None:
    """Must hold: nothing is there only because another distribution brings it."""
    packages = [path for path in distribution.glob("concord_*") if path.is_dir()]
    known = {*sys.stdlib_module_names, *(package.name for package in packages)}
    needs = declared(distribution)

    undeclared = {
        f"{file.relative_to(ROOT)}: {module}"
        for package in packages
        for module, file in imported(package)
        if module.partition(".")[0] not in known and not providers(module) & needs
    }

    assert undeclared == set()
