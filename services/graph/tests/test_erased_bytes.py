"""After an erasure is confirmed, no file of the store holds a byte of what was erased (M4)."""

import random
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_graph.adapters.sqlite.traces import are_left
from conflict_world import CONFIRM, CONTRADICTION, recorded, resolve, review
from graph_world import Calls, World, by_id, reason, struct, world

LONG = " ".join(f"plingtown{number}" for number in range(900))
"""Longer than a page, so that most of it stands on pages of its own."""


def found(folder: Path, words: Iterable[str]) -> list[tuple[str, str]]:
    """Return where words stand in the files of a folder, in any case of their letters."""
    contents = {path.name: path.read_bytes().lower() for path in folder.iterdir()}
    return [
        (name, word)
        for word in words
        for name, content in contents.items()
        if word.lower().encode() in content
    ]


def rare(number: int) -> type_pb2.Memory:
    """Return a memory whose every text is its own."""
    return type_pb2.Memory(
        content=f"Zorblax{number}x lives here. {LONG if number % 7 == 0 else ''} Quuxly{number}x.",
        concepts=[f"Wibble{number}x"],
        tags=[f"Hobnob{number}x"],
        category=f"Snarfle{number}x",
        external_id=f"Ext{number}x",
        sources=[type_pb2.Source(speaker=f"Mrx{number}x")],
        properties=struct({f"Grumph{number}x": "yes"}),
    )


def words_of(number: int) -> list[str]:
    """Return what tells `rare(number)` apart."""
    names = ("Zorblax", "Quuxly", "Wibble", "Hobnob", "Snarfle", "Ext", "Mrx", "Grumph")
    return [f"{name}{number}x" for name in names]


async def change(calls: Calls, memory: type_pb2.Memory, tail: str) -> type_pb2.Memory:
    """Write another version."""
    memory.content += tail
    memory.external_id += "b"
    return await calls.update(memory, "content", "external_id")


async def test_no_file_holds_the_words_of_an_erased_sides_conflict(
    live: World, home: Calls
) -> None:
    """M4 D5 The reviewer may have quoted the side: context and resolution go with it."""
    one, other = await home.add("Tea is hot"), await home.add("Tea is cold")
    kept = (await review(home, await recorded(home, one, other), CONFIRM, "zorblaxed")).conflict
    await resolve(home, kept, CONTRADICTION, one.id, "quuxlified")
    before = {word for _, word in found(live.path.parent, ["zorblaxed", "quuxlified"])}
    await home.erase(one)
    await home.scrubbed(one.id)

    assert before == {"zorblaxed", "quuxlified"}
    assert found(live.path.parent, before) == []


async def test_no_file_holds_what_was_erased_while_others_stay(live: World, home: Calls) -> None:
    """M4 File, log and shared memory are searched while the store runs; others' texts are found."""
    memories = [(await home.add_memory(rare(number))).memory for number in range(60)]
    shuffled = random.Random(1)
    for memory in shuffled.sample(memories, 40):
        await change(home, memory, f" {'more ' * shuffled.randint(1, 60)}")
    erased = shuffled.sample(range(60), 12)

    for number in erased:
        await home.erase(await home.get(memories[number].id))
        await home.scrubbed(memories[number].id)

    assert found(live.path.parent, [word for number in erased for word in words_of(number)]) == []
    kept = sorted(set(range(60)) - set(erased))
    assert {word for _, word in found(live.path.parent, words_of(kept[0]))} == set(
        words_of(kept[0])
    )


async def test_edges_at_it_leave_no_byte(live: World, home: Calls) -> None:
    """M4 G11 Relation, properties and participants of an edge at an erased memory leave it."""
    memory = await home.add("Tea is at four.")
    for name in ("Hobnob of Wibble", "Snarfle the Great"):
        await home.put_edge(
            "Ada", "ZORBLAXED", by_id(memory.id), properties={"participants": [name], "a": "quuxly"}
        )
    words = ("Hobnob", "Snarfle", "ZORBLAXED", "quuxly")
    assert {word for _, word in found(live.path.parent, words)} == set(words)

    await home.erase(memory)
    await home.scrubbed(memory.id)

    assert found(live.path.parent, words) == []


async def test_what_a_killed_process_left_is_taken_out_by_the_next(tmp_path: Path) -> None:
    """M4 Killed between the erasure and its scrubbing, the log still holds the text."""
    path = tmp_path / "graph.db"
    async with world(path) as first:
        home = first.calls()
        memory = (await home.add_memory(rare(1))).memory
        control = (await home.add_memory(rare(2))).memory
        # a reader of before the erasure keeps the log from being emptied, as a kill does
        with closing(sqlite3.connect(path)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM memory").fetchone()
            await home.erase(memory)
            with pytest.raises(TimeoutError):
                await home.scrubbed(memory.id, within=0.5)
            copy = copied(tmp_path, tmp_path / "killed")
    assert found(copy, words_of(1))

    async with world(copy / "graph.db") as second:
        home = second.calls()
        await home.scrubbed(memory.id)
        assert found(copy, words_of(1)) == []
        assert (await home.get(control.id)).content == control.content
    assert found(copy, words_of(1)) == []


async def test_a_reader_in_the_way_is_waited_for(live: World, home: Calls) -> None:
    """M4 While somebody reads what the log holds, writes go on and the receipt waits."""
    memory = (await home.add_memory(rare(1))).memory
    with closing(sqlite3.connect(live.path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memory").fetchone()
        await home.erase(memory)
        with pytest.raises(TimeoutError):
            await home.scrubbed(memory.id, within=0.5)
        await home.add("Tea is at four.")
        assert not (await home.receipt(memory.id)).confirmations[0].HasField("confirm_time")

    await home.scrubbed(memory.id)
    assert found(live.path.parent, words_of(1)) == []


async def test_a_trace_in_a_pages_free_space_is_taken_out(live: World, home: Calls) -> None:
    """M4 A copy that SQLite left behind when it moved a row is found, and the file written anew."""
    memory = (await home.add_memory(rare(1))).memory
    leave_trace(live.path, memory.content)
    assert found(live.path.parent, words_of(1))

    await home.erase(memory)
    await home.scrubbed(memory.id)

    assert found(live.path.parent, words_of(1)) == []


def copied(folder: Path, into: Path) -> Path:
    """Copy the store's files as they are."""
    into.mkdir()
    for file in folder.glob("graph.db*"):
        (into / file.name).write_bytes(file.read_bytes())
    return into


def leave_trace(path: Path, text: str) -> None:
    """Leave a text in the free space of a page, as moving rows does now and then."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA secure_delete = OFF")
        db.execute("CREATE TABLE moved (id INTEGER PRIMARY KEY, said TEXT) STRICT")
        db.execute("INSERT INTO moved VALUES (1, 'stays'), (2, ?)", (text,))
        db.execute("DELETE FROM moved WHERE id = 2")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def test_traces_are_found_in_free_space_alone(tmp_path: Path) -> None:
    """M4 What a live row says is no trace; what is left of a deleted one is, in table and index."""
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA secure_delete = ON")
        db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, said TEXT)")
        db.execute("CREATE INDEX t_said ON t (said)")
        rows = [(n, f"{n:05}Zorblax{n:05}") for n in range(500)]
        db.executemany("INSERT INTO t VALUES (?, ?)", rows)
        db.execute("VACUUM")
        assert not are_left(path, [b"00007Zorblax00007"])

        db.execute("PRAGMA secure_delete = OFF")
        db.execute("DELETE FROM t WHERE id > 250")
        deleted = [text.encode() for n, text in rows if n > 250]
        assert are_left(path, deleted)
        assert not are_left(path, [b"what nobody ever said"])
        assert not are_left(path, [])

        db.execute("VACUUM")
        assert not are_left(path, deleted)


async def test_a_request_that_found_it_can_test_no_guess(live: World, home: Calls) -> None:
    """M4 Design 5: salts and digests of every request that wrote or found it are gone."""
    await home.add("Zorblax lives here.", id="zoe")
    await home.add("Zorblax lives here.", id="zoe")
    same = type_pb2.Memory(content="Zorblax lives here.", id="zoe")
    assert not (await home.batch([same, type_pb2.Memory(content="Tea is at four.")])).errors
    other = await home.add("Tea is at five.")
    await home.erase(await home.get("zoe"))

    with closing(sqlite3.connect(live.path)) as db:
        kept = db.execute("SELECT refs, salt, digest FROM request").fetchall()
        salts = db.execute("SELECT DISTINCT salt, content_digest FROM memory WHERE id = 'zoe'")
        assert salts.fetchall() == [(b"", "")]
    about = [(salt, digest) for refs, salt, digest in kept if '"zoe"' in refs]
    assert about[:-1] == [(b"", "")] * 3
    assert len(about[-1][1]) == 64, "the erasure's own request is compared as every other"
    assert all(digest for refs, _, digest in kept if other.id in refs)


async def test_erasing_writes_no_word_of_it_anywhere_new(live: World, home: Calls) -> None:
    """M4 A refused erasure leaves all as it is, and a receipt of none."""
    memory = (await home.add_memory(rare(1))).memory
    stale = type_pb2.Memory(id=memory.id, etag="0" * 24)

    assert await reason(home.erase(stale)) == "ERROR_REASON_ETAG_MISMATCH"
    got = await home.memory.GetMemory(memory_pb2.GetMemoryRequest(id=memory.id))
    assert got.memory.content == memory.content
    with closing(sqlite3.connect(live.path)) as db:
        assert db.execute("SELECT count(*) FROM erasure").fetchone() == (0,)
