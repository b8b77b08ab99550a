"""Decisions about conflicts with a constitutive side, and decisions through proposals (D5, G4)."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import pytest_asyncio
from concord.graph.v1 import conflict_pb2 as pb
from concord.graph.v1 import feed_pb2, governed_pb2
from conflict_world import (
    CONFIRM,
    CONFIRMED,
    CONTRADICTION,
    CREATED,
    DISMISS,
    DISMISSED,
    NUANCE,
    POTENTIAL,
    RECLASSIFY,
    RESOLVED,
    finding,
    get,
    of_pair,
    record,
    recorded,
    reopen,
    resolve,
    review,
)
from governed_actions import Action, action_of, applied, reverting
from graph_world import CONTRADICTS, PROTECTED, Calls, Parties, reason, refused


@dataclass
class Pair:
    """A potential conflict of a constitutive memory and a descriptive one."""

    home: Calls
    parties: Parties
    creed: str
    fact: str
    kept: pb.Conflict

    async def now(self) -> pb.Conflict:
        """Return the conflict as it is."""
        return await get(self.home, self.kept.id)


@pytest_asyncio.fixture
async def pair(home: Calls, parties: Parties) -> Pair:
    """A conflict that neither principal decides about alone."""
    creed = await parties.constitutive_memory(home)
    fact = await home.add("I broke my promise.")
    return Pair(home, parties, creed.id, fact.id, await recorded(home, creed, fact))


def reviewing(conflict: pb.Conflict, decision: pb.ReviewDecision.ValueType) -> Action:
    """Return the action that reviews a conflict."""
    return action_of(
        "review_conflict", conflict_id=conflict.id, etag=conflict.etag, decision=decision
    )


def resolving(conflict: pb.Conflict, superseded_id: str = "") -> Action:
    """Return the action that resolves a conflict."""
    return action_of(
        "resolve_conflict",
        conflict_id=conflict.id,
        etag=conflict.etag,
        resolution_type=CONTRADICTION,
        superseded_id=superseded_id,
    )


def reopening(conflict: pb.Conflict) -> Action:
    """Return the action that reopens a conflict."""
    return action_of("reopen_conflict", conflict_id=conflict.id, etag=conflict.etag)


ALONE: dict[str, Callable[[Pair], object]] = {
    "confirm": lambda pair: review(pair.home, pair.kept, CONFIRM),
    "dismiss": lambda pair: review(pair.home, pair.kept, DISMISS),
    "reclassify": lambda pair: review(pair.home, pair.kept, RECLASSIFY, conflict_class=NUANCE),
    "resolve": lambda pair: resolve(pair.home, pair.kept, CONTRADICTION, pair.fact),
    "hide": lambda pair: resolve(pair.home, pair.kept, CONTRADICTION, pair.creed),
    "reopen": lambda pair: reopen(pair.home, pair.kept),
}


@pytest.mark.parametrize("name", ALONE)
async def test_nobody_decides_alone_about_a_constitutive_side(pair: Pair, name: str) -> None:
    """D5 G4 A1 It is refused, whatever else is wrong with it, and on record."""
    failure = await refused(ALONE[name](pair))  # type: ignore[arg-type] # each is a call
    last = (await pair.home.changes())[-1]

    assert (failure.reason, failure.metadata["item_id"]) == (PROTECTED, pair.creed)
    assert (last.type, last.item_id) == (feed_pb2.CHANGE_TYPE_REFUSED, pair.creed)
    assert await pair.now() == pair.kept


async def test_what_judges_find_needs_no_consent(pair: Pair) -> None:
    """D5 A finding decides nothing."""
    other = await pair.home.add("I keep no promise.")
    (found,) = await record(pair.home, finding(await pair.home.get(pair.creed), other))

    assert found.outcome == CREATED


async def test_both_decide_about_the_conflict_and_both_sides(pair: Pair) -> None:
    """D5 V6 The preview names conflict and sides with their versions; the grant covers them."""
    action = reviewing(pair.kept, CONFIRM)
    request = governed_pb2.PreviewChangeRequest(action=action)
    seen = {i.id: i for i in (await pair.home.governed.PreviewChange(request)).items}
    conflict = seen[pair.kept.id]
    sides = [seen[pair.creed], seen[pair.fact]]
    await pair.parties.apply(pair.home, action)
    confirmed = await pair.now()

    assert (conflict.etag, conflict.needs_consent) == (pair.kept.etag, True)
    assert conflict.statement.endswith("POTENTIAL")
    assert conflict.statement_after.endswith("CONFIRMED")
    assert all(side.pinned and side.needs_consent and side.statement for side in sides)
    assert confirmed.state == CONFIRMED
    assert (await pair.home.get_edge(confirmed.contradicts_id)).relation == "CONTRADICTS"


@pytest.mark.parametrize("unseen", ["kept", "creed", "fact"])
async def test_a_grant_names_all_that_the_decision_is_about(pair: Pair, unseen: str) -> None:
    """V6 A consent to something else is none."""
    action = reviewing(pair.kept, DISMISS)
    item_id = pair.kept.id if unseen == "kept" else getattr(pair, unseen)
    etags = await pair.parties.seen(pair.home, action)
    del etags[item_id]
    grant = pair.parties.grant(action, etags)

    assert await reason(pair.parties.apply(pair.home, action, grant=grant)) == (
        "ERROR_REASON_GRANT_INVALID"
    )
    assert (await pair.now()).state == POTENTIAL


async def test_a_consented_resolution_and_its_undo(pair: Pair) -> None:
    """D6 V8 The descriptive side gives way; reverting what it wrote takes both back."""
    state = await pair.home.export()
    done = await pair.parties.apply(pair.home, resolving(pair.kept, pair.fact))
    resolved = await pair.now()
    undo = reverting(done)
    alone = pair.home.governed.ApplyGovernedChange(
        governed_pb2.ApplyGovernedChangeRequest(request_id="alone", action=undo)
    )
    refusal = await reason(alone)
    await pair.parties.apply(pair.home, undo)

    assert (resolved.state, resolved.resolution.superseded_id) == (RESOLVED, pair.fact)
    assert refusal == PROTECTED
    assert (await pair.now()).state == POTENTIAL
    assert await pair.home.export() == state


async def test_both_reopen_what_both_resolved(pair: Pair) -> None:
    """D5 Reopening is a decision, too."""
    await pair.parties.apply(pair.home, resolving(pair.kept, pair.fact))
    await pair.parties.apply(pair.home, reopening(await pair.now()))

    assert (await pair.now()).state == POTENTIAL
    assert not (await pair.home.get(pair.fact)).supersession.is_superseded


async def test_what_both_decided_is_not_undone_by_lineage(pair: Pair) -> None:
    """D5 G4 No CONTRADICTS that one writes or deletes changes what both decided."""
    await pair.parties.apply(pair.home, reviewing(pair.kept, DISMISS))
    written = await reason(pair.home.relate(CONTRADICTS, pair.creed, pair.fact))
    await pair.parties.apply(pair.home, reopening(await pair.now()))
    await pair.parties.apply(pair.home, reviewing(await pair.now(), CONFIRM))
    edge = await pair.home.get_edge((await pair.now()).contradicts_id)
    deleted = await reason(pair.home.delete_edge(edge))

    assert (written, deleted) == (PROTECTED, PROTECTED)
    assert (await pair.now()).state == CONFIRMED


async def test_one_may_state_a_contradiction_that_nobody_decided_about(
    home: Calls, parties: Parties
) -> None:
    """D5 W9 CONTRADICTS hides nothing: its author says it, and both take it away; at what both
    agreed to it is only said."""
    creed = await parties.constitutive_memory(home)
    fact = await home.add("I broke my promise.")
    await home.relate(CONTRADICTS, creed.id, fact.id)
    kept = await of_pair(home, creed.id, fact.id)

    assert (kept.state, kept.author) == (POTENTIAL, "agent-1")
    assert await reason(review(home, kept, DISMISS)) == PROTECTED


async def test_a_proposal_between_descriptive_sides_is_about_both(home: Calls) -> None:
    """D5 V1 No consent is needed, but the versions of conflict and sides are those proposed on."""
    one, other = await home.add("a"), await home.add("b")
    kept = await recorded(home, one, other)
    action = resolving(kept, one.id)
    preview = await home.governed.PreviewChange(governed_pb2.PreviewChangeRequest(action=action))
    seen = [governed_pb2.ItemEtag(id=each.id, etag=each.etag) for each in preview.items]
    named = {each.id: (each.etag, each.needs_consent, each.pinned) for each in preview.items}
    await review(home, kept, DISMISS)
    late = home.governed.ApplyGovernedChange(
        governed_pb2.ApplyGovernedChangeRequest(request_id="late", action=action, etags=seen)
    )

    assert named[kept.id] == (kept.etag, False, False)
    assert named[one.id] == (one.etag, False, True)
    assert named[other.id] == (other.etag, False, True)
    assert await reason(late) == "ERROR_REASON_GRANT_INVALID"
    assert (await get(home, kept.id)).state == DISMISSED


async def test_governance_reviews_a_tension_for_the_agent(home: Calls) -> None:
    """D5 A NUANCE that comes as a proposal was the agent's to confirm, whoever applies it."""
    kept = await recorded(home, await home.add("a"), await home.add("b"), conflict_class=NUANCE)
    await applied(home, reviewing(kept, CONFIRM))

    assert (await get(home, kept.id)).state == CONFIRMED
