"""Builds the HNSW graph of a closed shard, in a process of its own at the lowest priority.

    python -m concord_search.adapters.edge.hnsw DIRECTORY DIMENSION

The engine's Python binding holds the global lock for the minutes that the build takes.
"""

import os
import sys
from pathlib import Path

import qdrant_edge as qdrant

from concord_search.adapters.edge.shard import BUILT, config


def build(path: Path, dimension: int) -> None:
    """Builds the graph over every point, in one segment, in place of the former segments."""
    engine = qdrant.EdgeShard.load(str(path), config(dimension, index_from=1))
    engine.optimize()
    indexed = engine.info().indexed_vectors_count
    engine.close()
    (path / BUILT).write_text(str(indexed), "ascii")


if __name__ == "__main__":
    os.nice(19)
    build(Path(sys.argv[1]), int(sys.argv[2]))
