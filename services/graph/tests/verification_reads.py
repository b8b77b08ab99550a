"""The gate of the verification reads (G13): a function of theirs that has an untested line or
branch, or is there no more, is named, and the exit status is 1.

Reads what `coverage json` wrote of graph's tests, from the file that is its argument.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

READS = {
    "servicer/graph.py": ("GetNode", "GetEdge", "_edge", "_near_triple"),
    "servicer/memory.py": ("GetMemory",),
    "servicer/episode.py": ("ListEpisodes",),
    "servicer/space.py": ("CountByType",),
    "usecases/read/items.py": ("get_node", "get_edge", "get_edge_of_triple", "get_memory"),
    "usecases/read/near_names.py": ("near_names", "near_triple", "_near_relations"),
}
"""The functions that answer them, by module. What they call serves other reads as well."""


def untested(report: dict[str, Any]) -> Iterator[str]:
    """Yield what no test took of these functions and of the functions within them."""
    for module, names in READS.items():
        (functions,) = (
            each["functions"] for path, each in report["files"].items() if path.endswith(module)
        )
        for name in names:
            taken = {key: each for key, each in functions.items() if name in key.split(".")}
            if not taken:
                yield f"{module}: there is no {name}"
            for key, each in taken.items():
                if missing := each["missing_lines"] + each["missing_branches"]:
                    yield f"{module}: {key}: {missing}"


if __name__ == "__main__":
    found = list(untested(json.loads(Path(sys.argv[1]).read_bytes())))
    sys.exit("\n".join(["No test takes:", *found]) if found else 0)
