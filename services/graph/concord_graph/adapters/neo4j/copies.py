"""Reads graph's part of a Neo4j database for a backup: its nodes, by label."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping
from typing import Any

from concord_stores.neo4j_copy import Rows

from concord_graph.adapters.neo4j.schema import VERSION
from concord_graph.adapters.stored import CHANGE_COLUMNS, change_of
from concord_graph.usecases.governed.change_digest import digest_of

STAMP = "concord"
_CONSTITUTIVE_MEMORY = {"Memory", "Constitutive"}
"""Labels that only live constitutive memories have together."""


class Neo4jCopy:
    """Graph's part of a database, from its nodes: `take` each, then `take_change` each.

    Without changes it has no digests.
    """

    NEWEST = VERSION
    """The newest version of the schema that this program knows."""
    HEAD = "Space"
    """The label of the spaces' nodes."""
    GATE = "FeedPartition"
    """The label of the few nodes of which each commit locks one. They belong to no space."""
    RECEIPTS = ("Erasure", "Nonce")
    """The labels of the receipts of erasures and of burnt nonces, which no restore may undo."""

    def __init__(self) -> None:
        self._rows = Rows(STAMP, (self.HEAD, *self.RECEIPTS))
        self._changes: dict[tuple[str, int], Mapping[str, Any]] = {}
        self.constitutive: set[tuple[str, str]] = set()
        """(space, id) of each live constitutive memory."""

    def take(self, labels: Collection[str], properties: Mapping[str, Any]) -> None:
        """Keep a node, unless it is a change or of no matter to a backup."""
        if _CONSTITUTIVE_MEMORY.issubset(labels):
            self.constitutive.add((properties["space"], properties["id"]))
        self._rows.take(labels, properties)

    def take_change(
        self,
        labels: Collection[str],
        properties: Mapping[str, Any],
        wanted: Container[tuple[str, int]],
    ) -> None:
        """Keep a node that is one of the `wanted` changes, (space, sequence number)."""
        if "Change" in labels and (properties["space"], properties["seq"]) in wanted:
            self._changes[properties["space"], properties["seq"]] = properties

    @property
    def epoch(self) -> str:
        return str(self._rows.stamp()["epoch"])

    @property
    def schema(self) -> int:
        return int(self._rows.stamp()["schema"])

    def heads(self) -> Mapping[str, int]:
        return {row["space"]: int(row["seq"]) for row in self._rows.of(self.HEAD) if row.get("seq")}

    def digest_at(self, space: str, seq: int, epoch: str) -> str:
        change = self._changes.get((space, seq))
        if change is None:
            return ""
        return digest_of(epoch, change_of([change.get(name) for name in CHANGE_COLUMNS]))

    def erasures(self) -> Iterator[tuple[str, str]]:
        yield from sorted((row["space"], row["memory_id"]) for row in self._rows.of("Erasure"))

    def nonces(self) -> Iterator[tuple[str, str]]:
        yield from sorted((row["space"], row["nonce"]) for row in self._rows.of("Nonce"))
