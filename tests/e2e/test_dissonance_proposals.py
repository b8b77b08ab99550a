"""What dissonance proposes of what it found, through the real graph and governance (D7)."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import conflict_pb2
from concord.type.v1 import type_pb2
from concord_dissonance.clients.graph import messages
from concord_dissonance.domain.verdicts import JUDGES
from concord_dissonance.usecases import follow
from conflict_steps import CONFIRM, finds, now, review
from dissonance_over_graph import Dissonant, Space, dissonant, waiting
from governed_world import AGENT, STATUS, Party, World, eventually
from writing import to_upsert_edge

KIND = proposal_pb2.ProposalKind
PENDING = STATUS.PROPOSAL_STATUS_PENDING
REVIEW = STATUS.PROPOSAL_STATUS_PENDING_REVIEW
RESOLVED = conflict_pb2.CONFLICT_STATE_RESOLVED
POTENTIAL = conflict_pb2.CONFLICT_STATE_POTENTIAL

CONTRADICTION = conflict_pb2.CONFLICT_CLASS_CONTRADICTION


@pytest_asyncio.fixture(loop_scope="function")
async def works(live: World) -> AsyncIterator[Dissonant]:
    """Every service but search, and dissonance follows what becomes of its findings."""
    async with dissonant(live, with_search=False) as running:
        yield running


async def in_order(party: Party) -> list[proposal_pb2.Proposal]:
    """Return the proposals that wait, by number."""
    return sorted(await waiting(party, REVIEW), key=lambda each: each.number)


async def many(party: Party, count: int) -> list[proposal_pb2.Proposal]:
    """Wait until so many proposals wait, and return them."""
    return await eventually(lambda: in_order(party), lambda found: len(found) == count)


async def two_homes(space: Space, who: str = "Ada", **fields: object) -> None:
    """State two values of a relation with one at a time."""
    await space.declare("LIVES_IN")
    for city in ("Berlin", "Paris"):
        await space.edge(who, "LIVES_IN", city, **fields)


async def test_a_finding_opens_its_proposal_once(works: Dissonant, party: Party) -> None:
    """D7 V3 Trigger DISSONANCE, by dissonance; another check, or a restart, opens no second."""
    home = works.space()
    await two_homes(home)
    (found,) = (await home.detect()).conflicts
    (proposal,) = await many(party, 1)

    assert (proposal.proposer, proposal.kind) == ("dissonance", KIND.PROPOSAL_KIND_CONFIRM)
    assert proposal.trigger == proposal_pb2.PROPOSAL_TRIGGER_DISSONANCE
    assert proposal.action.review_conflict.conflict_id == found.id
    assert (await home.listed()).proposals == {found.id: proposal.number}
    await home.detect()
    await party.reject(proposal, AGENT)
    async with dissonant(works.world, with_search=False) as anew:
        await two_homes(anew.space(), "Bob")
        await anew.space().detect()
        (other,) = await many(party, 1)
        assert other.action.review_conflict.conflict_id != found.id


async def test_a_list_says_what_it_is_about(works: Dissonant, party: Party) -> None:
    """V9 In its items' words, on request; the briefing too. Nothing of it is signed."""
    home = works.space()
    await two_homes(home)
    await home.detect()
    (proposal,) = await many(party, 1)
    asked = proposal_pb2.ListProposalsRequest(with_summaries=True)
    (listed,) = (await party.proposals.ListProposals(asked)).proposals
    (line,) = (await party.proposals.GetBriefing(proposal_pb2.GetBriefingRequest())).proposals

    assert (
        listed.summary == line.summary == "'Ada LIVES_IN Berlin' and 'Ada LIVES_IN Paris' disagree"
    )
    assert proposal.summary == ""
    assert "Berlin" not in listed.framing.neutral_summary
    assert b"Berlin" not in listed.canonical


async def test_executing_it_decides_the_conflict(works: Dissonant, party: Party) -> None:
    """D7 The agent's consent alone suffices between descriptive sides."""
    home = works.space()
    await two_homes(home)
    await home.detect()
    (proposal,) = await many(party, 1)
    done = await party.decide(proposal)
    (conflict,) = (await home.listed()).conflicts

    assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert conflict.state == conflict_pb2.CONFLICT_STATE_CONFIRMED
    assert conflict.contradicts_id


async def test_at_most_twenty_wait_and_others_follow(
    live: World, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D7 Many findings at once flood nobody; as one ends, the next is proposed."""
    monkeypatch.setattr(follow, "AGAIN", 0.1)
    async with dissonant(live, with_search=False) as works:
        await _flood(works.space(), party)


async def _flood(home: Space, party: Party) -> None:
    await home.declare("LIVES_IN")
    for number in range(23):
        for city in ("Berlin", "Paris"):
            await home.edge(f"Person {number}", "LIVES_IN", city)
    found = (await home.detect()).conflicts
    first = await many(party, 20)
    named = {each.action.review_conflict.conflict_id for each in first}
    (dismissed,) = [each for each in found if each.id == min(named)]
    await home.review(dismissed, pb.REVIEW_ACTION_DISMISS)

    def replaced(now: list[proposal_pb2.Proposal]) -> bool:
        there = {each.action.review_conflict.conflict_id for each in now}
        return len(now) == 20 and bool(there - named) and dismissed.id not in there

    assert len(found) == 23
    second = await eventually(lambda: in_order(party), replaced)
    await party.reject(second[0], AGENT)
    third = await many(party, 20)
    assert second[0].id not in {each.id for each in third}


async def test_a_nuance_waits_for_the_agents_review(works: Dissonant, party: Party) -> None:
    """D5 The agent confirms, and it can be decided; the agent dismisses, and it is withdrawn."""
    home = works.space()
    await home.declare("LIES_IN", functional=False, transitive=True)
    await home.declare("LIVES_IN")
    await home.edge("Berlin", "LIES_IN", "Germany")
    for who in ("Ada", "Bob"):
        for place in ("Berlin", "Germany"):
            await home.edge(who, "LIVES_IN", place)
    found = (await home.detect()).conflicts
    both = await many(party, 2)
    assert {each.status for each in both} == {REVIEW}
    assert {each.kind for each in both} == {KIND.PROPOSAL_KIND_RECLASSIFY}
    await home.review(found[0], pb.REVIEW_ACTION_CONFIRM)
    await home.review(found[1], pb.REVIEW_ACTION_DISMISS)
    (left,) = await many(party, 1)
    left = (await eventually(lambda: in_order(party), lambda one: one[0].status == PENDING))[0]

    assert left.action.review_conflict.conflict_id == found[0].id
    assert (await party.decide(left)).status == STATUS.PROPOSAL_STATUS_EXECUTED
    states = {each.id: each.conflict_class for each in (await home.listed()).conflicts}
    assert states[found[0].id] == CONTRADICTION


async def test_a_constitutive_side_makes_a_decision_a_proposal(
    works: Dissonant, party: Party
) -> None:
    """D6 AGM: the descriptive side is proposed to give way, and both slots decide."""
    home = works.space()
    await home.declare("LIVES_IN")
    edge = type_pb2.Edge(
        source=type_pb2.EdgeEnd(name="Ada"),
        relation="LIVES_IN",
        target=type_pb2.EdgeEnd(name="Berlin"),
        edge_type=type_pb2.EDGE_TYPE_CONSTITUTIVE,
    )
    await party.decide(await party.propose(to_upsert_edge(edge)))
    await home.edge("Ada", "LIVES_IN", "Paris")
    (found,) = (await home.detect()).conflicts
    (proposal,) = await many(party, 1)

    assert found.severity == conflict_pb2.CONFLICT_SEVERITY_CRITICAL
    assert proposal.kind == KIND.PROPOSAL_KIND_RESOLVE
    assert proposal.approval_level == proposal_pb2.APPROVAL_LEVEL_BILATERAL
    gives_way = proposal.action.resolve_conflict.superseded_id
    assert (await party.edge("Ada", "LIVES_IN", "Paris")).id == gives_way  # type: ignore[union-attr]
    asked = await home.review(found, pb.REVIEW_ACTION_DISMISS)
    assert asked.proposal_id
    assert asked.proposal_number == proposal.number + 1
    assert asked.conflict.state == POTENTIAL
    resolving = await home.resolve(conflict_id=found.id, resolution_type=CONTRADICTION)
    assert resolving.proposal_number == proposal.number + 2
    assert (await party.decide(proposal)).status == STATUS.PROPOSAL_STATUS_EXECUTED
    (conflict,) = (await home.listed()).conflicts
    assert conflict.state == RESOLVED
    assert conflict.resolution.superseded_id == gives_way
    assert await in_order(party) == [], "the others name a conflict that is decided"


async def test_what_former_judges_found_in_texts_ends_at_a_restart(
    live: World, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D5 D7 With its proposals, once; what typed facts show stays, and so does its proposal."""
    async with dissonant(live, with_search=False, follow=False) as former:
        home = former.space()
        for text in ("The office is open on Sunday.", "The office is not open on Sunday."):
            await home.add(text)
        await two_homes(home)
        with monkeypatch.context() as then:
            then.setattr(messages, "JUDGES", JUDGES - 1)
            found = {each.is_text_finding: each for each in (await home.detect()).conflicts}
        proposals = [
            await finds(live, review(await now(party, each.id), CONFIRM)) for each in found.values()
        ]

    async with dissonant(live, with_search=False) as anew:
        await eventually(lambda: in_order(party), lambda there: len(there) == 1)
        after = await anew.space().listed()
        (again,) = [e for e in (await anew.space().detect()).conflicts if e.is_text_finding]

    assert [each.id for each in after.conflicts] == [found[False].id]
    (kept,) = [
        each for each in proposals if each.action.review_conflict.conflict_id in after.proposals
    ]
    assert after.proposals == {found[False].id: kept.number}
    assert again.id != found[True].id
    assert (await now(party, again.id)).judges_version == JUDGES
