"""A new memory that edits a former one a little is said to: a proposal, nothing is written (T6)."""

import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import raw_store
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_graph.adapters.sqlite.migrations import SCHEMA
from concord_graph.domain import sketch
from concord_graph.domain.edits import LEAST_SIMILARITY, Text, small_edit
from concord_graph.domain.sketch import BANDS, bands
from graph_world import (
    AMENDS,
    CONTRADICTS,
    DAY,
    START,
    SUPERSEDES,
    Calls,
    World,
    stamp,
    world,
)
from hypothesis import given
from hypothesis import strategies as st

FACT = type_pb2.MEMORY_KIND_FACT
BUDGET = "The budget of the Apollo project is 40,000 euros a year."
RAISED = "The budget of the Apollo project is 45,000 euros a year."


@pytest.fixture(autouse=True)
def _known_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """One key for every space: which pairs a sketch misses, now and then, hangs on the key."""
    monkeypatch.setattr(sketch, "new_key", lambda: bytes(32))


async def suggested(calls: Calls, content: str, **fields: object) -> list[str]:
    """Add a memory; return the ids of those it may amend."""
    memory = type_pb2.Memory(content=content, **fields)  # type: ignore[arg-type] # the contract's
    return [each.older_id for each in (await calls.add_memory(memory)).suggestions]


async def test_a_small_edit_is_suggested_and_not_written(home: Calls) -> None:
    """T6 The reply names the former memory, how alike they are, what changed; no edge is made."""
    await home.add(BUDGET, id="old")
    reply = await home.add_memory(type_pb2.Memory(id="new", content=RAISED))
    (suggestion,) = reply.suggestions

    assert (suggestion.older_id, suggestion.relation) == ("old", AMENDS)
    assert suggestion.similarity == pytest.approx(20 / 22)
    assert suggestion.change == '"40,000" became "45,000"'
    assert not (await home.lineage("old")).edges
    assert (await home.changes())[-1].item_id == "new"


@pytest.mark.parametrize(
    ("content", "change"),
    [
        (BUDGET.replace("Apollo", "Artemis"), '"Apollo" became "Artemis"'),
        (BUDGET.replace("a year", "every year"), '"a" became "every"'),
        (BUDGET.replace("is", "is not"), 'added "not"'),
        (BUDGET.replace(" Apollo", ""), 'removed "Apollo"'),
        (BUDGET.upper(), "letter case, punctuation or links"),
        (
            BUDGET.replace("40,000", "50,000").replace("euros", "dollars"),
            '"40,000 euros" became "50,000 dollars"',
        ),
    ],
)
async def test_what_a_small_edit_is(home: Calls, content: str, change: str) -> None:
    """T6 Numbers, names, words that come or go; and what changed is told."""
    await home.add(BUDGET, id="old")
    reply = await home.add_memory(type_pb2.Memory(content=content))

    assert [(s.older_id, s.change) for s in reply.suggestions] == [("old", change)]


@pytest.mark.parametrize(
    "content",
    [
        BUDGET,
        "The budget of Ada's move to another town is 3,000 francs in all.",
        "Apollo had a sister.",
        "Euros, 40,000 a year: of the project Apollo is the budget.",
        BUDGET + " It was agreed upon by all of us in the meeting of last Monday.",
    ],
)
async def test_what_is_none(home: Calls, content: str) -> None:
    """T6 M5 The same text, other texts, other order of words, and a text that says much more."""
    await home.add(BUDGET, id="old")

    assert await suggested(home, content) == []


async def test_only_current_memories_of_the_kind_in_the_space(live: World, home: Calls) -> None:
    """T6 Not what is forgotten, superseded, over, to come, of another kind or another space."""
    later = stamp(START + DAY)
    await home.forget(await home.add(BUDGET, id="forgotten"))
    await home.add(BUDGET.replace("40", "41"), id="superseded")
    await home.add("Supersedes: [[memory:superseded]]", id="replacement")
    await home.add(
        BUDGET.replace("40", "42"),
        id="over",
        valid_until=stamp(START - 1),
        valid_from=stamp(START - 9),
    )
    await home.add(BUDGET.replace("40", "43"), id="to-come", valid_from=later)
    await home.add(BUDGET.replace("40", "44"), id="plan", kind=type_pb2.MEMORY_KIND_PLAN)
    await live.calls("other").add(BUDGET, id="theirs")

    assert await suggested(home, BUDGET.replace("40", "46")) == []
    live.clock.pass_(2 * DAY)
    assert await suggested(home, BUDGET.replace("40", "47"), kind=type_pb2.MEMORY_KIND_PLAN) == [
        "plan"
    ]


async def test_turns_are_never_amended(home: Calls) -> None:
    """T6 M2 What was said in a dialogue stays as it was said."""
    turn = type_pb2.MEMORY_KIND_TURN
    await home.add(BUDGET, kind=turn)

    assert await suggested(home, RAISED, kind=turn) == []


@pytest.mark.parametrize("relation", [SUPERSEDES, AMENDS, CONTRADICTS])
async def test_what_is_said_already_is_not_suggested(home: Calls, relation: int) -> None:
    """T6 M3 A memory whose content links to the former one has told how it stands to it."""
    word = type_pb2.LineageRelation.Name(relation).removeprefix("LINEAGE_RELATION_").title()  # type: ignore[arg-type]
    await home.add(BUDGET, id="old")

    assert await suggested(home, f"{RAISED}\n{word}: [[memory:old]]") == []


async def test_an_amended_memory_is_left_to_its_amendment(home: Calls) -> None:
    """T6 The newest of a chain is suggested; the former again when its amendment is forgotten."""
    await home.add(BUDGET, id="a")
    b = await home.add(RAISED, id="b")
    await home.relate(AMENDS, "b", "a")
    chained = await suggested(home, BUDGET.replace("40", "48"), id="c")
    await home.forget(await home.get("c"))
    await home.forget(b)

    assert chained == ["b"]
    assert await suggested(home, BUDGET.replace("40", "49")) == ["a"]


async def test_the_entries_of_a_list_are_not_edits_of_each_other(home: Calls) -> None:
    """T6 Where many memories differ at the same place, each is a fact of its own."""
    places = ["Aachen", "Bonn", "Celle", "Dresden", "Essen"]
    found = [
        await suggested(home, f"The branch in {place} opens at nine o'clock.") for place in places
    ]

    assert [len(each) for each in found] == [0, 1, 2, 0, 0]
    late = await suggested(home, "The branch in Bonn opens at ten o'clock.")
    assert len(late) == 1


async def test_an_update_is_compared_by_what_it_says_now(home: Calls) -> None:
    """T6 M4 The sketch follows updates, forgetting and restoring."""
    memory = await home.add("Something else that is quite long enough.", id="m")
    memory.content = BUDGET
    memory = await home.update(memory, "content")
    await home.batch([type_pb2.Memory(id="m", content=RAISED)], update_existing=True)
    await home.restore(await home.forget(await home.get("m")))

    assert await suggested(home, BUDGET) == ["m"]
    assert await suggested(home, "Something else that is quite long indeed.") == []


async def test_a_batch_suggests_nothing(home: Calls) -> None:
    """T6 M6 Nobody asked it to; what it wrote or changed is compared with what is new later."""
    other = "We meet on Mondays at nine in the large room."
    await home.add("Something else that is quite long enough.", external_id="changed")
    reply = await home.batch(
        [
            type_pb2.Memory(id="old", content=BUDGET),
            type_pb2.Memory(id="new", content=RAISED),
            type_pb2.Memory(external_id="changed", content=other),
        ],
        update_existing=True,
    )
    changed = reply.results[2].memory_id

    assert list(reply.results) == [
        memory_pb2.BatchResult(memory_id="old", outcome=memory_pb2.BATCH_OUTCOME_CREATED),
        memory_pb2.BatchResult(memory_id="new", outcome=memory_pb2.BATCH_OUTCOME_CREATED),
        memory_pb2.BatchResult(memory_id=changed, outcome=memory_pb2.BATCH_OUTCOME_UPDATED),
    ]
    assert await suggested(home, BUDGET.replace("40", "48")) == ["new", "old"]
    assert await suggested(home, other.replace("nine", "ten")) == [changed]


async def test_a_replay_suggests_the_same(home: Calls) -> None:
    """T6 M5 The reply is rebuilt from the versions that were compared, whatever came since."""
    old = await home.add(BUDGET, id="old")
    request = memory_pb2.AddMemoryRequest(
        request_id=home.request_id(), memory=type_pb2.Memory(id="new", content=RAISED)
    )
    first = await home.memory.AddMemory(request)
    old.content = "Now it says something else."
    await home.update(old, "content")
    again = await home.memory.AddMemory(request)

    assert first.suggestions == again.suggestions
    assert len(first.suggestions) == 1


async def test_the_sketch_goes_with_what_a_memory_says(live: World, home: Calls) -> None:
    """T6 M4 By what was forgotten or erased nothing is found, and no band of it is kept."""
    for name, content in (("old", BUDGET), ("gone", BUDGET + " Yes."), ("new", RAISED)):
        await home.add(content, id=name)
    await home.forget(await home.get("gone"))
    await home.erase(await home.get("old"))
    found = await suggested(home, BUDGET.replace("euros", "francs"), kind=type_pb2.MEMORY_KIND_PLAN)
    kept = raw_store.sketches(live.path)
    key = raw_store.sketch_key(live.path)

    assert found == []
    assert kept["new"] == set(bands(key, FACT, RAISED))
    assert "old" not in kept
    assert "gone" not in kept
    assert not kept["new"] & set(bands(b"", FACT, RAISED))


async def test_a_store_from_before_is_sketched_when_it_opens(tmp_path: Path) -> None:
    """T6 G16 What an older program wrote is found like the rest."""
    path = tmp_path / "graph.db"
    async with world(path) as live:
        await live.calls().add(BUDGET, id="old")
        await live.calls().add("said", kind=type_pb2.MEMORY_KIND_TURN)
        await live.calls().forget(await live.calls().add(RAISED, id="gone"))
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        before = db.execute("SELECT count(*) FROM sketch").fetchone()
        for table in ("sketch", "sketched", "sketch_key"):
            db.execute(f"DROP TABLE {table}")
        number = next(n for n, sql in SCHEMA.steps if "CREATE TABLE sketch " in sql)
        db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (str(number - 1),))
        replace(SCHEMA, steps=SCHEMA.steps[:number]).migrate(db)
        after = db.execute("SELECT count(*) FROM sketch").fetchone()
        db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (str(number),))

    assert before == after == (BANDS,)


def test_the_longest_texts_are_compared_in_milliseconds() -> None:
    """T6 Work is bounded: what differs much is seen by counting, what is alike is skipped."""
    words = [f"w{number % 700}" for number in range(4_000)]
    edited = [*words[:10], "other", *words[11:3_000], "more", *words[3_000:]]
    begin = time.process_time()
    edit = small_edit(Text(" ".join(words)), Text(" ".join(edited)))
    shuffled = small_edit(Text(" ".join(words)), Text(" ".join(reversed(words))))
    sketch = bands(b"k", FACT, " ".join(words))
    taken = time.process_time() - begin

    assert edit is not None
    assert edit.change == '"w10" became "other"; added "more"'
    assert shuffled is None
    assert len(sketch) == BANDS
    assert taken < 2, f"{taken:.2f} s"


WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=5, max_size=20)
EDITS = st.lists(
    st.tuples(st.integers(0, 19), st.integers(0, 1), st.sampled_from(["", "a", "b c", "x"])),
    max_size=4,
)


@given(WORDS, EDITS)
def test_what_changed_is_what_a_shortest_edit_changes(
    old: list[str], edits: list[tuple[int, int, str]]
) -> None:
    """T6 The similarity is that of the longest common subsequence; the places hold the changes."""
    new = list(old)
    for at, gone, came in edits:
        new[at : at + gone] = came.split()
    former, content = (" ".join(words) for words in (old, new))
    edit = small_edit(Text(former), Text(content))
    kept = _longest_common(old, new)
    similarity = 2 * kept / (len(old) + len(new))

    if edit is None:
        return
    assert edit.similarity == pytest.approx(similarity)
    assert similarity >= LEAST_SIMILARITY
    unchanged = [w for at, w in enumerate(new) if not any(a <= at < b for a, b in edit.places)]
    assert _longest_common(old, unchanged) == len(unchanged) == kept


def _longest_common(one: list[str], other: list[str]) -> int:
    row = [0] * (len(other) + 1)
    for a in one:
        before, row = row, [0]
        for at, b in enumerate(other):
            row.append(before[at] + 1 if a == b else max(before[at + 1], row[-1]))
    return row[-1]
