"""The HNSW graph of a large part: built beside searches and writes, exact wherever it is narrow."""

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest
from concord_search.adapters.edge.index import EdgeIndex
from concord_search.adapters.edge.shard import BUILT, EdgeShard
from concord_search.adapters.qdrant.partition import Partition
from concord_search.domain.filters import MemoryFilter, Scope, Superseded
from concord_search.ports.embedder import EmbeddingModel, Vectors
from concord_search.ports.index import Batch, NearQuery
from concord_testing.index_files import partition_at
from concord_testing.killing import kill, mortal
from concord_testing.polling import until
from search_lab import NOW, SCOPE, SPACE, START, plain_state

MODEL = EmbeddingModel("drawn", 64, "1")
COUNT = 1_500


def drawn(count: int) -> Vectors:
    """Unit vectors around forty centres."""
    draw = np.random.default_rng(5)
    centres = draw.standard_normal((40, 64))
    rows = centres[draw.integers(0, 40, count)] + 0.5 * draw.standard_normal((count, 64))
    drawn_rows: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return drawn_rows


VECTORS = drawn(COUNT + 200)


async def opened(root: Path, *, graph_from: int) -> EdgeIndex:
    """An index that builds a graph from so many points."""
    index = EdgeIndex(root, MODEL, graph_from=graph_from)
    await index.open()
    await index.begin(SPACE, "epoch-1")
    return index


async def write(index: EdgeIndex, first: int, end: int) -> None:
    """Writes memories by number."""
    for start in range(first, end, 100):
        numbers = range(start, min(end, start + 100))
        states = [(plain_state(f"m{n}", n + 1, f"fox {n}", tags=(f"t{n % 50}",)), VECTORS[n])
                  for n in numbers]  # fmt: skip
        await index.apply(SPACE, Batch(numbers[-1] + 1, START, states=states, model=MODEL))


async def nearest(index: EdgeIndex, number: int, scope: Scope = SCOPE) -> list[str]:
    """The ten memories nearest to one."""
    found = await index.near(SPACE, VECTORS[number], MODEL, NearQuery(scope, 10))
    return [each.id for each in found]


def outside(index: EdgeIndex) -> int:
    """How many points are outside the graph."""
    return partition_of(index).shard.unindexed()


def partition_of(index: EdgeIndex) -> Partition[EdgeShard]:
    """The only space's partition."""
    return index._parts[SPACE].partition


async def built(index: EdgeIndex) -> None:
    """Waits until a graph is built."""
    await until(lambda: outside(index) < COUNT)


async def test_a_build_that_is_killed_is_begun_again(tmp_path: Path) -> None:
    """S1 A build that died of a bug of ours is begun again by itself."""
    with mortal():
        index = await opened(tmp_path, graph_from=COUNT)
        await write(index, 0, COUNT)
        index._consider(partition_of(index))
        (building,) = index._building.values()
        await asyncio.sleep(0)  # it begins
        assert kill(building)
        await built(index)
        await index.close()


async def test_a_graph_is_built_beside_writes_and_finds_the_same(tmp_path: Path) -> None:
    """S1, S10 no write is lost, recall@10 is at least .99, and it is there after a restart."""
    exact = await opened(tmp_path / "exact", graph_from=1_000_000)
    index = await opened(tmp_path / "index", graph_from=COUNT)
    await write(exact, 0, COUNT + 200)

    await write(index, 0, COUNT)
    index._consider(partition_of(index))
    await write(index, COUNT, COUNT + 200)
    gone = Batch(COUNT + 201, START, erased=["m3"])
    for each in (index, exact):
        await each.apply(SPACE, gone)
    await built(index)
    await index.close()
    again = await opened(tmp_path / "index", graph_from=1_000_000)

    pairs = [(await nearest(again, n), await nearest(exact, n)) for n in range(0, COUNT + 200, 20)]
    assert outside(again) <= 400
    assert (await again.states())[SPACE].memories == COUNT + 199
    assert np.mean([len({*one} & {*other}) / 10 for one, other in pairs]) >= 0.99
    assert [path.name for path in partition_at(tmp_path / "index").glob("shard*")] == [
        json.loads((partition_at(tmp_path / "index") / "stamp.json").read_text())["shard"]
    ]
    narrow = Scope(NOW, Superseded.EXCLUDE, MemoryFilter(tags_any=("t7",)))
    assert await nearest(again, 57, narrow) == await nearest(exact, 57, narrow)
    await again.close()
    await exact.close()


async def test_a_graph_that_cannot_be_built_leaves_exact_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 a builder that fails takes nothing with it, and leaves no files."""
    index = await opened(tmp_path, graph_from=100)
    monkeypatch.setattr(index, "_built", refused)
    await write(index, 0, 200)
    index._consider(partition_of(index))
    await until(lambda: bool(asked))
    await write(index, 200, 300)

    found = await nearest(index, 250)
    await index.close()

    assert found[0] == "m250"
    assert [path.name for path in partition_at(tmp_path).glob("shard*")] == ["shard"]


asked: list[Path] = []


async def refused(copy: Path, _: int) -> bool:
    """A builder that fails."""
    asked.append(copy)
    return False


async def test_erased_bytes_that_a_copy_took_along_are_still_scrubbed(tmp_path: Path) -> None:
    """M4 a graph is built over a copy of the files: what was erased before is in it too."""
    index = await opened(tmp_path, graph_from=1_000_000)
    await write(index, 0, 100)
    await index.apply(SPACE, Batch(101, START, erased=["m3"], to_confirm=["m3"]))
    partition = partition_of(index)
    async with index._remaking[partition.path]:
        await index._replace(partition)

    assert outside(index) == 0
    assert BUILT in {each.name for each in partition.shard.path.iterdir()}
    assert partition.removals > partition.clean
    assert await index.scrub(SPACE) == ["m3"]
    assert partition.removals == partition.clean
    await index.close()
