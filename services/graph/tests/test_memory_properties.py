"""What else a caller keeps with a memory, and which memories it was derived from (M1)."""

from unicodedata import normalize

import pytest
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from governed_actions import action_of
from graph_world import DAY, PROTECTED, Calls, Json, Parties, World, reason, stamp, struct


async def found(home: Calls, properties: dict[str, Json], **fields: object) -> list[str]:
    """Return the ids of the memories with these properties."""
    filter_ = memory_pb2.MemoryFilter(properties=struct(properties))
    return await home.listed(filter=filter_, **fields)


@pytest.mark.parametrize(
    ("properties", "ids"),
    [
        ({"status": "open"}, ["b", "a"]),
        ({"status": "open", "votes": 3}, ["a"]),
        ({"votes": 3.0}, ["a"]),
        ({"votes": "3"}, []),
        ({"pinned": True}, ["b"]),
        ({"pinned": 1}, []),
        ({normalize("NFD", "größe"): normalize("NFD", "schön")}, ["b"]),
        ({"status": "closed"}, []),
    ],
)
async def test_a_list_is_filtered_by_properties(
    home: Calls, properties: dict[str, Json], ids: list[str]
) -> None:
    """M1 S2 Each key must have this very value; texts are compared in NFC."""
    await home.add("A", id="a", properties=struct({"status": "open", "votes": 3}))
    more: dict[str, Json] = {"status": "open", "pinned": True, "größe": "schön", "n": {"x": 1}}
    await home.add("B", id="b", properties=struct(more))
    await home.add("C", id="c")

    assert sorted(await found(home, properties)) == sorted(ids)


async def test_a_filter_takes_plain_values_only(home: Calls) -> None:
    """M1 S2 A filter that cannot be applied is an error."""
    assert await reason(found(home, {"a": None})) == "ERROR_REASON_FIELD_INVALID"


async def test_an_update_replaces_them_and_history_keeps_them(live: World, home: Calls) -> None:
    """M1 M4 T3 A change makes another version with another etag; the former is read as of then."""
    first = await home.add("A", id="a", properties=struct({"status": "open", "gone": None}))
    before = live.clock()
    live.clock.pass_(DAY)
    assert dict(first.properties) == {"status": "open"}

    first.properties.Clear()
    first.properties.update({"votes": 3})
    second = await home.update(first, "properties")

    assert dict(second.properties) == {"votes": 3}
    assert second.etag != first.etag
    history = await home.memory.GetMemoryHistory(memory_pb2.GetMemoryHistoryRequest(id="a"))
    assert [dict(version.memory.properties) for version in history.versions] == [
        {"votes": 3},
        {"status": "open"},
    ]
    as_of = type_pb2.AsOf(record_time=stamp(before))
    assert await found(home, {"status": "open"}, as_of=as_of) == ["a"]
    assert await found(home, {"status": "open"}) == []


async def test_other_properties_under_an_own_id_are_other_content(home: Calls) -> None:
    """M1 M5 Under the caller's own id other properties are refused, or update what is there."""
    await home.add("A", id="a", properties=struct({"status": "open"}))

    assert await reason(home.add("A", id="a")) == "ERROR_REASON_ITEM_EXISTS"
    result = await home.batch(
        [type_pb2.Memory(id="a", content="A", properties=struct({"status": "done"}))],
        update_existing=True,
    )

    assert result.results[0].outcome == memory_pb2.BATCH_OUTCOME_UPDATED
    assert dict((await home.get("a")).properties) == {"status": "done"}


async def test_the_state_export_has_them(home: Calls) -> None:
    """M1 G15 Properties and the memories that a source names stand in the state export."""
    memory = await home.add("A", id="a")
    memory.properties.update({"status": "open"})
    memory.sources.add(memory_ids=["b"])
    await home.update(memory, "properties", "sources")

    line = (await home.export())[0]

    assert '"properties":{"status":"open"}' in line
    assert '"memory_ids":["b"]' in line


async def test_both_alone_change_those_of_a_constitutive_memory(
    home: Calls, parties: Parties
) -> None:
    """G4 V6 M1 Nobody alone changes what else is kept with what defines the agent."""
    memory = await parties.constitutive_memory(home, "me")
    memory.properties.update({"status": "open"})
    action = action_of("update_memory", "properties", memory=memory)

    assert await reason(home.update(memory, "properties")) == PROTECTED
    assert dict((await parties.apply(home, action)).memory.properties) == {"status": "open"}


async def test_a_lineage_shows_what_an_insight_was_derived_from(home: Calls) -> None:
    """M1 T5 In their order, also what is forgotten, erased or never known; nothing ends by it."""
    for name in ("a", "b", "c"):
        await home.add(f"Observation {name}.", id=name)
    await home.forget(await home.get("b"))
    await home.erase(await home.get("c"))
    insight = await home.add(
        "They all say so.",
        id="insight",
        kind=type_pb2.MEMORY_KIND_INSIGHT,
        sources=[type_pb2.Source(memory_ids=["c", "a", "b", "nobody"])],
    )

    chain = await home.lineage("insight")

    assert [item.id for item in chain.items] == ["insight"]
    shown = chain.items[0].derived_from
    assert [item.id for item in shown] == ["c", "a", "b", "nobody"]
    assert [item.is_erased for item in shown] == [True, False, False, False]
    assert [item.is_deleted for item in shown] == [True, False, True, False]
    assert [item.is_undeclared for item in shown] == [False, False, False, True]
    assert [item.statement for item in shown] == ["", "Observation a.", "Observation b.", ""]
    assert not insight.supersession.is_superseded
    assert not (await home.get("a")).supersession.is_superseded
    assert [item.id for item in (await home.lineage("a")).items] == ["a"]
