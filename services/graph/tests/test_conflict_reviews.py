"""Reviews of conflicts, CONTRADICTS that they assert, and reopening (D5)."""

from typing import Any

import pytest
from concord.graph.v1 import conflict_pb2 as pb
from concord_chassis.identity import Caller
from conflict_world import (
    CONFIRM,
    CONFIRMED,
    CONTRADICTION,
    DISMISS,
    DISMISSED,
    EVOLUTION,
    EXCEPT,
    EXCEPTION,
    NUANCE,
    POTENTIAL,
    RECLASSIFY,
    UNDECIDED,
    get,
    listed,
    of_pair,
    recorded,
    reopen,
    resolve,
    review,
)
from graph_world import CONTRADICTS, SCOPES, Calls, World, reason, refused

STATE = "ERROR_REASON_ITEM_STATE"


async def found(home: Calls, **fields: object) -> pb.Conflict:
    """Return a new potential conflict of two memories."""
    one, other = await home.add("Tea is hot"), await home.add("Tea is cold")
    return await recorded(home, one, other, **fields)


async def contradicting(home: Calls) -> list[str]:
    """Return the live CONTRADICTS of a space, as its state export tells them."""
    return [line for line in await home.export() if '"relation":"CONTRADICTS"' in line]


async def test_confirming_a_contradiction_asserts_it(home: Calls) -> None:
    """D5 Potential ones are never CONTRADICTS; a confirmed one is, by its reviewer."""
    kept = await found(home)
    before = await contradicting(home)
    confirmed = (await review(home, kept, CONFIRM, "They exclude one another")).conflict
    edge = await home.get_edge(confirmed.contradicts_id)

    assert before == []
    assert (confirmed.state, confirmed.reviewed_by) == (CONFIRMED, "agent-1")
    assert confirmed.context == "They exclude one another"
    assert edge.relation == "CONTRADICTS"
    assert {edge.source.id, edge.target.id} == {kept.first.id, kept.second.id}
    assert len(await contradicting(home)) == 1


@pytest.mark.parametrize("conflict_class", [EVOLUTION, NUANCE])
async def test_only_a_contradiction_is_asserted(
    home: Calls, conflict_class: pb.ConflictClass.ValueType
) -> None:
    """D5 An evolution or a tension that is confirmed makes no CONTRADICTS."""
    one, other = await home.add("a"), await home.add("b")
    older = one.id if conflict_class == EVOLUTION else ""
    kept = await recorded(home, one, other, conflict_class=conflict_class, older_id=older)
    confirmed = (await review(home, kept, CONFIRM)).conflict

    assert (confirmed.state, confirmed.contradicts_id) == (CONFIRMED, "")
    assert await contradicting(home) == []


async def test_dismissing_takes_the_asserted_edge_away_and_reopening_brings_it_back(
    home: Calls,
) -> None:
    """D5 Every review can be undone: the conflict and its edge are as they were."""
    confirmed = (await review(home, await found(home), CONFIRM)).conflict
    dismissed = (await review(home, confirmed, DISMISS)).conflict
    without = await contradicting(home)
    again = await reopen(home, dismissed)
    first = await reopen(home, again)

    assert (dismissed.state, dismissed.contradicts_id, without) == (DISMISSED, "", [])
    assert (again.state, again.contradicts_id) == (CONFIRMED, confirmed.contradicts_id)
    assert (first.state, first.contradicts_id, first.reviewed_by) == (POTENTIAL, "", "")
    assert await contradicting(home) == []
    assert await reason(reopen(home, first)) == STATE


async def test_an_exception_needs_its_reason(home: Calls) -> None:
    """D5 Both stand, for the reason that somebody gave."""
    kept = await found(home)
    failure = await refused(review(home, kept, EXCEPT, "  "))
    excepted = (await review(home, kept, EXCEPT, "In the Alps")).conflict

    assert [each.field for each in failure.violations] == ["context"]
    assert (excepted.state, excepted.context) == (EXCEPTION, "In the Alps")


async def test_reclassifying_changes_the_class_and_what_is_asserted(home: Calls) -> None:
    """V1 D5 The state stays; CONTRADICTS stands while it is a confirmed contradiction."""
    confirmed = (await review(home, await found(home), CONFIRM)).conflict
    older = confirmed.first.id
    evolved = await review(home, confirmed, RECLASSIFY, conflict_class=EVOLUTION, older_id=older)
    without = await contradicting(home)
    back = await review(home, evolved.conflict, RECLASSIFY, conflict_class=CONTRADICTION)

    assert (evolved.conflict.state, evolved.conflict.older_id) == (CONFIRMED, older)
    assert without == []
    assert (back.conflict.older_id, len(await contradicting(home))) == ("", 1)


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("conflict_class", {}),
        ("older_id", {"conflict_class": EVOLUTION}),
        ("older_id", {"conflict_class": EVOLUTION, "older_id": "somebody"}),
        ("older_id", {"conflict_class": NUANCE, "older_id": "somebody"}),
    ],
)
async def test_a_reclassification_makes_sense(
    home: Calls, field: str, changes: dict[str, Any]
) -> None:
    """D5 It names a class, and of an evolution the side that was true earlier."""
    failure = await refused(review(home, await found(home), RECLASSIFY, **changes))

    assert [each.field for each in failure.violations] == [field]


async def test_a_class_goes_with_a_reclassification_alone(home: Calls) -> None:
    """D5 No field of a review is ignored."""
    kept = await found(home)
    failure = await refused(review(home, kept, DISMISS, conflict_class=NUANCE))

    assert [each.field for each in failure.violations] == ["conflict_class"]


async def test_what_nobody_could_decide_is_confirmed_by_nobody(home: Calls) -> None:
    """D5 UNDECIDED is only ever potential, until somebody says what it is."""
    kept = await found(home, conflict_class=UNDECIDED)
    refusal = await reason(review(home, kept, CONFIRM))
    named = (await review(home, kept, RECLASSIFY, conflict_class=CONTRADICTION)).conflict
    confirmed = (await review(home, named, CONFIRM)).conflict

    assert refusal == STATE
    assert named.state == POTENTIAL
    assert await reason(review(home, confirmed, RECLASSIFY, conflict_class=UNDECIDED)) == STATE


async def test_of_two_reviews_at_once_one_counts(home: Calls) -> None:
    """D5 Reviews are compare-and-set, and a state is not taken twice."""
    kept = await found(home)
    dismissed = (await review(home, kept, DISMISS)).conflict

    assert await reason(review(home, kept, CONFIRM)) == "ERROR_REASON_ETAG_MISMATCH"
    assert await reason(review(home, dismissed, DISMISS)) == STATE


async def test_a_resolved_conflict_is_reviewed_no_more(home: Calls) -> None:
    """D5 It is reopened first."""
    done = (await resolve(home, await found(home), NUANCE)).conflict

    assert await reason(review(home, done, DISMISS)) == STATE
    assert await reason(resolve(home, done, NUANCE)) == STATE


async def test_a_tension_is_the_agents_to_judge(home: Calls, live: World) -> None:
    """D5 NUANCE takes an agent; every other class any principal."""
    kept = await found(home, conflict_class=NUANCE)
    plain = await recorded(home, await home.add("a"), await home.add("b"))
    person = Calls(live.server.channel(Caller("home", "ada", SCOPES, "HUMAN")), "home")
    failure = await refused(review(person, kept, DISMISS))
    dismissed = (await review(home, kept, DISMISS)).conflict

    assert failure.reason == "ERROR_REASON_AGENT_REQUIRED"
    assert (await review(person, plain, DISMISS)).conflict.reviewed_by == "ada"
    assert await reason(reopen(person, dismissed)) == "ERROR_REASON_AGENT_REQUIRED"


async def test_a_written_contradiction_opens_a_confirmed_conflict(home: Calls) -> None:
    """D5 By AddLineage or by a link, it names who wrote it."""
    one, other = await home.add("a"), await home.add("b")
    edge = (await home.relate(CONTRADICTS, one.id, other.id)).edge
    linked = await home.add(f"c\n\nContradicts: [[memory:{one.id}]]")
    stated, said = await of_pair(home, one.id, other.id), await of_pair(home, linked.id, one.id)

    assert (stated.state, stated.author, stated.contradicts_id) == (CONFIRMED, "agent-1", edge.id)
    assert (stated.judge, stated.conflict_class) == (pb.JUDGE_CALLER, CONTRADICTION)
    assert said.state == CONFIRMED
    assert len(await listed(home)) == 2


async def test_a_written_contradiction_confirms_what_was_found(home: Calls) -> None:
    """D5 One conflict for a pair, whatever somebody dismissed before; reopening takes it back."""
    kept = await found(home)
    dismissed = (await review(home, kept, DISMISS)).conflict
    await home.relate(CONTRADICTS, kept.second.id, kept.first.id)
    confirmed = await get(home, kept.id)
    again = await reopen(home, confirmed)

    assert (confirmed.state, confirmed.reviewed_by) == (CONFIRMED, "agent-1")
    assert again.state == dismissed.state
    assert await contradicting(home) == []


async def test_deleting_the_edge_ends_the_confirmation(home: Calls) -> None:
    """D5 Nobody asserts it any more: it is potential again, and reopening asserts it again."""
    confirmed = (await review(home, await found(home), CONFIRM)).conflict
    await home.delete_edge(await home.get_edge(confirmed.contradicts_id))
    ended = await get(home, confirmed.id)
    again = await reopen(home, ended)

    assert (ended.state, ended.contradicts_id) == (POTENTIAL, "")
    assert (again.state, again.contradicts_id) == (CONFIRMED, confirmed.contradicts_id)


async def test_a_link_that_goes_ends_the_confirmation(home: Calls) -> None:
    """D5 M3 What a content says counts while it says so, and is dismissed in the content alone."""
    one = await home.add("a")
    linked = await home.add(f"b\n\nContradicts: [[memory:{one.id}]]")
    kept = await of_pair(home, one.id, linked.id)
    refusal = await reason(review(home, kept, DISMISS))
    linked.content = "b"
    await home.update(linked, "content")

    assert refusal == STATE
    assert (await get(home, kept.id)).state == POTENTIAL


async def test_a_contradicted_ghost_is_a_side(home: Calls) -> None:
    """M3 D5 A link may name a memory that is not there yet."""
    linked = await home.add("b\n\nContradicts: [[memory:later]]")
    before = await of_pair(home, linked.id, "later")
    await home.add("It came", id="later")
    after = await of_pair(home, linked.id, "later")
    sides = [
        next(s for s in (each.first, each.second) if s.id == "later") for each in (before, after)
    ]

    assert [side.statement for side in sides] == ["", "It came"]
    assert before.etag == after.etag
