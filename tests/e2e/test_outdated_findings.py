"""Findings of texts whose words were changed so that the two agree end, and no others (D5)."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.graph.v1 import memory_pb2, space_pb2
from concord.type.v1 import type_pb2
from concord_dissonance.usecases import follow
from concord_reading.reader import reader
from dissonance_over_graph import Space, dissonant
from governed_world import World, eventually

OPEN, CLOSED = "The office is open on Sunday.", "The office is not open on Sunday."
ON_MONDAY = "The kitchen was painted blue by Ada."


async def two(home: Space, open_: str = OPEN, closed: str = CLOSED) -> tuple[Any, Any]:
    """Write two memories that disagree, and check; return the second one, and the finding."""
    await home.add(open_)
    second = await home.add(closed)
    (found,) = (await home.detect()).conflicts
    return second, found


async def there(home: Space) -> list[str]:
    """Return the ids of all conflicts."""
    return [each.id for each in (await home.listed()).conflicts]


async def methods(home: Space, conflict_id: str) -> list[str]:
    """Return the methods that changed a conflict, the last first."""
    request = space_pb2.ListOperationsRequest(item_id=conflict_id)
    return [each.method for each in (await home.spaces.ListOperations(request)).operations]


async def by_check_of_changes(home: Space) -> None:
    """Check what changed since the last check."""
    await home.detect(full=False)


async def by_full_check(home: Space) -> None:
    """Check the whole space."""
    await home.detect()


@pytest.mark.parametrize("check", [by_check_of_changes, by_full_check])
@pytest.mark.parametrize("words", ["The office is open on Sunday, too.", ON_MONDAY])
async def test_what_agrees_now_is_no_finding(
    live: World, check: Callable[[Space], Awaitable[None]], words: str
) -> None:
    """D5 Near or not any more, by either check; on record; another space's stays."""
    async with dissonant(live, follow=False) as works:
        home, other = works.space(), works.space("two")
        second, found = await two(home)
        _, of_other = await two(other)
        await home.update(second, words)
        await check(home)

        assert not await there(home)
        assert await there(other) == [of_other.id]
        assert await methods(home, found.id) == ["EndFormerFindings", "RecordConflicts"]
        await home.update(await read(home, second), CLOSED)
        (anew,) = (await home.detect(full=False)).conflicts
        assert anew.id != found.id


async def read(home: Space, memory: type_pb2.Memory) -> type_pb2.Memory:
    """Return a memory as it is now."""
    request = memory_pb2.GetMemoryRequest(id=memory.id, peek=True)
    return (await home.memories.GetMemory(request)).memory


async def test_what_a_node_check_reads_ends_too(live: World) -> None:
    """D1 D5 Memories that state facts of the node."""
    facts = [type_pb2.Fact(subject="office", relation="IS", object="a place")]
    async with dissonant(live, follow=False) as works:
        home = works.space()
        await home.add(OPEN, facts=facts)
        second = await home.add(CLOSED, facts=facts)
        (found,) = (await home.check("office")).conflicts
        await home.update(second, OPEN.replace(".", ", too."))
        dry = await home.check("office", dry_run=True)
        kept = await there(home)
        await home.check("office")

        assert not dry.conflicts
        assert kept == [found.id]
        assert not await there(home)


@pytest.mark.parametrize("words", ["The office is open on Sunday, too.", ON_MONDAY])
async def test_what_follows_a_write_ends_it_too(
    live: World, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    """D5 D7 Where the space asks for findings of text without a check."""
    monkeypatch.setattr(follow, "QUIET", 0.01)
    async with dissonant(live) as works:
        home = works.space()
        await home.ask_for_texts()
        await home.add(OPEN)
        second = await home.add(CLOSED, kind=type_pb2.MEMORY_KIND_REFLECTION)
        await eventually(lambda: there(home), lambda found: len(found) == 1)
        await home.update(second, words)
        await eventually(lambda: there(home), lambda found: not found)


async def test_nothing_ends_while_a_judge_or_search_is_silent(live: World) -> None:
    """D5 D13 What could not be judged anew was not found to agree; the next check ends it."""
    async with dissonant(live, follow=False) as works:
        home = works.space()
        second, found = await two(home)
        await home.update(second, ON_MONDAY)
    async with dissonant(live, follow=False, with_search=False) as works:
        await works.space().detect(full=False)
        kept = await there(works.space())
    async with dissonant(live, follow=False) as works:
        await works.space().detect(full=False)

        assert kept == [found.id]
        assert not await there(works.space())


async def test_what_somebody_decided_stays(live: World) -> None:
    """D5 Confirmed; so does what still disagrees, in its new words, and what did not change."""
    async with dissonant(live, follow=False) as works:
        home = works.space()
        second, found = await two(home)
        await home.review(found, pb.REVIEW_ACTION_CONFIRM)
        await home.update(second, OPEN.replace(".", ", too."))
        await home.detect(full=False)
        decided = await there(home)
        await home.add("The tower is 300 m high.")
        tower = await home.add("The tower is 320 m high.")
        (other,) = [each for each in (await home.detect()).conflicts if each.id != found.id]
        await home.update(tower, "The tower is 330 m high.")
        (still,) = (await home.detect(full=False)).conflicts

        assert decided == [found.id]
        assert still.id == other.id
        assert {*await there(home)} == {found.id, other.id}


async def test_english_without_its_parser_is_degraded_and_read_again(
    home: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D1 D4 Nobody reads a missing parser as "no conflicts"; once it is back, the same is found."""
    for text in ("The depot opens at 8.", "The depot opens at 9."):
        await home.add(text)
    await home.add("Der Hafen ist für die Lastwagen gesperrt.")
    with monkeypatch.context() as without:
        without.setattr("concord_dissonance.usecases.examine.missing", lambda: "no such wheel")
        without.setattr("concord_dissonance.domain.sketch.missing", lambda: "no such wheel")
        without.setattr("concord_reading.reader.parser", lambda: None)
        lacking = await home.detect(full=False)
    reader.cache_clear()  # as another process, which has the parser
    found = await home.detect(full=False)

    assert (lacking.summary.status, lacking.conflicts) == (pb.CHECK_STATUS_DEGRADED, [])
    assert lacking.summary.coverage.skipped == {"PARSER_MISSING": 2}
    assert found.summary.status == pb.CHECK_STATUS_COMPLETE
    assert len(found.conflicts) == 1
