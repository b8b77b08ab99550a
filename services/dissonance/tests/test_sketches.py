"""What is kept of texts that were read: keyed hashes, by which candidates are found (D3, D13)."""

import io
from pathlib import Path
from typing import Any, cast

import pytest
from concord_chassis.observe.log import json_lines
from concord_chassis.server.workers import Workers
from concord_dissonance.adapters.sqlite_sketches.store import SqliteSketches
from concord_dissonance.domain.sides import Kind, Side, leave_unread
from concord_dissonance.domain.sketch import Sketch, sketch
from concord_dissonance.domain.statements import Statement
from concord_dissonance.ports.feed import Position
from concord_dissonance.usecases.read_ahead import ReadAhead
from concord_dissonance.usecases.sketches import Sketched

TEXT = "The lighthouse of Kiel is open on Sunday. Ada has the key."
KEY, OTHER_KEY = b"one", b"other"


def memory(number: int, text: str) -> Statement:
    """Return a memory as a statement."""
    return Statement(Side(f"m{number}", Kind.FACT, text), "")


@pytest.fixture
def kept(tmp_path: Path) -> SqliteSketches:
    """A store without sketches."""
    return SqliteSketches(tmp_path / "sketches.db", json_lines("test", stream=io.StringIO()))


async def test_a_text_is_read_once(kept: SqliteSketches, monkeypatch: pytest.MonkeyPatch) -> None:
    """D3 D13 Until it changes, or the key does: then it is read anew."""
    read: list[str] = []

    def noted(side: Side, key: bytes) -> Sketch:
        read.append(side.text)
        return sketch(side, key)

    monkeypatch.setattr("concord_dissonance.usecases.sketches.sketch", noted)
    workers = Workers(1, "test")

    async def sketched(key: bytes, *there: Statement) -> dict[str, Sketch]:
        return dict(await Sketched(kept, workers, key)("one", there, at_once=4))

    first = await sketched(KEY, memory(1, TEXT))
    again = await sketched(KEY, memory(1, TEXT))
    await sketched(KEY, memory(1, TEXT + " It rains."))
    await sketched(OTHER_KEY, memory(1, TEXT + " It rains."))
    await kept.close()

    assert first == again
    assert read == [TEXT, TEXT + " It rains.", TEXT + " It rains."]


async def test_no_word_is_in_the_file(kept: SqliteSketches, tmp_path: Path) -> None:
    """M4 D13 Nor is one found by hashing it without the key; what is dropped leaves nothing."""
    side = memory(1, TEXT).side
    await kept.put("one", [("m1", b"v", sketch(side, KEY).packed())])
    there = (tmp_path / "sketches.db").read_bytes()
    await kept.drop("one", ["m1"])
    after = (tmp_path / "sketches.db").read_bytes()
    await kept.close()

    other = sketch(side, OTHER_KEY)
    assert b"lighthouse" not in there.lower()
    assert sketch(side, KEY).content.isdisjoint(other.content)
    assert sketch(side, KEY).packed() in there
    assert sketch(side, KEY).packed() not in after


async def test_spaces_are_apart_and_a_damaged_file_is_made_anew(
    kept: SqliteSketches, tmp_path: Path
) -> None:
    """D13 D3 What was kept is derived: without it all is read once more."""
    await kept.put("one", [("m1", b"v", b"s" * 8)])
    await kept.reached("one", Position("epoch", 7))
    of_other = await kept.get("two", ["m1"]), await kept.position("two")
    before = await kept.get("one", ["m1"]), await kept.position("one")
    await kept.drop_space("one")
    dropped = await kept.ids("one"), await kept.position("one")
    await kept.close()
    (tmp_path / "sketches.db").write_bytes(b"no database at all, for sure" * 100)
    again = SqliteSketches(tmp_path / "sketches.db", json_lines("test", stream=io.StringIO()))
    damaged = await again.get("one", ["m1"])
    await again.put("one", [("m2", b"v", b"s" * 8)])
    made_anew = await again.ids("one")
    await again.close()

    assert of_other == ({}, None)
    assert before == ({"m1": (b"v", b"s" * 8)}, Position("epoch", 7))
    assert not any((*dropped, damaged))
    assert set(made_anew) == {"m2"}


def test_a_sketch_keeps_which_texts_are_about_one_thing() -> None:
    """D3 Packed and unpacked; only texts that share a thing are compared."""
    one, other, third = (
        sketch(memory(number, text).side, KEY)
        for number, text in enumerate(
            (TEXT, "Ada's key is lost.", "The bakery in Ulm sells rolls.")
        )
    )

    assert Sketch.unpacked(one.packed()).content == one.content
    assert one.shares_a_thing(other)
    assert not one.shares_a_thing(third)
    side: Side = memory(1, TEXT).side
    assert side.frames.asserted
    leave_unread(side)
    assert not side.frames.asserted


async def test_what_was_not_looked_at_is_not_counted() -> None:
    """D13 After a start nobody knows what is unread in a space; of a change it is known."""
    nothing = cast("Any", None)
    ahead = ReadAhead(
        graph=nothing,
        feed=nothing,
        store=nothing,
        sketched=nothing,
        background=nothing,
        log=nothing,
    )
    ahead.mark("one", None)
    ahead.mark("one", {"a"})
    ahead.mark("two", {"a", "b"})
    ahead.mark("two", {"b"})

    assert [ahead.unread(space) for space in ("one", "two", "three")] == [None, 2, 0]
