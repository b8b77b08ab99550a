"""The columns on disk: a start reads them, and is never wrong when they are old, torn or gone."""

import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from concord_search.adapters.edge.shard import EdgeShard
from concord_search.adapters.qdrant.columns import Columns
from concord_search.adapters.qdrant.columns_file import ColumnsFile
from concord_search.domain.errors import IndexCorrupt
from concord_search.domain.filters import Superseded
from concord_search.domain.memory import Ending, Touch
from concord_search.ports.index import Batch
from concord_testing.index_files import key_at, partition_at
from search_lab import NOW, SPACE, Lab, OpenLab, plain_state

STAMP = {"epoch": "e", "applied": 1, "points": 2}


def file_of(root: Path) -> Path:
    """Where the columns of the only space are kept."""
    return partition_at(root) / "columns" / "1"


@pytest.fixture
def open_lab(open_lab: OpenLab) -> OpenLab:
    """Opens labs that keep the columns of small spaces, too."""
    return partial(open_lab, stored_from=0)


async def filled(lab: Lab) -> None:
    """Writes something of every kind: memories changed, read, forgotten, erased, with own ids."""
    said = [
        plain_state(f"m{at}", at, f"red thing {at}", concepts=(f"c{at}", "red"), domain="a.b")
        for at in range(1, 21)
    ]
    await lab.write(*said)
    await lab.write(plain_state("m1", 21, "red panda"), plain_state("m2", 22, "red owl"))
    await lab.write(plain_state("m1", 23, "red fox", predecessors=1))
    gone = Batch(24, NOW, endings=[Ending("m3", 24, NOW)], erased=["m2", "m20"])
    await lab.index.apply(SPACE, gone)
    await lab.index.apply(SPACE, Batch(25, NOW, touches=[Touch("m4", 9, NOW)]))


async def told(lab: Lab) -> list[object]:
    """Everything that columns say, comparable; BM25 is the engine's, and forgets the deleted."""
    found: list[object] = [(await lab.index.states())[SPACE]]
    for mode in Superseded:
        answer = await lab.ask("red fox", superseded=mode, concepts=("red", "c7"), domain="a.c")
        named = ("seqs", "domain_match", "shared_concepts", "all_concepts", "access_count")
        columns = [getattr(answer, name).tolist() for name in named]
        columns += [getattr(answer, name).tolist() for name in ("last_access", "is_head")]
        found.append(sorted(zip(lab.ids(answer), *columns, strict=True)))
    return found


async def kept(root: Path, open_lab: OpenLab) -> list[object]:
    """Fills an index and closes it, which stores its columns; returns what these say."""
    lab = await open_lab(root)
    await filled(lab)
    before = await told(lab)
    await lab.index.close()
    return before


async def test_a_start_takes_the_columns_from_their_file(
    tmp_path: Path, open_lab: OpenLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Design 7, S10 a start asks the engine for no point, and answers as before."""
    before = await kept(tmp_path, open_lab)

    def refuse(*_: object) -> Iterator[object]:
        raise AssertionError("the engine was asked for its points")

    second = await open_lab(tmp_path)
    monkeypatch.setattr(EdgeShard, "scroll", refuse)

    assert await told(second) == before


async def test_without_the_file_the_engine_says_the_same(tmp_path: Path, open_lab: OpenLab) -> None:
    """S10 the file is derived: what it says is what the engine says."""
    before = await kept(tmp_path, open_lab)
    file_of(tmp_path).unlink()

    assert await told(await open_lab(tmp_path)) == before


@pytest.mark.parametrize("at", [0, 20, 40, 300, -1])
@pytest.mark.parametrize("harm", ["flip", "cut", "empty"])
async def test_a_damaged_file_is_not_believed(
    tmp_path: Path, open_lab: OpenLab, at: int, harm: str
) -> None:
    """S10 half-written or damaged columns are made anew."""
    before = await kept(tmp_path, open_lab)
    content = bytearray(file_of(tmp_path).read_bytes())
    content[at] ^= 0xFF
    file_of(tmp_path).write_bytes(
        {"flip": bytes(content), "cut": bytes(content[:at]), "empty": b""}[harm]
    )

    assert await told(await open_lab(tmp_path)) == before


async def test_an_old_file_is_not_believed(tmp_path: Path, open_lab: OpenLab) -> None:
    """S10 columns of another applied_seq are made anew."""
    await kept(tmp_path, open_lab)
    old = file_of(tmp_path).read_bytes()
    second = await open_lab(tmp_path)
    await second.write(plain_state("m9", 26, "red fox again"))
    before = await told(second)
    await second.index.close()
    file_of(tmp_path).write_bytes(old)

    assert await told(await open_lab(tmp_path)) == before


async def test_the_first_write_removes_the_file(tmp_path: Path, open_lab: OpenLab) -> None:
    """S10 whoever is killed from then on leaves no old columns; who only read leaves them."""
    await kept(tmp_path, open_lab)
    second = await open_lab(tmp_path)
    await second.ask("fox")
    while_reading = file_of(tmp_path).exists()
    await second.write(plain_state("m9", 26, "red fox again"))

    assert while_reading
    assert not file_of(tmp_path).exists()


async def test_columns_that_a_failed_write_left_are_not_kept(
    tmp_path: Path, open_lab: OpenLab
) -> None:
    """S10 when a write failed midway, only the engine knows what it holds."""
    first = await open_lab(tmp_path)
    await filled(first)
    short = Batch(
        26,
        NOW,
        states=[(plain_state("bad", 26), np.ones(3, dtype=np.float32))],
        model=first.embedder.model,
    )
    with pytest.raises(IndexCorrupt):
        await first.index.apply(SPACE, short)
    await first.write(plain_state("m9", 27, "red fox again"))
    await first.index.close()

    assert not file_of(tmp_path).exists()


async def test_an_erased_memory_leaves_nothing_in_the_file(
    tmp_path: Path, open_lab: OpenLab
) -> None:
    """M4 not even the keyed hashes of its concepts and text."""
    first = await open_lab(tmp_path)
    await first.write(plain_state("kept", 1, "red fox", concepts=("known",)))
    await first.write(plain_state("gone", 2, "blue whale", concepts=("secret",), domain="a"))
    await first.index.close()
    key = key_at(tmp_path)
    numbers = [key.number("concept", "secret"), key.digest("blue whale"), key.number("domain", "a")]
    sought = [struct.pack("<q", each) for each in numbers] + [key.item("gone").encode()]
    before = file_of(tmp_path).read_bytes()

    second = await open_lab(tmp_path)
    await second.index.apply(SPACE, Batch(3, NOW, erased=["gone"]))
    await second.index.close()
    after = file_of(tmp_path).read_bytes()

    assert [each in before for each in sought] == [True] * 4
    assert [each in after for each in sought] == [False] * 4
    assert struct.pack("<q", key.number("concept", "known")) in after


def test_a_full_disk_keeps_nothing_and_no_one(tmp_path: Path) -> None:
    """S10 a space closes also when its columns cannot be written."""
    file = ColumnsFile(tmp_path / "columns")
    file.void()
    (tmp_path / "columns.tmp").mkdir()  # stands for a disk that takes no more

    file.write(STAMP, Columns())

    assert file.read(STAMP) is None


def test_no_columns_are_columns_too(tmp_path: Path) -> None:
    """S10 an empty space is kept like any other, and only under its own stamp."""
    file = ColumnsFile(tmp_path / "columns")
    file.void()
    file.write(STAMP, Columns())
    found = file.read(STAMP)

    assert found is not None
    assert (found.items, found.open_items, found.reserve()) == ([], 0, 0)
    assert file.read({**STAMP, "applied": 2}) is None


def test_a_file_of_another_format_is_not_read(tmp_path: Path) -> None:
    """S10 Its arrays would be taken for others; the engine is asked instead."""
    file = ColumnsFile(tmp_path / "columns")
    file.void()
    file.write(STAMP, Columns())
    assert file.read(STAMP) is not None
    path = tmp_path / "columns"
    path.write_bytes(path.read_bytes().replace(b"concord-columns 3", b"concord-columns 2", 1))

    assert file.read(STAMP) is None
