"""Whatever was done to a space, its full export makes the same space again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import grpc
import pytest
from concord.graph.v1 import episode_pb2
from concord.type.v1 import type_pb2
from graph_world import AMENDS, DAY, SECOND, START, SUPERSEDES, Calls, World, fact, stamp
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from random_space import Space, numbers, running
from transfers import export_of, import_into

__all__ = ["running"]  # the fixture

LIMITS = settings(
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=set(Phase) - {Phase.explain},
)


class Moved(Space):
    """A space that is written to at random, then moved, and asked about where it has come to."""

    def __init__(self, runner: asyncio.Runner, live: World) -> None:
        super().__init__(runner, live)
        self.live = live

    def teardown(self) -> None:
        """The copy has the same lines, and answers every read as the replay of the original."""
        self.do(self.move())
        recorded = [version.recorded for version in self.writes.replay.versions]
        for place in {0, len(recorded) // 3, 2 * len(recorded) // 3, len(recorded) - 1}:
            if recorded:
                self.do(self.check(START - DAY, recorded[place], 2))
        self.do(self.check(None, None, 0))

    async def move(self) -> None:
        """Go on with a copy."""
        copy = self.live.calls(f"copy-{next(numbers)}")
        lines = await export_of(self.writes.calls)
        state = await self.writes.calls.export()
        await import_into(copy, lines)
        assert (await export_of(copy))[1:] == lines[1:]
        assert await copy.export() == state
        self.writes.calls = copy


@pytest.mark.parametrize("examples", [4, pytest.param(30, marks=pytest.mark.soak)])
@pytest.mark.timeout(900)
def test_a_moved_space_answers_as_the_original(
    running: tuple[asyncio.Runner, World], examples: int
) -> None:
    """G15 T3 Random writes, moved: the same lines, and every read at any instant."""
    run_state_machine_as_test(
        lambda: Moved(*running),  # type: ignore[arg-type] # called once for an example
        settings=settings(LIMITS, max_examples=examples, stateful_step_count=15),
    )


async def _erase(calls: Calls, place: int) -> None:
    await calls.erase(await calls.get(f"m{place}"), reason="asked to")


async def _change(calls: Calls, place: int) -> None:
    memory = await calls.get(f"m{place}", peek=False)
    memory.tags.append(f"t{place}")
    await calls.update(memory, "tags")


async def _state_otherwise(calls: Calls, place: int) -> None:
    memory = await calls.get(f"m{place}")
    if memory.facts:
        del memory.facts[:]
    else:
        memory.facts.append(SHARED)
    await calls.update(memory, "facts")


async def _recall(calls: Calls, place: int) -> None:
    await recalling(calls, f"m{place}")


async def _forget(calls: Calls, place: int) -> None:
    memory = await calls.get(f"m{place}")
    await (calls.restore if memory.HasField("forget_time") else calls.forget)(memory)


SHARED = fact("s", "R", "o", properties={"a": 1})
PLAIN = [fact("s", "R", "o"), fact("s", "R", "p")]
WORDY = [fact("s", "R", "p", properties={"b": 2}), fact("s", "R", "o", properties={"c": 3})]
Deed = Callable[[Calls, int], Any]
DEEDS: Sequence[Deed] = (
    lambda calls, n: calls.add(f"said {n}. Supersedes: [[memory:m{n - 1}]]", id=f"m{n}"),
    lambda calls, n: calls.add(f"Ssh {n}. Amends: [[memory:word-{n}]]", id=f"m{n}"),
    lambda calls, n: calls.relate(SUPERSEDES, f"m{n}", f"m{n + 1}"),
    lambda calls, n: calls.relate(AMENDS, f"m{n}", f"m{n + 2}", "why"),
    lambda calls, n: calls.put_edge(type_pb2.EdgeEnd(id=f"m{n}"), "ABOUT", "x", valid_from=START),
    lambda calls, n: calls.put_edge(type_pb2.EdgeEnd(id=f"m{n}"), "NAMES", "x", valid_from=START),
    lambda calls, n: calls.put_edge(f"n{n}", "IN", f"n{n + 1}", properties={"n": n / 2}),
    lambda calls, n: calls.declare("IN", functional=n % 2 == 0, temporal_class=n % 4),
    lambda calls, n: calls.append("talk", ("Ada", f"turn {n}")),
    lambda calls, n: calls.hold(f"held {n}"),
    lambda calls, n: calls.add(f"fact {n}", id=f"m{n}", facts=[fact("s", "R", f"o{n}"), SHARED]),
    lambda calls, n: calls.add(f"fact {n}", facts=[fact("s", "R", f"o{n}", weight=n / 2), SHARED]),
    lambda calls, n: calls.add(f"both {n}", id=f"m{n}", facts=[PLAIN, WORDY][n % 2]),
    lambda calls, n: calls.put_edge("s", "R", f"o{n}"),
    _state_otherwise,
    _erase,
    _change,
    _recall,
    _forget,
)


async def recalling(calls: Calls, memory_id: str) -> None:
    """Add an episode in which a memory was of use."""
    await calls.episode.AddEpisode(
        episode_pb2.AddEpisodeRequest(
            request_id=calls.request_id(), query="And then?", reward=1, memory_ids=[memory_id]
        )
    )


async def _do(calls: Calls, deeds: Sequence[tuple[int, int]]) -> None:
    """Do what can be done; what is refused is refused."""
    for kind, place in deeds:
        try:
            await DEEDS[kind](calls, place)
        except (grpc.aio.AioRpcError, AssertionError):  # refused, or there is no such memory
            continue


async def _comes_over(live: World) -> None:
    calls, copy = live.calls(), live.calls("copy")
    lines = await export_of(calls)
    await import_into(copy, lines)
    assert (await export_of(copy))[1:] == lines[1:]


async def test_an_episode_moves_whose_memory_was_erased_later(live: World, home: Calls) -> None:
    """G15 M2 M4 An export is read back although an episode in it names what says no more."""
    memory = await home.add("Tea.")
    await recalling(home, memory.id)
    await home.erase(memory)

    await _comes_over(live)


@pytest.mark.parametrize("first", [0, 1])
async def test_edges_move_that_took_over_several_facts_at_once(
    live: World, home: Calls, first: int
) -> None:
    """G15 M1 M4 An erasure that replaces two edges of another memory's is read back, whichever of
    them is the newer."""
    said = await home.add("Words.", facts=WORDY)
    await home.add("None.", id="left", facts=[PLAIN[first], PLAIN[1 - first]])
    await home.erase(said)

    assert len((await home.get("left")).facts) == 2
    await _comes_over(live)


@pytest.mark.parametrize("examples", [8, pytest.param(40, marks=pytest.mark.soak)])
@pytest.mark.timeout(600)
def test_erased_layered_and_declared_things_move_too(
    running: tuple[asyncio.Runner, World], examples: int
) -> None:
    """G15 M2 M4 T2 Erasures, layers and declarations: the same lines, and states of any time."""
    runner, live = running
    deeds = st.lists(st.tuples(st.integers(0, len(DEEDS) - 1), st.integers(0, 2)), max_size=25)

    @given(deeds)
    @settings(LIMITS, max_examples=examples)
    def moves(done: Sequence[tuple[int, int]]) -> None:
        runner.run(_moves(live, done))

    moves()


async def _moves(live: World, deeds: Sequence[tuple[int, int]]) -> None:
    calls, copy = (live.calls(f"{word}-{next(numbers)}") for word in ("deeds", "copy"))
    await _do(calls, deeds)
    lines = await export_of(calls)
    await import_into(copy, lines)
    assert (await export_of(copy))[1:] == lines[1:]
    for change in (await calls.changes())[::5]:
        as_of = type_pb2.AsOf(record_time=change.record_time, valid_time=stamp(START + SECOND))
        assert await calls.export(as_of=as_of) == await copy.export(as_of=as_of)
    assert await calls.export() == await copy.export()
