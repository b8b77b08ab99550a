"""Lineage does not depend on what came first, in which batches, or how often."""

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from graph_world import AMENDS, DAY, START, SUPERSEDES, Calls, fact, reason, stamp, world
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FORK_AND_MERGE = [
    type_pb2.Memory(
        id="a",
        content="The first.",
        valid_from=stamp(START - DAY),
        facts=[fact("Ada", "LIVES_IN", "Ulm"), fact("Ada", "KNOWS", "Bob")],
    ),
    type_pb2.Memory(
        id="b/1.0",
        content="Supersedes: [[Memory:a|the first]]",
        valid_from=stamp(START),
        facts=[fact("Ada", "LIVES_IN", "Bonn"), fact("Ada", "KNOWS", "Bob")],
    ),
    type_pb2.Memory(
        id="c",
        content="Deprecates [[memory:a#why]], see [[memory:x]].\n\nContradicts: [[memory:b/1.0]]",
    ),
    type_pb2.Memory(id="d", content="Supersedes [[memory:b/1.0]] and [[memory:c]]", tags=["t"]),
    type_pb2.Memory(external_id="e", content="Amends: [[memory:d]], [[memory:not-yet]]"),
]
CYCLE = [
    type_pb2.Memory(id="a", content="Supersedes: [[memory:b]]"),
    type_pb2.Memory(id="b", content="Deprecates: [[memory:c]]"),
    type_pb2.Memory(id="c", content="Amends: [[memory:a]]"),
]


async def in_batches(calls: Calls, memories: Sequence[type_pb2.Memory], size: int) -> None:
    """Import in batches of a size."""
    for start in range(0, len(memories), size):
        reply = await calls.batch(memories[start : start + size])
        assert not reply.errors


async def heads(calls: Calls, *ids: str) -> dict[str, list[str]]:
    """Return what each memory's chain ends in."""
    return {each: sorted((await calls.get(each)).supersession.head_ids) for each in ids}


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.soak)])
async def test_every_order_of_a_fork_and_a_merge(tmp_path: Path, every: bool) -> None:
    """G15 T2 M1 M3 All 120 orders, or every fourth, whatever the batches, give the same bytes and
    the same heads."""
    sizes, orders = (5, 2, 1), list(itertools.permutations(FORK_AND_MERGE))
    in_turn = zip(orders[::4], itertools.cycle(sizes), strict=False)
    states, ends, chains = set(), set(), set()
    async with world(tmp_path / "graph.db") as live:
        cases = itertools.product(orders, sizes) if every else in_turn
        for number, (order, size) in enumerate(cases):
            calls = live.calls(f"space-{number}")
            await calls.declare("LIVES_IN")
            await in_batches(calls, order, size)
            states.add("\n".join(await calls.export()))
            ends.add(str(await heads(calls, "a", "b/1.0", "c", "d")))
            chain = await calls.lineage("a")
            told = [(i.statement, i.is_head, i.is_undeclared) for i in chain.items]
            chains.add(str(sorted(told)))

    assert len(states) == 1
    assert ends == {str({"a": ["d"], "b/1.0": ["d"], "c": ["d"], "d": ["d"]})}
    assert len(chains) == 1


@pytest.mark.parametrize("order", list(itertools.permutations(CYCLE)), ids=lambda _: "")
async def test_a_cycle_is_refused_whichever_end_comes_last(
    home: Calls, order: tuple[type_pb2.Memory, ...]
) -> None:
    """T1 What would close it is refused, also as a ghost turns real; a batch of it is not kept."""
    together = await home.batch(order)
    kept = await home.listed()
    *first, last = order
    await in_batches(home, first, 1)

    assert [(e.index, e.reason) for e in together.errors] == [(2, "ERROR_REASON_LINEAGE_CYCLE")]
    assert kept == []
    assert await reason(home.add_memory(last)) == "ERROR_REASON_LINEAGE_CYCLE"
    again = await home.batch([*order], update_existing=True)
    assert [e.reason for e in again.errors] == ["ERROR_REASON_LINEAGE_CYCLE"]
    chain = await home.lineage(last.id)
    assert [i.id for i in chain.items if i.is_undeclared] == [last.id]


async def test_a_stated_ghost_cannot_close_a_cycle_either(home: Calls) -> None:
    """T1 M3 Lineage that was stated at a ghost counts when the memory of that id arrives."""
    await home.add("a", id="a")
    await home.relate(SUPERSEDES, "a", "ghost")

    refusal = await reason(home.add("Supersedes: [[memory:a]]", id="ghost"))
    assert refusal == "ERROR_REASON_LINEAGE_CYCLE"
    await home.add("No links.", id="ghost")
    assert await heads(home, "ghost") == {"ghost": ["a"]}


async def test_resting_lineage_counts_when_cycles_are_looked_for(home: Calls) -> None:
    """T1 T2 A forgotten memory comes back with its lineage: nothing may close it meanwhile."""
    await home.add("a", id="a")
    middle = await home.forget(await home.add("Supersedes: [[memory:a]]", id="b"))

    assert await reason(home.relate(AMENDS, "a", "b")) == "ERROR_REASON_LINEAGE_CYCLE"
    await home.restore(middle)
    assert await heads(home, "a", "b") == {"a": ["b"], "b": ["b"]}


@dataclass(frozen=True)
class Step:
    """One thing that happens on the way: memory `of` arrives, or happens to again."""

    what: str
    of: int


@dataclass
class History:
    """Memories that point at earlier ones, and one way in which they arrived."""

    memories: list[type_pb2.Memory]
    stated: list[tuple[int, str]]
    steps: list[Step] = field(default_factory=list)


WORDS = ("Supersedes", "Deprecates", "Amends", "See")
SIZE = 5


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Draw a history: links and stated lineage lead from a higher number to a lower one."""
    numbers = st.integers(0, SIZE - 1)
    memories = []
    for number in range(SIZE):
        lines = [f"This is number {number}."]
        for target in draw(st.sets(st.integers(-1, number - 1), max_size=3)):
            lines.append(f"{draw(st.sampled_from(WORDS))}: [[memory:m{target}]]")
        memory = type_pb2.Memory(id=f"m{number}", content="\n".join(lines))
        if draw(st.booleans()):
            memory.valid_from.CopyFrom(stamp(START + draw(st.integers(-3, 3)) * DAY))
        memories.append(memory)
    stated = draw(st.lists(st.tuples(st.integers(1, SIZE - 1), st.just("m0")), max_size=2))
    happenings = st.sampled_from(["again", "tag", "reword", "forget", "one by one"])
    steps = [Step("arrive", number) for number in draw(st.permutations(range(SIZE)))]
    for happening in draw(st.lists(st.builds(Step, happenings, numbers), max_size=8)):
        steps.insert(draw(st.integers(0, len(steps))), happening)
    return History(memories, stated, steps)


async def live(calls: Calls, history: History) -> list[str]:
    """Let everything happen; return the state that it ends in."""
    for step in history.steps:
        memory = history.memories[step.of]
        if step.what == "arrive":
            await calls.batch([memory])
            for number, older in history.stated:
                if number == step.of:
                    await calls.relate(AMENDS, memory.id, older)
        elif await there(calls, memory.id):
            await _disturb(calls, step.what, memory)
    return await calls.export()


async def there(calls: Calls, memory_id: str) -> bool:
    """Return whether the memory has arrived."""
    reply = await calls.memory.GetMemory(memory_pb2.GetMemoryRequest(id=memory_id, peek=True))
    return reply.HasField("memory")


async def _disturb(calls: Calls, what: str, memory: type_pb2.Memory) -> None:
    """Do something to a memory that changes nothing in the end."""
    if what == "again":
        await calls.batch([memory], update_existing=True)
    elif what == "one by one":
        await calls.add_memory(memory)
    elif what == "forget":
        await calls.restore(await calls.forget(await calls.get(memory.id)))
    else:
        path = "tags" if what == "tag" else "content"
        changed = await calls.get(memory.id)
        if what == "tag":
            changed.tags.append("t")
        else:
            changed.content = "Nothing of the kind."
        await calls.update(changed, path)
        await calls.batch([memory], update_existing=True)


@pytest.mark.parametrize("examples", [10, pytest.param(100, marks=pytest.mark.soak)])
def test_any_way_of_arriving_ends_in_the_same_state(tmp_path: Path, examples: int) -> None:
    """G15 T2 M3 Random lineage in random order, with updates, re-imports and forgetting between."""
    numbers = iter(range(100_000))
    with asyncio.Runner() as runner:
        running = world(tmp_path / "graph.db")
        served = runner.run(running.__aenter__())

        @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
        @given(histories())
        def ends_the_same(history: History) -> None:
            plain = [Step("arrive", number) for number in range(SIZE)]
            direct = History(history.memories, history.stated, plain)
            expected = runner.run(live(served.calls(f"space-{next(numbers)}"), direct))

            assert expected == runner.run(live(served.calls(f"space-{next(numbers)}"), history))

        try:
            ends_the_same()
        finally:
            runner.run(running.__aexit__(None, None, None))
