"""The rules of writes: by a genesis or a bilateral decision, each told once (V2, V5, V6)."""

from __future__ import annotations

from typing import Any

from concord_attestation.instants import parse_time

from concord_client.trust.audit.course import CHANGE_KEY, DECIDED, Course, Told, of_type
from concord_client.trust.audit.effects import within_signed
from concord_client.trust.audit.entry_rules import GOVERNANCE

GENESIS_EDGES = 3
"""What a genesis writes: an edge for each slot's key and one for governance's."""
COMMIT_TIME = 300_000_000
"""Microseconds that graph's transaction may take: it looks at the consents' times when it begins,
and records the effect when it writes."""
EDGE = 2
"""The contract's ITEM_KIND_EDGE."""


class WriteRules:
    """What may be written, and what was refused."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._enrolled: set[str] = set()
        self._enrolments: set[str] = set()
        self._seq = 0
        self._recorded = 0
        self.refused = 0

    @property
    def began(self) -> bool:
        """Whether anything that graph recorded here was told yet."""
        return self._seq > 0

    def begin(self, leaf: dict[str, Any]) -> None:
        """Begin with an import: it brought the genesis, and all that comes has a later place."""
        self.in_order(leaf)
        self._enrolments.add(leaf["properties"]["request_id"])

    def enrolled(self, item_id: str) -> None:
        """Take that an item stands for the principals."""
        self._enrolled.add(item_id)

    def on_genesis(self, leaf: dict[str, Any]) -> None:
        """Take the edges that one enrolment wrote: no later write passes for a genesis."""
        course, item_id = self._course, leaf["item"]["id"]
        course.keys()
        self.in_order(leaf)
        course.demand("enrolled_again", course.items.first(item_id) is None)
        self._enrolled.add(item_id)
        self._enrolments.add(leaf["properties"]["request_id"])
        course.demand("one_genesis", len(self._enrolments) == 1)
        course.demand("genesis_edges", len(self._enrolled) <= GENESIS_EDGES)
        self._take(leaf)

    def on_write(self, leaf: dict[str, Any]) -> None:
        """Demand that an open decision of both parties covers a write, and that it follows on what
        was there. One that no such decision covers breaks a rule by itself: the rest can be
        judged all the same."""
        course, told = self._course, leaf["properties"]
        self.in_order(leaf)
        decision = course.decisions.get(told["request_id"])
        agreed = decision is not None and decision.level == "BILATERAL"
        course.demand("undecided_write", agreed, at_once=False)
        if decision is not None and agreed:
            self._by_decision(leaf, decision)
        self._follows(leaf)
        self._take(leaf)

    def on_refusal(self, leaf: dict[str, Any]) -> None:
        """Count a refusal."""
        if leaf["action"] in ("WRITE_ATTEMPT", "DELETE_ATTEMPT"):
            self.in_order(leaf)
        self.refused += 1

    def _by_decision(self, leaf: dict[str, Any], decision: Told) -> None:
        course, item_id = self._course, leaf["item"]["id"]
        course.demand("writer", (leaf["actor"], leaf["principal"]) == GOVERNANCE)
        course.demand("finished_write", decision.state == DECIDED)
        course.demand("revoked_write", not decision.taken_back)
        if decision.state == DECIDED and not decision.writes:
            self._begins(decision)
        key_change = decision.kind == CHANGE_KEY
        course.demand("principal_write", key_change == (item_id in self._enrolled))
        decision.began.setdefault(item_id, course.items.revision(item_id))
        decision.stood.setdefault(item_id, course.items.stands(item_id))
        decision.writes.setdefault(item_id, []).append(leaf["properties"]["revision"])
        signed = within_signed(decision, course.items, decision.writes)
        course.demand("unsigned_write", signed)

    def _begins(self, decision: Told) -> None:
        """Demand that the papers count at a decision's first write, and that it burns them."""
        course = self._course
        course.demand("write_key", course.has_its_keys(decision))
        latest = min(each.expire_time for each in decision.consents.values()) + COMMIT_TIME
        course.demand("written_late", self._recorded < latest)
        for slot, given in decision.consents.items():
            course.burn(slot, given.nonce)
        if decision.key_action is not None:
            course.change_key(decision.key_action)

    def _follows(self, leaf: dict[str, Any]) -> None:
        """Demand that a write begins where the last entry about its item, or its end, stopped."""
        course, item_id, told = self._course, leaf["item"]["id"], leaf["properties"]
        revision, before = of_type(told["revision"], int), told["before_digest"]
        course.demand("write_revision", revision > course.items.revision(item_id))
        course.demand("first_write", (revision == 1) == (before == ""))
        course.demand("before_digest", course.items.fixed(item_id) in (None, before))
        course.demand("ends", not course.items.moved(told.get("ends", {})))

    def in_order(self, leaf: dict[str, Any]) -> None:
        """Demand graph's own order: nothing is told twice, late or in between."""
        seq = of_type(leaf["properties"]["graph_seq"], int)
        self._course.demand("graph_seq", seq > self._seq)
        at = parse_time(leaf["properties"]["record_time"])
        self._course.demand("record_time", at >= self._recorded)
        self._seq, self._recorded = seq, at

    def _take(self, leaf: dict[str, Any]) -> None:
        item_id, told = leaf["item"]["id"], leaf["properties"]
        removed = leaf["action"] == "DELETE_SUCCESS"
        self._course.demand("removed", not (removed and "ends" in told))
        if "ends" in told and not removed:  # an edge without them would rest on nothing
            edge = leaf["item"]["kind"] == EDGE
            self._course.demand("edge_ends", bool(of_type(told["ends"], dict)) == edge)
        self._course.items.write(item_id, told, self._course.index, removed=removed)
