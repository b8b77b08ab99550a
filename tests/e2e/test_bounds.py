"""What can be proposed fits its envelopes and entries; what both signed is carried out (V6, A2)."""

from __future__ import annotations

from concord_attestation.bounds import MAX_ITEMS
from governed_steps import linking
from governed_world import STATUS, Party, reason_of, refused

EXECUTED = STATUS.PROPOSAL_STATUS_EXECUTED


async def test_a_change_of_as_many_items_as_papers_name_is_carried_out(party: Party) -> None:
    """V6 A2 At the bound both signatures lead to the effect, the log verifies, and it is undone."""
    before = await party.state()
    proposal = await party.propose(linking(MAX_ITEMS - 1))
    assert len(proposal.affected) == MAX_ITEMS

    done = await party.decide(proposal)
    assert (done.status, done.failure_reason) == (EXECUTED, "")
    undone = await party.decide(await party.undo(done))

    assert undone.status == EXECUTED
    assert await party.state() == before
    assert (await party.verified()).executed == 2


async def test_a_change_of_one_item_more_is_refused_when_it_is_proposed(party: Party) -> None:
    """V6 A1 Nobody signs in vain: what no envelope could name is refused, with the numbers, on
    record."""
    failure = await refused(party.propose(linking(MAX_ITEMS)))

    assert reason_of(failure) == ("PROPOSAL_TOO_LARGE", "")
    assert failure.metadata == {"items": str(MAX_ITEMS + 1), "max_items": str(MAX_ITEMS)}
    assert "1,001 items" in failure.message
    assert "in parts" in failure.message
    assert (await party.actions())[-1] == "SAFEGUARD_VIOLATION"
    assert (await party.verified()).proposals == 0


async def test_a_revision_is_held_to_the_same_bound(party: Party) -> None:
    """V6 A proposal that fits cannot be revised into one that does not."""
    proposal = await party.propose(linking(3))
    failure = await refused(party.revise(proposal, linking(MAX_ITEMS)))

    assert reason_of(failure) == ("PROPOSAL_TOO_LARGE", "")
    assert (await party.get(proposal)).revision == proposal.revision
