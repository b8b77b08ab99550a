"""What holds of subjects whose facts replace one another, in whatever order they are told (T2).

A quick form of the evaluations on public data (`make bench`), on subjects made up here.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations

import pytest
from concord.graph.v1 import feed_pb2, graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from google.protobuf.timestamp_pb2 import Timestamp
from graph_world import DAY, START, SUPERSEDES, Calls, fact, micros, named, stamp

SUBJECTS, CHANGES = 4, 5
STANDING = feed_pb2.CHANGE_TYPE_STANDING_CHANGED
FIRST = START - 1_000 * DAY


@dataclass(frozen=True)
class Told:
    """That a subject has a value from a time on, and until another when that is stated."""

    subject: str
    value: str
    since: int
    until: int | None = None

    def memory(self) -> type_pb2.Memory:
        """Return the memory that states it."""
        stated = [fact(self.subject, "LED_BY", self.value)]
        content = f"{self.subject} is led by {self.value} from {self.since}."
        memory = type_pb2.Memory(content=content, facts=stated, valid_from=stamp(self.since))
        if self.until is not None:
            memory.valid_until.CopyFrom(stamp(self.until))
        return memory


def timelines(draw: random.Random) -> list[Told]:
    """Return values that follow one another, return, and sometimes end before the next begins."""
    told = []
    for number in range(SUBJECTS):
        days = sorted(draw.sample(range(900), CHANGES + 1))
        for place, (day, after) in enumerate(pairwise(days)):
            ends = FIRST + draw.randint(day + 1, after) * DAY if draw.random() < 0.4 else None
            value = f"leader {(place % 3) * 10 + number}"
            told.append(Told(f"Team {number}", value, FIRST + day * DAY, ends))
    return told


def holding(told: Sequence[Told], subject: str, at: int) -> set[str]:
    """Return the newest value that has begun, unless it has ended."""
    begun = [each for each in told if each.subject == subject and each.since <= at]
    last = max(begun, key=lambda each: each.since, default=None)
    return {last.value} if last and (last.until is None or at < last.until) else set()


async def values(calls: Calls, subject: str, at: int | None) -> set[str]:
    """Return what graph says that holds."""
    reply = await calls.neighbors(
        subject,
        direction=type_pb2.DIRECTION_OUTGOING,
        filter=graph_pb2.EdgeFilter(relations=["LED_BY"]),
        as_of=type_pb2.AsOf(valid_time=stamp(at)) if at is not None else None,
    )
    return {each.edge.target.name for each in reply.neighbors}


@pytest.mark.parametrize("seed", [0, 1, 2])
async def test_current_and_past_values_are_right_in_any_order(home: Calls, seed: int) -> None:
    """T2 M1 D3 In order (seed 0) and shuffled: now, and on both sides of every change."""
    draw = random.Random(seed)
    told = timelines(draw)
    told.sort(key=lambda each: each.since)
    if seed:
        draw.shuffle(told)
    await home.declare("LED_BY")
    for start in range(0, len(told), 7):
        assert not (await home.batch([t.memory() for t in told[start : start + 7]])).errors

    for subject in sorted({each.subject for each in told}):
        own = [each for each in told if each.subject == subject]
        cuts = {t for each in own for t in (each.since, each.until) if t is not None}
        for at in sorted({t + step for t in cuts for step in (-1, 0)}):
            assert await values(home, subject, at) == holding(told, subject, at), (subject, at)
        assert await values(home, subject, None) == holding(told, subject, START)


YEARS = {year: START - (2027 - year) * 365 * DAY for year in range(2009, 2021)}
BREMEN = "Ann lives in Bremen."
MOVES = (
    (BREMEN, "Bremen", 2010),
    ("Ann lives in Hamburg.", "Hamburg", 2014),
    (BREMEN, "Bremen", 2018),
)


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_the_same_words_of_another_time_are_another_memory(
    home: Calls, order: tuple[int, ...], batched: bool
) -> None:
    """M5 T2 A value that returns, worded alike, in every order of arrival; again adds nothing."""
    await home.declare("LIVES_IN")
    memories = [
        type_pb2.Memory(
            content=words,
            facts=[fact("Ann", "LIVES_IN", town)],
            valid_from=stamp(YEARS[year]),
        )
        for words, town, year in (MOVES[place] for place in order)
    ]

    async def tell() -> list[bool]:
        if batched:
            results = (await home.batch(memories)).results
            return [r.outcome == memory_pb2.BATCH_OUTCOME_CREATED for r in results]
        return [(await home.add_memory(memory)).created for memory in memories]

    assert await tell() == [True] * 3
    assert await tell() == [False] * 3
    for year, at in YEARS.items():
        wanted = "Bremen" if year >= 2018 else "Hamburg" if year >= 2014 else "Bremen"
        then = type_pb2.AsOf(valid_time=stamp(at))
        reply = await home.neighbors("Ann", as_of=then)
        found = [n.edge.target.name for n in reply.neighbors]
        told = await home.memory.ListMemories(memory_pb2.ListMemoriesRequest(as_of=then))

        assert found == ([wanted] if year >= 2010 else []), year
        assert [m.content for m in told.memories] == [f"Ann lives in {w}." for w in found], year


def succeeding(edges: Sequence[tuple[str, int]], place: int) -> set[int]:
    """Return which edges (target, begin) are the next ones with another target (T2)."""
    target, since = edges[place]
    later = [begin for other, begin in edges if other != target and begin > since]
    return {
        i
        for i, (other, begin) in enumerate(edges)
        if later and begin == min(later) and other != target
    }


def replacing(said: list[tuple[str, int]], place: int, never_held: dict[int, int]) -> set[int]:
    """Return what a value gives way to; `never_held` names what lineage put in a value's place."""
    if place in never_held:
        return {never_held[place]}
    held = [i for i in range(len(said)) if i not in never_held]
    return {held[i] for i in succeeding([said[i] for i in held], held.index(place))}


async def check_row(
    calls: Calls, said: list[tuple[str, int]], ids: list[str], never_held: dict[int, int]
) -> None:
    """Compare the supersession of each value of a row with the naive rule's."""
    nexts = {i: replacing(said, i, never_held) for i in range(len(said))}
    begun = {i: {n for n in nexts[i] if said[n][1] <= START} for i in nexts}
    for place, told in enumerate(said):
        supersession = (await calls.get_edge(ids[place])).supersession
        reached, frontier = {place}, [place]
        while frontier:
            found = begun[frontier.pop()] - reached
            reached |= found
            frontier += found

        assert supersession.is_superseded == bool(begun[place]), told
        since = said[min(nexts[place])][1] if nexts[place] else 0
        assert micros(supersession.superseded_from) == since, told
        assert supersession.predecessor_count == sum(place in each for each in nexts.values()), told
        if len({at for _, at in said}) == len(said):
            heads = {ids[i] for i in reached if not begun[i]}
            assert set(supersession.head_ids) == heads, told


@pytest.mark.parametrize("seed", range(6))
async def test_the_row_of_a_functional_relation_equals_the_naive_rule(
    home: Calls, seed: int
) -> None:
    """T2 Values that return, are restated, or begin at once; counts of former ones, and heads."""
    draw = random.Random(seed)
    await home.declare("IN")
    days = range(-8, 4) if seed % 2 else draw.sample(range(-30, 10), 10)  # odd ones have ties
    said = sorted({(draw.choice("xyz"), START + draw.choice(days) * DAY) for _ in range(10)})
    draw.shuffle(said)
    ids = [(await home.put_edge("a", "IN", to, valid_from=at)).id for to, at in said]
    if seed == 0:  # what a deleted one stood between follows again
        gone = await home.put_edge("a", "IN", "w", valid_from=START - 15 * DAY - 1)
        await home.delete_edge(await home.get_edge(gone.id))

    await check_row(home, said, ids, {})
    seq = (await home.changes())[-1].seq
    before = {i: (await home.get_edge(i)).supersession.superseded_from for i in ids}
    new = (await home.put_edge("a", "IN", "y", valid_from=START - 5 * DAY - 1)).id
    told = {c.item_id for c in await home.changes(after=seq) if c.type == STANDING}
    moved = {i for i in ids if (await home.get_edge(i)).supersession.superseded_from != before[i]}
    assert moved <= told <= set(ids) - {new}


@pytest.mark.parametrize("seed", range(6))
async def test_a_value_that_gave_way_to_an_earlier_one_never_held(home: Calls, seed: int) -> None:
    """T1 T2 D6 It ends nothing, holds at no instant, and is back when its lineage is deleted."""
    draw = random.Random(seed)
    await home.declare("IN")
    days = draw.sample(range(-30, 10), 10)
    said = sorted((draw.choice("xyz"), START + day * DAY) for day in days)
    said.sort(key=lambda each: each[1])
    ids = [(await home.put_edge("a", "IN", to, valid_from=at)).id for to, at in said]
    never_held = {later: draw.randrange(later) for later in draw.sample(range(1, 10), 3)}
    lineage = {}

    for later, earlier in sorted(never_held.items()):
        before, seq = await superseded(home, ids), (await home.changes())[-1].seq
        lineage[later] = (await home.relate(SUPERSEDES, ids[earlier], ids[later])).edge
        after = await superseded(home, ids)
        told = {c.item_id for c in await home.changes(after=seq)}
        assert {i for i in ids if before[i] != after[i]} <= told
        until = (await home.get_edge(ids[later])).supersession.effective_valid_until
        assert micros(until) == said[later][1]
    await check_row(home, said, ids, never_held)
    for later in sorted(never_held):
        before, seq = await superseded(home, ids), (await home.changes())[-1].seq
        await home.delete_edge(await home.get_edge(lineage[later].id))
        del never_held[later]
        after = await superseded(home, ids)
        told = {c.item_id for c in await home.changes(after=seq)}
        assert {i for i in ids if before[i] != after[i]} <= told
        await check_row(home, said, ids, never_held)


async def superseded(calls: Calls, ids: list[str]) -> dict[str, int]:
    """Return from when each edge is superseded (µs)."""
    return {i: micros((await calls.get_edge(i)).supersession.superseded_from) for i in ids}


async def test_told_in_order_without_times_the_last_one_holds(home: Calls) -> None:
    """T2 M1 In one batch and one after another: also a value that returns."""
    await home.declare("LED_BY")
    for number, names in enumerate((["Ada", "Bob", "Cy"], ["Ada", "Bob", "Ada"])):
        told = [
            type_pb2.Memory(
                content=f"{number} {place}: {name} leads.",
                facts=[
                    fact(f"Team {number}", "LED_BY", name),
                    fact(f"Club {number}", "LED_BY", name),
                ],
            )
            for place, name in enumerate(names)
        ]
        assert not (await home.batch(told[:2])).errors
        await home.add_memory(told[2])

        assert await values(home, f"Team {number}", None) == {names[-1]}
        assert await values(home, f"Club {number}", None) == {names[-1]}


async def test_a_value_that_holds_is_its_own_head_on_any_page(home: Calls) -> None:
    """T2 Also on a page with former values, whose heads lie beyond it."""
    await home.declare("IN")
    for target, days in (("z", 2), ("x", 1), ("y", 1), ("x", 0)):
        await home.put_edge("a", "IN", target, valid_from=START - days * DAY)

    page = (await home.graph.ListEdges(graph_pb2.ListEdgesRequest())).edges
    for edge in page:
        assert edge.supersession == (await home.get_edge(edge.id)).supersession


async def test_erasing_a_value_changes_no_past(home: Calls) -> None:
    """T3 M4 What it ended had ended, as it was known then; now it goes on."""
    await home.declare("LIVES_IN")
    first = await home.add("A", facts=[fact("Ann", "LIVES_IN", "Ulm")], valid_from=stamp(FIRST))
    then = (await home.changes())[-1].record_time
    later = stamp(FIRST + DAY)
    second = await home.add("B", facts=[fact("Ann", "LIVES_IN", "Rom")], valid_from=later)
    known = (await home.changes())[-1].record_time

    async def ends(record: Timestamp | None = None) -> list[int]:
        as_of = type_pb2.AsOf(record_time=record) if record else None
        triple = graph_pb2.Triple(source=named("Ann"), relation="LIVES_IN", target=named("Ulm"))
        edge = await home.graph.GetEdge(graph_pb2.GetEdgeRequest(triple=triple, as_of=as_of))
        memory = await home.memory.GetMemory(memory_pb2.GetMemoryRequest(id=first.id, as_of=as_of))
        both = (edge.edge.supersession, memory.memory.supersession)
        return [micros(each.superseded_from) for each in both]

    told = [await ends(then), await ends(known)]
    await home.erase(second)

    assert told == [[0, 0], [FIRST + DAY] * 2]
    assert [await ends(then), await ends(known)] == told
    assert await ends() == [0, 0]
