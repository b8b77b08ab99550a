"""What stands in the way of an undo: listed when it is proposed, and again when it is carried out.

An undo takes no ground from under what was made since, comes back to no other ground than it left,
and to no place where something else stands by now.
"""

import pytest
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import Failure
from governed_steps import does
from governed_world import STATUS, Party, edge_action, refused
from undo_cases import CASES, DESCRIPTIVE, Case, called, deleting, edge, held, renamed
from writing import to_update_edge

CONFLICT = "ERROR_REASON_UNDO_CONFLICT"


def listed(failure: Failure) -> tuple[str, set[str]]:
    """Return why, and the items that a refusal lists."""
    return failure.reason, set(failure.metadata.get("item_ids", "").split(","))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_what_stands_in_the_way_is_listed_and_ends_what_is_signed(
    party: Party, case: Case
) -> None:
    """V8 G4 V6 An undo is refused, naming what is in its way; one that was proposed before that
    came, and that both sign, fails. Neither changes anything."""
    was = await case.was(party)
    undo = await party.undo(was)
    there = await case.since(party)
    before = await party.state()
    failure = await refused(party.undo(was))
    after = await party.decide(undo)

    assert listed(failure) == (CONFLICT, {there})
    assert after.status == STATUS.PROPOSAL_STATUS_FAILED
    assert after.failure_reason in {CONFLICT, "ERROR_REASON_GRANT_INVALID"}
    assert await party.state() == before


async def test_an_undo_is_possible_when_the_way_is_free_again(party: Party) -> None:
    """V8 What was renamed and got its name back says what it said: the undo brings all back."""
    await does(party, edge_action())
    before = await party.state()
    was = await does(party, deleting(await held(party, "agent", "VALUES", "honesty")))
    await renamed(party, "honesty", "profit")
    assert (await refused(party.undo(was))).reason == CONFLICT
    await renamed(party, "profit", "honesty")
    await party.decide(await party.undo(was))

    assert await party.state() == before


async def test_what_hangs_on_a_node_goes_first(party: Party) -> None:
    """V8 When what was listed is gone, the undo takes the node away, too."""
    was = await does(party, edge_action())
    used = await edge(party, "honesty", "IS_A", "virtue")
    assert listed(await refused(party.undo(was))) == (CONFLICT, {used.id})
    await does(party, deleting(used))
    after = await party.decide(await party.undo(was))

    assert after.status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert not (await called(party, "honesty")).id


@pytest.mark.parametrize("edge_type", [type_pb2.EDGE_TYPE_CONSTITUTIVE, DESCRIPTIVE])
async def test_two_changes_of_one_item_are_undone_one_after_the_other(
    party: Party, edge_type: type_pb2.EdgeType.ValueType
) -> None:
    """V8 What stands is judged, not its number (0020), also by who checks the log."""
    await does(party, edge_action(edge_type=edge_type, weight=0.1))
    before, changes = [], []
    for weight in (0.2, 0.3):
        before.append(await party.state())
        changed = await held(party, "agent", "VALUES", "honesty")
        changed.weight = weight
        changes.append(await does(party, to_update_edge(changed, "weight")))
    assert (await refused(party.undo(changes[0]))).reason == CONFLICT
    for change, state in zip(reversed(changes), reversed(before), strict=True):
        after = await party.decide(await party.undo(change))

        assert after.status == STATUS.PROPOSAL_STATUS_EXECUTED
        assert await party.state() == state
    assert (await party.verified()).executed == 5
