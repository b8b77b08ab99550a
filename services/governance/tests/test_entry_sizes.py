"""The largest entries that calls can make fit the log's bound, with room to spare (A2)."""

from __future__ import annotations

from typing import Any

import pytest
from concord_attestation.bounds import (
    MAX_ENTRY_BYTES,
    MAX_ENVELOPE_BYTES,
    MAX_ETAGS_BYTES,
    MAX_ITEMS,
)
from concord_attestation.instants import format_time
from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.ports.graph import GraphEvent
from concord_governance.usecases.graph_entries import entry_of
from concord_governance.usecases.imports import REFUSED
from ledger_world import NOW

LONGEST_ID = "a" * 128
"""As the contract lets ids, principals and request ids be; `WIDE` has four bytes a character."""
WIDE = "\U0001f600" * 128
MOST = 2**53 - 1
LONGEST_REASON = "\x01" * 1_000
"""Six bytes a character in JSON."""


def noted(change_type: int) -> GraphEvent:
    """Return the most that graph can note of one change."""
    return GraphEvent(
        seq=MOST,
        record_time=NOW,
        item_id=WIDE,
        item_kind=9,
        change_type=change_type,
        revision=MOST,
        principal=WIDE,
        actor="HUMAN",
        method="ApplyGovernedChange",
        request_id=WIDE,
        digest="0" * 64,
        before_digest="0" * 64,
        reason=LONGEST_REASON,
        constitutive=True,
        ends={LONGEST_ID: "0" * 64, WIDE: "0" * 64},
    )


def step_entry(action: Action, **properties: Any) -> Entry:
    """Return an entry of a step of governance, with the longest of everything."""
    return Entry(action, Actor.HUMAN, WIDE, WIDE, 9, WIDE, MOST, True, LONGEST_REASON, properties)


ETAGS = {f"{place:0128}": "e" * 24 for place in range(MAX_ITEMS)}
EFFECTS = [
    {"id": name, "kind": 9, "before": MOST, "after": MOST, "governed": [MOST] * 8} for name in ETAGS
]
ENTRIES = {
    "a write that graph noted": entry_of(noted(2)),
    "a refusal that graph noted": entry_of(noted(REFUSED)),
    "a proposal at the bound": step_entry(Action.SMF_PROPOSE, etags=ETAGS, cascaded_count=MOST),
    "etags at the bound": step_entry(Action.SMF_REVISE, etags={"x" * (MAX_ETAGS_BYTES - 7): ""}),
    "an answer": step_entry(Action.SMF_APPROVE, consent={"payload": "x" * MAX_ENVELOPE_BYTES}),
    "effects at the bound": step_entry(Action.SMF_EXECUTE, effects=EFFECTS),
    "a key's change": step_entry(Action.SMF_EXECUTE, key_action={"proof": "x" * 22_000}),
    "an undo that orphans": step_entry(Action.SMF_UNDO, orphaned=[LONGEST_ID] * 1_000),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_the_largest_entry_of_each_kind_fits(name: str) -> None:
    """A2 V6 Envelopes and contracts allow no line that the verifier refuses as too large:
    half of the bound is enough."""
    assert len(ENTRIES[name].encoded(WIDE, MOST, format_time(NOW))) <= MAX_ENTRY_BYTES // 2
