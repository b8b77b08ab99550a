"""Imports with a restore grant, as entries of the log (A1, G15).

The imported changes are no events of this system. Its log begins with the import, and with the
constitutive items of then, whose digest the restore grant has.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import rfc8785
from concord_attestation.agreed import Agreed
from concord_attestation.instants import format_time

from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.proposals import Json
from concord_governance.ports.graph import FeedMessage, GraphEvent
from concord_governance.ports.ledger import EntryFilter, LedgerReads

REFUSED = 7
PART_BYTES = 256 * 1024
"""The most bytes of an entry's items: well below a verifier's longest line."""

Erased = tuple[str, bool]


class Imports:
    """The parts of unfinished imports so far, by space.

    They are only in memory: until the ledger has the import, the feed begins at its first change.
    """

    def __init__(self) -> None:
        self._agreed: dict[str, Agreed] = {}
        self._erased: dict[str, list[Erased]] = {}

    def clear(self) -> None:
        """Forget all parts, as the feed begins anew."""
        self._agreed.clear()
        self._erased.clear()

    def take(self, message: FeedMessage) -> None:
        """Collect a message's imported constitutive items and erasures."""
        for event in message.events:
            if event.imported and event.change_type != REFUSED and not event.revocation:
                self._of(message.space).take(
                    event.item_id,
                    event.item_kind,
                    event.revision,
                    event.digest,
                    event.ends if event.constitutive else None,
                    method=event.method,
                )
        if message.importing:
            self._erased.setdefault(message.space, []).extend(message.erased)

    def erased(self, space: str) -> Sequence[Erased]:
        """Return the erased items of a space's import, as (id, whether it is a memory)."""
        return self._erased.get(space, ())

    def entries(self, space: str, event: GraphEvent) -> list[Entry]:
        """Return the entries of a finished import; the first one has its evidence."""
        parts = _parts(self._of(space).items())
        return [_entry(event, part, place, len(parts)) for place, part in enumerate(parts, 1)]

    def done(self, space: str) -> None:
        """Forget an import that is in the ledger."""
        self._agreed.pop(space, None)
        self._erased.pop(space, None)

    def _of(self, space: str) -> Agreed:
        return self._agreed.setdefault(space, Agreed())


async def was_imported(tx: LedgerReads) -> bool:
    """Return whether a space was imported."""
    return bool(await tx.entries(EntryFilter(actions=(Action.IMPORT,)), await tx.log_size(), 1))


def _parts(items: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    parts: list[list[dict[str, Any]]] = [[]]
    size = 0
    for item in items:
        length = len(rfc8785.dumps(item))
        if parts[-1] and size + length > PART_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(item)
        size += length
    return parts


def _entry(event: GraphEvent, items: Sequence[dict[str, Any]], place: int, parts: int) -> Entry:
    evidence: dict[str, Json] = {
        "graph_seq": event.seq,
        "record_time": format_time(event.record_time),
        "part": place,
        "parts": parts,
        "items": list(items),
    }
    if place == 1:
        evidence |= {
            "export_digest": event.digest,
            "request_id": event.request_id,
            "restore_grant": json.loads(event.restore_grant),
        }
    return Entry(Action.IMPORT, Actor.SYSTEM, event.principal, properties=evidence)
