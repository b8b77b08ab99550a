"""What holds now, as bytes: equal states give equal bytes. And how much there is of it."""

import json
from pathlib import Path

import rfc8785
from concord.graph.v1 import episode_pb2, relation_pb2, space_pb2, working_memory_pb2
from concord.type.v1 import type_pb2
from graph_world import (
    AMENDS,
    CONTRADICTS,
    DAY,
    NOT_FOUND,
    START,
    SUPERSEDES,
    Calls,
    Clock,
    World,
    by_id,
    known_at,
    world,
)
from transfers import furnish


async def test_lines_are_canonical_and_name_no_accident(live: World, home: Calls) -> None:
    """G15 Sorted; no generated id, revision, defaulted time or access; stated times are there."""
    memory = await home.add("said", external_id="k")
    loose = await home.add("loose")
    edge = await home.put_edge(by_id(memory.id), "ABOUT", "a", weight=0.0)
    await home.put_edge("a", "IN", "b", valid_from=START - 1, properties={"n": 1.5})
    await home.relate(SUPERSEDES, memory.id, loose.id)
    await home.relate(CONTRADICTS, loose.id, memory.id, "look")
    await home.get(memory.id, peek=False)
    lines = await home.export()
    records = [json.loads(line) for line in lines]
    text = "\n".join(lines)

    for item_id in (memory.id, loose.id, edge.id, edge.target.id, memory.etag):
        assert item_id not in text
    kinds = [
        *("memory", "memory", "node", "node", "edge", "edge", "lineage", "lineage"),
        "conflict",
    ]
    assert [record["kind"] for record in records] == kinds
    assert records[4]["valid_from"] == "2027-01-15T07:59:59.999999Z"
    assert records[4]["properties"] == {"n": 1.5}
    assert records[5]["source"] == {"external_id": "k"}
    assert records[5]["weight"] == 0
    assert [rfc8785.dumps(record).decode() for record in records] == lines
    live.clock.pass_(99 * DAY)
    assert await home.export() == lines


async def test_declared_relations_are_part_of_the_state(live: World, home: Calls) -> None:
    """G15 T2 Two spaces whose exports are equal answer alike: a declaration ends values."""
    other = live.calls("other")
    for calls in (home, other):
        await calls.put_edge("Ada", "LIVES_IN", "Ulm", valid_from=START - DAY)
        await calls.put_edge("Ada", "LIVES_IN", "Bonn", valid_from=START)
    assert await home.export() == await other.export()
    live.clock.pass_(DAY)
    before = live.clock()
    live.clock.pass_(DAY)

    declared = (await home.declare("LIVES_IN")).relation

    line = '{"functional":true,"kind":"relation","name":"LIVES_IN"}'
    assert await home.export() == [*await other.export(), line]
    assert await home.export(as_of=known_at(before)) == await other.export()
    await home.declare("LIVES_IN", functional=False, etag=declared.etag)
    assert line.replace("true", "false") in await home.export()
    sets = relation_pb2.ExclusiveSets(sets=[relation_pb2.ExclusiveSet(names=["Ulm", "Bonn"])])
    await home.declare("LIVES_IN", temporal_class=1, transitive=True, exclusive_sets=sets)
    line = (
        '{"exclusive_sets":[["Bonn","Ulm"]],"functional":true,"kind":"relation",'
        '"name":"LIVES_IN","temporal_class":"STATE","transitive":true}'
    )
    assert line in await home.export()


async def test_what_is_undone_leaves_the_bytes_as_they_were(home: Calls) -> None:
    """G15 M4 Forget and restore, add and delete, supersede and take back."""
    a = await home.add("a", id="a")
    loose = await home.add("Supersedes: [[memory:a]]")
    await home.put_edge(by_id(loose.id), "ABOUT", "x")
    before = await home.export()
    forgotten = await home.forget(loose)
    without = await home.export()
    await home.restore(forgotten)
    made = (await home.relate(AMENDS, "a", "elsewhere")).edge
    await home.delete_edge(made)
    a.tags.append("t")
    changed = await home.update(a, "tags")
    changed.tags.pop()
    await home.update(changed, "tags")

    assert await home.export() == before
    assert [json.loads(line)["kind"] for line in without] == ["memory", "node"]


async def _chains_of_equal_texts(calls: Calls, order: str) -> list[str]:
    """Say A, replace it, say A again, replace that; for each letter of the order. Return all A."""
    said = []
    for letter in order:
        first = await calls.add("A", tags=["t"])
        middle = await calls.add(f"middle {letter}")
        await calls.relate(SUPERSEDES, middle.id, first.id)
        again = await calls.add("A", tags=["t"])
        await calls.relate(SUPERSEDES, again.id, middle.id)
        await calls.put_edge(by_id(again.id), "ABOUT", "x")
        end = await calls.add(f"end {letter}")
        await calls.relate(SUPERSEDES, end.id, again.id)
        said += [first.id, again.id]
    return said


async def test_equal_texts_have_names_of_their_own(tmp_path: Path) -> None:
    """G15 M5 A, then B, then A again: each A is named by its place, not by when it came."""
    states = []
    async with world(tmp_path / "graph.db", spaces=("ab", "ba")) as live:
        for order in ("ab", "ba"):
            said = await _chains_of_equal_texts(live.calls(order), order)
            states.append(await live.calls(order).export())
    records = [json.loads(line) for line in states[0]]
    named = [record["among"] for record in records if record.get("content") == "A"]
    lineage = [line for line in states[0] if '"kind":"lineage"' in line]
    about = [r["source"]["among"] for r in records if r.get("relation") == "ABOUT"]

    assert states[0] == states[1]
    assert (len(set(said)), len(set(named)), len(set(about))) == (4, 4, 2)
    assert set(about) < set(named)
    assert len(set(lineage)) == len(lineage) == 6


async def test_what_nothing_tells_apart_is_counted(tmp_path: Path) -> None:
    """G15 Texts that are equal in all they say and hang on still have names of their own."""
    states = []
    async with world(tmp_path / "graph.db", spaces=("one", "two")) as live:
        for space in ("one", "two"):
            calls = live.calls(space)
            newer = await calls.add("B", id="b")
            for _ in range(3):
                older = await calls.add("A")
                await calls.relate(SUPERSEDES, newer.id, older.id)
            states.append(await calls.export())
    lineage = [json.loads(line)["older"]["among"] for line in states[0] if "older" in line]

    assert states[0] == states[1]
    assert len(set(lineage)) == 3


async def test_a_large_export_comes_in_pieces(home: Calls) -> None:
    """G15 No message is larger than clients take; nothing is lost between them."""
    for start in range(0, 80, 40):
        await home.batch(
            [type_pb2.Memory(content=f"{start + n} " + "ä" * 19_900) for n in range(40)]
        )
    pieces = [p async for p in home.space_service.ExportSpace(space_pb2.ExportSpaceRequest())]

    assert len(pieces) > 1
    assert max(piece.ByteSize() for piece in pieces) < 4 << 20
    assert sum(len(piece.lines) for piece in pieces) == 80


async def test_counts_by_type(live: World, home: Calls) -> None:
    """G12 Live items by type, stale and deleted ones apart, this space's only."""
    empty = await home.space_service.CountByType(space_pb2.CountByTypeRequest())
    await home.put_edge("a", "R", "b")
    await home.delete_edge(await home.put_edge("a", "R", "c"))
    await home.add("fact")
    await home.add("Supersedes: [[memory:ghost]]", kind=type_pb2.MEMORY_KIND_INSIGHT)
    await home.add("turn", kind=type_pb2.MEMORY_KIND_TURN)
    await home.forget(await home.add("gone"))
    await live.calls("other").add("theirs")
    entries = [(await home.hold(f"text {number}")).entry for number in range(12)]
    await home.working_memory.RemoveWorkingMemory(
        working_memory_pb2.RemoveWorkingMemoryRequest(request_id="r", id=entries[-1].id)
    )
    await home.episode.AddEpisode(
        episode_pb2.AddEpisodeRequest(request_id="e", query="one", reward=1)
    )
    counts = await home.space_service.CountByType(space_pb2.CountByTypeRequest())

    assert empty == space_pb2.CountByTypeResponse(status=NOT_FOUND)
    assert (counts.nodes, counts.edges, counts.memories) == (3, 2, 2)
    assert (counts.raw_dialogues, counts.episodes, counts.deleted) == (1, 1, 3)
    assert (counts.working_memory, counts.working_memory_stale) == (9, 2)


async def test_a_store_written_before_opens_with_all_it_had(tmp_path: Path) -> None:
    """G16 G15 Closing and opening again changes nothing."""
    path, clock = tmp_path / "graph.db", Clock()
    async with world(path, clock=clock) as live:
        await furnish(live.calls(), clock)
        before = await live.calls().export()
        changes = await live.calls().changes()
    async with world(path, clock=clock) as live:
        assert await live.calls().export() == before
        assert (await live.calls().changes())[: len(changes)] == changes  # then come reads
        assert (await live.calls().put_node("more")).id
