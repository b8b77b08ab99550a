"""Tests that statements share: which revision of a row is read, that of now or as known at
:record."""

from __future__ import annotations

import json
from collections.abc import Collection

from concord_graph.domain.items import FOREVER

IDS = "(SELECT value FROM json_each(:ids))"
# without these hints, the planner takes the indexes that hold all former revisions, too
AT_END = {"source_id": "edge_triple", "target_id": "edge_target"}
CONSTITUTIVE_AT_END = {
    "source_id": "edge_constitutive_source",
    "target_id": "edge_constitutive_target",
}


def ids_of(ids: Collection[str]) -> str:
    """Return ids as JSON text, which statements pass to json_each."""
    return json.dumps(list(ids))


def by(index: str, now: bool) -> str:
    """Return the hint to use this partial index, which holds only current rows."""
    return f"INDEXED BY {index}" if now else ""


def current(alias: str, now: bool) -> str:
    """Return the test that a row is the revision known at the instant; tombstones pass, too."""
    if now:  # a literal, so that the partial indexes apply
        return f"{alias}.record_until = {FOREVER}"
    return f"({alias}.record_from <= :record AND {alias}.record_until > :record)"


def live(alias: str, now: bool) -> str:
    """Return the test that a row is current and not deleted."""
    return f"{current(alias, now)} AND {alias}.deleted = 0"
