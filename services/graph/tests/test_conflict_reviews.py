"""Reviews of conflicts, also of a run, CONTRADICTS that they assert, and reopening (D5)."""

from typing import Any

import pytest
from concord.graph.v1 import conflict_pb2 as pb
from concord_graph.usecases.items import conflicts
from conflict_world import (
    CONFIRM,
    CONFIRMED,
    CONTRADICTION,
    CREATED,
    DISMISS,
    DISMISSED,
    EVOLUTION,
    EXCEPT,
    EXCEPTION,
    NUANCE,
    POTENTIAL,
    RECLASSIFY,
    UNCHANGED,
    UNDECIDED,
    UPDATED,
    Item,
    finding,
    get,
    listed,
    of_pair,
    recorded,
    reopen,
    resolve,
    review,
)
from graph_world import CONTRADICTS, Calls, Parties, World, reason, refused

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


async def test_only_a_contradiction_is_asserted(home: Calls) -> None:
    """D5 An evolution or a tension that is confirmed makes no CONTRADICTS."""
    one, other, third = [await home.add(word) for word in "abc"]
    for kept in (
        await recorded(home, one, other, conflict_class=EVOLUTION, older_id=one.id),
        await recorded(home, one, third, conflict_class=NUANCE),
    ):
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


async def test_a_review_makes_sense(home: Calls) -> None:
    """D5 A reclassification names a class, and of an evolution the side that was true earlier; no
    other decision has a class; an exception, for which both sides stand, needs its reason."""
    kept = await found(home)
    cases: list[tuple[pb.ReviewDecision.ValueType, str, dict[str, Any]]] = [
        (RECLASSIFY, "conflict_class", {}),
        (RECLASSIFY, "older_id", {"conflict_class": EVOLUTION}),
        (RECLASSIFY, "older_id", {"conflict_class": EVOLUTION, "older_id": "somebody"}),
        (RECLASSIFY, "older_id", {"conflict_class": NUANCE, "older_id": "somebody"}),
        (DISMISS, "conflict_class", {"conflict_class": NUANCE}),
        (EXCEPT, "context", {"context": "  "}),
    ]
    for decision, field, changes in cases:
        failure = await refused(review(home, kept, decision, **changes))
        assert [each.field for each in failure.violations] == [field]
    excepted = (await review(home, kept, EXCEPT, "In the Alps")).conflict

    assert (excepted.state, excepted.context) == (EXCEPTION, "In the Alps")


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
    person = live.calls(principal="ada", kind="HUMAN")
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
    """D5 M3 What a content says counts while it says so."""
    one = await home.add("a")
    linked = await home.add(f"b\n\nContradicts: [[memory:{one.id}]]")
    kept = await of_pair(home, one.id, linked.id)
    linked.content = "b"
    await home.update(linked, "content")

    assert (await get(home, kept.id)).state == POTENTIAL


async def test_dismissing_what_a_link_asserts_takes_its_edge_away(home: Calls) -> None:
    """D5 Its line stays and is not read again; taking the dismissal back brings the edge back."""
    one = await home.add("a")
    linked = await home.add(f"b\n\nContradicts: [[memory:{one.id}]]")
    kept = await of_pair(home, one.id, linked.id)
    dismissed = (await review(home, kept, DISMISS)).conflict
    without = await contradicting(home)
    linked.content += "\n\nMore."
    await home.update(linked, "content")
    after = await contradicting(home), (await get(home, kept.id)).state
    again = await reopen(home, dismissed)

    assert (dismissed.state, dismissed.contradicts_id, without) == (DISMISSED, "", [])
    assert after == ([], DISMISSED)
    assert (again.state, len(await contradicting(home))) == (CONFIRMED, 1)


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


async def found_in(home: Calls, run_id: str, *findings: pb.Finding) -> list[pb.RecordedFinding]:
    """Record the findings of a run."""
    request = pb.RecordConflictsRequest(
        request_id=home.request_id(), findings=findings, run_id=run_id
    )
    return list((await home.conflict.RecordConflicts(request)).findings)


async def dismiss(
    home: Calls, run_id: str = "", request_id: str = "", **by: str
) -> pb.DismissConflictsResponse:
    """Dismiss a run, or what else is named."""
    by = {"run_id": run_id} if run_id else by
    request = pb.DismissConflictsRequest(
        request_id=request_id or home.request_id(),
        context="a bad rule",
        **by,
    )
    return await home.conflict.DismissConflicts(request)


async def pairs(home: Calls, count: int) -> list[tuple[Item, Item]]:
    """Add memories, two for each pair."""
    added = [await home.add(f"memory {number}") for number in range(2 * count)]
    return list(zip(added[::2], added[1::2], strict=True))


async def test_a_conflict_names_the_run_that_recorded_this_version(home: Calls) -> None:
    """D5 A later run that finds the same adds nothing; one that finds a changed side does."""
    one, other = (await pairs(home, 1))[0]
    (first,) = await found_in(home, "run-1", finding(one, other))
    (again,) = await found_in(home, "run-2", finding(one, other))
    (more,) = await found_in(home, "run-3", finding(one, other, confidence=0.95))

    assert [(each.outcome, each.run_id) for each in (first, again, more)] == [
        (CREATED, "run-1"), (UNCHANGED, "run-1"), (UPDATED, "run-3"),
    ]  # fmt: skip
    assert (await get(home, first.conflict_id)).run_id == "run-3"
    assert await listed(home, run_id="run-3") == [first.conflict_id]
    assert await listed(home, run_id="run-1") == []


async def test_a_run_is_dismissed_whole_and_nothing_else(home: Calls) -> None:
    """D5 What was reviewed meanwhile stays; each can be reopened; a repetition counts the same."""
    made = await pairs(home, 4)
    kept = await found_in(home, "run-1", *(finding(*pair) for pair in made[:3]))
    (foreign,) = await found_in(home, "run-2", finding(*made[3]))
    await review(home, await get(home, kept[0].conflict_id), CONFIRM)

    done = await dismiss(home, "run-1", "again")

    assert (done.dismissed_count, done.left_count, done.is_complete) == (2, 0, True)
    states = [(await get(home, each.conflict_id)).state for each in (*kept, foreign)]
    assert states == [CONFIRMED, DISMISSED, DISMISSED, POTENTIAL]
    dismissed = await get(home, kept[1].conflict_id)
    assert (dismissed.context, dismissed.reviewed_by) == ("a bad rule", "agent-1")
    methods = [each.method for each in await home.operations(item_id=dismissed.id)]
    assert methods == ["DismissConflicts", "RecordConflicts"]
    reopened = await reopen(home, dismissed)
    assert (reopened.state, reopened.run_id) == (POTENTIAL, "run-1")
    assert await dismiss(home, "run-1", "again") == done
    assert (await dismiss(home, "no-such-run")).dismissed_count == 0


async def test_findings_of_text_are_dismissed_by_rule_or_group(home: Calls) -> None:
    """D5 Of every run; a typed fact's finding by a rule of that name stays, as do other rules'."""
    made = await pairs(home, 6)
    kept = await found_in(
        home,
        "run-1",
        finding(*made[0], group_id="g"),
        finding(*made[1], group_id="g"),
        finding(*made[2], group_id="h"),
        finding(*made[3], rule="date"),
        finding(*made[4], judge=pb.JUDGE_STRUCTURAL),
    )
    kept += await found_in(home, "run-2", finding(*made[5]))

    async def states() -> list[int]:
        return [(await get(home, each.conflict_id)).state for each in kept]

    by_group = await dismiss(home, request_id="once", group_id="g")
    assert (by_group.dismissed_count, by_group.is_complete) == (2, True)
    assert await states() == [DISMISSED] * 2 + [POTENTIAL] * 4
    assert (await dismiss(home, rule="number")).dismissed_count == 2
    assert await states() == [*[DISMISSED] * 3, POTENTIAL, POTENTIAL, DISMISSED]
    assert (await get(home, kept[2].conflict_id)).group_id == "h"
    assert await dismiss(home, request_id="once", group_id="g") == by_group
    assert (await dismiss(home, group_id="no-such-group")).dismissed_count == 0


async def test_a_large_run_takes_several_requests(
    home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D5 A request holds the store's lock for a bounded number of conflicts."""
    monkeypatch.setattr(conflicts, "MOST_DISMISSED", 2)
    await found_in(home, "run-1", *(finding(*pair) for pair in await pairs(home, 3)))

    first, second = await dismiss(home, "run-1"), await dismiss(home, "run-1")

    assert (first.dismissed_count, first.is_complete) == (2, False)
    assert (second.dismissed_count, second.is_complete) == (1, True)


async def test_what_takes_consent_or_the_agent_is_left(
    live: World, home: Calls, parties: Parties
) -> None:
    """D5 G4 A constitutive side needs both principals, a nuance the agent: each is left alone."""
    creed = await parties.constitutive_memory(home)
    fact, one, other = [await home.add(word) for word in ("I broke it.", "a", "b")]
    person = live.calls(principal="ada", kind="HUMAN")
    kept = await found_in(
        home, "run", finding(creed, fact), finding(one, other, conflict_class=NUANCE)
    )

    by_person = await dismiss(person, "run")
    by_agent = await dismiss(home, "run")

    assert (by_person.dismissed_count, by_person.left_count) == (0, 2)
    assert (by_agent.dismissed_count, by_agent.left_count) == (1, 1)
    states = [(await get(home, each.conflict_id)).state for each in kept]
    assert states == [POTENTIAL, DISMISSED]


async def test_a_space_records_no_findings_of_text_by_itself_until_it_asks(
    home: Calls, live: World
) -> None:
    """D7 Off at first; each space for itself; only who administers the space sets it."""
    asked = pb.GetCheckSettingsRequest()
    wanted = pb.SetCheckSettingsRequest(settings=pb.CheckSettings(records_text_findings=True))
    before = await home.conflict.GetCheckSettings(asked)
    done = await home.conflict.SetCheckSettings(wanted)
    elsewhere = await live.calls("other").conflict.GetCheckSettings(asked)
    writer = live.calls(scopes=frozenset({"graph:read", "graph:write", "conflict:write"}))

    assert not before.settings.records_text_findings
    assert done.settings == wanted.settings
    assert (await home.conflict.GetCheckSettings(asked)).settings == wanted.settings
    assert not elsewhere.settings.records_text_findings
    assert await reason(writer.conflict.SetCheckSettings(wanted)) == (
        "ERROR_REASON_PERMISSION_MISSING"
    )
