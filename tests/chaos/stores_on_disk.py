"""What stands in the stores of a system that is down, read from a copy."""

import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from concord.type.v1.type_pb2 import ITEM_KIND_MEMORY
from concord_search.adapters.edge import shard as shards
from concord_search.adapters.qdrant.keys import SpaceKey
from concord_search.adapters.qdrant.tenant import number_of
from concord_testing.index_files import every_state, keys_by_number

State = tuple[str, int]
"""A memory's id, and the sequence number of the change that made the state."""

MADE_NO_STATE = (6, 7)
"""TOUCHED and REFUSED."""


@contextmanager
def copy_of(data: Path, folder: Path) -> Iterator[Path]:
    """A copy of a data directory, so that looking at it mends nothing in it."""
    shutil.copytree(data, folder, ignore=shutil.ignore_patterns("*.sock"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def indexed(data: Path) -> set[State]:
    """Every state of a memory that the index holds; an edge is there only as it is now."""
    stamps = (data / "index").glob("*/stamp.json")
    keys = keys_by_number(data / "index")
    return {state for stamp in stamps for state in _states(stamp, keys)}


def _states(stamp: Path, keys: Mapping[int, SpaceKey]) -> Iterator[State]:
    current = json.loads(stamp.read_text("utf-8"))["shard"]
    with closing(shards.load(stamp.with_name(current))) as shard:
        for point, payload in every_state(shard):
            if "edge" not in payload:
                yield keys[number_of(point)].id_of(payload["item"]), int(payload["seq"])


def remembered(data: Path) -> set[State]:
    """Every state of a memory that graph ever had."""
    with closing(sqlite3.connect(data / "graph" / "graph.db")) as database:
        rows = database.execute(
            "SELECT item_id, seq FROM change WHERE item_kind = ? AND type NOT IN (?, ?)",
            (int(ITEM_KIND_MEMORY), *MADE_NO_STATE),
        )
        return set(rows)
