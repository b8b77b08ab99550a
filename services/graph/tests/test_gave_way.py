"""What a write's reply lists as having given way (W9)."""

from __future__ import annotations

import pytest
from concord.graph.v1 import graph_pb2, lineage_pb2, memory_pb2
from concord.type.v1 import type_pb2
from google.protobuf.field_mask_pb2 import FieldMask
from graph_world import (
    AMENDS,
    DAY,
    DEPRECATES,
    START,
    SUPERSEDES,
    Calls,
    edge_of,
    stamp,
)

Given = list[tuple[str, str, str]]


def given(reply: object) -> Given:
    """Return (id, relation, by) of what a reply lists."""
    listed: type_pb2.GaveWay = reply.gave_way  # type: ignore[attr-defined] # a write's reply
    name = type_pb2.LineageRelation.Name
    said = [(i.id, name(i.relation).rpartition("_")[2], i.by_id) for i in listed.items]
    assert listed.count == len(said)
    return said


async def add(calls: Calls, content: str, **fields: object) -> memory_pb2.AddMemoryResponse:
    """Add a memory; return the whole reply."""
    return await calls.add_memory(type_pb2.Memory(content=content, **fields))  # type: ignore[arg-type]


async def test_an_added_memory_lists_what_its_links_replace(home: Calls) -> None:
    """W9 M3 By id, each with how and by what; also what was superseded before."""
    for name in ("a", "b", "c", "d"):
        await add(home, name, id=name)
    first = await add(home, "Supersedes: [[memory:a]]\n\nDeprecates: [[memory:b]]", id="n")
    second = await add(home, "Supersedes: [[memory:a]] Amends: [[memory:c]]", id="m")
    plain = await add(home, "See [[memory:d]]", id="o")

    assert given(first) == [("a", "SUPERSEDES", "n"), ("b", "DEPRECATES", "n")]
    assert given(second) == [("a", "SUPERSEDES", "m"), ("c", "AMENDS", "m")]
    assert not plain.HasField("gave_way")


async def test_every_path_of_lineage_lists_it(home: Calls) -> None:
    """W9 AddLineage, an update, a restore and a batch, which lists its own memories, too."""
    for name in ("a", "b", "c", "n"):
        await add(home, name, id=name)
    request = lineage_pb2.AddLineageRequest(
        request_id="r", relation=SUPERSEDES, newer_id="n", older_id="a"
    )
    stated = await home.lineage_service.AddLineage(request)
    again = await home.lineage_service.AddLineage(request)
    newer = await home.get("n")
    newer.content = "n\n\nDeprecates: [[memory:b]]"
    update = memory_pb2.UpdateMemoryRequest(
        request_id="u", memory=newer, update_mask=FieldMask(paths=["content"])
    )
    updated = await home.memory.UpdateMemory(update)
    forgotten = await home.memory.ForgetMemory(
        memory_pb2.ForgetMemoryRequest(request_id="f", id="n", etag=updated.memory.etag)
    )
    restored = await home.memory.RestoreMemory(
        memory_pb2.RestoreMemoryRequest(request_id="g", id="n", etag=forgotten.memory.etag)
    )
    batch = await home.batch(
        [
            type_pb2.Memory(id="x", content="Supersedes: [[memory:y]], [[memory:c]]"),
            type_pb2.Memory(id="y", content="y"),
        ]
    )

    assert given(stated) == given(again) == [("a", "SUPERSEDES", "n")]
    assert given(updated) == [("b", "DEPRECATES", "n")]
    assert not forgotten.HasField("gave_way")
    assert [(one, by) for one, _, by in given(restored)] == [("a", "n"), ("b", "n")]
    assert [(one, by) for one, _, by in given(batch)] == [("c", "x"), ("y", "x")]


async def test_amendments_come_back_with_their_memory(home: Calls) -> None:
    """W9 T4 A restored memory amends again, and says so; a void amendment is not listed."""
    await add(home, "a", id="a")
    amending = await add(home, "Amends: [[memory:a]]", id="n")
    gone = await home.forget(amending.memory)
    restored = await home.memory.RestoreMemory(
        memory_pb2.RestoreMemoryRequest(request_id="g", id="n", etag=gone.etag)
    )

    assert given(amending) == given(restored) == [("a", "AMENDS", "n")]


async def test_a_later_value_of_a_functional_relation_lists_the_earlier_one(home: Calls) -> None:
    """W9 T2 Of edges, and of memories all of whose facts ended with it; a declaration lists all."""
    old = await home.upsert(edge_of("ada", "LIVES_IN", "york", valid_from=START - 9 * DAY))
    told = await add(
        home,
        "Ada lives in York.",
        facts=[type_pb2.Fact(subject="ada", relation="LIVES_IN", object="york")],
        valid_from=stamp(START - 9 * DAY),
    )
    new = await home.upsert(edge_of("ada", "LIVES_IN", "oslo", valid_from=START - 5 * DAY))
    declared = await home.declare("LIVES_IN")
    newest = await home.upsert(edge_of("ada", "LIVES_IN", "rome", valid_from=START - DAY))
    inserted = await home.upsert(edge_of("ada", "LIVES_IN", "bonn", valid_from=START - 7 * DAY))

    assert not new.HasField("gave_way")
    expected = [(old.edge.id, new.edge.id), (told.memory.id, "")]  # no memory states the new one
    assert sorted((one, by) for one, _, by in given(declared)) == sorted(expected)
    assert given(newest) == [(new.edge.id, "SUPERSEDES", newest.edge.id)]
    assert [(one, by) for one, _, by in given(inserted)] == [
        (old.edge.id, inserted.edge.id),
        (told.memory.id, ""),
    ]


async def test_what_will_give_way_is_listed_when_that_is_decided(home: Calls) -> None:
    """W9 T2 A successor whose time is to come: the older one stays until then; the reply has it."""
    await add(home, "a", id="a")
    later = await add(home, "Supersedes: [[memory:a]]", id="n", valid_from=stamp(START + DAY))

    assert [one for one, _, _ in given(later)] == ["a"]
    assert not (await home.get("a")).supersession.is_superseded


async def test_deleting_an_edge_lists_what_follows_from_it(home: Calls) -> None:
    """W9 T2 An earlier value that had replaced a later one: without that lineage it gives way."""
    await home.declare("LIVES_IN")
    earlier = await home.put_edge("ada", "LIVES_IN", "york", valid_from=START - 9 * DAY)
    later = await home.put_edge("ada", "LIVES_IN", "oslo", valid_from=START - DAY)
    record = (await home.relate(SUPERSEDES, earlier.id, later.id)).edge
    deleted = await home.graph.DeleteEdge(
        graph_pb2.DeleteEdgeRequest(request_id="d", id=record.id, etag=record.etag)
    )

    assert given(deleted) == [(earlier.id, "SUPERSEDES", later.id)]


async def test_deleting_what_replaced_a_later_value_lists_what_that_one_ends(home: Calls) -> None:
    """W9 T2 The later value is back in its place, and the first value gives way to it."""
    await home.declare("LIVES_IN")
    first = await home.put_edge("ada", "LIVES_IN", "york", valid_from=START - 9 * DAY)
    again = await home.put_edge("ada", "LIVES_IN", "york", valid_from=START - 5 * DAY)
    later = await home.put_edge("ada", "LIVES_IN", "oslo", valid_from=START - DAY)
    await home.relate(SUPERSEDES, again.id, later.id)
    again = await home.get_edge(again.id)
    deleted = await home.graph.DeleteEdge(
        graph_pb2.DeleteEdgeRequest(request_id="d", id=again.id, etag=again.etag)
    )

    assert given(deleted) == [(first.id, "SUPERSEDES", later.id)]


@pytest.mark.parametrize("relation", [SUPERSEDES, DEPRECATES, AMENDS])
async def test_a_ghost_that_turns_real_in_a_batch_is_listed(
    home: Calls, relation: type_pb2.LineageRelation.ValueType
) -> None:
    """W9 M3 Whichever end of lineage comes first, the import counts what gives way."""
    word = type_pb2.LineageRelation.Name(relation).rpartition("_")[2]
    new = type_pb2.Memory(id="n", content=f"{word}: [[memory:a]]")
    first = await home.batch([new])
    second = await home.batch([type_pb2.Memory(id="a", content="a")])

    assert not first.HasField("gave_way")
    assert [(one, by) for one, _, by in given(second)] == (
        [("a", "n")] if relation != AMENDS else []
    )
