"""Services' pages list all of their RPC services."""

import re
from pathlib import Path

import pytest
from concord_gateway.contracts import services

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["graph", "search", "dissonance", "governance"])
def test_a_services_page_names_its_rpc_services(name: str) -> None:
    """Style 19: all that its contracts have, and no other."""
    page = (ROOT / "services" / name / "README.md").read_text("utf-8")
    package = f"concord.{name}.v1."

    assert set(re.findall(r"`(\w+Service)`", page)) == {
        each.name for each in services() if each.full_name.startswith(package)
    }
