"""A fact that recurs may become constitutive: proposed at a session's end (V10)."""

from collections.abc import AsyncIterator, Sequence

import pytest_asyncio
from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.governance.v1 import proposal_pb2
from concord.type.v1 import type_pb2
from dissonance_over_graph import Dissonant, Space, dissonant, waiting
from governed_world import DAY, STATUS, Party, World

VALUE = "Honesty comes before comfort."
ADA, BOB = type_pb2.Source(speaker="Ada"), type_pb2.Source(speaker="Bob")
PENDING = STATUS.PROPOSAL_STATUS_PENDING


@pytest_asyncio.fixture(loop_scope="function")
async def works(live: World) -> AsyncIterator[Dissonant]:
    """Every service but search; dissonance does what it is asked to."""
    async with dissonant(live, with_search=False, follow=False) as running:
        yield running


async def held(
    space: Space, party: Party, number: int, content: str = VALUE, **fields: object
) -> Sequence[pb.RecurringFact]:
    """State something in a session, and end it a while later."""
    await space.add(content, session_id=f"session {number}", **fields)
    party.clock.pass_(1_000_000)
    return (await space.end_session(f"session {number}")).recurring


async def test_what_two_say_in_five_sessions_is_proposed(works: Dissonant, party: Party) -> None:
    """V10 V1 Promote, PROACTIVE, bilateral, once; both consents make it constitutive."""
    home = works.space()
    for number in range(4):
        assert not await held(home, party, number, sources=[ADA, BOB])
    (found,) = await held(home, party, 4, sources=[ADA, BOB])
    (proposal,) = await waiting(party)
    (again,) = await held(home, party, 5, sources=[ADA, BOB])

    assert (found.proposal_number, again) == (proposal.number, found)
    assert proposal.kind == proposal_pb2.PROPOSAL_KIND_PROMOTE
    assert proposal.trigger == proposal_pb2.PROPOSAL_TRIGGER_PROACTIVE
    assert proposal.session_id == "session 4"
    assert proposal.approval_level == proposal_pb2.APPROVAL_LEVEL_BILATERAL
    assert proposal.action.update_memory.memory.id == found.item_id
    assert (await party.decide(proposal)).status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert not await held(home, party, 6, sources=[ADA, BOB])


async def test_what_was_rejected_is_not_proposed_again(works: Dissonant, party: Party) -> None:
    """V10 V7 However often it is said, and however late."""
    home = works.space()
    for number in range(5):
        await held(home, party, number, sources=[ADA, BOB])
    (proposal,) = await waiting(party)
    await party.reject(proposal, "HUMAN")
    party.clock.pass_(30 * DAY)
    await held(home, party, 5, sources=[ADA, BOB])

    assert not await waiting(party)


async def test_one_source_in_five_sessions_proposes_nothing(works: Dissonant, party: Party) -> None:
    """V10 Who repeats themselves confirms nothing, and neither does reading."""
    home = works.space()
    for number in range(6):
        assert not await held(home, party, number, sources=[ADA])


async def test_one_text_of_two_sources_recurs_together(works: Dissonant, party: Party) -> None:
    """V10 M5 Each source has its memory; the older one is proposed."""
    home = works.space()
    for number in range(4):
        await held(home, party, number, sources=[BOB if number % 2 else ADA])
    (found,) = await held(home, party, 4, sources=[ADA])
    (proposal,) = await waiting(party)

    memory = proposal.action.update_memory.memory
    assert memory.id == found.item_id
    assert {each.id for each in proposal.affected} == {memory.id}


async def test_the_human_alone_suffices(works: Dissonant, party: Party) -> None:
    """V10 What the principal of the HUMAN slot added."""
    human = works.space(principal="ada", kind="HUMAN")
    for number in range(4):
        assert not await held(human, party, number)

    assert len(await held(human, party, 4)) == 1


async def test_a_gap_of_one_session_begins_anew(works: Dissonant, party: Party) -> None:
    """V10 Each of the last five: the one in which it was not said counts."""
    home = works.space()
    for number in range(4):
        await held(home, party, number, sources=[ADA, BOB])
    await held(home, party, 4, "Tea is served at five.")
    for number in range(5, 9):
        assert not await held(home, party, number, sources=[ADA, BOB])
    assert await held(home, party, 9, sources=[ADA, BOB])


async def test_a_triple_recurs_in_other_words(works: Dissonant, party: Party) -> None:
    """V10 Its edge is proposed, whatever the texts that state it."""
    home = works.space()
    triple = type_pb2.Fact(subject="Concord", relation="VALUES", object="honesty")
    for number, source in enumerate((ADA, BOB, ADA, BOB)):
        text = f"On day {number} it was said that honesty counts."
        await held(home, party, number, text, facts=[triple], sources=[source])
    last = "Once more: honesty counts."
    (found,) = await held(home, party, 4, last, facts=[triple], sources=[ADA])
    (proposal,) = await waiting(party)

    assert proposal.action.update_edge.edge.id == found.item_id
    assert proposal.kind == proposal_pb2.PROPOSAL_KIND_PROMOTE
    edge = await party.edge("Concord", "VALUES", "honesty")
    assert edge is not None
    assert edge.id == found.item_id
