"""The index on disk: restarts, crashes, locks, damage, secrets."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from concord_search.adapters.edge import shard
from concord_search.adapters.edge.index import EdgeIndex
from concord_search.adapters.qdrant import payload
from concord_search.adapters.qdrant.shard import DENSE, Vectors
from concord_search.adapters.qdrant.tenant import Tenant
from concord_search.domain.errors import (
    IndexCorrupt,
    IndexLocked,
    IndexUnusable,
    ModelMismatch,
)
from concord_search.domain.filters import Superseded
from concord_search.domain.memory import Parked, property_of
from concord_search.ports.embedder import EmbeddingModel
from concord_search.ports.index import Batch
from concord_testing.embedders import WordEmbedder
from concord_testing.index_files import key_at, partition_at, secrets_at
from search_lab import NOW, SPACE, Lab, OpenLab, plain_state

MODEL = WordEmbedder.model


def bytes_below(root: Path) -> bytes:
    """Everything on disk."""
    return b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())


async def made(root: Path) -> None:
    """Makes an index with one empty space and closes it."""
    index = EdgeIndex(root, MODEL)
    await index.open()
    await index.begin(SPACE, "epoch-1")
    await index.close()


async def write_forever(root: Path) -> None:
    """Applies one change after another and tells each, until killed."""
    words = WordEmbedder()
    index = EdgeIndex(root, words.model)
    await index.open()
    await index.begin(SPACE, "epoch-1")
    for at in range(1, 100_000):
        state = plain_state(f"m{at}", at, f"number {at}")
        batch = Batch(at, at, states=[(state, words.vector(state.content))], model=words.model)
        await index.apply(SPACE, batch)
        os.write(1, f"{at}\n".encode())


def killed_while_writing(root: Path, after: int) -> int:
    """Kills a process that writes once it has told of `after` changes; the last it told of."""
    code = (
        "import asyncio, sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]); "
        "from test_edge_durability import write_forever; "
        "asyncio.run(write_forever(Path(sys.argv[1])))"
    )
    command = [sys.executable, "-c", code, str(root), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        told = 0
        while told < after:
            told = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        return max([told, *(int(line) for line in child.stdout.read().split())])


@pytest.mark.parametrize("after", [1, 40, 150])
async def test_what_apply_returned_from_survives_kill_nine(
    tmp_path: Path, open_lab: OpenLab, after: int
) -> None:
    """S10 durable applied_seq: kill -9 loses nothing that apply returned from."""
    told = killed_while_writing(tmp_path, after)

    lab = await open_lab(tmp_path)
    state = (await lab.index.states())[SPACE]
    found = await lab.ask(f"number {told}", branch_limit=10)

    assert told <= state.applied_seq <= told + 1
    assert state.memories in {state.applied_seq, state.applied_seq + 1}
    assert f"m{told}" in lab.ids(found)


async def test_a_crash_between_writing_and_closing_is_mended(
    tmp_path: Path, open_lab: OpenLab
) -> None:
    """S10 two open states of one memory, as a crash may leave them, become one on opening."""
    before = await open_lab(tmp_path)
    await before.write(plain_state("a", 1, "red fox"))
    await before.index.close()
    directory = partition_at(tmp_path)
    newer = plain_state("a", 2, "red panda")
    points = shard.load(directory / "shard")
    vectors: Vectors = {DENSE: WordEmbedder().vector(newer.content).tolist()}
    values = payload.of_state(newer, key_at(tmp_path), (), length=0)
    Tenant(points, 1).upsert([(7, vectors, values)])
    points.close()

    lab = await open_lab(tmp_path)
    found = await lab.ask("red fox", superseded=Superseded.HISTORY)

    assert found.seqs.tolist() == [2]
    assert (await lab.index.states())[SPACE].memories == 1


async def test_a_second_opener_is_refused_in_a_sentence(tmp_path: Path, open_lab: OpenLab) -> None:
    """Must hold: a locked data directory says what to do."""
    await open_lab(tmp_path)
    second = EdgeIndex(tmp_path, MODEL)

    with pytest.raises(IndexLocked, match="in use by another process"):
        await second.open()
    await second.close()


async def test_the_engine_refuses_a_second_opener_too(tmp_path: Path, open_lab: OpenLab) -> None:
    """Design 4: should the lock file be lost, the engine's own lock still holds."""
    await open_lab(tmp_path)

    with pytest.raises(IndexLocked, match="in use by another process"):
        shard.load(partition_at(tmp_path) / "shard")


@pytest.mark.parametrize(
    "other",
    [replace(MODEL, model_id="x"), replace(MODEL, dimension=8), replace(MODEL, revision="2")],
)
async def test_vectors_of_another_model_are_refused_in_a_sentence(
    tmp_path: Path, other: EmbeddingModel
) -> None:
    """S10 model id, dimension and revision are stamped; mixing is refused."""
    await made(tmp_path)
    second = EdgeIndex(tmp_path, other)

    with pytest.raises(ModelMismatch, match=r"delete .*rebuilt from graph"):
        await second.open()
    await second.close()


async def test_an_older_layout_is_followed_anew(tmp_path: Path) -> None:
    """G16, S10 the index is derived: another layout is dropped, not refused."""
    await made(tmp_path)
    stamp = partition_at(tmp_path) / "stamp.json"
    stamp.write_text(json.dumps({**json.loads(stamp.read_text()), "layout": 0}))

    index = EdgeIndex(tmp_path, MODEL)
    await index.open()
    states = await index.states()
    await index.close()

    assert states == {}


@pytest.mark.parametrize("what", ["*/stamp.json", "spaces.db", "*/shard/edge_config.json"])
async def test_a_damaged_index_says_what_to_do(tmp_path: Path, what: str) -> None:
    """Must hold: a corrupt data directory is a sentence that says what to do."""
    await made(tmp_path)
    next(tmp_path.glob(what)).write_bytes(b"{" * 5_000)  # noqa: ASYNC240 - one file
    second = EdgeIndex(tmp_path, MODEL)

    with pytest.raises(IndexCorrupt, match="Delete") as refused:
        await second.open()
    await second.close()

    assert isinstance(refused.value, IndexUnusable)


async def test_an_interrupted_making_is_made_again(tmp_path: Path) -> None:
    """S10 a part without its stamp was never followed and is dropped."""
    (tmp_path / "0123").mkdir()
    index = EdgeIndex(tmp_path, MODEL)
    await index.open()
    await index.close()

    assert not (tmp_path / "0123").exists()


async def test_the_disk_holds_no_readable_word(tmp_path: Path, open_lab: OpenLab) -> None:
    """Design 5: vectors, numbers and keyed hashes; not even an id that a caller chose."""
    lab = await open_lab(tmp_path)
    said = plain_state(
        "xyzzyid",
        1,
        "xyzzycontent plugh",
        concepts=("xyzzyconcept",),
        domain="xyzzydomain.sub",
        category="xyzzycategory",
        tags=("xyzzytag",),
        properties=(property_of("xyzzyname", "xyzzyvalue"),),
        session_id="xyzzysession",
    )
    await lab.write(said)
    await lab.index.apply(SPACE, Batch(2, NOW, parked=[Parked(2, "xyzzyparked", "no")]))
    await lab.index.close()

    everything = bytes_below(tmp_path)

    assert b"xyzzy" not in everything
    assert b"plugh" not in everything


async def test_the_secret_is_its_owners_alone_and_a_spaces_own(lab: Lab, tmp_path: Path) -> None:
    """Design 5: keyed hashes per space; the file of secrets is 0600."""
    await lab.index.begin("other", "epoch-1")

    root = tmp_path / "index"
    files = sorted(root.glob("spaces.db*"))

    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert len(set(secrets_at(root).values())) == 2
    assert root.stat().st_mode & 0o077 == 0
