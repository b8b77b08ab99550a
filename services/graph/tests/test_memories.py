"""Memories: once each, linked by their content, forgotten softly, with every version kept."""

import itertools
from collections.abc import Sequence
from typing import Literal
from unicodedata import normalize

import pytest
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from graph_world import (
    DAY,
    DESCRIPTIVE,
    RESOLUTION,
    SECOND,
    START,
    Calls,
    World,
    by_id,
    fact,
    micros,
    reason,
    refused,
    stamp,
)
from paging import pages

CREATED = memory_pb2.BATCH_OUTCOME_CREATED
UNCHANGED = memory_pb2.BATCH_OUTCOME_UNCHANGED
UPDATED = memory_pb2.BATCH_OUTCOME_UPDATED


async def test_defaults(home: Calls) -> None:
    """M1 A fact, descriptive, valid from its create time, with an id and concepts of its own."""
    sources = [type_pb2.Source(speaker="Ann")]
    memory = await home.add("Anna Larsson works at Volvo in Gothenburg.", sources=sources)

    assert memory.sources[0].trust == type_pb2.TRUST_LEVEL_REPORTED
    assert memory.kind == type_pb2.MEMORY_KIND_FACT
    assert memory.edge_type == DESCRIPTIVE
    assert len(memory.id) == 36
    assert memory.concepts
    assert not memory.HasField("valid_from")
    assert memory.supersession.effective_valid_from == memory.create_time
    assert list(memory.supersession.head_ids) == [memory.id]


async def test_limits(home: Calls) -> None:
    """M1 Beside the rules of each field: refused naming the field, and nothing is written."""
    cases: list[tuple[dict[str, object], str]] = [
        ({"content": "a\0b"}, "memory.content"),
        ({"edge_type": RESOLUTION}, "memory.edge_type"),
        ({"valid_from": stamp(START), "valid_until": stamp(START)}, "memory.valid_until"),
        ({"valid_until": stamp(START - DAY)}, "memory.valid_until"),
    ]
    for fields, field in cases:
        failure = await refused(home.add(**({"content": "x"} | fields)))  # type: ignore[arg-type]

        assert failure.reason == "ERROR_REASON_FIELD_INVALID"
        assert [violation.field for violation in failure.violations] == [field]
    assert await home.changes() == []


async def test_the_longest_content_is_kept_whole(home: Calls) -> None:
    """M1 20,000 characters, counted as characters."""
    memory = await home.add("ä" * 20_000)

    assert (await home.get(memory.id)).content == "ä" * 20_000


@pytest.mark.parametrize(
    ("again", "same"),
    [
        (type_pb2.Memory(content="x"), True),
        (type_pb2.Memory(content="x", tags=["new"]), True),
        (type_pb2.Memory(content="x", kind=type_pb2.MEMORY_KIND_PLAN), False),
        (type_pb2.Memory(content="x", sources=[type_pb2.Source(speaker="Bob")]), False),
        (type_pb2.Memory(content="x "), False),
    ],
)
async def test_equal_content_kind_and_source_are_one_memory(
    home: Calls, again: type_pb2.Memory, same: bool
) -> None:
    """M5 Without a key, what is said by whom decides."""
    first = await home.add("x")
    reply = await home.add_memory(again)

    assert (reply.memory.id == first.id, reply.created) == (same, not same)


async def test_a_key_decides_before_the_words(home: Calls) -> None:
    """M5 Same key and content: unchanged. Same key and other content: refused, unless updating."""
    await home.add("x", external_id="k")
    same = await home.add_memory(type_pb2.Memory(content="x", external_id="k"))
    other = type_pb2.Memory(content="y", external_id="k")
    failure = await refused(home.add_memory(other))
    new = await home.add_memory(type_pb2.Memory(content="x", external_id="k2"))
    clash = await refused(home.add("z", id="mine", external_id="k"))
    updated = await home.batch([other], update_existing=True)

    assert (same.created, new.created) == (False, True)
    assert (failure.reason, failure.metadata["item_id"]) == (
        "ERROR_REASON_ITEM_EXISTS",
        same.memory.id,
    )
    assert clash.reason == "ERROR_REASON_ITEM_EXISTS"
    assert updated.results[0].outcome == UPDATED
    assert (await home.get(same.memory.id)).content == "y"


async def test_a_superseded_text_may_be_said_again(live: World, home: Calls) -> None:
    """M5 T2 A, then B, then A: a new memory, current."""
    first = await home.add("The build is green")
    await home.add(f"The build is red\nSupersedes: [[memory:{first.id}]]", id="red")
    live.clock.pass_(SECOND)
    again = await home.add_memory(type_pb2.Memory(content="The build is green"))

    assert again.created
    assert again.memory.id != first.id
    assert (await home.add_memory(type_pb2.Memory(content="The build is green"))).created is False


@pytest.mark.parametrize("forms", [("NFC", "NFD"), ("NFD", "NFC")])
async def test_the_same_text_in_another_spelling_is_one_memory(
    home: Calls, forms: tuple[Literal["NFC", "NFD"], ...]
) -> None:
    """M5 Composed and decomposed letters are one text; it stays as it was said first."""
    first, second = (normalize(form, "Zoë is schön.") for form in forms)
    memory = await home.add(first)

    again = await home.add_memory(type_pb2.Memory(content=second))

    assert not again.created
    assert (again.memory.id, again.memory.content) == (memory.id, first)


async def test_update_keeps_the_id_and_every_version(live: World, home: Calls) -> None:
    """M4 Only the named fields; history newest first, with record intervals and who wrote it."""
    memory = await home.add("first", id="m", tags=["keep"])
    live.clock.pass_(DAY)
    memory.content, memory.domain = "second", "ignored"
    second = await home.update(memory, "content")
    reply = await home.memory.GetMemoryHistory(memory_pb2.GetMemoryHistoryRequest(id="m"))
    newest, oldest = reply.versions

    assert (second.content, list(second.tags), second.domain) == ("second", ["keep"], "")
    assert second.etag != memory.etag
    assert [version.memory.content for version in reply.versions] == ["second", "first"]
    assert (newest.revision, oldest.revision) == (2, 1)
    assert oldest.record_until == newest.record_from
    assert not newest.HasField("record_until")
    assert newest.principal == "agent-1"
    assert second.create_time == oldest.record_from


@pytest.mark.parametrize("mask", [["id"], ["nonsense"], ["create_time"], []])
async def test_a_mask_names_what_can_change(home: Calls, mask: list[str]) -> None:
    """M4 Anything else is refused."""
    memory = await home.add("x")

    assert await reason(home.update(memory, *mask)) in {
        "ERROR_REASON_UPDATE_MASK_INVALID",
        "ERROR_REASON_FIELD_INVALID",
    }


async def test_concepts_follow_the_content_unless_they_were_given(home: Calls) -> None:
    """M1 M4 Extracted ones are extracted anew; given ones stay; emptied ones are extracted."""
    memory = await home.add("Volvo builds cars in Gothenburg", id="m")
    memory.content = "Ericsson builds radios in Stockholm"
    before = list(memory.concepts)
    changed = await home.update(memory, "content")
    assert list(changed.concepts) != before
    changed.concepts[:] = ["mine"]
    given = await home.update(changed, "concepts")
    given.content = "Saab builds planes"
    kept = await home.update(given, "content")
    said = list(kept.concepts)
    kept.concepts[:] = []
    emptied = await home.update(kept, "concepts")

    assert said == ["mine"]
    assert set(emptied.concepts) != {"mine"}


async def test_an_external_id_in_use_is_refused(home: Calls) -> None:
    """M5 One memory per key, a forgotten one's included."""
    await home.add("x", external_id="k")
    gone = await home.forget(await home.add("g", external_id="gone"))
    other = await home.add("y")
    for key in ("k", "gone"):
        other.external_id = key
        assert await reason(home.update(other, "external_id")) == "ERROR_REASON_ITEM_EXISTS"

    assert gone.external_id == "gone"


async def test_forgetting_is_soft(live: World, home: Calls) -> None:
    """M4 Out of lists and walks, still read by id, restored with its lineage."""
    old = await home.add("old", id="old")
    new = await home.add("Supersedes: [[memory:old]]", id="new")
    live.clock.pass_(DAY)
    forgotten = await home.forget(new)

    assert micros(forgotten.forget_time) == START + DAY
    assert (await home.get("new")).HasField("forget_time")
    assert await home.listed() == ["old"]
    assert not (await home.get("old")).supersession.is_superseded
    for call in (
        home.forget(forgotten),
        home.update(forgotten, "content"),
        home.add("Supersedes: [[memory:old]]", id="new"),
    ):
        assert await reason(call) == "ERROR_REASON_ITEM_STATE"
    assert (await home.batch([type_pb2.Memory(id="new", content="other")])).results[
        0
    ].outcome == UNCHANGED
    back = await home.restore(forgotten)
    assert not back.HasField("forget_time")
    assert (await home.get("old")).supersession.is_superseded
    assert await reason(home.restore(back)) == "ERROR_REASON_ITEM_STATE"
    assert (await home.get("old")).etag == old.etag


async def test_the_list_filters_and_pages(live: World, home: Calls) -> None:
    """M1 T4 Newest first; every filter narrows; superseded and ended ones on request."""
    stated: dict[str, dict[str, object]] = {
        "fact": {"domain": "work"},
        "plan": {"kind": type_pb2.MEMORY_KIND_PLAN, "domain": "work.release", "tags": ["q3"]},
        "odd": {"domain": "workshop", "session_id": "s"},
        "ended": {"valid_until": stamp(START + SECOND)},
        "new": {},
    }
    for name, fields in stated.items():
        content = "Supersedes: [[memory:fact]]" if name == "new" else name
        await home.add(content, id=name, **fields)
    live.clock.pass_(DAY)
    kinds = memory_pb2.MemoryFilter(kinds=[type_pb2.MEMORY_KIND_PLAN])
    cases: list[tuple[dict[str, object], list[str]]] = [
        ({}, ["new", "odd", "plan"]),
        ({"include_superseded": True}, ["new", "odd", "plan", "fact"]),
        ({"filter": kinds}, ["plan"]),
        ({"filter": memory_pb2.MemoryFilter(tag="q3")}, ["plan"]),
        ({"filter": memory_pb2.MemoryFilter(domain="work")}, ["plan"]),
        ({"filter": memory_pb2.MemoryFilter(session_id="s")}, ["odd"]),
        ({"filter": memory_pb2.MemoryFilter(edge_type=DESCRIPTIVE), "page_size": 1}, ["new"]),
    ]

    for options, wanted in cases:
        assert await home.listed(**options) == wanted, options
    found = await pages(home.memory.ListMemories, memory_pb2.ListMemoriesRequest(page_size=1))
    assert [[m.id for m in page.memories] for page in found] == [["new"], ["odd"], ["plan"]]


async def test_links_make_edges_in_the_same_write(home: Calls) -> None:
    """M3 Case, alias, heading, several targets; negated, quoted and coded ones are none."""
    content = "\n".join(
        [
            "supersedes: [[Memory:a.1|the old]], [[memory:dir/b#top]]",
            "It does not supersede [[memory:c]].",
            "`Supersedes: [[memory:d]]`",
            "Amends: [[memory:e]]",
        ]
    )
    memory = await home.add(content)
    edges = (await home.neighbors(by_id(memory.id))).neighbors

    assert sorted((n.edge.relation, n.neighbor.id) for n in edges) == [
        ("AMENDS", "e"),
        ("RELATED_TO", "c"),
        ("SUPERSEDES", "a.1"),
        ("SUPERSEDES", "dir/b"),
    ]
    assert {n.neighbor.kind for n in edges} == {type_pb2.ITEM_KIND_GHOST}


async def test_a_link_names_a_memory(home: Calls) -> None:
    """M3 At a node's or edge's id a plain link is text, and lineage is refused."""
    edge = await home.put_edge("a", "R", "b")
    for item_id in (edge.id, edge.source.id):
        plain = await home.add(f"See [[memory:{item_id}]]")
        failure = await refused(home.add(f"Supersedes: [[memory:{item_id}]]"))

        assert not (await home.neighbors(by_id(plain.id))).neighbors
        assert failure.reason == "ERROR_REASON_FIELD_INVALID"
        assert [violation.field for violation in failure.violations] == ["memory.content"]
    assert await home.delete_node(await home.get_node("a"), cascade=True) == 1


async def test_a_ghost_is_shown_until_it_turns_real(home: Calls) -> None:
    """M3 T5 It stands in the chain, undeclared; its arrival is told to its successors."""
    await home.add("Supersedes: [[memory:later]]", id="new")
    ghost = (await home.lineage("later")).items
    seq = (await home.changes())[-1].seq
    await home.add("I was named before", id="later")
    told = {(change.item_id, change.type) for change in await home.changes(after=seq)}

    assert [(item.id, item.kind, item.is_undeclared) for item in ghost] == [
        ("later", type_pb2.ITEM_KIND_GHOST, True),
        ("new", type_pb2.ITEM_KIND_MEMORY, False),
    ]
    assert (await home.get("later")).supersession.is_superseded
    assert told == {("later", 1), ("new", 5)}
    assert (await home.get("new")).supersession.predecessor_count == 1


async def test_words_whose_time_is_over_may_be_said_again(home: Calls) -> None:
    """M5 Equal words are one memory only while that one holds: a sale that is over is not on."""
    over = await home.add("Sale is on", valid_from=stamp(START - 9 * DAY), valid_until=stamp(START))
    later = await home.add("Shop is open", valid_from=stamp(START + 9 * DAY))
    again = await home.add("Sale is on")
    now = await home.add("Shop is open")

    assert again.id != over.id
    assert now.id != later.id
    assert (await home.add("Sale is on")).id == again.id


async def test_the_same_words_of_the_same_time_are_one_memory(home: Calls) -> None:
    """M5 Ingesting adds nothing, of what is over neither; other words take its place for good."""
    when = {"valid_from": stamp(START - 9 * DAY), "valid_until": stamp(START - DAY)}
    over = await home.add("Sale is on", **when)

    assert (await home.add("Sale is on", **when)).id == over.id
    await home.add(f"Supersedes: [[memory:{over.id}]] There was no sale.", **when)
    assert (await home.add("Sale is on", **when)).id != over.id


async def told(home: Calls, memories: Sequence[type_pb2.Memory], *, batched: bool) -> list[bool]:
    """Add memories; return which of them are new."""
    if batched:
        return [result.outcome == CREATED for result in (await home.batch(memories)).results]
    return [(await home.add_memory(each)).created for each in memories]


@pytest.mark.parametrize("batched", [False, True])
async def test_the_same_words_of_another_time_are_another_memory(
    live: World, batched: bool
) -> None:
    """M5 T2 A value that returns, worded alike, in every order of arrival; again adds nothing."""
    moves = (("Bremen", 9), ("Hamburg", 5), ("Bremen", 1))
    for number, order in enumerate(itertools.permutations(moves)):
        home = live.calls(f"space-{number}")
        await home.declare("LIVES_IN")
        memories = [
            type_pb2.Memory(
                content=f"Ann lives in {town}.",
                facts=[fact("Ann", "LIVES_IN", town)],
                valid_from=stamp(START - days * DAY),
            )
            for town, days in order
        ]

        assert await told(home, memories, batched=batched) == [True] * 3
        assert await told(home, memories, batched=batched) == [False] * 3
        assert len(await home.listed(include_superseded=True)) == 3


async def test_a_key_and_an_id_name_one_memory(home: Calls) -> None:
    """M5 A key that another memory has is no second name for this one."""
    await home.add("one", id="one", external_id="key")
    await home.add("two", id="two")

    for memory_id in ("two", "three"):
        call = home.add("one", id=memory_id, external_id="key")
        assert await reason(call) == "ERROR_REASON_ITEM_EXISTS"
    assert (await home.get("one")).content == "one"
