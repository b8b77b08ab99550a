"""Every read of graph, at any instant of both time axes, equals a naive replay.

Of the writes, whose effects the replay tells beforehand; and of the record that a space kept of all
that two principals did in it, which tries every rule of supersession.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from graph_world import DAY, START, Calls, Clock, World, world
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from naive_mutants import MUTANTS
from naive_replay import Known, Replay
from random_history import MEMORIES, SOURCES, TARGETS, enrolled, walks
from random_space import play, running
from random_writes import UNSHRUNK, Op
from recorded_history import replay_of
from replay_checks import (
    Reading,
    check_chains,
    check_counts,
    check_edges,
    check_histories,
    check_memories,
    check_walks,
)
from transfers import export_of, restored

__all__ = ["running"]  # the fixture

SEED = 9
MOVED = 5
"""Every which space is imported elsewhere, and compared there, too."""
NAMES = "".join(sorted({*SOURCES, *TARGETS}))
VALID = (START - 2 * DAY, START, START + 2 * DAY)

Instants = list[tuple[int | None, int | None]]
instants = st.tuples(st.sampled_from([None, *VALID]), st.none() | st.integers(0, 99))


@dataclass
class Compared:
    """How much was compared, and which mutants no comparison has told from the truth yet."""

    spaces: int = 0
    reads: int = 0
    left: set[type[Known]] = field(default_factory=lambda: {*MUTANTS})

    async def compare(
        self, calls: Calls, replay: Replay, now: int, asked: Instants, *, since: int = 0
    ) -> None:
        """Compare every read at the present, and at instants of both axes, known `since` then."""
        recorded = [version.recorded for version in replay.versions]
        known = sorted({each for each in recorded if each >= since})
        for valid, back in [(None, None), *asked]:
            record = None if back is None else known[back % len(known)]
            at = Reading(calls, replay, max(now, *recorded), valid, record, page_size=2)
            await check_edges(at)
            await check_memories(at, MEMORIES, ())
            await check_histories(at, MEMORIES)
            await check_counts(at)
            await check_walks(at, NAMES, MEMORIES)
            self._tell_apart(at.known)
            self.reads += 1
        await check_chains(at, MEMORIES)

    def _tell_apart(self, known: Known) -> None:
        """Drop the mutants that answer otherwise than the replay that graph agreed with."""
        true = self._answers(known) if self.left else []
        for mutant in [*self.left]:
            if self._answers(mutant(known.items, known.facts)) != true:
                self.left.remove(mutant)

    def _answers(self, known: Known) -> list[object]:
        items = [*known.live("edge"), *known.live("memory")]
        return [
            (
                known.superseded_from(item),
                known.predecessors(item),
                *(known.heads(item, v) for v in VALID),
            )
            for item in items
        ]


def walk_about(path: Path, examples: int) -> Compared:
    """Write at random in many spaces, and compare each with the replay of its record."""
    spaces = [f"space-{number}" for number in range(2 * examples)]
    numbers = itertools.count()
    compared = Compared()
    with asyncio.Runner() as runner, contextlib.ExitStack() as stack:

        def running(name: str, clock: Clock, *, beside: bool) -> World:
            entered = world(path / name, clock=clock, spaces=spaces, beside=beside)
            stack.callback(lambda: runner.run(entered.__aexit__(None, None, None)))
            return runner.run(entered.__aenter__())

        live = running("graph.db", Clock(), beside=False)
        elsewhere = running("elsewhere.db", live.clock, beside=True)

        async def walk(operations: list[Op], asked: Instants) -> None:
            name = spaces[next(numbers)]
            space = await enrolled(live, name)
            for operation, arguments in operations:
                await space.do(operation, arguments)
            lines = await export_of(space.calls)
            replay = replay_of(lines)
            since = replay.complete_since
            await compared.compare(space.calls, replay, live.clock(), asked, since=since)
            compared.spaces += 1
            if compared.spaces % MOVED == 0:
                moved = elsewhere.calls(name)
                await restored(moved, lines, space.parties)
                await compared.compare(moved, replay, live.clock(), asked)

        @seed(SEED)
        @settings(UNSHRUNK, max_examples=examples)
        @given(walks, st.lists(instants, min_size=1, max_size=1))
        def walk_each(operations: list[Op], asked: Instants) -> None:
            runner.run(walk(operations, asked))

        walk_each()
    return compared


@pytest.mark.parametrize("examples", [30, pytest.param(1000, marks=pytest.mark.soak)])
@pytest.mark.timeout(3600)
def test_every_read_equals_a_replay_of_the_record(tmp_path: Path, examples: int) -> None:
    """T2 T3 T5 G2 G4 M1 M3 Rows, ties, returns, consent, facts, ghosts, erasure, undo, import.

    The writes reach each rule: a replay that gets one wrong would have been found out.
    """
    compared = walk_about(tmp_path, examples)

    print(f"seed {SEED}: {compared.spaces} spaces, all reads at {compared.reads} instants")  # noqa: T201
    assert not compared.left


@pytest.mark.parametrize("examples", [8, pytest.param(200, marks=pytest.mark.soak)])
@pytest.mark.timeout(1800)
def test_every_read_at_any_instant_equals_a_naive_replay(
    running: tuple[asyncio.Runner, World], examples: int
) -> None:
    """T3 T2 T4 T5 G9 G10 G12 G15 M4 Both axes, through every write, by every read."""
    play(running, examples, steps=15)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_long_histories_equal_a_naive_replay(running: tuple[asyncio.Runner, World]) -> None:
    """T3 The same for longer histories, and more of them."""
    play(running, examples=1_000, steps=60)
