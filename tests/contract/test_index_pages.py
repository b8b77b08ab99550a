"""What lists others lists all of them: the index of decisions, services' pages, `make`."""

import re
import subprocess
from pathlib import Path

import pytest
from concord_gateway.contracts import services

ROOT = Path(__file__).parents[2]
DECISIONS = ROOT / "services" / "decisions"
INDEX = (DECISIONS / "README.md").read_text("utf-8")
ROWS = re.findall(r"^\| \[(\d{4})\]\((.*?)\) \| (.*?) \| (.*?) \| ?(.*?) ?\|$", INDEX, re.M)
PAGES = sorted(page.name for page in DECISIONS.glob("[0-9]*.md"))
ROOMS = {
    *("graph", "search", "dissonance", "governance", "gateway", "client"),
    *("libs", "deploy", "all"),
}


def test_the_index_lists_every_decision_once() -> None:
    """Style 19: by a number of its own, with its question, service and later page."""
    numbers = [number for number, *_ in ROWS]

    assert [page for _, page, *_ in ROWS] == PAGES
    assert INDEX.count("\n| [") == len(ROWS)
    assert numbers == [page[:4] for page in PAGES]
    assert len(numbers) == len(set(numbers))
    for number, _, question, rooms, replaced in ROWS:
        assert question.endswith("?"), number
        assert set(rooms.split(", ")) <= ROOMS, number
        later = re.findall(r"\d{4}", replaced)
        assert later or not replaced, number
        assert all(by > number and by in numbers for by in later), number


def test_no_text_names_a_decision_that_is_not_there() -> None:
    """Style 19: of all files that are kept, "decision 0001" and "decisions/0001" mean a page."""
    found = subprocess.run(
        ["git", "grep", "-hoE", "decisions?[ /][0-9]{4}[^0-9]"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    named = set(re.findall(r"\d{4}", found.stdout))

    assert "0009" in named
    assert named <= {page[:4] for page in PAGES}


@pytest.mark.parametrize("name", ["graph", "search", "dissonance", "governance"])
def test_a_services_page_names_its_rpc_services(name: str) -> None:
    """Style 19: all that its contracts have, and no other."""
    page = (ROOT / "services" / name / "README.md").read_text("utf-8")
    package = f"concord.{name}.v1."

    assert set(re.findall(r"`(\w+Service)`", page)) == {
        each.name for each in services() if each.full_name.startswith(package)
    }


def test_the_menu_lists_every_target_in_one_of_three_groups() -> None:
    """Style 17: whatever target says in the Makefile what it does."""
    made = subprocess.run(["make", "-s"], cwd=ROOT, capture_output=True, text=True, check=True)
    makefile = (ROOT / "Makefile").read_text("utf-8")

    assert re.findall(r"^(\w.*):$", made.stdout, re.M) == [
        *("Use it", "Develop it", "Operate and distribute it"),
    ]
    listed = re.findall(r"^  make ([a-z0-9-]+) ", made.stdout, re.M)
    assert sorted(listed) == sorted(re.findall(r"^([a-z0-9-]+):.* ##", makefile, re.M))
    assert {"run", "one", "quick", "compose-up"} <= set(listed)
