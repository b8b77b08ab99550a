"""Supports of facts, put together from a store's rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from concord_graph.domain.facts import Support


def supports_of(rows: Iterable[Sequence[Any]]) -> Sequence[Support]:
    """Return supports from rows (time, memory's id, place, edge's id), sorted.

    The place -1 says that facts ended then; without other rows, no fact of the memory is left.
    """
    found = []
    for (time, memory_id), group in groupby(rows, lambda row: (row[0], row[1])):
        edges = tuple(row[3] for row in group if row[2] >= 0)
        found.append(Support(memory_id, edges, time))
    return found
