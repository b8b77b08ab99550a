"""What an older program wrote is read, answered from and written to by this one (G16).

`written_before/write.py` wrote the files, with the programs of their time.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from concord.graph.v1 import graph_pb2, memory_pb2, space_pb2
from concord.type.v1 import type_pb2
from graph_world import (
    DAY,
    FOUND,
    PROTECTED,
    SECRET,
    START,
    Clock,
    named,
    reason,
    stamp,
    world,
)
from transfers import export_of, import_into, restore_grant
from written_before.write import known_parties

FOLDER = Path(__file__).with_name("written_before")
LATER = START + 3 * DAY
READER = "agent-2"  # another than wrote then: whose request ids start anew


def lines_of(name: str) -> list[str]:
    """Return the lines of a file that was written before."""
    return (FOLDER / name).read_text("utf-8").removesuffix("\n").split("\n")


def opened_before(folder: Path) -> Path:
    """Return a store file as the program of schema 1 left it."""
    path = folder / "graph.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript((FOLDER / "store_schema_1.sql").read_text("utf-8"))
        assert db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone() == ("1",)
    return path


async def test_a_store_of_schema_1_holds_what_it_held(tmp_path: Path) -> None:
    """G16 The state, lineage, history, reads and record are as the older program left them."""
    async with world(opened_before(tmp_path), clock=Clock(LATER)) as live:
        home = live.calls(principal=READER)
        assert await home.export() == lines_of("store_schema_1_state.jsonl")
        tea = await home.get("tea")
        assert (tea.standing.is_superseded, list(tea.tags)) == (True, ["taste", "old"])
        assert list(tea.standing.head_ids) == ["coffee"]
        assert (tea.access.access_count, (await home.get("gone")).HasField("forget_time")) == (
            *(2, True),
        )
        history = memory_pb2.GetMemoryHistoryRequest(id="tea")
        versions = (await home.memory.GetMemoryHistory(history)).versions
        assert [list(version.memory.tags) for version in versions] == [["taste", "old"], ["taste"]]
        around = await home.neighbors("Ada", include_superseded=True, include_resolutions=True)
        assert {each.edge.relation for each in around.neighbors} == {
            *("WORKS_AT", "ABOUT", "SUPERSEDES")
        }
        record = space_pb2.ListOperationsRequest(page_size=500)
        methods = {op.method for op in (await home.space_service.ListOperations(record)).operations}
        assert {"EnrolPrincipals", "ApplyGovernedChange", "AddLineage", "RestoreMemory"} <= methods
        assert [line for line in await live.calls("other").export() if "Theirs" in line]


async def test_a_store_of_schema_1_is_asked_what_came_later(tmp_path: Path) -> None:
    """G16 G13 M2 What later programs keep beside is there for what was written before."""
    async with world(opened_before(tmp_path), clock=Clock(LATER)) as live:
        home = live.calls(principal=READER)
        near = await home.graph.GetNode(graph_pb2.GetNodeRequest(name="Adda"))
        assert near.near_names == ["Ada"]
        as_of = type_pb2.AsOf(record_time=stamp(START + 1_000))
        then = await home.space_service.CountByType(space_pb2.CountByTypeRequest(as_of=as_of))
        assert (then.memories, then.deleted) == (1, 2)
        assert await home.dialogue("s-1") == ["turn one"]
        lines = await export_of(live.calls("other"))
        await import_into(live.calls("copy"), lines)
        assert (await export_of(live.calls("copy")))[1:] == lines[1:]


async def test_a_store_of_schema_1_is_written_to_and_opens_again(tmp_path: Path) -> None:
    """G16 G4 Changes go on where they stood, protection holds, and consent of then is consent."""
    path, clock = opened_before(tmp_path), Clock(LATER)
    async with world(path, clock=clock) as live:
        home, parties = live.calls(principal=READER), known_parties(live)
        assert await reason(home.forget(await home.get("who-i-am"))) == PROTECTED
        assert (await parties.constitutive_edge(home, target="Patience")).id
        tea = await home.get("tea")
        tea.content = "Ada liked tea"
        await home.update(tea, "content")
        await home.restore(await home.get("gone"))
        await home.append("s-1", ("Ada", "turn two"))
        await home.hold("in mind")
        triple = graph_pb2.Triple(source=named("Ada"), relation="WORKS_AT", target=named("Zeta"))
        found = await home.graph.GetEdge(graph_pb2.GetEdgeRequest(triple=triple))
        assert found.status == FOUND
        assert found.edge.access.access_count == 1
        state, full = await home.export(), await export_of(home)
    async with world(path, clock=clock) as live:
        assert await live.calls(principal=READER).export() == state
        assert await export_of(live.calls(principal=READER)) == full
        assert await live.calls(principal=READER).dialogue("s-1") == ["turn one", "turn two"]


async def test_a_full_export_of_format_1_is_imported(tmp_path: Path) -> None:
    """G16 G15 An older export says today what it said, line by line and as a state."""
    clock, lines = Clock(LATER), lines_of("full_format_1.jsonl")
    async with world(tmp_path / "graph.db", clock=clock) as live:
        home, parties = live.calls(principal=READER), known_parties(live)
        grant = restore_grant(parties, lines)
        await import_into(home, lines, grant=grant, secret=SECRET)

        assert await home.export() == lines_of("full_format_1_state.jsonl")
        assert (await export_of(home))[1:] == lines[1:]
        assert (await parties.constitutive_edge(home, target="Patience")).id
        assert await reason(home.forget(await home.get("who-i-am"))) == PROTECTED
