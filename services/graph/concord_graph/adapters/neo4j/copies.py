"""Reads a copy of graph's part of a Neo4j database for a backup: its nodes, by label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from concord_graph.adapters.changes import COLUMNS, change_of
from concord_graph.usecases.governed.change_digest import digest_of

STAMP = "concord"
HEAD = "Space"
CHANGE = "Change"
CONSTITUTIVE_MEMORY = {"Memory", "Constitutive"}
"""Labels that only live constitutive memories have together."""
RECEIPTS = ("Erasure", "Nonce")
"""The labels of the receipts of erasures and of burnt nonces, which no restore may undo."""

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""The properties of a copy's nodes, by label."""


def stamped(rows: Rows) -> tuple[str, int]:
    """Return the store's epoch and the version of its schema."""
    (found,) = (each for each in rows["Store"] if each["key"] == STAMP)
    return str(found["epoch"]), int(found["schema"])


def heads(rows: Rows) -> Mapping[str, int]:
    """Return the last sequence number of each space that has a change."""
    return {each["space"]: int(each["seq"]) for each in rows[HEAD] if each.get("seq")}


def digest_of_change(change: Mapping[str, Any], epoch: str) -> str:
    """Return the digest of a change under an epoch."""
    return digest_of(epoch, change_of([change.get(name) for name in COLUMNS]))


def erasures(rows: Rows) -> Iterator[tuple[str, str]]:
    """Yield the (space, memory id) of every receipt of an erasure."""
    yield from sorted((each["space"], each["memory_id"]) for each in rows["Erasure"])


def nonces(rows: Rows) -> Iterator[tuple[str, str]]:
    """Yield the (space, nonce) of every burnt nonce."""
    yield from sorted((each["space"], each["nonce"]) for each in rows["Nonce"])
