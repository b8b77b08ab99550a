"""What tests may import, read from their source."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OWNERS = {
    "services/graph/tests": "concord_graph",
    "services/search/tests": "concord_search",
    "services/governance/tests": "concord_governance",
    "gateway/tests": "concord_gateway",
    "gateway/client/tests": "concord_client",
}
# The client is what signs and asks, and both doors serve the tools for agents; the rest are every
# service's libraries.
LIBRARIES = frozenset(
    f"concord_{name}"
    for name in (
        *("attestation", "chassis", "concepts", "models", "reading", "stores", "testing"),
        *("client", "hook", "mcp", "neo4j"),
    )
)


IMPORT = re.compile(r"^ *(?:from (\S+) import|import (\S+))", re.MULTILINE)
"""An import, as ruff leaves it: of one module a line."""


def imports(file: Path) -> Iterator[str]:
    """Yield the modules that a file imports, also within functions."""
    for source, module in IMPORT.findall(file.read_text("utf-8")):
        yield source or module


def modules() -> Iterator[Path]:
    """Yield every module of ours below a `tests` folder."""
    for folder in (ROOT / "services", ROOT / "gateway", ROOT / "deploy", ROOT / "tests"):
        files = (file for file in folder.rglob("*.py") if "tests" in file.parts)
        yield from (file for file in files if "node_modules" not in file.parts)


@pytest.mark.parametrize("folder", OWNERS)
def test_a_services_tests_import_that_service_and_the_libraries(folder: str) -> None:
    """Style 20: what needs two services stands in `tests/`."""
    known = LIBRARIES | {OWNERS[folder]}
    foreign = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in (ROOT / folder).rglob("*.py")
        for name in imports(file)
        if name.partition(".")[0].startswith("concord_") and name.partition(".")[0] not in known
    }

    assert foreign == set()


def test_tests_import_helpers_never_each_other() -> None:
    """Style 20: a test can be moved or deleted without another one noticing."""
    borrowed = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in modules()
        for name in imports(file)
        if name.rpartition(".")[2].startswith("test_")
    }

    assert borrowed == set()
