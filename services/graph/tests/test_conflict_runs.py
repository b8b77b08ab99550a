"""What a run of a check recorded, and what a space lets checks record (D5, D7)."""

import pytest
from concord.graph.v1 import conflict_pb2 as pb
from concord_chassis.identity import Caller
from concord_graph.usecases.items import conflicts
from conflict_world import (
    CONFIRM,
    CONFIRMED,
    CREATED,
    DISMISSED,
    NUANCE,
    POTENTIAL,
    UNCHANGED,
    UPDATED,
    Item,
    finding,
    get,
    listed,
    reopen,
    review,
)
from graph_world import SCOPES, Calls, World, reason


async def found_in(home: Calls, run_id: str, *findings: pb.Finding) -> list[pb.RecordedFinding]:
    """Record the findings of a run."""
    request = pb.RecordConflictsRequest(
        request_id=home.request_id(), findings=findings, run_id=run_id
    )
    return list((await home.conflict.RecordConflicts(request)).findings)


async def dismiss(home: Calls, run_id: str, request_id: str = "") -> pb.DismissRunResponse:
    """Dismiss a run."""
    request = pb.DismissRunRequest(
        request_id=request_id or home.request_id(), run_id=run_id, context="a bad rule"
    )
    return await home.conflict.DismissRun(request)


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
    assert methods == ["DismissRun", "RecordConflicts"]
    reopened = await reopen(home, dismissed)
    assert (reopened.state, reopened.run_id) == (POTENTIAL, "run-1")
    assert await dismiss(home, "run-1", "again") == done
    assert (await dismiss(home, "no-such-run")).dismissed_count == 0


async def test_a_large_run_takes_several_requests(
    home: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D5 A request holds the store's lock for a bounded number of conflicts."""
    monkeypatch.setattr(conflicts, "MOST_DISMISSED", 2)
    await found_in(home, "run-1", *(finding(*pair) for pair in await pairs(home, 3)))

    first, second = await dismiss(home, "run-1"), await dismiss(home, "run-1")

    assert (first.dismissed_count, first.is_complete) == (2, False)
    assert (second.dismissed_count, second.is_complete) == (1, True)


async def test_what_takes_consent_or_the_agent_is_left(live: World, home: Calls) -> None:
    """D5 G4 A constitutive side needs both principals, a nuance the agent: each is left alone."""
    parties = live.parties()
    await parties.enrol(home)
    creed = await parties.constitutive_memory(home)
    fact, one, other = [await home.add(word) for word in ("I broke it.", "a", "b")]
    person = Calls(live.server.channel(Caller("home", "ada", SCOPES, "HUMAN")), "home")
    kept = await found_in(
        home, "run", finding(creed, fact), finding(one, other, conflict_class=NUANCE)
    )

    by_person = await dismiss(person, "run")
    by_agent = await dismiss(home, "run")

    assert (by_person.dismissed_count, by_person.left_count) == (0, 2)
    assert (by_agent.dismissed_count, by_agent.left_count) == (1, 1)
    states = [(await get(home, each.conflict_id)).state for each in kept]
    assert states == [POTENTIAL, DISMISSED]


async def test_a_run_of_another_space_is_none(home: Calls, live: World) -> None:
    """G13 A run's id means nothing elsewhere."""
    (kept,) = await found_in(home, "run", finding(*(await pairs(home, 1))[0]))

    assert (await dismiss(live.calls("other"), "run")).dismissed_count == 0
    assert (await get(home, kept.conflict_id)).state == POTENTIAL


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
