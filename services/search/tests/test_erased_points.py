"""What was erased leaves the index's files, and graph is told (M4)."""

import asyncio
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from concord_search.adapters.bm25 import Bm25
from concord_search.adapters.edge.shard import EdgeShard
from concord_search.adapters.qdrant.partition import Partition
from concord_search.domain.errors import IndexCorrupt
from concord_search.domain.filters import Superseded
from concord_search.domain.memory import Touch
from concord_search.ports.index import Batch
from concord_testing.embedders import WordEmbedder
from concord_testing.index_files import key_at, partition_at
from concord_testing.polling import SECONDS, until
from following import Following
from search_lab import NOW, SPACE, Lab, OpenLab, plain_state

TEXT = "zorblax lives in plingtown"


def traces(root: Path, text: str, concept: str, item_id: str) -> list[str]:
    """Return which forms of a memory's data stand in the files of the only space's index."""
    part = partition_at(root)
    key = key_at(root)
    vector = WordEmbedder().vector(text)
    numbers = {
        "concept": key.number("concept", concept),
        "text": key.digest(text),
        "word": int(Bm25().of_document(text).indices[0]),
    }
    forms = {
        "vector as it came": vector.astype("<f4").tobytes()[:32],
        "vector as it is kept": vector.astype("<f2").tobytes()[:32],
        "name": key.item(item_id).encode(),
    }
    for name, number in numbers.items():
        width = "<I" if number < 2**32 else "<q"
        forms |= {f"{name}, binary": struct.pack(width, number), f"{name}, told": b"%d" % number}
    files = [path.read_bytes() for path in part.rglob("*") if path.is_file()]
    return sorted(name for name, form in forms.items() if any(form in file for file in files))


async def everything(lab: Lab) -> set[str]:
    """Every memory that can be found."""
    mode = Superseded.HISTORY
    found = await lab.ask("number many new", superseded=mode, limit=999, branch_limit=999)
    return set(lab.ids(found))


def erasure(seq: int, *ids: str) -> Batch:
    """The batch that erases memories."""
    return Batch(seq, NOW, erased=ids, to_confirm=ids)


async def filled(lab: Lab) -> None:
    """Fills an index with a memory of two states, to be erased, and with others."""
    others = [plain_state(f"m{n}", n, f"number {n} of many") for n in range(1, 300)]
    await lab.write(*others)
    first = plain_state("doomed", 301, TEXT, concepts=("quuxly",))
    await lab.write(first)
    await lab.write(plain_state("doomed", 302, f"{TEXT} still", concepts=("quuxly",)))


async def erased(lab: Lab) -> Lab:
    """An index that was filled so, once the one memory was erased and no file made anew."""
    await filled(lab)
    await lab.index.apply(SPACE, erasure(303, "doomed"))
    return lab


async def test_deleting_alone_leaves_all_of_it_in_the_files(
    tmp_path: Path, open_lab: OpenLab
) -> None:
    """M4 Why files are made anew: the engine keeps the bytes of what it deleted."""
    lab = await erased(await open_lab(tmp_path))
    found = lab.ids(await lab.ask("zorblax", superseded=Superseded.HISTORY))
    await lab.index.close()

    assert "doomed" not in found
    left = traces(tmp_path, TEXT, "quuxly", "doomed")
    assert {"vector as it is kept", "name", "text, told"} <= set(left)


async def test_no_file_holds_what_was_erased_once_they_are_made_anew(
    tmp_path: Path, open_lab: OpenLab
) -> None:
    """M4 S10 Neither its vectors nor its payload are left; every other memory is still found."""
    lab = await open_lab(tmp_path)
    await filled(lab)
    before = await lab.ask("number 7 of many", superseded=Superseded.HISTORY)
    await lab.index.apply(SPACE, erasure(303, "doomed"))

    assert (await lab.index.states())[SPACE].unconfirmed == ["doomed"]
    assert await lab.index.scrub(SPACE) == ["doomed"]
    assert traces(tmp_path, TEXT, "quuxly", "doomed") == ["name"], "its id alone is left"
    await lab.index.confirmed(SPACE, ["doomed"])

    after = await lab.ask("number 7 of many", superseded=Superseded.HISTORY)
    assert lab.ids(after)[0] == lab.ids(before)[0] == "m7"
    assert np.allclose(after.cosine[0], before.cosine[0], atol=1e-3)
    assert traces(tmp_path, "number 7 of many", "number", "m7")
    states = (await lab.index.states())[SPACE]
    assert (states.memories, states.applied_seq, list(states.unconfirmed)) == (299, 303, [])
    await lab.index.close()
    assert traces(tmp_path, TEXT, "quuxly", "doomed") == ["name"], "with the columns on disk, too"
    reopened = await open_lab(tmp_path)
    assert reopened.ids(await reopened.ask("number 7 of many"))[0] == "m7"


async def test_what_is_written_meanwhile_is_in_the_copy(
    tmp_path: Path, open_lab: OpenLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M4 S10 Changes go on while files are made anew, and searches too: nothing is lost or back."""
    lab = await erased(await open_lab(tmp_path))
    copied = lab.edge._copied  # to come between two of its steps
    loop = asyncio.get_running_loop()

    async def meanwhile() -> None:
        await lab.write(plain_state("new", 304, "brand new things"))
        await lab.write(plain_state("m5", 305, "number 5 changed"))
        await lab.index.apply(SPACE, Batch(306, NOW, touches=[Touch("m6", 9, NOW)]))
        await lab.index.apply(SPACE, erasure(307, "m8"))
        assert "m9" in lab.ids(await lab.ask("number 9 of many"))

    def slowly(partition: Partition[EdgeShard]) -> EdgeShard:
        fresh = copied(partition)
        asyncio.run_coroutine_threadsafe(meanwhile(), loop).result()
        return fresh

    monkeypatch.setattr(lab.edge, "_copied", slowly)
    assert await lab.index.scrub(SPACE) == ["doomed"]

    found = await everything(lab)
    state = (await lab.index.states())[SPACE]
    assert {"new", "m5", "m9"} <= found
    assert not {"m8", "doomed"} & found
    assert (state.applied_seq, list(state.unconfirmed)) == (307, ["doomed", "m8"])
    six = await lab.ask("number 6 of many", only=("m6",))
    assert six.access_count.tolist() == [9]
    await lab.index.close()
    reopened = await open_lab(tmp_path)
    assert await everything(reopened) == found


async def test_what_a_killed_process_left_undone_is_known_to_the_next(
    tmp_path: Path, open_lab: OpenLab
) -> None:
    """M4 What waits to be taken out stands in the index itself; half a copy is removed."""
    first = await erased(await open_lab(tmp_path))
    await first.index.close()
    stray = partition_at(tmp_path) / "shard-0123"
    stray.mkdir()
    (stray / "half").write_bytes(b"a copy")

    second = await open_lab(tmp_path)
    waiting = (await second.index.states())[SPACE].unconfirmed
    assert await second.index.scrub(SPACE) == ["doomed"]

    assert waiting == ["doomed"]
    assert not stray.exists()
    stamp = json.loads((partition_at(tmp_path) / "stamp.json").read_text())
    assert [path.name for path in partition_at(tmp_path).glob("shard*")] == [stamp["shard"]]
    assert traces(tmp_path, TEXT, "quuxly", "doomed") == ["name"]


async def test_closing_does_not_wait_for_a_copy(tmp_path: Path, open_lab: OpenLab) -> None:
    """M4 A copy that is under way ends early, leaves nothing, and is made by the next process."""
    lab = await erased(await open_lab(tmp_path))
    partition = lab.edge._parts[SPACE].partition  # what a closing index says to a copy
    lab.edge._ended = True

    with pytest.raises(IndexCorrupt, match="closed"):
        lab.edge._copied(partition)
    lab.edge._ended = False
    assert [path.name for path in partition.path.glob("shard*")] == ["shard"]


async def test_what_was_never_indexed_is_confirmed_without_a_copy(
    tmp_path: Path, open_lab: OpenLab
) -> None:
    """M4 S10 An index that is made anew from the feed meets erased memories only as such."""
    lab = await open_lab(tmp_path)
    await lab.index.apply(SPACE, erasure(1, "doomed"))
    assert await lab.index.scrub(SPACE) == ["doomed"]

    assert [path.name for path in partition_at(tmp_path).glob("shard*")] == ["shard"]


async def test_graph_is_told_again_until_it_hears(at_work: Following) -> None:
    """M4 A confirmation outlives graph's absence and the follower's own restart."""
    await at_work.write(plain_state("a", 1, "red fox"), plain_state("b", 2, "blue whale"))
    at_work.graph.erase(SPACE, "a", 3)
    at_work.graph.fail()
    at_work.graph.down = False
    await at_work.reached(3)
    await until(lambda: at_work.graph.confirmed == [(SPACE, "a")])
    # Graph hears at least once: only what the index has noted as heard is not said again.
    async with asyncio.timeout(SECONDS):
        while (await at_work.lab.index.states())[SPACE].unconfirmed:  # noqa: ASYNC110 - as `until`
            await asyncio.sleep(0.01)

    await at_work.stop()
    at_work.follow()
    await at_work.reached(3)
    assert at_work.graph.confirmed == [(SPACE, "a")]
    assert at_work.lab.ids(await at_work.lab.ask("fox")) == ["b"]
