"""What a command did, as its receipt keeps it."""

from typing import get_args

import pytest
from concord_graph.adapters import stored
from concord_graph.domain.claims import ClaimAction
from concord_graph.domain.conflicts import ConflictState
from concord_graph.domain.items import ItemKind, Relation
from concord_graph.domain.sessions import Session
from concord_graph.ports import (
    Acknowledged,
    BatchAdded,
    Cascaded,
    ChangeApplied,
    ClaimMade,
    ClaimsSettled,
    ConflictsDismissed,
    ConflictsRecorded,
    FindingOutcome,
    GaveWay,
    GivenWay,
    ItemEffect,
    ItemsReverted,
    MemoryErased,
    NodeDeleted,
    Outcome,
    Receipt,
    Recorded,
    Ref,
    Result,
    SessionEnded,
    TurnsAppended,
    WorkingMemoryPut,
    WorkingMemoryRemoved,
    Written,
)

NODE = Ref(ItemKind.NODE, "n", 2)
EDGE = Ref(ItemKind.EDGE, "e", 3)
MEMORY = Ref(ItemKind.MEMORY, "é", 1)
ENTRIES = Ref(ItemKind.WORKING_MEMORY, "w", 1), Ref(ItemKind.WORKING_MEMORY, "x", 2)
CREATED = Written(MEMORY, Outcome.CREATED)
BATCH = (CREATED, Written(MEMORY, Outcome.UNCHANGED), Written(MEMORY, Outcome.ERASED))
APPLIED = ChangeApplied(
    EDGE,
    (ItemEffect(EDGE, 2, (3,)), ItemEffect(NODE, 0), ItemEffect(NODE, 1, cascaded=True)),
    Cascaded(1, "digest"),
    ("o",),
)

GAVE_WAY = GaveWay(2, (GivenWay("m", ItemKind.MEMORY, Relation.AMENDS, "é"),), truncated=True)

CLAIMS = (ClaimMade("c", 3, ClaimAction.FORGET, "m", ItemKind.MEMORY, "ada"),)

RESULTS: list[Result] = [
    *(CREATED, TurnsAppended(BATCH), BatchAdded(BATCH), NodeDeleted(NODE, 2)),
    *(WorkingMemoryPut(ENTRIES[0], ENTRIES[1:]), WorkingMemoryRemoved(3)),
    *(MemoryErased(MEMORY, "receipt"), ItemsReverted((NODE, EDGE)), APPLIED, Acknowledged()),
    SessionEnded(Session("s", 1, 2, 3)),
    ClaimsSettled((Ref(ItemKind.CLAIM, "c", 2),)),
    ConflictsDismissed(2, 1, is_complete=True),
    ConflictsRecorded(
        (
            Recorded(FindingOutcome.CREATED, "c", ConflictState.POTENTIAL, "run"),
            Recorded(FindingOutcome.STALE),
        )
    ),
]


@pytest.mark.parametrize("result", RESULTS, ids=lambda each: type(each).__name__)
def test_a_result_comes_back_as_it_was_kept(result: Result) -> None:
    """M5 A request that comes again gets what it did, typed."""
    for gave_way in (GaveWay(), GAVE_WAY):
        receipt = Receipt(result, 7, gave_way, CLAIMS if gave_way.count else ())
        assert stored.receipt_of(stored.receipt_to_json(receipt), 7) == receipt


def test_every_type_of_result_is_among_them() -> None:
    """M5 A new type of result is tested, too."""
    assert {type(each) for each in RESULTS} == set(get_args(Result))
