"""What is derived equals a naive recomputation, for random memories, lineage and times."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from concord.type.v1 import type_pb2
from graph_world import (
    DAY,
    DEPRECATES,
    START,
    SUPERSEDES,
    Calls,
    Clock,
    World,
    micros,
    stamp,
    world,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

NAMES = "abcdef"
TIMES = (None, START - 3 * DAY, START - DAY, START + DAY, START + 3 * DAY)
FOREVER = 2**63 - 1


@dataclass
class Told:
    """What one memory was said to be."""

    begins: int
    ends: int
    live: bool = True


@dataclass
class Naive:
    """The specification's rule (T2), as directly as it can be written."""

    memories: dict[str, Told] = field(default_factory=dict)
    replaces: set[tuple[str, str]] = field(default_factory=set)

    def successors(self, name: str) -> list[str]:
        """Return the live memories that replace this one, whenever they begin."""
        return [
            newer
            for newer, older in self.replaces
            if older == name and newer in self.memories and self.memories[newer].live
        ]

    def superseded_from(self, name: str) -> int:
        """Return when the earliest successor begins."""
        return min((self.memories[n].begins for n in self.successors(name)), default=FOREVER)

    def heads(self, name: str, now: int) -> set[str]:
        """Return the live ends of the chain at an instant."""
        begun = [n for n in self.successors(name) if self.memories[n].begins <= now]
        if not begun:
            return {name} if self.memories[name].live else set()
        return {head for newer in begun for head in self.heads(newer, now)}

    def would_circle(self, newer: str, older: str) -> bool:
        """Return whether the newer is, over any steps, replaced by the older's chain."""
        reached, frontier = {older}, [older]
        while frontier:
            here = frontier.pop()
            below = {o for n, o in self.replaces if n == here} - reached
            reached |= below
            frontier += below
        return newer in reached


async def check(calls: Calls, naive: Naive, now: int) -> None:
    """Compare every memory's supersession, and the list of current ones."""
    current = []
    for name, told in naive.memories.items():
        supersession = (await calls.get(name)).supersession
        begins = naive.superseded_from(name)
        until = told.ends
        if begins != FOREVER:
            until = min(until, max(told.begins, begins))

        assert supersession.is_superseded == (begins <= now), name
        assert supersession.HasField("effective_valid_until") == (until != FOREVER), name
        if until != FOREVER:
            assert micros(supersession.effective_valid_until) == until, name
        assert set(supersession.head_ids) == naive.heads(name, now), name
        if told.live and begins > now and told.begins <= now < told.ends:
            current.append(name)
    assert sorted(await calls.listed()) == sorted(current)


Op = tuple[str, str, str, int | None, int | None]
names = st.sampled_from(NAMES)
ops = st.tuples(
    st.sampled_from(["add", "relate", "relate", "toggle", "retime", "wait"]),
    names,
    names,
    st.sampled_from(TIMES),
    st.sampled_from((None, START + 2 * DAY)),
)


async def play(calls: Calls, clock: Clock, operations: list[Op]) -> None:
    """Do the operations to graph and to the naive rule, comparing after each."""
    naive = Naive()
    for kind, name, other, begins, ends in operations:
        clock.pass_(1_000)
        if kind == "add" and name not in naive.memories:
            memory = type_pb2.Memory(id=name, content=name)
            if begins is not None:
                memory.valid_from.CopyFrom(stamp(begins))
            if ends is not None and (begins or clock()) < ends:
                memory.valid_until.CopyFrom(stamp(ends))
            stored = (await calls.add_memory(memory)).memory
            naive.memories[name] = _told(stored)
        elif kind == "relate" and name in naive.memories and naive.memories[name].live:
            if not naive.would_circle(name, other):
                relation = SUPERSEDES if ends else DEPRECATES
                await calls.relate(relation, name, other)
                naive.replaces.add((name, other))
        elif kind == "toggle" and name in naive.memories:
            told = naive.memories[name]
            memory = await calls.get(name)
            await (calls.forget(memory) if told.live else calls.restore(memory))
            told.live = not told.live
        elif kind == "retime" and name in naive.memories and naive.memories[name].live:
            memory = await calls.get(name)
            memory.ClearField("valid_until")
            memory.ClearField("valid_from")
            if begins is not None:
                memory.valid_from.CopyFrom(stamp(begins))
            stored = await calls.update(memory, "valid_from", "valid_until")
            naive.memories[name] = _told(stored)
        elif kind == "wait":
            clock.pass_(DAY)
        await check(calls, naive, clock())


def _told(memory: type_pb2.Memory) -> Told:
    return Told(
        begins=micros(memory.valid_from if memory.HasField("valid_from") else memory.create_time),
        ends=micros(memory.valid_until) if memory.HasField("valid_until") else FOREVER,
    )


@pytest.mark.parametrize("examples", [8, pytest.param(80, marks=pytest.mark.soak)])
def test_standing_equals_the_naive_rule(tmp_path: Path, examples: int) -> None:
    """T2 T4 is_superseded, effective_until, heads and lists, through adds, lineage, times, undo."""
    numbers = iter(range(10_000))
    with asyncio.Runner() as runner:
        clock = Clock()
        running = world(tmp_path / "graph.db", clock=clock)
        live: World = runner.run(running.__aenter__())

        @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
        @given(st.lists(ops, min_size=4, max_size=18))
        def plays(operations: list[Op]) -> None:
            clock.now = START
            runner.run(play(live.calls(f"space-{next(numbers)}"), clock, operations))

        try:
            plays()
        finally:
            runner.run(running.__aexit__(None, None, None))
