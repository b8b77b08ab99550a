"""A space that is written to and read at random, beside a naive replay of the writes."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Iterator
from pathlib import Path

import pytest
from graph_world import DAY, SECOND, START, Clock, World, world
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from naive_replay import Version
from replay_checks import (
    Reading,
    check_chains,
    check_counts,
    check_edges,
    check_export,
    check_following,
    check_histories,
    check_memories,
    check_nodes,
    check_paths,
    check_walks,
)
from replay_writes import WORDS, Interval, Writes

NAMES = "abcd"
IDS = ("m1", "m2", "m3", "m4")
KEYS = ("", "", "key-1", "key-2")
RELATIONS = ("IN", "LIKES")
TIMES = (START - 3 * DAY, START - DAY, START + DAY, START + 3 * DAY)

Triple = tuple[str, str, str]

names = st.sampled_from(NAMES)
ids = st.sampled_from(IDS)
keys = st.sampled_from(KEYS)
labels = st.sampled_from(["", "Person", "Place", "Entity"])
words = st.sampled_from(["SUPERSEDES", "SUPERSEDES", *sorted(WORDS)])
places = st.integers(0, 9)
times = st.none() | st.sampled_from(TIMES)
intervals = st.tuples(times, st.none() | times)  # an end before its begin is refused
triples = st.tuples(names | ids, st.sampled_from(RELATIONS), names)
links = st.none() | st.tuples(words, ids)
numbers = itertools.count()


class Space(RuleBasedStateMachine):
    """A space that is written to at random, and asked about any instant of its history."""

    def __init__(self, runner: asyncio.Runner, live: World) -> None:
        super().__init__()
        self.runner = runner
        self.clock = live.clock
        self.clock.now = START
        self.writes = Writes(live.calls(f"space-{next(numbers)}"), live.clock)

    def do(self, work: Awaitable[None]) -> None:
        """Run some work in the loop that the server runs in."""

        async def work_() -> None:
            await work

        self.runner.run(work_())

    @property
    def facts(self) -> list[Version]:
        """The live edges that are no lineage."""
        return [edge for edge in self.writes.now.live("edge") if not edge.is_lineage]

    def pick(self, place: int, items: list[Version]) -> Version | None:
        """Return one of some items."""
        return items[place % len(items)] if items else None

    @rule(hours=st.sampled_from([0, 0, 1, 30, 50, -2]))
    def time_passes(self, hours: int) -> None:
        """The clock moves on, or is set back."""
        self.clock.pass_(hours * 3600 * SECOND + 1000)

    @initialize(
        edges=st.lists(st.tuples(triples, intervals), min_size=2, max_size=4),
        memories=st.lists(st.tuples(ids, intervals), min_size=2, max_size=4),
    )
    def begin(
        self, edges: list[tuple[Triple, Interval]], memories: list[tuple[str, Interval]]
    ) -> None:
        """A space is seldom empty."""
        for triple, interval in edges:
            self.put_edge(triple, 1.0, interval)
        for memory_id, interval in memories:
            self.tell(memory_id, None, "", interval)

    @rule(what=st.sampled_from(["put", "rename", "delete"]), name=names, other=names, label=labels)
    def write_node(self, what: str, name: str, other: str, label: str) -> None:
        """A node is stated, gets another name, or goes with its edges."""
        node = self.writes.now.named(name)
        if node is None or what == "put":
            self.do(self.writes.put_node(name, label))
        elif what == "rename":
            self.do(self.writes.rename_node(node, other))
        else:
            self.do(self.writes.delete_node(node))

    @rule(triple=triples, weight=st.sampled_from([0.5, 1.0]), interval=intervals)
    def put_edge(self, triple: Triple, weight: float, interval: Interval) -> None:
        """An edge is stated; what is said of a place at several times succeeds itself."""
        self.do(self.writes.put_edge(triple, weight, interval))

    @rule(place=places, interval=intervals)
    def retime_edge(self, place: int, interval: Interval) -> None:
        """An edge is said to have held at another time."""
        edge = self.pick(place, self.facts)
        if edge:
            self.do(self.writes.retime_edge(edge, interval))

    @rule(place=places, lineage=st.booleans())
    def delete_edge(self, place: int, lineage: bool) -> None:
        """A fact goes, or a lineage."""
        edges = [e for e in self.writes.now.live("edge") if e.is_lineage == lineage]
        edge = self.pick(place, edges)
        if edge:
            self.do(self.writes.delete_edge(edge))

    @rule(memory_id=ids, link=links, key=keys, interval=intervals)
    def tell(
        self, memory_id: str, link: tuple[str, str] | None, key: str, interval: Interval
    ) -> None:
        """A text is remembered (a ghost becomes real), or put in other words."""
        memory = self.writes.now.items.get(memory_id)
        if memory is None:
            self.do(self.writes.add_memory(memory_id, link, key, interval))
        elif not memory.deleted:
            self.do(self.writes.update_memory(memory, link, key))

    @rule(place=places, interval=intervals)
    def retime_memory(self, place: int, interval: Interval) -> None:
        """A memory is said to have held at another time."""
        memory = self.pick(place, self.writes.now.live("memory"))
        if memory:
            self.do(self.writes.retime_memory(memory, interval))

    @rule(memory_id=ids)
    def toggle_memory(self, memory_id: str) -> None:
        """A memory is forgotten, or restored."""
        memory = self.writes.now.items.get(memory_id)
        if memory:
            self.do(self.writes.toggle_memory(memory))

    @rule(relation=words, place=places, older=ids)
    def relate_memories(self, relation: str, place: int, older: str) -> None:
        """One memory is said to stand in for another, which may be a ghost."""
        newer = self.pick(place, self.writes.now.live("memory"))
        if newer and newer.id != older:
            self.do(self.writes.relate(relation, newer, older))

    @rule(relation=words, place=places, other=places)
    def relate_edges(self, relation: str, place: int, other: int) -> None:
        """One edge is said to stand in for another."""
        newer, older = self.pick(place, self.facts), self.pick(other, self.facts)
        if newer and older and newer.id != older.id:
            self.do(self.writes.relate(relation, newer, older.id))

    @precondition(lambda self: self.writes.replay.versions)
    @rule(
        valid=times,
        back=st.none() | st.integers(0, 99),
        beside=st.sampled_from([0, 0, -1, 1]),
        page_size=st.sampled_from([0, 1, 2]),
    )
    def ask(self, valid: int | None, back: int | None, beside: int, page_size: int) -> None:
        """Every read answers as a replay would, at an instant on both axes."""
        recorded = [version.recorded for version in self.writes.replay.versions]
        record = None if back is None else recorded[back % len(recorded)] + beside
        self.do(self.check(valid, record, page_size))

    def teardown(self) -> None:
        """Whatever was written, the present and one former instant are asked about."""
        versions = self.writes.replay.versions
        if versions:
            self.do(self.check(None, None, 0))
            self.do(self.check(START, versions[len(versions) // 2].recorded, 2))

    async def check(self, valid: int | None, record: int | None, page_size: int) -> None:
        """Compare every read at an instant."""
        at = Reading(
            self.writes.calls, self.writes.replay, self.writes.time, valid, record, page_size
        )
        await check_nodes(at, NAMES)
        await check_edges(at)
        await check_memories(at, IDS, ("key-1", "key-2"))
        await check_histories(at, IDS)
        await check_chains(at, IDS)
        await check_counts(at)
        await check_export(at)
        await check_walks(at, NAMES, IDS)
        await check_paths(at, NAMES)
        await check_following(at, NAMES, RELATIONS)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[asyncio.Runner, World]]:
    """A graph over a fresh store, and the loop that it runs in."""
    with asyncio.Runner() as runner:
        entered = world(tmp_path / "graph.db", clock=Clock())
        live = runner.run(entered.__aenter__())
        try:
            yield runner, live
        finally:
            runner.run(entered.__aexit__(None, None, None))


def play(running: tuple[asyncio.Runner, World], examples: int, steps: int) -> None:
    """Write and ask at random."""
    run_state_machine_as_test(
        lambda: Space(*running),  # type: ignore[arg-type] # called once for an example
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=set(Phase) - {Phase.explain},
        ),
    )
