import re
from pathlib import Path

import concord_gateway
import pytest
from concord_gateway import contracts

ROOT = Path(concord_gateway.__file__).parent
ROOMS = sorted([*ROOT.glob("grpc/*.py"), *ROOT.glob("http/*.py")])


def words_of_the_contracts() -> set[str]:
    """The names of packages, services, methods and messages."""
    found: set[str] = set()
    for service in contracts.services():
        found |= {service.file.package, service.name, *(method.name for method in service.methods)}
        found |= {name for method in service.methods for name in (method.input_type.name,)}
    return found


@pytest.mark.parametrize("path", ROOMS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_rooms_know_no_contract(path: Path) -> None:
    """Style 4: these two rooms contain no domain word."""
    said = set(re.findall(r"[A-Za-z_.0-9]+", path.read_text()))

    assert set() == said & words_of_the_contracts()
    assert not re.search(r"(from|import) concord\.(?!errors|rules)", path.read_text())


def test_nothing_starts_at_import() -> None:
    """Style 7: no module of the gateway calls out while it is imported."""
    for path in ROOT.rglob("*.py"):
        if path.name != "__main__.py":
            assert "os.environ" not in path.read_text()
