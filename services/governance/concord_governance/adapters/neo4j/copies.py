"""Reads a copy of the ledger's nodes of a Neo4j database: log heads, ended keys, deleted spaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from concord_governance.adapters.neo4j.access import key_of_fields, space_of_fields
from concord_governance.adapters.neo4j.schema import STAMP
from concord_governance.domain.access import ApiKey, Space
from concord_governance.ports.ledger import Cursor
from concord_governance.usecases.restore import EndedKey

HEAD = "ConcordLedger"
SUBTREE = "ConcordSubtree"
SPACE = "ConcordSpace"
ACCESS = ("ConcordKey", SPACE)
"""The labels of spaces and keys, which are written under the lock of the operators' space."""

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""The properties of a copy's nodes, by label."""


def schema_of(rows: Rows) -> int:
    """Return the version of the ledger's schema."""
    (found,) = (each for each in rows["Store"] if each["key"] == STAMP)
    return int(found["schema"])


def log_sizes(rows: Rows) -> Mapping[str, int]:
    """Return the number of leaves in each space's log."""
    return {each["space"]: int(each["log_size"]) for each in rows[HEAD]}


def cursors(rows: Rows) -> Mapping[str, Cursor]:
    """Return the last change of graph in each space's log."""
    return {
        each["space"]: Cursor(each["feed_epoch"], each["feed_seq"], each.get("feed_mark") or "")
        for each in rows[HEAD]
    }


def ended_keys(rows: Rows) -> Iterator[EndedKey]:
    """Yield every key that was revoked or has an expire time."""
    for key in sorted(map(key_of_fields, rows["ConcordKey"]), key=lambda key: key.id):
        if key.revoke_time is not None or key.expire_time is not None:
            yield EndedKey(key.id, key.space, key.revoke_time, key.expire_time)


def deleted_spaces(rows: Rows) -> Iterator[Space]:
    """Yield every deleted space."""
    for space in sorted(map(space_of_fields, rows[SPACE]), key=lambda space: space.name):
        if space.delete_time is not None:
            yield space


def key_of(rows: Rows, digest: str) -> ApiKey | None:
    """Return the key of a digest, in whatever state."""
    found = (key_of_fields(each) for each in rows["ConcordKey"] if each["digest"] == digest)
    return next(found, None)
