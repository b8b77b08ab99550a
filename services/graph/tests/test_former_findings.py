"""What former judges found in texts ends when dissonance says so (D5)."""

from collections.abc import Sequence

import pytest
from concord.graph.v1 import conflict_pb2 as pb
from concord_graph.usecases.items import conflicts
from conflict_world import (
    CONFIRM,
    CONTRADICTION,
    CREATED,
    NUANCE,
    POTENTIAL,
    RECLASSIFY,
    UNCHANGED,
    UNDECIDED,
    UPDATED,
    finding,
    get,
    listed,
    record,
    review,
)
from graph_world import Calls


async def test_a_recorded_class_changes_by_a_review_alone(home: Calls) -> None:
    """D4 Of texts as they were judged: another opinion adds nothing; UNDECIDED gets its class."""
    one, other, third = [await home.add(word) for word in "abc"]
    kept, open_ = await record(
        home, finding(one, other), finding(one, third, conflict_class=UNDECIDED)
    )
    again = await record(home, finding(one, other, conflict_class=UNDECIDED), finding(one, third))

    assert [each.outcome for each in again] == [UNCHANGED, UPDATED]
    classes = [(await get(home, each.conflict_id)).conflict_class for each in (kept, open_)]
    assert classes == [CONTRADICTION, CONTRADICTION]


async def end_former(
    home: Calls, judges_version: int, request_id: str = "", not_found: Sequence[str] = ()
) -> pb.EndFormerFindingsResponse:
    """End what judges before a version found in texts, or find no more, as dissonance does."""
    request = pb.EndFormerFindingsRequest(
        request_id=request_id or home.request_id(),
        judges_version=judges_version,
        conflict_ids=not_found,
    )
    return await home.conflict.EndFormerFindings(request)


async def test_what_former_judges_found_in_texts_ends(
    home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D5 Once, on record, in bounded requests; typed ones, reviewed ones, and those of the judges
    of now stay; the pair can be found anew."""
    monkeypatch.setattr(conflicts, "MOST_DISMISSED", 2)
    added = [await home.add(f"memory {number}") for number in range(14)]
    made = list(zip(added[::2], added[1::2], strict=True))
    kept = await record(
        home,
        *(finding(*pair) for pair in made[:3]),
        finding(*made[3], judge=pb.JUDGE_STRUCTURAL),
        finding(*made[4], judges_version=5),
        *(finding(*pair) for pair in made[5:]),
    )
    ids = [each.conflict_id for each in kept]
    await review(home, await get(home, ids[5]), CONFIRM)
    await review(home, await get(home, ids[6]), RECLASSIFY, conflict_class=NUANCE)
    before = await get(home, ids[4])

    ended = [await end_former(home, 5, f"once-{number}") for number in range(3)]

    assert [(each.ended_count, each.is_complete) for each in ended] == [
        (2, False), (1, True), (0, True),
    ]  # fmt: skip
    assert set(await listed(home)) == set(ids[3:])
    assert before.judges_version == 5
    assert [each.method for each in await home.operations(item_id=ids[0])] == [
        "EndFormerFindings",
        "RecordConflicts",
    ]
    assert await end_former(home, 5, "once-0") == ended[0]
    (anew,) = await record(home, finding(*made[0], judges_version=5))
    assert (anew.outcome, anew.state) == (CREATED, POTENTIAL)
    assert anew.conflict_id not in ids


async def changed(home: Calls) -> list[str]:
    """Return the ids of five findings: of changed words, of a forgotten memory, of changed words
    that somebody confirmed, of changed typed facts, and of words as they were judged."""
    pairs = [[await home.add(f"{side} {number}") for side in "ab"] for number in range(5)]
    judges = [pb.JUDGE_LEXICAL] * 3 + [pb.JUDGE_STRUCTURAL, pb.JUDGE_LEXICAL]
    kept = await record(
        home,
        *(
            finding(*pair, judge=judge, judges_version=5)
            for pair, judge in zip(pairs, judges, strict=True)
        ),
    )
    ids = [each.conflict_id for each in kept]
    await review(home, await get(home, ids[2]), CONFIRM)
    for place in (0, 2, 3):
        memory = pairs[place][1]
        memory.content = "b, changed"
        await home.update(memory, "content")
    await home.forget(pairs[1][0])
    return ids


async def test_of_what_judges_find_no_more_ends_what_has_changed(home: Calls) -> None:
    """D5 Of those that are named, and whatever the judges' version; others stay as they are."""
    ids = await changed(home)
    unnamed = await end_former(home, 5)
    ended = await end_former(home, 5, not_found=[*ids, "unknown"])

    assert (unnamed.ended_count, ended.ended_count) == (0, 1)
    assert set(await listed(home)) == set(ids[1:])  # the second ended with its side (W9)


async def test_without_the_guard_current_findings_would_end(
    home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D5 What a judge found in the words of now is ended by no mistake of dissonance's."""
    ids = await changed(home)
    monkeypatch.setattr(conflicts._Judged, "has_changed", lambda *_: True)
    await end_former(home, 5, not_found=ids)

    assert set(await listed(home)) == set(ids[1:4])
