"""The index as of any instant of both axes equals a naive replay of the states it was given."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from concord_search.domain.filters import MemoryFilter, Scope, Superseded
from concord_search.domain.instants import DAY, NEVER, AsOf, Micros
from concord_search.domain.memory import Ending, MemoryState, Touch
from concord_search.ports.index import Batch, NearQuery
from concord_testing.embedders import WordEmbedder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from search_lab import NOW, START, Lab, make_index, plain_state

ITEMS = ("one", "two", "three")
TIMES = (START - 2 * DAY, START, START + DAY, START + 3 * DAY)
SECOND = 1_000_000


@dataclass
class Replay:
    """A space by its states in the order in which they were recorded; None: forgotten."""

    log: list[tuple[int, str, MemoryState | None]] = field(default_factory=list)

    def known(self, r: Micros) -> dict[str, MemoryState | None]:
        """What was known of each item at r."""
        return {item: state for seq, item, state in self.log if START + seq * SECOND <= r}

    def found(self, v: Micros, r: Micros, mode: Superseded) -> set[tuple[str, int]]:
        """What a search finds at an instant."""
        answer = set()
        for state in self.known(r).values():
            if state is None:
                continue
            held = state.valid_from <= v < state.stated_until
            replaced = state.superseded_from <= v
            if mode is Superseded.HISTORY or (
                held and (mode is Superseded.INCLUDE or not replaced)
            ):
                answer.add((state.id, state.seq))
        return answer


@dataclass(frozen=True)
class Step:
    """One change: a state of an item, or its being forgotten, at the end of a batch or inside."""

    item: str
    forget: bool
    begins: Micros | None
    ends: Micros | None
    replaced: Micros | None
    last: bool


steps = st.builds(
    Step,
    item=st.sampled_from(ITEMS),
    forget=st.sampled_from([False, False, False, True]),
    begins=st.none() | st.sampled_from(TIMES),
    ends=st.none() | st.sampled_from(TIMES),
    replaced=st.none() | st.sampled_from(TIMES),
    last=st.booleans(),
)


async def play(lab: Lab, space: str, script: list[Step]) -> Replay:
    """Write a script to a part of its own; return what it said."""
    replay, begun = Replay(), dict[str, Micros]()
    await lab.index.begin(space, "epoch")
    waiting: list[tuple[int, str, MemoryState | None]] = []
    for seq, step in enumerate(script, 1):
        forgotten = step.forget and replay.known(NEVER).get(step.item) is not None
        at = START + seq * SECOND
        begun.setdefault(step.item, at)
        state = (
            None
            if forgotten
            else plain_state(
                step.item,
                seq,
                f"fox {step.item} {seq}",
                created=begun[step.item],
                valid_from=begun[step.item] if step.begins is None else step.begins,
                stated_until=step.ends or NEVER,
                superseded_from=step.replaced or NEVER,
            )
        )
        replay.log.append((seq, step.item, state))
        waiting.append(replay.log[-1])
        if step.last or seq == len(script):
            await write(lab, space, waiting)
            waiting = []
    return replay


async def write(lab: Lab, space: str, replay: list[tuple[int, str, MemoryState | None]]) -> None:
    """Write changes as one batch, as the follower does."""
    states = [state for _, _, state in replay if state is not None]
    vectors = [lab.embedder.vector(state.content) for state in states]
    last = replay[-1][0]
    batch = Batch(
        last,
        START + last * SECOND,
        states=list(zip(states, vectors, strict=True)),
        model=lab.embedder.model,
        endings=[
            Ending(item, seq, START + seq * SECOND) for seq, item, state in replay if state is None
        ],
    )
    await lab.index.apply(space, batch)


async def check(lab: Lab, space: str, replay: Replay, v: Micros | None, r: Micros | None) -> None:
    """Compare every mode at an instant, by ranked search and by cosine."""
    as_of = AsOf(v, r)
    valid, record = NOW if v is None else v, NOW if r is None else r
    for mode in Superseded:
        found = await lab.ask("fox", space=space, superseded=mode, as_of=as_of)
        seqs = found.seqs.tolist()
        pairs = set(zip(lab.ids(found, space), seqs, strict=True))
        assert pairs == replay.found(valid, record, mode), (mode, as_of)
        assert len(pairs) == len(seqs), "a memory answers once"
    scope = Scope(NOW, Superseded.EXCLUDE, MemoryFilter(), as_of)
    vector, model = lab.embedder.vector("fox"), lab.embedder.model
    near = await lab.index.near(space, vector, model, NearQuery(scope, 100))
    assert {(n.id, n.seq) for n in near} == replay.found(valid, record, Superseded.EXCLUDE)


@pytest.fixture
def at_work(tmp_path: Path) -> Iterator[tuple[asyncio.Runner, Lab]]:
    """An open index, and the loop that it runs in."""
    with asyncio.Runner() as runner:
        embedder = WordEmbedder()
        index = make_index(tmp_path / "index", embedder.model)
        runner.run(index.open())
        try:
            yield runner, Lab(index, embedder)
        finally:
            runner.run(index.close())


@pytest.mark.parametrize("examples", [5, pytest.param(50, marks=pytest.mark.soak)])
@pytest.mark.timeout(600)
def test_the_index_at_any_instant_equals_a_naive_replay(
    at_work: tuple[asyncio.Runner, Lab], examples: int
) -> None:
    """T3 T4 S10 One point per state: what was known then, and of that what held then."""
    runner, lab = at_work
    numbers = iter(range(10_000))

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        script=st.lists(steps, min_size=3, max_size=12),
        instants=st.lists(
            st.tuples(
                st.none() | st.sampled_from(TIMES),
                st.none() | st.integers(-1, 13 * SECOND).map(lambda after: START + after),
            ),
            min_size=4,
            max_size=4,
        ),
    )
    def plays(script: list[Step], instants: list[tuple[Micros | None, Micros | None]]) -> None:
        space = f"space-{next(numbers)}"
        replay = runner.run(play(lab, space, script))
        exact = [(None, START + seq * SECOND) for seq, _, _ in replay.log]
        for v, r in (*instants, *exact, (None, None)):
            runner.run(check(lab, space, replay, v, r))

    plays()


async def test_reads_and_restarts_keep_former_states(tmp_path: Path) -> None:
    """T3 G6 S10 What was read since counts; what was known before outlives a restart."""
    embedder = WordEmbedder()
    for part in range(2):
        index = make_index(tmp_path / "index", embedder.model)
        await index.open()
        lab = Lab(index, embedder)
        if part == 0:
            await index.begin("default", "epoch")
            first = plain_state("m", 1, "red fox")
            await lab.write(first)
            await lab.write(replace(plain_state("m", 3, "grey fox"), created=first.created))
            touch = Touch("m", 7, START + DAY)
            await index.apply("default", Batch(4, START + 4 * SECOND, touches=[touch]))
        found = await lab.ask("fox", as_of=AsOf(record=START + 2 * SECOND))

        assert found.seqs.tolist() == [1]
        assert found.access_count.tolist() == [7]
        assert (await lab.ask("fox")).seqs.tolist() == [3]
        await index.close()


async def test_named_memories_are_scored_in_the_state_of_then(lab: Lab) -> None:
    """T3 T4 Whatever filter and lineage say of them: only what was unknown then is left out."""
    await lab.write(plain_state("a", 1, "fox", superseded_from=START), plain_state("b", 2, "fox"))
    await lab.write(plain_state("a", 3, "whale"), plain_state("c", 4, "fox"))

    found = await lab.ask(
        "fox",
        only=("a", "b", "c"),
        wanted=MemoryFilter(domain="elsewhere"),
        as_of=AsOf(record=START + 2_500_000),
    )

    seqs = found.seqs.tolist()
    assert dict(zip(lab.ids(found), seqs, strict=True)) == {"a": 1, "b": 2}
