"""Reads the ledger's nodes of a Neo4j database: log heads, ended keys, deleted spaces."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Any

from concord_attestation.tree import Frontier
from concord_stores.neo4j_copy import Rows

from concord_governance.adapters.neo4j.access import key_of_fields, space_of_fields
from concord_governance.adapters.neo4j.schema import STAMP, VERSION
from concord_governance.domain.access import ApiKey, Space
from concord_governance.ports.copies import EndedKey, LogHead
from concord_governance.ports.ledger import Cursor


class Neo4jCopy:
    """The ledger's part of a database, from its nodes: `take` each, then `take_hash` each.

    Without hashes it has no log heads.
    """

    NEWEST = VERSION
    """The newest version of the schema that this program knows."""
    HEAD = "ConcordLedger"
    """The label of the nodes that writers lock."""
    SPACE = "ConcordSpace"
    ACCESS = ("ConcordKey", SPACE)
    """The labels of spaces and keys, which are written under the lock of the operators' space."""

    def __init__(self) -> None:
        self._rows = Rows(STAMP, (self.HEAD, *self.ACCESS))
        self._hashes: dict[tuple[str, int, int], bytes] = {}

    def take(self, labels: Collection[str], properties: Mapping[str, Any]) -> None:
        """Keep a node, unless it is a hash of a log or of no matter to a backup."""
        self._rows.take(labels, properties)

    def take_hash(self, labels: Collection[str], properties: Mapping[str, Any]) -> None:
        """Keep a node that is a hash on the edge of a log."""
        if "ConcordSubtree" in labels:
            place = (properties["space"], properties["level"], properties["place"])
            if place in self._edges:
                self._hashes[place] = properties["hash"]

    @property
    def schema(self) -> int:
        return int(self._rows.stamp()["schema"])

    def changes(self) -> Iterator[tuple[str, int]]:
        """Yield (space, sequence number) of the last change of graph in each log."""
        return ((row["space"], row["feed_seq"]) for row in self._rows.of(self.HEAD))

    def log_heads(self) -> Mapping[str, LogHead]:
        return {row["space"]: self._head(row) for row in self._rows.of(self.HEAD)}

    def ended_keys(self) -> Iterator[EndedKey]:
        for key in sorted(map(key_of_fields, self._rows.of("ConcordKey")), key=lambda key: key.id):
            if key.revoke_time is not None or key.expire_time is not None:
                yield EndedKey(key.id, key.space, key.revoke_time, key.expire_time)

    def deleted_spaces(self) -> Iterator[Space]:
        for space in sorted(
            map(space_of_fields, self._rows.of(self.SPACE)), key=lambda space: space.name
        ):
            if space.delete_time is not None:
                yield space

    def key_of(self, digest: str) -> ApiKey | None:
        rows = (row for row in self._rows.of("ConcordKey") if row["digest"] == digest)
        return next(map(key_of_fields, rows), None)

    @cached_property
    def _edges(self) -> set[tuple[str, int, int]]:
        return {
            (row["space"], *name)
            for row in self._rows.of(self.HEAD)
            for name in Frontier.edge_of(int(row["log_size"]))
        }

    def _head(self, row: Mapping[str, Any]) -> LogHead:
        size = int(row["log_size"])
        edge = [self._hashes[row["space"], *name] for name in Frontier.edge_of(size)]
        cursor = Cursor(row["feed_epoch"], row["feed_seq"], row.get("feed_mark") or "")
        return LogHead(size, Frontier(size, edge).root(), cursor)
