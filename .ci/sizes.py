"""Fails on a room above its ceiling, and on a module over 400 lines or a folder over 25 files.

A room's ceiling falls by deletion: whoever takes lines out lowers it. It rises only by a line in
`RISES`, with its reason; those of before 2026-11-28 are in this file's history. A module or folder
that is listed with a ceiling of its own leaves the list when it needs it no more.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_LINES, MOST_FILES = 400, 25
GENERATED = "protos/gen/"
ROOMS = {
    "deploy/embedded": 2732,
    "deploy/neo4j": 306,
    "gateway/client": 26754,
    "gateway/concord_gateway": 7924,
    "gateway/mcp_server": 3282,
    "protos/concord": 9354,
    "services/dissonance": 14912,
    "services/governance": 9969,
    "services/graph": 31910,
    "services/libs/attestation": 2197,
    "services/libs/chassis": 4849,
    "services/libs/concepts": 684,
    "services/libs/models": 857,
    "services/libs/reading": 3743,
    "services/libs/stores": 1304,
    "services/search": 16883,
    "tests": 120119,
    "tools": 639,
}
"""The most lines of a room's Python, SQL and contracts, without tests, and of all tests."""
RISES: list[tuple[str, int, str]] = []
"""Lines that a room may have above its ceiling, and what for."""
SLACK = 100
"""Lines that a room may be below its ceiling before the ceiling falls."""
LINES: dict[str, int] = {
    "gateway/client/tests/test_cli_governance.py": 480,
    "gateway/client/tests/test_import_chat.py": 500,
    "gateway/tests/gateway_echo.py": 450,
    "gateway/tests/test_gateway_http_unary.py": 500,
    "services/graph/tests/graph_world.py": 768,
    "services/libs/attestation/tests/test_consent_checks.py": 600,
    "services/dissonance/tests/test_judges_text.py": 450,
    "services/libs/reading/tests/test_reading_contract.py": 450,
    "services/libs/reading/tests/test_times.py": 475,
    "tests/adversary/attack.py": 800,
    "tests/adversary/test_governance_guards.py": 900,
    "tests/contract/cases/contract_homes.py": 661,
    "tests/e2e/test_access.py": 550,
    "tests/e2e/test_search_service.py": 700,
    "tests/e2e/test_signing_page.py": 450,
    "tests/governed/governed_world.py": 510,
    "tests/security/test_guards.py": 750,
    "tests/security/test_space_isolation.py": 470,
}
FILES = {
    "gateway/client/tests": 62,  # a module a command, or a matter of an importer
    "services/decisions": 114,  # a page a decision
    "services/dissonance/tests": 27,  # a module a noun of dissonance's
    "services/graph/concord_graph/domain": 26,  # a module a noun of graph's domain
    "services/graph/tests": 102,  # a module a noun of graph's
    "services/search/concord_search/usecases": 30,  # a module a use case
    "services/search/tests": 38,  # a module a noun of search's
    "tests/adversary": 26,  # a module a kind of attack
    "tests/bench/findings/worlds": 34,  # a collection of memories and its gold
    "tests/bench": 68,  # a module a figure that `make bench` prints
    "tests/contract/cases": 46,  # a module a noun of the contracts, and what they are made from
    "tests/e2e": 87,  # a module a promise that takes several services
}


def tracked() -> list[str]:
    """Return the paths of all files of the repository, but for generated ones."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return [
        p
        for p in listed.stdout.splitlines()
        if not p.startswith(GENERATED) and (ROOT / p).is_file()
    ]


def room_of(path: str) -> str:
    """The room of a file: a service, a library, a door; "tests" or "tools" for what is neither."""
    parts = path.split("/")
    if "tests" in parts or path == "conftest.py":
        return "tests"
    if parts[0] not in {"services", "gateway", "deploy", "protos"} or len(parts) == 2:
        return "tools"
    return "/".join(parts[: 3 if parts[:2] == ["services", "libs"] else 2])


def room_breaches(rooms: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each room that is above its ceiling, far below it, or has none."""
    for room in sorted({*rooms, *ROOMS}):
        size = rooms.get(room, 0)
        ceiling = ROOMS.get(room, 0) + sum(more for name, more, _ in RISES if name == room)
        if size > ceiling:
            yield f"{room}: {size} lines, at most {ceiling}"
        elif size < ceiling - SLACK:
            yield f"{room}: {size} lines: lower its ceiling of {ceiling}"


def breaches(sizes: Mapping[str, int], most: int, ceilings: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each size above its limit, and for each ceiling that is needed no more."""
    for path, size in sorted(sizes.items()):
        if size > ceilings.get(path, most):
            yield f"{path}: {size}, at most {ceilings.get(path, most)}"
    for path in ceilings:
        if sizes.get(path, 0) <= most:
            yield f"{path}: {sizes.get(path, 0)} needs no exception: take out its line"


def main() -> int:
    """Print what is too long; return 1 if anything is."""
    paths = tracked()
    counted = {
        p: len((ROOT / p).read_text("utf-8").splitlines())
        for p in paths
        if p.endswith((".py", ".sql", ".proto", ".js", ".css")) and "/vendor/" not in p
    }
    rooms: Counter[str] = Counter()
    for path, size in counted.items():
        rooms[room_of(path)] += size
    modules = {p: size for p, size in counted.items() if p.endswith(".py")}
    folders = Counter(str(Path(p).parent) for p in paths)
    found = [
        *room_breaches(rooms),
        *breaches(modules, MOST_LINES, LINES),
        *breaches(folders, MOST_FILES, FILES),
    ]
    for line in found:
        print(line)  # noqa: T201 # a check says what it found
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
