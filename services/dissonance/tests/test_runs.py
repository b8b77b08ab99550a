"""Runs: numbered events, one end, and the rest for who comes back."""

import asyncio
import io
from contextlib import aclosing

import pytest
from concord_chassis.observe.log import json_lines
from concord_dissonance.domain.errors import (
    RequestIdReused,
    RunCancelled,
    RunUnknown,
    TooManyRuns,
)
from concord_dissonance.domain.sides import Micros
from concord_dissonance.usecases.dialectic import runs as runs_module
from concord_dissonance.usecases.dialectic.runs import (
    KEPT_SECONDS,
    MOST_UNDER_WAY,
    Event,
    Failed,
    Run,
    RunId,
    Runs,
    Stage,
)


class Registry(Runs):
    """Runs with a clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0
        super().__init__(lambda: Micros(self.now), json_lines("test", stream=io.StringIO()))


@pytest.fixture
def registry() -> Registry:
    """Runs."""
    return Registry()


def named(request_id: str = "r", space: str = "one", principal: str = "agent") -> RunId:
    """Return the id of a run."""
    return RunId(space, principal, request_id)


async def quick(run: Run) -> str:
    """Say two things, of which the second would fall back, and end."""
    run.say(Stage.THESES, 50, "first")
    run.say(Stage.SYNTHESIS, 10)
    return "result"


async def endless(_run: Run) -> None:
    """Wait for ever."""
    await asyncio.Event().wait()


async def all_of(run: Run, after: int = 0) -> list[Event]:
    """Read the events of a run to its end."""
    async with aclosing(run.follow(after)) as events:
        return [each async for each in events]


async def test_events_are_numbered_their_percent_never_falls_and_one_ends(
    registry: Registry,
) -> None:
    """D10 A finished run replayed says the same, and after any number the rest."""
    run = registry.begin(named(), b"", quick)
    events = await all_of(run)

    assert [(each.number, each.percent, each.said) for each in events] == [
        (1, 50, "first"),
        (2, 50, None),
        (3, 100, "result"),
    ]
    for number in range(5):
        assert await all_of(registry.of(named()), number) == events[number:]


async def test_who_comes_back_while_it_goes_on_gets_the_rest(registry: Registry) -> None:
    """D10 What came meanwhile, then what comes."""
    go = asyncio.Event()

    async def work(run: Run) -> str:
        run.say(Stage.THESES, 10, 1)
        await go.wait()
        run.say(Stage.THESES, 20, 2)
        return "result"

    run = registry.begin(named(), b"", work)
    async with aclosing(run.follow()) as events:
        first = await anext(events)
    back = asyncio.create_task(all_of(registry.of(named()), first.number))
    go.set()

    assert [each.said for each in await back] == [2, "result"]


async def test_a_run_that_nobody_follows_is_cancelled(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D10 So are the calls that it has under way; its last event says so."""
    monkeypatch.setattr(runs_module, "ABANDONED_SECONDS", 0.01)
    ended = asyncio.Event()

    async def work(run: Run) -> None:
        run.say(Stage.THESES, 10)
        try:
            await endless(run)
        finally:
            ended.set()

    run = registry.begin(named(), b"", work)
    async with aclosing(run.follow()) as events:
        await anext(events)
    await ended.wait()
    await run.over()
    last = (await all_of(run))[-1]

    assert isinstance(last.said, Failed)
    assert isinstance(last.said.error, RunCancelled)
    assert last.percent == 10


async def test_a_run_is_its_principals_own_and_kept_for_a_while(registry: Registry) -> None:
    """D10 G13 Of another space or principal it is unknown, and so is an old one."""
    await all_of(registry.begin(named(), b"", quick))
    registry.now = (KEPT_SECONDS - 1) * 1_000_000
    registry.of(named())
    for other in (named("x"), named(space="two"), named(principal="bob")):
        with pytest.raises(RunUnknown):
            registry.of(other)
    registry.now += 1_000_000

    with pytest.raises(RunUnknown):
        registry.of(named())


async def test_a_request_sent_again_follows_its_run(registry: Registry) -> None:
    """M5 Another request of the same id is refused."""
    run = registry.begin(named(), b"one", quick)

    assert registry.begin(named(), b"one", quick) is run
    with pytest.raises(RequestIdReused):
        registry.begin(named(), b"two", quick)


async def test_a_space_has_so_many_runs_under_way(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W7 One space does not starve another; of finished ones the oldest goes."""
    monkeypatch.setattr(runs_module, "MOST_KEPT", 2)
    for number in range(3):
        registry.now = number
        await all_of(registry.begin(named(f"done {number}"), b"", quick))
    for number in range(MOST_UNDER_WAY):
        registry.begin(named(f"{number}", "two"), b"", endless)

    with pytest.raises(TooManyRuns):
        registry.begin(named("more", "two"), b"", endless)
    registry.begin(named("more"), b"", endless)
    with pytest.raises(RunUnknown):
        registry.of(named("done 0"))
    await registry.close()


async def test_what_a_run_dies_of_is_its_last_event(registry: Registry) -> None:
    """D10 Exactly one end, whatever happens."""

    async def work(_run: Run) -> None:
        raise LookupError

    events = await all_of(registry.begin(named(), b"", work))

    assert [type(each.said) for each in events] == [Failed]
