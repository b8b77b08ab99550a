"""Conflicts as they are recorded, read and listed (D5)."""

from concord.graph.v1 import conflict_pb2 as pb
from concord.graph.v1 import feed_pb2
from concord.type.v1 import type_pb2
from conflict_world import (
    CONFIRMED,
    CONTRADICTION,
    CREATED,
    DISMISS,
    DISMISSED,
    EVOLUTION,
    NUANCE,
    POTENTIAL,
    STALE,
    UNCHANGED,
    UNDECIDED,
    UPDATED,
    Item,
    finding,
    get,
    listed,
    of_pair,
    record,
    recorded,
    review,
)
from graph_world import (
    DAY,
    NOT_FOUND,
    START,
    SUPERSEDES,
    Calls,
    World,
    known_at,
    micros,
    reason,
    refused,
)


async def test_a_finding_is_read_back_with_both_sides(home: Calls) -> None:
    """D5 A conflict shows what both sides say, whose they are and where they disagree."""
    one = await home.add("Tea is hot", sources=[type_pb2.Source(speaker="Ada")])
    other = await home.add("Tea is cold")
    spans = [pb.Span(start=7, end=10)]
    kept = await recorded(home, other, one, second_spans=spans, severity=2, type=2)
    first, second = kept.first, kept.second

    assert [first.id, second.id] == sorted([one.id, other.id])
    assert (kept.conflict_class, kept.state) == (CONTRADICTION, POTENTIAL)
    assert (kept.judge, kept.rule, kept.confidence) == (pb.JUDGE_LEXICAL, "number", 0.9)
    assert (kept.author, kept.severity, kept.type) == ("agent-1", 2, 2)
    sides = {side.id: side for side in (first, second)}
    assert sides[one.id].statement == "Tea is hot"
    assert list(sides[one.id].spans) == spans
    assert [each.speaker for each in sides[one.id].sources] == ["Ada"]
    assert sides[other.id].kind == type_pb2.ITEM_KIND_MEMORY
    assert (kept.contradicts_id, kept.HasField("resolution")) == ("", False)


async def test_edges_conflict_as_memories_do(home: Calls) -> None:
    """D5 A side is an edge or a memory; an edge's sources are what states it, and theirs."""
    said = await home.add(
        "Ada lives in Bonn",
        sources=[type_pb2.Source(speaker="Ada")],
        facts=[type_pb2.Fact(subject="Ada", relation="LIVES_IN", object="Bonn")],
    )
    one = await home.get_triple("Ada", "LIVES_IN", "Bonn")
    other = await home.put_edge("Ada", "LIVES_IN", "Köln")
    kept = await recorded(home, one, other)
    sides = {side.id: side for side in (kept.first, kept.second)}

    assert sides[one.id].statement == "Ada LIVES_IN Bonn"
    assert [list(each.memory_ids) for each in sides[one.id].sources] == [[said.id], []]
    assert [each.speaker for each in sides[one.id].sources] == ["", "Ada"]
    assert sides[other.id].edge_type == type_pb2.EDGE_TYPE_DESCRIPTIVE


async def test_a_pair_has_one_conflict_however_often_it_is_found(home: Calls) -> None:
    """D5 Recording is idempotent by pair and etags, in whichever order the sides are named."""
    one, other = await home.add("a"), await home.add("b")
    (first,) = await record(home, finding(one, other))
    (again,) = await record(home, finding(other, one))
    (surer,) = await record(home, finding(other, one, confidence=1.0))

    assert [first.outcome, again.outcome, surer.outcome] == [CREATED, UNCHANGED, UPDATED]
    assert first.conflict_id == again.conflict_id == surer.conflict_id
    assert await listed(home) == [first.conflict_id]
    assert (await of_pair(home, other.id, one.id)).confidence == 1.0


async def test_a_batch_is_recorded_whole_or_not_at_all(home: Calls) -> None:
    """D5 One bad finding leaves nothing behind."""
    a, b, c = [await home.add(word) for word in "abc"]
    bad = finding(a, c, conflict_class=EVOLUTION)
    failure = await refused(record(home, finding(a, b), bad))

    assert [each.field for each in failure.violations] == ["findings[1].older_id"]
    assert await listed(home) == []


async def test_a_finding_makes_sense(home: Calls) -> None:
    """D5 An evolution names its older side, nothing else does; a span holds something."""
    one, other = await home.add("a"), await home.add("b")
    cases: list[tuple[str, dict[str, object]]] = [
        ("older_id", {"conflict_class": EVOLUTION, "older_id": "somebody"}),
        ("older_id", {"older_id": "somebody"}),
        ("first_spans", {"first_spans": [pb.Span(start=3, end=3)]}),
    ]
    for field, changes in cases:
        failure = await refused(record(home, finding(one, other, **changes)))
        assert [each.field for each in failure.violations] == [f"findings[0].{field}"]


async def test_sides_are_two_items_of_one_kind(home: Calls) -> None:
    """D5 Two edges or two memories, never one, of two kinds, lineage, or what never was."""
    one, other = await home.add("a"), await home.add("b")
    edge, beside = await home.put_edge("a", "R", "b"), await home.put_edge("a", "R", "c")
    lineage = (await home.relate(SUPERSEDES, edge.id, beside.id)).edge
    nobody = type_pb2.Memory(id="nobody", etag="e")
    pairs: list[tuple[Item, Item]] = [(one, one), (one, edge), (lineage, edge)]
    failures = [await refused(record(home, finding(*pair))) for pair in pairs]

    assert {failure.reason for failure in failures} == {"ERROR_REASON_FIELD_INVALID"}
    assert await reason(record(home, finding(one, nobody))) == "ERROR_REASON_ITEM_NOT_FOUND"
    twice = record(home, finding(one, other), finding(other, one))
    assert await reason(twice) == "ERROR_REASON_FIELD_INVALID"


async def test_a_finding_about_what_stands_no_more_is_stale(home: Calls) -> None:
    """D5 A side that changed, went or was superseded by the other makes it so."""
    a, b, c, d, e = [await home.add(word) for word in "abcde"]
    a.content = "A"
    await home.update(a, "content")
    await home.forget(b)
    await home.relate(SUPERSEDES, d.id, c.id)
    found = await record(home, finding(a, e), finding(b, e), finding(c, d), finding(c, e))

    assert [each.outcome for each in found] == [STALE, STALE, STALE, CREATED]
    assert [each.conflict_id for each in found[:3]] == [""] * 3


async def test_arrival_alone_settles_nothing_between_two_values(home: Calls) -> None:
    """D3 Of a functional relation only a stated order, or lineage, makes a finding stale."""
    await home.declare("LIVES_IN")
    kept = [await home.put_edge("Ada", "LIVES_IN", city) for city in ("Bonn", "Rome")]
    dated = [
        await home.put_edge("Bob", "LIVES_IN", city, valid_from=START - (2 - day) * DAY)
        for day, city in enumerate(("Bonn", "Rome"))
    ]
    found = await record(home, finding(*kept), finding(*dated))

    assert (await home.get_edge(kept[0].id)).supersession.is_superseded
    assert [each.outcome for each in found] == [CREATED, STALE]
    await home.relate(SUPERSEDES, kept[1].id, kept[0].id)
    assert (await record(home, finding(*kept)))[0].outcome == STALE


async def test_what_was_dismissed_stays_so_until_a_side_changes(home: Calls) -> None:
    """D5 A dismissal holds for the versions that were judged."""
    one, other = await home.add("a"), await home.add("b")
    kept = await recorded(home, one, other)
    await review(home, kept, DISMISS)
    (same,) = await record(home, finding(one, other, confidence=1.0))
    one.content = "A"
    changed = await home.update(one, "content")
    (again,) = await record(home, finding(changed, other))

    assert (same.outcome, same.state) == (UNCHANGED, DISMISSED)
    assert (again.outcome, again.state) == (UPDATED, POTENTIAL)
    assert again.conflict_id == kept.id


async def test_a_side_that_changed_shows_no_spans(home: Calls) -> None:
    """D5 Places in a text are places in the version that was judged."""
    one, other = await home.add("Tea is hot"), await home.add("Tea is cold")
    kept = await recorded(home, one, other, first_spans=[pb.Span(start=7, end=10)])
    one.content = "Tea is warm"
    await home.update(one, "content")
    side = next(s for s in _sides(await get(home, kept.id)) if s.id == one.id)

    assert (side.statement, list(side.spans), side.etag) == ("Tea is warm", [], one.etag)


async def test_a_side_that_goes_ends_its_conflict(home: Calls) -> None:
    """D5 W9 It is dismissed, and the side shown as gone; restored, it can be found anew."""
    one, other = await home.add("a"), await home.add("b")
    kept = await recorded(home, one, other)
    gone = await home.forget(one)
    without = await get(home, kept.id)
    back = await home.restore(gone)
    (anew,) = await record(home, finding(back, other))

    assert {s.id: s.is_deleted for s in _sides(without)} == {one.id: True, other.id: False}
    assert not any(side.is_deleted for side in _sides(await get(home, kept.id)))
    assert without.state == DISMISSED
    assert anew.state == POTENTIAL


async def test_conflicts_are_listed_newest_first_by_state_class_and_side(home: Calls) -> None:
    """D5 Each filter is applied, before the limit, and pages follow one another."""
    a, b, c = [await home.add(word) for word in "abc"]
    found = await record(
        home,
        finding(a, b),
        finding(b, c, conflict_class=NUANCE),
        finding(a, c, conflict_class=UNDECIDED),
    )
    ids = [each.conflict_id for each in found]
    await review(home, await get(home, ids[0]), DISMISS)
    page = await home.conflict.ListConflicts(pb.ListConflictsRequest(page_size=2))
    rest = await home.conflict.ListConflicts(
        pb.ListConflictsRequest(page_size=2, page_token=page.next_page_token)
    )

    assert [each.id for each in (*page.conflicts, *rest.conflicts)] == ids[::-1]
    assert (page.total_count, rest.next_page_token) == (3, "")
    assert await listed(home, states=[DISMISSED]) == [ids[0]]
    assert await listed(home, states=[POTENTIAL, CONFIRMED]) == [ids[2], ids[1]]
    assert await listed(home, classes=[NUANCE, UNDECIDED]) == [ids[2], ids[1]]
    assert await listed(home, item_ids=[a.id]) == [ids[2], ids[0]]
    assert await listed(home, item_ids=["nobody"]) == []


async def test_a_conflict_is_read_as_it_was_known(home: Calls, live: World) -> None:
    """T3 At every instant it is what it was then, or not there yet."""
    one, other = await home.add("a"), await home.add("b")
    live.clock.pass_(1_000_000)
    kept = await recorded(home, one, other)
    live.clock.pass_(1_000_000)
    dismissed = (await review(home, kept, DISMISS)).conflict
    then = known_at(micros(kept.create_time))
    before = pb.GetConflictRequest(id=kept.id, as_of=known_at(START + 10))

    assert (await get(home, kept.id)).state == DISMISSED
    assert (await get(home, kept.id, as_of=then)).state == POTENTIAL
    assert (await home.conflict.GetConflict(before)).status == NOT_FOUND
    assert await listed(home, states=[POTENTIAL], as_of=then) == [kept.id]
    assert micros(dismissed.modify_time) > micros(dismissed.create_time)


async def test_a_conflict_is_in_the_feed_and_in_the_record(home: Calls) -> None:
    """G14 A conflict's writes are operations of their own kind, which follows no item."""
    one, other = await home.add("a"), await home.add("b")
    kept = await recorded(home, one, other)
    await review(home, kept, DISMISS)
    of_kind = [each for each in await home.changes() if each.item_kind == 8]

    assert [each.item_id for each in of_kind] == [kept.id] * 2
    assert [each.type for each in of_kind] == [
        feed_pb2.CHANGE_TYPE_CREATED,
        feed_pb2.CHANGE_TYPE_UPDATED,
    ]
    assert [each.method for each in await home.operations(item_id=kept.id)] == [
        "ReviewConflict",
        "RecordConflicts",
    ]


def _sides(conflict: pb.Conflict) -> list[pb.ConflictSide]:
    return [conflict.first, conflict.second]
