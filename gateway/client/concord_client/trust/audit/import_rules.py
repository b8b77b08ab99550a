"""The rules of an import: the log begins with the whole list that both parties signed (G15).

What happened elsewhere stands in the log of the place where it happened. Here a replay begins with
what both had agreed to by then: the list that their restore grant names by its digest.
"""

from __future__ import annotations

import json
from typing import Any

from concord_attestation.agreed import constitutive_digest
from concord_attestation.restore import verify_restore

from concord_client.trust.audit.state import ReplayState
from concord_client.trust.audit.write_rules import WriteRules


class ImportRules:
    """What may come from elsewhere, once and first."""

    def __init__(self, state: ReplayState, writes: WriteRules) -> None:
        self._state = state
        self._writes = writes
        self._signed = ""
        """The digest of what both signed to bring over."""
        self._items: list[dict[str, Any]] = []
        self._next = (0, 0, 0)
        """At which entry which part of how many comes next."""

    def on_import(self, leaf: dict[str, Any]) -> None:
        """Take an import's entries: the first has the evidence, the last completes the list."""
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
        """Demand both parties' signatures, and take the keys that these say stand from now on."""
        state, said = self._state, leaf["properties"]
        state.demand("import_first", not (self._writes.began or state.decisions))
        grant = verify_restore(
            json.dumps(said["restore_grant"]).encode(),
            genesis=state.keys(),
            space=state.log.space,
            export_digest=said["export_digest"],
            now_us=0,  # graph held its expiry against its own clock; the entry came later
        )
        self._writes.begin(leaf)
        state.genesis = grant.genesis
        self._signed, self._items = grant.constitutive_digest, []

    def _finish(self) -> None:
        """Take the list that was signed for."""
        state = self._state
        state.demand("import_agreed", constitutive_digest(self._items) == self._signed)
        for item in self._items:
            state.items.write(item["id"], item, state.index, removed=False)
            if item["principal"]:
                self._writes.enrolled(item["id"])

    def demand_whole(self) -> None:
        """Demand that the last part of what came is there."""
        _, part, parts = self._next
        self._state.demand("import_whole", part == parts + 1 or not part)
