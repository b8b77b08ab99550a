"""The rules of an import: the log begins with all constitutive items that both slots signed (G15).

Earlier changes are in the log of the system where they happened. Here a replay begins with the
list of constitutive items that the restore grant names by its digest.
"""

from __future__ import annotations

import json
from typing import Any

from concord_attestation.agreed import constitutive_digest
from concord_attestation.restore import verify_restore

from concord_client.trust.audit.state import FAILED, ReplayState
from concord_client.trust.audit.write_rules import WriteRules


class ImportRules:
    """Judges the entries of an import, which happens once and first."""

    def __init__(self, state: ReplayState, writes: WriteRules) -> None:
        self._state = state
        self._writes = writes
        self._signed = ""
        """The digest of the items that both slots signed."""
        self._items: list[dict[str, Any]] = []
        self._next = (0, 0, 0)
        """The expected next (entry, part, number of parts)."""

    def on_import(self, leaf: dict[str, Any]) -> None:
        """Judge an import's entries: the first has the restore grant, the last ends the list."""
        state, said = self._state, leaf["properties"]
        place = (state.index, said["part"], said["parts"])
        if said["part"] == 1:
            self._begin(leaf)
        else:
            state.demand("import_part", place == self._next)
        self._next = (state.index + 1, said["part"] + 1, said["parts"])
        self._items += said["items"]
        if said["part"] == said["parts"]:
            self._finish()

    def _begin(self, leaf: dict[str, Any]) -> None:
        """Demand both slots' signatures, and set the keys that the restore grant names."""
        state, said = self._state, leaf["properties"]
        # a decision that was settled before and failed changed nothing
        effects = any(each.consents or each.state != FAILED for each in state.decisions.values())
        state.demand("import_first", not (self._writes.began or effects))
        grant = verify_restore(
            json.dumps(said["restore_grant"]).encode(),
            genesis=state.keys(),
            space=state.log.space,
            export_digest=said["export_digest"],
            now_us=0,  # graph checked its expiry by its own clock; the entry came later
        )
        self._writes.begin(leaf)
        state.genesis = grant.genesis
        self._signed, self._items = grant.constitutive_digest, []

    def _finish(self) -> None:
        """Demand that the list is the signed one, and add its items."""
        state = self._state
        state.demand("import_agreed", constitutive_digest(self._items) == self._signed)
        for item in self._items:
            state.items.write(item["id"], item, state.index, removed=False)
            if item["principal"]:
                self._writes.enrolled(item["id"])

    def demand_whole(self) -> None:
        """Demand that the import's last part is in the log, if there was an import."""
        _, part, parts = self._next
        self._state.demand("import_whole", part == parts + 1 or not part)
