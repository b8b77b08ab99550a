"""The rules of writes: each belongs to a genesis or a bilateral decision (V2, V5, V6)."""

from __future__ import annotations

import re
from typing import Any

from concord_attestation.instants import parse_time

from concord_client.trust.audit.effects import within_signed
from concord_client.trust.audit.entry_rules import GOVERNANCE
from concord_client.trust.audit.state import (
    CHANGE_KEY,
    DECIDED,
    LoggedProposal,
    ReplayState,
    of_type,
)

GENESIS_EDGES = 3
"""The edges that a genesis writes: one for each slot's key and one for governance's."""
COMMIT_TIME = 300_000_000
"""Microseconds that graph's transaction may take: it checks the consents' expiry at its begin, and
records the effect later, when it writes."""
EDGE = 2
"""The contract's ITEM_KIND_EDGE."""
_SHA256 = re.compile(r"[0-9a-f]{64}")


class WriteRules:
    """Judges the writes in a log, and counts the refusals."""

    def __init__(self, state: ReplayState) -> None:
        self._state = state
        self._enrolled: set[str] = set()
        self._enrolments: set[str] = set()
        self._seq = 0
        self._recorded = 0
        self.refused = 0
        self.selections: dict[str, str] = {}

    @property
    def began(self) -> bool:
        """Whether the log has an entry of graph's yet."""
        return self._seq > 0

    @property
    def has_genesis(self) -> bool:
        """Whether the log has the genesis, or an import that stands for it."""
        return bool(self._enrolments)

    def begin(self, leaf: dict[str, Any]) -> None:
        """Note an import as the genesis; every later write must have a higher seq."""
        self.in_order(leaf)
        self._enrolments.add(leaf["properties"]["request_id"])

    def enrolled(self, item_id: str) -> None:
        """Note that an item is an edge of the genesis."""
        self._enrolled.add(item_id)

    def on_genesis(self, leaf: dict[str, Any]) -> None:
        """Judge an edge of the genesis: all are of one enrolment, and no later write is one."""
        state, item_id = self._state, leaf["item"]["id"]
        state.keys()
        self.in_order(leaf)
        state.demand("enrolled_again", state.items.first(item_id) is None)
        self._enrolled.add(item_id)
        self._enrolments.add(leaf["properties"]["request_id"])
        state.demand("one_genesis", len(self._enrolments) == 1)
        state.demand("genesis_edges", len(self._enrolled) <= GENESIS_EDGES)
        self._take(leaf)

    def on_write(self, leaf: dict[str, Any]) -> None:
        """Demand that a write is covered by an open decision of both slots, and that it follows on
        the item's last entry. After a write without such a decision the replay goes on."""
        state, said = self._state, leaf["properties"]
        self.in_order(leaf)
        decision = state.decisions.get(said["request_id"])
        agreed = decision is not None and decision.level == "BILATERAL"
        state.demand("undecided_write", agreed, at_once=False)
        if decision is not None and agreed:
            self._by_decision(leaf, decision)
        self._follows(leaf)
        self._take(leaf)

    def on_refusal(self, leaf: dict[str, Any]) -> None:
        """Count a refusal."""
        if leaf["action"] in ("WRITE_ATTEMPT", "DELETE_ATTEMPT"):
            self.in_order(leaf)
        self.refused += 1

    def on_selection_erased(self, leaf: dict[str, Any]) -> None:
        """Note an erasure by selection, in graph's order, with the digest of its receipt."""
        self.in_order(leaf)
        digest = of_type(leaf["properties"]["digest"], str)
        if _SHA256.fullmatch(digest) is None:  # the replay refuses the entry's form
            raise TypeError("this is no digest of a receipt")
        self.selections[leaf["item"]["id"]] = digest

    def _by_decision(self, leaf: dict[str, Any], decision: LoggedProposal) -> None:
        state, item_id = self._state, leaf["item"]["id"]
        state.demand("writer", (leaf["actor"], leaf["principal"]) == GOVERNANCE)
        state.demand("finished_write", decision.state == DECIDED)
        state.demand("revoked_write", not decision.taken_back)
        if decision.state == DECIDED and not decision.writes:
            self._begins(decision)
        key_change = decision.kind == CHANGE_KEY
        state.demand("principal_write", key_change == (item_id in self._enrolled))
        decision.began.setdefault(item_id, state.items.revision(item_id))
        decision.stood.setdefault(item_id, state.items.constitutive_digest(item_id))
        decision.writes.setdefault(item_id, []).append(leaf["properties"]["revision"])
        signed = within_signed(decision, state.items, decision.writes)
        state.demand("unsigned_write", signed)

    def _begins(self, decision: LoggedProposal) -> None:
        """Demand valid consents at a decision's first write, and note their nonces as burnt."""
        state = self._state
        state.demand("write_key", state.has_its_keys(decision))
        latest = min(each.expire_time for each in decision.consents.values()) + COMMIT_TIME
        state.demand("written_late", self._recorded < latest)
        for slot, given in decision.consents.items():
            state.burn(slot, given.nonce)
        if decision.key_action is not None:
            state.change_key(decision.key_action)

    def _follows(self, leaf: dict[str, Any]) -> None:
        """Demand that a write begins at the state after the last entry about its item or ends."""
        state, item_id, said = self._state, leaf["item"]["id"], leaf["properties"]
        revision, before = of_type(said["revision"], int), said["before_digest"]
        state.demand("write_revision", revision > state.items.revision(item_id))
        state.demand("first_write", (revision == 1) == (before == ""))
        state.demand("before_digest", state.items.fixed(item_id) in (None, before))
        state.demand("ends", not state.items.moved(said.get("ends", {})))

    def in_order(self, leaf: dict[str, Any]) -> None:
        """Demand graph's order of seq and record time: no entry is repeated, late or inserted."""
        seq = of_type(leaf["properties"]["graph_seq"], int)
        self._state.demand("graph_seq", seq > self._seq)
        at = parse_time(leaf["properties"]["record_time"])
        self._state.demand("record_time", at >= self._recorded)
        self._seq, self._recorded = seq, at

    def _take(self, leaf: dict[str, Any]) -> None:
        item_id, said = leaf["item"]["id"], leaf["properties"]
        removed = leaf["action"] == "DELETE_SUCCESS"
        self._state.demand("removed", not (removed and "ends" in said))
        if "ends" in said and not removed:  # an edge without ends would depend on no node
            edge = leaf["item"]["kind"] == EDGE
            self._state.demand("edge_ends", bool(of_type(said["ends"], dict)) == edge)
        self._state.items.write(item_id, said, self._state.index, removed=removed)
