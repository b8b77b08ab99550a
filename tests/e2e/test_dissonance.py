"""Dissonance over the real graph, search and governance: what it finds, and what it covers."""

import random

import grpc
import pytest
from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.graph.v1 import conflict_pb2
from concord.type.v1 import type_pb2
from dissonance_over_graph import ETERNAL, Dissonant, Run, Space, dissonant
from google.protobuf.timestamp_pb2 import Timestamp
from governed_world import DAY, World, request_id

OPEN, CLOSED = "The office is open on Sunday.", "The office is not open on Sunday."
TALL, TALLER = "The tower is 300 m high.", "The tower is 320 m high."
POTENTIAL = conflict_pb2.CONFLICT_STATE_POTENTIAL
CONFIRMED = conflict_pb2.CONFLICT_STATE_CONFIRMED
RESOLVED = conflict_pb2.CONFLICT_STATE_RESOLVED
EVOLUTION = conflict_pb2.CONFLICT_CLASS_EVOLUTION


async def disagree(space: Space) -> None:
    """Write an edge against an edge, and a memory against a memory, beside what agrees."""
    await space.declare("LIVES_IN")
    await space.edge("Ada", "LIVES_IN", "Berlin")
    await space.edge("Ada", "LIVES_IN", "Paris")
    await space.edge("Ada", "KNOWS", "Bob")
    for text in (OPEN, CLOSED, "Tea is served at five."):
        await space.add(text)


FOUND = {
    ("CONTRADICTION", frozenset({"Ada LIVES_IN Berlin", "Ada LIVES_IN Paris"})),
    ("CONTRADICTION", frozenset({OPEN, CLOSED})),
}


async def test_a_check_finds_what_disagrees_and_says_what_it_covered(home: Space) -> None:
    """D1 D2 D3 Facts are decided exactly, texts by rule; the reply counts every pair."""
    await disagree(home)
    run = await home.detect()
    covered = run.summary.coverage

    assert run.said == FOUND
    assert run.summary.status == pb.CHECK_STATUS_COMPLETE
    assert run.summary.findings == {"CONTRADICTION": 2}
    assert (covered.statements, covered.recorded) == (6, 2)
    assert covered.judged + sum(covered.abstained.values()) == covered.candidates
    assert covered.judged_by["STRUCTURAL"] == 1
    assert run.percents == sorted(run.percents)
    assert run.percents[-1] == 100
    assert all(each.author == "dissonance" and each.id for each in run.conflicts)


async def test_the_same_check_once_more_records_nothing_new(home: Space) -> None:
    """D5 Recording is idempotent; a replay, and a full check anew, say the same."""
    await disagree(home)
    sent = request_id()
    first, replay = await home.detect(sent=sent), await home.detect(sent=sent)
    again = await home.detect()

    assert first == replay
    assert [each.id for each in again.conflicts] == [each.id for each in first.conflicts]
    assert again.summary.coverage.recorded == 0


async def test_what_did_not_change_is_not_judged_again(home: Space) -> None:
    """Issue 14, must hold: a second run judges what changed, and reading is no change."""
    await disagree(home)
    await home.detect(full=False)
    unchanged = await home.detect(full=False)
    later = await home.add(TALL)
    await home.add(TALLER)
    changed = await home.detect(full=False)

    assert unchanged.summary.coverage == pb.Coverage()
    assert changed.said == {("CONTRADICTION", frozenset({TALL, TALLER}))}
    assert changed.summary.coverage.candidates < 4
    await home.update(later, "The tower is 320 m high!")
    assert (await home.detect(full=False)).said == set()


async def test_a_new_declaration_has_everything_judged_anew(home: Space) -> None:
    """D4 What was undeclared is an abstention; once declared it is a finding."""
    await home.edge("Ada", "BORN_IN", "Berlin")
    await home.edge("Ada", "BORN_IN", "Paris")
    before = await home.detect(full=False)
    await home.declare("BORN_IN", temporal_class=ETERNAL)
    after = await home.detect(full=False)

    assert before.said == set()
    assert before.summary.coverage.abstained == {"UNDECLARED": 1}
    assert after.summary.findings == {"CONTRADICTION": 1}


async def test_a_check_around_a_node_knows_names_and_containers_far_away(home: Space) -> None:
    """D1 D4 Two edges from the node as well: one value lies within the other, or is the other."""
    await home.declare("LIVES_IN", temporal_class=ETERNAL)
    await home.declare("LIES_IN", transitive=True, functional=False)
    for city in ("Linz", "Austria", "Lentia"):
        await home.edge("Ada", "LIVES_IN", city)
    await home.edge("Linz", "LIES_IN", "Upper Austria")
    await home.edge("Upper Austria", "LIES_IN", "Austria")
    await home.edge("Lentia", "SAME_AS", "the old town")
    await home.edge("the old town", "SAME_AS", "Linz")
    near, all_of_it = await home.check("Ada", dry_run=True), await home.detect(dry_run=True)

    said = Run(conflicts=list(near.conflicts)).said
    assert said == all_of_it.said
    assert ("NUANCE", frozenset({"Ada LIVES_IN Austria", "Ada LIVES_IN Linz"})) in said
    same = frozenset({"Ada LIVES_IN Lentia", "Ada LIVES_IN Linz"})
    assert same not in [statements for _, statements in said]


async def test_what_is_eternal_has_one_value_whenever_it_began(home: Space) -> None:
    """D4 Also where both values state a start, and the later one has superseded the other."""
    await home.declare("BORN_IN", temporal_class=ETERNAL)
    for city, day in (("Berlin", 1), ("Paris", 2)):
        await home.edge("Ada", "BORN_IN", city, valid_from=Timestamp(seconds=day * 86_400))
    (found,) = (await home.detect()).conflicts

    assert found.conflict_class == conflict_pb2.CONFLICT_CLASS_CONTRADICTION
    assert found.id


async def test_names_of_one_thing_are_one_subject_and_one_value(home: Space) -> None:
    """D4 An edge SAME_AS says so, and has everything judged anew: two names of one value are no
    finding, two values under two names of one subject are."""
    await home.declare("LIVES_IN", temporal_class=ETERNAL)
    await home.declare("MAYOR", temporal_class=ETERNAL)
    for city in ("Munich", "Muenchen"):
        await home.edge("Gus", "LIVES_IN", city)
        await home.edge(city, "MAYOR", f"mayor of {city}")
    before = await home.detect(full=False)
    await home.edge("Munich", "SAME_AS", "Muenchen")
    after = await home.detect(full=False)

    values = {"Gus LIVES_IN Munich", "Gus LIVES_IN Muenchen"}
    assert [said for _, said in before.said] == [frozenset(values)]
    mayors = {f"{city} MAYOR mayor of {city}" for city in ("Munich", "Muenchen")}
    assert [said for _, said in after.said] == [frozenset(mayors)]


async def test_what_succession_by_stated_time_has_ended_is_no_finding(home: Space) -> None:
    """D3 A stated order settles a functional relation; the order of arrival alone does not."""
    await home.declare("LIVES_IN")
    for year, city in ((2020, "Bonn"), (2022, "Rome")):
        start = Timestamp(seconds=(year - 1970) * 31_557_600)
        await home.edge("Ada", "LIVES_IN", city, valid_from=start)
    run = await home.detect()

    assert run.conflicts == []
    assert run.summary.coverage.candidates == 0


async def test_order_of_runs_changes_nothing(works: Dissonant) -> None:
    """D1 D2 Checked after each write, in another order, or once at the end: the same conflicts."""
    texts = [OPEN, CLOSED, TALL, TALLER, "Tea is served at five.", "Bread is baked at six."]
    found = []
    for name, seed, checks in (("one", 1, False), ("two", 2, True), ("three", 3, True)):
        space = works.space(name)
        await space.declare("BORN_IN", temporal_class=ETERNAL)
        writes: list[str] = [*texts, "Berlin", "Paris", "Rome"]
        for what in random.Random(seed).sample(writes, len(writes)):
            said = space.add(what) if what in texts else space.edge("Ada", "BORN_IN", what)
            await said
            if checks:
                await space.detect(full=False)
        await space.detect(full=not checks)
        found.append(
            {
                (each.conflict_class, frozenset((each.first.statement, each.second.statement)))
                for each in (await space.listed()).conflicts
            }
        )

    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 5


async def test_what_was_resolved_or_dismissed_comes_back_when_that_is_taken_back(
    home: Space,
) -> None:
    """D5 D6 Not before: neither another check nor the order of the two sides raises it."""
    one, other = await home.add(OPEN), await home.add(CLOSED)
    (found,) = (await home.detect()).conflicts
    dismissed = (await home.review(found, pb.REVIEW_ACTION_DISMISS)).conflict
    assert (await home.detect()).said == set()
    reopened = (await home.review(dismissed, pb.REVIEW_ACTION_REOPEN)).conflict
    assert (await home.listed()).conflicts[0].state == POTENTIAL
    assert len((await home.detect()).said) == 1

    resolved = await home.resolve(
        conflict_id=reopened.id, resolution_type=EVOLUTION, superseded_id=other.id
    )
    assert resolved.conflict.resolution.superseding_id == one.id
    assert (await home.detect()).said == set()
    assert (await home.listed()).conflicts[0].state == RESOLVED
    await home.review(resolved.conflict, pb.REVIEW_ACTION_REOPEN)
    assert len((await home.detect()).said) == 1


async def test_a_dry_run_records_nothing(home: Space) -> None:
    """D1 It shows what would be found, without ids."""
    await disagree(home)
    run = await home.detect(dry_run=True)

    assert run.said == FOUND
    assert {each.id for each in run.conflicts} == {""}
    assert (await home.listed()).conflicts == []
    assert (await home.check("Ada", dry_run=True)).conflicts[0].id == ""
    assert (await home.detect(full=False)).said == FOUND


async def test_a_dry_run_passes_over_what_was_reviewed(home: Space) -> None:
    """D1 D5 It shows what a check would raise, until a side changes."""
    memory, _ = await home.add(OPEN), await home.add(CLOSED)
    (found,) = (await home.detect()).conflicts
    await home.review(found, pb.REVIEW_ACTION_DISMISS)
    dismissed = await home.detect(dry_run=True)
    await home.update(memory, OPEN + " ")

    assert dismissed.conflicts == []
    assert dismissed.summary.findings == {}
    assert len((await home.detect(dry_run=True)).conflicts) == 1


async def test_facts_of_memories_are_compared_once_as_edges(home: Space) -> None:
    """D3 A memory meets an edge by its facts: two that state facts are no second finding. Facts
    that a program took, of which nothing is declared, hide no finding of text."""
    for city in ("Rome", "Oslo"):
        fact = type_pb2.Fact(subject="Ada", relation="HOME", object=city, extracted=True)
        await home.add(f"Ada lives in {city}.", facts=[fact])
    undeclared = await home.detect()
    await home.declare("HOME")
    run = await home.detect()

    assert [each.first.kind for each in undeclared.conflicts] == [type_pb2.ITEM_KIND_MEMORY]
    assert [each.first.kind for each in run.conflicts] == [type_pb2.ITEM_KIND_EDGE]


async def test_a_dead_search_is_degraded_with_counts(live: World) -> None:
    """D1 What the exact judges find stands, and nobody reads an outage as "no conflicts"."""
    async with dissonant(live, with_search=False, follow=False) as running:
        home = running.space()
        await disagree(home)
        run, check = await home.detect(), await home.check("Ada")

        assert run.said == FOUND
        assert run.summary.status == pb.CHECK_STATUS_DEGRADED
        assert run.summary.coverage.skipped == {"SEARCH_UNAVAILABLE": 3}
        assert check.status == pb.CHECK_STATUS_COMPLETE, "there is no memory to search for"
        again = await home.detect(full=False)
        assert again.summary.coverage.candidates, "a degraded check does not count as done"


async def test_a_check_around_a_node_sees_its_statements_alone(home: Space) -> None:
    """D1 Edges within the radius and the memories that state them; fewer than two: too few."""
    await disagree(home)
    alone = await home.check("Bob", radius=1)
    near = await home.check("Ada", radius=1)
    by_id = await home.check(near.conflicts[0].first.id, radius=1)

    assert alone.status == pb.CHECK_STATUS_INSUFFICIENT_DATA
    assert near.status == pb.CHECK_STATUS_COMPLETE
    (found,) = near.conflicts
    there = {found.first.statement, found.second.statement}
    assert there == {"Ada LIVES_IN Berlin", "Ada LIVES_IN Paris"}
    assert near.coverage.statements == 3
    assert near.token
    assert by_id.status == pb.CHECK_STATUS_INSUFFICIENT_DATA
    nobody = await home.check("Nobody")
    assert nobody.status == pb.CHECK_STATUS_INSUFFICIENT_DATA
    assert alone.node_status == type_pb2.LOOKUP_STATUS_FOUND
    assert nobody.node_status == type_pb2.LOOKUP_STATUS_NOT_FOUND


async def test_recent_statements_are_those_of_thirty_days_or_of_the_session(
    works: Dissonant, home: Space
) -> None:
    """D1 RECENT: changed or read within 30 days, or touched in the current session."""
    await disagree(home)
    works.world.clock.now += 31 * DAY
    recent = await home.check("Ada", scope=pb.CHECK_SCOPE_RECENT)
    full = await home.check("Ada")

    assert recent.status == pb.CHECK_STATUS_INSUFFICIENT_DATA
    assert len(full.conflicts) == 1


async def test_a_review_is_the_callers_own(works: Dissonant) -> None:
    """D5 Graph sees who decides: dissonance lends nobody its name or its rights."""
    anna = works.space(principal="anna", kind="HUMAN")
    await anna.add(OPEN)
    await anna.add(CLOSED)
    (found,) = (await anna.detect()).conflicts
    reviewed = (await anna.review(found, pb.REVIEW_ACTION_CONFIRM)).conflict

    assert (reviewed.state, reviewed.reviewed_by) == (CONFIRMED, "anna")
    assert (reviewed.author, bool(reviewed.contradicts_id)) == ("dissonance", True)
    reopened = (await anna.review(reviewed, pb.REVIEW_ACTION_REOPEN)).conflict
    assert reopened.state == POTENTIAL


async def test_a_resolution_supersedes_and_can_be_taken_back(home: Space) -> None:
    """D6 Resolving a finding writes the lineage; a pair without a conflict gets one first."""
    old, new = await home.add("The door is red."), await home.add("The gate is blue.")
    pair = conflict_pb2.ConflictPair(first_id=new.id, second_id=old.id)
    reply = await home.resolve(pair=pair, resolution_type=EVOLUTION, superseded_id=old.id)

    assert reply.conflict.state == RESOLVED
    assert reply.conflict.resolution.superseded_id == old.id
    assert reply.conflict.resolution.resolved_by == "agent"
    assert [(each.id, each.by_id) for each in reply.gave_way.items] == [(old.id, new.id)]
    assert reply.token
    reopened = (await home.review(reply.conflict, pb.REVIEW_ACTION_REOPEN)).conflict
    assert reopened.state == POTENTIAL


async def test_the_earlier_of_two_values_can_be_the_right_one(home: Space) -> None:
    """D6 T2 What arrived later never held then, and holds again when that is taken back."""
    await home.declare("LIVES_IN")
    right = await home.edge("Ada", "LIVES_IN", "Berlin")
    wrong = await home.edge("Ada", "LIVES_IN", "Paris")
    (found,) = (await home.detect()).conflicts
    reply = await home.resolve(
        conflict_id=found.id,
        resolution_type=conflict_pb2.CONFLICT_CLASS_CONTRADICTION,
        superseded_id=wrong.id,
    )

    assert reply.conflict.resolution.superseding_id == right.id
    assert await home.current("Ada") == {"Berlin"}
    assert (await home.detect()).said == set()
    reopened = await home.review(reply.conflict, pb.REVIEW_ACTION_REOPEN)
    assert [each.id for each in reopened.gave_way.items] == [right.id]
    assert await home.current("Ada") == {"Paris"}


async def test_unknown_conflicts_are_not_found(home: Space) -> None:
    """G13 Another space's conflict and none at all are the same."""
    nobody = conflict_pb2.Conflict(id="01a00000-0000-7000-8000-000000000000")
    for call in (
        home.review(nobody, pb.REVIEW_ACTION_DISMISS),
        home.resolve(conflict_id=nobody.id, resolution_type=EVOLUTION),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call
        assert caught.value.code() == grpc.StatusCode.NOT_FOUND


async def test_an_item_is_no_conflict_with_itself(home: Space) -> None:
    """D6 Equal ids are refused, with the field that is wrong."""
    pair = conflict_pb2.ConflictPair(first_id="a", second_id="a")
    with pytest.raises(grpc.aio.AioRpcError, match="must be another item") as caught:
        await home.resolve(pair=pair, resolution_type=EVOLUTION)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT


async def test_pairs_are_judged_as_the_space_declares_and_alike_when_swapped(home: Space) -> None:
    """D2 D4 Swapping a pair flips the direction of an evolution and nothing else."""
    await home.declare("LIVES_IN")
    facts = [
        pb.Statement(
            text=f"Ada lives in {city}",
            fact=type_pb2.Fact(subject="Ada", relation="LIVES_IN", object=city),
            valid_from=Timestamp(seconds=start),
        )
        for city, start in (("Berlin", 1_000), ("Paris", 2_000))
    ]
    texts = [pb.Statement(text=text) for text in (OPEN, CLOSED)]
    pairs = [pb.StatementPair(first=one, second=two) for one, two in (facts, texts)]
    swapped = [pb.StatementPair(first=each.second, second=each.first) for each in pairs]
    ask = home.dissonance.ClassifyPairs
    reply = await ask(pb.ClassifyPairsRequest(pairs=[*pairs, *swapped]))
    evolution, contradiction, flipped, same = reply.verdicts

    assert (evolution.conflict_class, evolution.older) == (EVOLUTION, 1)
    assert (flipped.conflict_class, flipped.older) == (EVOLUTION, 2)
    assert contradiction.conflict_class == conflict_pb2.CONFLICT_CLASS_CONTRADICTION
    assert contradiction.first_spans == same.second_spans
    assert (await home.listed()).conflicts == []


async def test_pairs_are_judged_by_the_names_of_the_space(home: Space) -> None:
    """D4 Two names of one value are no contradiction, whoever asks."""
    await home.declare("LIVES_IN", temporal_class=ETERNAL)
    await home.edge("Munich", "SAME_AS", "Muenchen")
    told = [
        pb.Statement(text=city, fact=type_pb2.Fact(subject="Ada", relation="LIVES_IN", object=city))
        for city in ("Munich", "Muenchen", "Bonn")
    ]
    pairs = [pb.StatementPair(first=told[0], second=each) for each in told[1:]]
    reply = await home.dissonance.ClassifyPairs(pb.ClassifyPairsRequest(pairs=pairs))

    assert [each.conflict_class for each in reply.verdicts] == [
        conflict_pb2.CONFLICT_CLASS_UNSPECIFIED,
        conflict_pb2.CONFLICT_CLASS_CONTRADICTION,
    ]
