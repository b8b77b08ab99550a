"""A space's whole history as lines: out of one store, into another, and the same lines again."""

import itertools
import json
from collections import Counter
from hashlib import sha256
from pathlib import Path

from concord.graph.v1 import feed_pb2, space_pb2
from concord.type.v1 import type_pb2
from graph_world import (
    CONSTITUTIVE,
    PROTECTED,
    SECRET,
    Calls,
    Clock,
    Parties,
    World,
    edge_of,
    reason,
    refused,
    stamp,
    world,
)
from transfers import export_of, file_of, furnish, import_into, restore_grant, restored

NOT_EMPTY = "ERROR_REASON_SPACE_NOT_EMPTY"
IMPORTED = feed_pb2.CHANGE_TYPE_IMPORTED
REFUSED = feed_pb2.CHANGE_TYPE_REFUSED


def as_bytes(message: feed_pb2.Change) -> bytes:
    """Return a change as bytes."""
    return message.SerializeToString(deterministic=True)


async def operations(calls: Calls) -> list[space_pb2.Operation]:
    """Return what is on record, oldest first."""
    request = space_pb2.ListOperationsRequest(page_size=500, oldest_first=True)
    return list((await calls.space_service.ListOperations(request)).operations)


async def test_all_lines_come_back_byte_for_byte(tmp_path: Path) -> None:
    """G15 Into another store, under another name: every line but the first is the same again."""
    clock = Clock()
    async with world(tmp_path / "a.db", clock=clock) as here:
        home = here.calls("home")
        await furnish(home, clock)
        lines, state = await export_of(home), await home.export()
        changes = [as_bytes(change) for change in await home.changes()]
    async with world(tmp_path / "b.db", clock=clock) as there:
        away = there.calls("elsewhere")
        reply = await import_into(away, lines)
        again = await export_of(away)

        assert lines[1:] == again[1:]
        assert reply.line_count == len(lines)
        assert reply.export_digest == sha256(file_of(lines)).hexdigest()
        assert state == await away.export()
        assert changes == [as_bytes(change) for change in await away.changes()][:-1]
    first, second = json.loads(lines[0]), json.loads(again[0])
    assert first["counts"] == second["counts"]
    assert (first["space"], second["space"]) == ("home", "elsewhere")
    assert first["epoch"] != second["epoch"]


async def test_every_kind_of_record_is_in_it(home: Calls, parties: Parties, live: World) -> None:
    """G15 All history: items, entries, who did what, reads, genesis and burnt nonces."""
    await parties.constitutive_edge(home)
    await furnish(home, live.clock)
    lines = await export_of(home)
    records = [json.loads(line) for line in lines]
    counts = Counter(record["kind"] for record in records[1:-1])

    assert counts == records[0]["counts"]
    assert set(counts) == {
        *("genesis", "node", "edge", "memory", "episode", "working_memory"),
        *("relation", "conflict", "erasure", "change", "support", "access", "session", "nonce"),
    }
    tea = [r for r in records if r["kind"] == "memory" and r["id"] == "tea"]
    assert [r["revision"]["number"] for r in tea] == [1, 2]
    assert tea[0]["revision"]["record_until"] == tea[1]["revision"]["record_from"]
    assert all({"principal", "salt", "seq"} <= r["revision"].keys() for r in tea)
    assert records[-1]["lines"] == len(lines) - 2
    assert records[-1]["digest"] == sha256(file_of(lines[1:-1])).hexdigest()


async def test_reads_not_yet_stored_are_in_it(tmp_path: Path) -> None:
    """G15 G6 Access data is that of the moment, also what no background task has written yet."""
    path, clock = tmp_path / "graph.db", Clock()
    async with world(path, clock=clock) as live:
        for name in ("b", "a", "c"):
            await live.calls().add(name, id=name)
            await live.calls().get(name, peek=False)
    async with world(path, clock=clock) as live:
        await live.calls().get("b", peek=False)
        await live.calls().get("a", peek=False)
        lines = await export_of(live.calls())
    accesses = [json.loads(line) for line in lines if '"kind":"access"' in line]

    assert [(each["id"], each["count"]) for each in accesses] == [("a", 2), ("b", 2), ("c", 1)]


async def test_only_an_unused_space_is_imported_into(home: Calls, live: World) -> None:
    """G15 What is there already stays as it is."""
    await furnish(home, live.clock)
    lines = await export_of(home)
    other = live.calls("other")
    await other.put_node("x")

    assert await reason(import_into(home, lines)) == NOT_EMPTY
    assert await reason(import_into(other, lines)) == NOT_EMPTY
    assert await export_of(home) == lines
    assert [json.loads(line)["name"] for line in await other.export()] == ["x"]


async def test_what_defines_the_agent_comes_with_both_signatures(tmp_path: Path) -> None:
    """G15 V5 A space with a genesis moves to another store and is governed there as before."""
    clock = Clock()
    async with world(tmp_path / "a.db", clock=clock) as here:
        home, parties = here.calls(), here.parties()
        await parties.enrol(home)
        edge = await parties.constitutive_edge(home)
        creed = await parties.constitutive_memory(home)
        await furnish(home, clock)
        lines = await export_of(home)
    async with world(tmp_path / "b.db", clock=clock) as there:
        away = there.calls()
        assert await reason(import_into(away, lines)) == PROTECTED
        await restored(away, lines, parties)

        assert (await export_of(away))[1:] == lines[1:]
        assert await reason(away.delete_edge(edge)) == PROTECTED
        assert await reason(away.forget(creed)) == PROTECTED
        assert await reason(parties.enrol(away)) == "ERROR_REASON_GENESIS_EXISTS"
        assert (await parties.constitutive_edge(away, target="Patience")).id


async def test_an_import_is_on_record(tmp_path: Path) -> None:
    """G15 A1 Who imported what, and the attempts that were refused before."""
    clock = Clock()
    async with world(tmp_path / "a.db", clock=clock) as here:
        home, parties = here.calls(), here.parties()
        await parties.enrol(home)
        lines, before = await export_of(home), await operations(home)
    async with world(tmp_path / "b.db", clock=clock) as there:
        away = there.calls(principal="owner")
        grant = restore_grant(parties, lines)
        assert await reason(import_into(away, lines)) == PROTECTED
        wrong = import_into(away, lines, grant=grant, secret="guessed")
        assert await reason(wrong) == "ERROR_REASON_ENROLMENT_SECRET_INVALID"
        assert await away.changes() == []
        await import_into(away, lines, grant=grant, secret=SECRET)
        imported, *attempts = (await operations(away))[len(before) :]

        assert (imported.type, imported.principal) == (IMPORTED, "owner")
        assert imported.method == "ImportSpace"
        assert imported.after_digest == sha256(file_of(lines)).hexdigest()
        assert [each.type for each in attempts] == [REFUSED, REFUSED]
        assert [each.reason for each in attempts] == [
            PROTECTED,
            "ERROR_REASON_ENROLMENT_SECRET_INVALID",
        ]


async def test_refused_attempts_go_on_record_with_the_first_write(live: World) -> None:
    """G15 A1 A space that is then used in another way shows who had tried to import into it."""
    home, other = live.calls(), live.calls("other")
    await live.parties().enrol(home)
    await reason(import_into(other, await export_of(home)))
    await other.put_node("x")
    await other.put_node("y")
    changes = await other.changes()

    assert [change.type for change in changes] == [1, REFUSED, 1]


async def test_a_space_moves_on_and_on(live: World) -> None:
    """G15 What an import adds to the record is of the place, and goes along in the header."""
    spaces = [live.calls(name) for name in ("home", "one", "two", "three")]
    await furnish(spaces[0], live.clock)
    for number, (source, target) in enumerate(itertools.pairwise(spaces)):
        lines = await export_of(source)
        await import_into(target, lines)
        assert (await export_of(target))[1:] == lines[1:]
        await target.add(f"said in {target.space}")
        await target.add("Tea is hot", id=f"new-{number}")
    header = json.loads((await export_of(spaces[3]))[0])
    changes = await spaces[3].changes()

    assert [change.seq for change in changes] == list(range(1, len(changes) + 1))
    assert len(header["imports"]) == 3
    assert [c.type for c in changes].count(IMPORTED) == 3


async def test_an_import_is_done_once(live: World) -> None:
    """G15 M5 The same request again is answered alike; another under its id is refused."""
    home, other = live.calls(), live.calls("other")
    await furnish(home, live.clock)
    lines = await export_of(home)
    first = await import_into(other, lines, request_id="once")
    changes = await other.changes()

    assert await import_into(other, lines, request_id="once") == first
    assert await other.changes() == changes
    again = import_into(other, lines[:-1], request_id="once")
    assert await reason(again) == "ERROR_REASON_REQUEST_ID_REUSED"


async def test_the_full_form_is_of_all_times(home: Calls) -> None:
    """G15 An instant makes no sense for it, and is not ignored."""
    request = space_pb2.ExportSpaceRequest(
        form=space_pb2.EXPORT_FORM_FULL, as_of=type_pb2.AsOf(valid_time=stamp(1))
    )
    failure = await refused(home.space_service.ExportSpace(request).read())

    assert failure.violations[0].field == "as_of"


async def test_an_unused_space_moves_too(home: Calls, live: World) -> None:
    """G15 Two lines: a beginning and an end."""
    lines = await export_of(home)
    await import_into(live.calls("other"), lines)

    assert len(lines) == 2
    assert (await export_of(live.calls("other")))[1:] == lines[1:]


async def test_nothing_constitutive_comes_in_as_if_it_were_descriptive(live: World) -> None:
    """G4 An upsert after the import cannot make what the import could not bring."""
    calls = live.calls("other")
    await import_into(calls, await export_of(live.calls("home")))
    promoted = calls.upsert(edge_of("Me", "VALUES", "Honesty", edge_type=CONSTITUTIVE))

    assert await reason(promoted) == PROTECTED
