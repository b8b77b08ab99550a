"""Many spaces in one index: each as if it were alone, and none costs more than what is used."""

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import qdrant_edge as qdrant
from concord_search.adapters.edge.shard import EdgeShard
from concord_search.adapters.qdrant import payload
from concord_search.adapters.qdrant.filters import Filter
from concord_search.adapters.qdrant.frequencies import DocumentFrequencies
from concord_search.adapters.qdrant.partition import Partition
from concord_search.adapters.qdrant.shard import DENSE, Nearest
from concord_search.adapters.qdrant.tenant import Tenant, number_of, word_of
from concord_search.domain.candidates import Candidates
from concord_search.domain.filters import MemoryFilter
from concord_search.domain.memory import Ending, Touch
from concord_search.ports.index import Batch, NearQuery, Question
from concord_testing.embedders import ready
from concord_testing.index_files import every_state, secrets_at
from search_lab import NOW, SCOPE, Lab, OpenLab, plain_state

WORDS = ["red", "fox", "owl", "whale", "river", "tea", "train", "north", "sea", "letter"]
SPACES = 60


def texts_of(number: int) -> list[str]:
    """Texts of a space, of words that all spaces have."""
    draw = np.random.default_rng(number)
    return [" ".join(draw.choice(WORDS, size=5)) for _ in range(8 + number % 5)]


async def write(lab: Lab, number: int) -> None:
    """Makes and fills a space."""
    space = f"space-{number}"
    await lab.index.begin(space, "epoch-1")
    states = [
        plain_state(f"m{at}", at, text, tags=(f"t{at % 3}",), session_id="s")
        for at, text in enumerate(texts_of(number), 1)
    ]
    await lab.write(*states, space=space)


async def asked(lab: Lab, number: int) -> list[Any]:
    """What a space answers, with all numbers that ranking reads."""
    space = f"space-{number}"
    found = await lab.ask("red fox by the river", space=space, concepts=("fox",))
    tagged = await lab.ask("owl", space=space, wanted=MemoryFilter(tags_any=("t1",)))
    vector = await lab.embedder.embed_query("tea")
    near = await lab.index.near(space, vector, lab.embedder.model, NearQuery(SCOPE, 5))
    return [*numbers(found), *numbers(tagged), [each.similarity for each in near]]


def numbers(found: Candidates) -> list[Any]:
    """The figures of candidates."""
    names = ("seqs", "cosine", "lexical", "fusion", "term_weights", "lengths")
    return [getattr(found, name) for name in names] + [[found.rarest]]


async def test_a_space_ranks_among_many_as_it_does_alone(tmp_path: Path, open_lab: OpenLab) -> None:
    """S10 S1 its words weigh by its own texts: rankings and figures are equal to 1e-6."""
    many = await open_lab(tmp_path / "many", partitions=2)
    for number in range(SPACES):
        await write(many, number)

    for number in (0, 7, SPACES - 1):
        alone = await open_lab(tmp_path / f"alone-{number}")
        await write(alone, number)
        pairs = zip(await asked(many, number), await asked(alone, number), strict=True)
        for one, other in pairs:
            assert np.allclose(one, other, rtol=0, atol=1e-6, equal_nan=True)


class Watched:
    """The engine's shard; keeps the requests that it gets."""

    def __init__(self, engine: qdrant.EdgeShard, seen: list[tuple[str, Any]]) -> None:
        self._engine = engine
        self._seen = seen

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self._seen.append((name, given))
            return getattr(self._engine, name)(*given, **named)

        return call


async def test_each_call_carries_the_filter_of_its_space(tmp_path: Path, open_lab: OpenLab) -> None:
    """S10 W7 no query, scroll, count or deletion of a space can reach another one's points."""
    lab = await open_lab(tmp_path, partitions=1)
    await write(lab, 1)
    await write(lab, 2)
    space, index = "space-1", lab.index
    part = lab.edge._parts[space]
    seen: list[tuple[str, Any]] = []
    part.partition.shard._engine = Watched(part.partition.shard._engine, seen)  # type: ignore[assignment]

    await asked(lab, 1)
    vector = await lab.embedder.embed_query("fox")
    question = Question(ready(vector), "fox", SCOPE, lab.embedder.model)
    weight: asyncio.Future[float] = asyncio.get_running_loop().create_future()
    weight.set_result(2.0)
    await index.weigh(space, question, weight)
    await lab.ask("fox", space=space, only=("m1", "m2"))
    await index.near_each(space, ["m1", "m2"], NearQuery(SCOPE, 3))
    await index.vector_of(space, "m1", 1, lab.embedder.model)
    await index.held(space)
    await lab.write(plain_state("m1", 20, "red owl"), space=space)
    gone = Batch(21, NOW, erased=["m2"], to_confirm=["m2"], endings=[Ending("m3", 21, NOW)])
    await index.apply(space, gone)
    await index.apply(space, Batch(22, NOW, touches=[Touch("m4", 3, NOW)]))
    await index.confirmed(space, ["m2"])
    await index.drop(space, ["m5"])
    lab.edge._parts.columns.drop(part)
    await index.unembedded(space, [])
    part.tenant.count()
    await lab.edge.remove(space)  # without making the files anew

    told = f'key="{payload.TENANT}", r#match=MatchValue(value="{word_of(part.number)}")'
    assert {name for name, _ in seen} >= {"query_batch", "scroll", "count", "retrieve", "update"}
    for request in (each for name, given in seen for each in _requests(name, *given)):
        if isinstance(request, int):
            assert number_of(request) == part.number
        else:
            times = 2 if "SparseVector" in repr(request) or '"words"' in repr(request) else 1
            assert repr(request).count(told) == times, request


def _requests(name: str, given: Any = None) -> Iterator[Any]:
    """What must be of one space alone; a query of words names it twice."""
    match name:
        case "query_batch":
            for each in given.queries:
                yield from each.prefetches or [each]
        case "scroll" | "count":
            yield given.filter
        case "retrieve":
            yield from given


async def test_what_comes_beside_a_space_while_it_asks_is_left_out(
    tmp_path: Path, open_lab: OpenLab
) -> None:
    """S10 W7 a space that is alone in its shard asks without a filter: no other's point answers."""
    lab = await open_lab(tmp_path, partitions=1)
    part = lab.edge._parts["default"]
    await lab.write(plain_state("own", 1, "red fox"))
    alone = part.tenant
    before = await asked_of(lab, alone)
    await write(lab, 1)

    assert alone.alone
    assert not part.tenant.alone
    assert before == await asked_of(lab, alone) == await asked_of(lab, part.tenant) == [0]
    assert lab.ids(await lab.ask("red fox")) == ["own"]


async def asked_of(lab: Lab, tenant: Tenant) -> list[int]:
    """The rows near to a text."""
    vector = await lab.embedder.embed_query("red fox")
    (found,) = tenant.query([Nearest(vector.tolist(), DENSE, 50, Filter())])
    rows: list[int] = found.points.tolist()
    return rows


async def test_the_cache_is_bounded_and_what_left_it_answers_the_same(
    tmp_path: Path, open_lab: OpenLab
) -> None:
    """S10 W7 spaces leave memory, the least recently used first, and come back as they were."""
    lab = await open_lab(tmp_path, cache_bytes=1, stored_from=10)
    before = []
    for number in range(6):
        await write(lab, number)
        before.append(await asked(lab, number))
    columns = lab.edge._parts.columns

    for number in (3, 0, 5, 0):
        again = await asked(lab, number)
        for one, other in zip(again, before[number], strict=True):
            assert np.allclose(one, other, equal_nan=True)
        assert [space.part.name for space in columns.loaded()] == [f"space-{number}"]
    kept = list(tmp_path.glob("*/columns/*"))  # noqa: ASYNC240 - a handful of files
    assert 0 < len(kept) < 6, "of small spaces there is none"


async def test_a_small_space_takes_what_it_holds(tmp_path: Path, open_lab: OpenLab) -> None:
    """S10 a space of one memory takes a few kilobytes of the cache, whose sum stays right."""
    lab = await open_lab(tmp_path)
    for number in range(40):
        await lab.index.begin(f"space-{number}", "epoch-1")
        await lab.write(plain_state("m", 1, "a red fox by the river"), space=f"space-{number}")
    columns = lab.edge._parts.columns
    for number in range(0, 40, 2):
        await lab.index.remove(f"space-{number}")

    sizes = [space.nbytes for space in columns.loaded()]
    assert len(sizes) == 20 + 1  # and the lab's own
    assert max(sizes) < 8_000
    assert columns._size == sum(columns._sizes.values())


async def test_an_open_index_does_not_hold_its_files_in_memory(
    tmp_path: Path, open_lab: OpenLab
) -> None:
    """S10 W7 the engine reads its files through when it opens them, 50 MB of each empty shard; what
    is released of them answers as before."""
    lab = await open_lab(tmp_path, partitions=4)
    for number in range(12):
        await write(lab, number)
    before = [await asked(lab, number) for number in range(12)]
    await lab.index.close()

    lab = await open_lab(tmp_path, partitions=4)
    assert resident(tmp_path) < 12_000_000
    for number in range(12):
        for one, other in zip(await asked(lab, number), before[number], strict=True):
            assert np.allclose(one, other, equal_nan=True)


def resident(folder: Path) -> int:
    """The bytes in memory of files below a folder that this process maps."""
    found, counts = 0, False
    for line in Path("/proc/self/smaps").read_text("utf-8").splitlines():
        if "-" in line.split(" ", 1)[0]:
            counts = str(folder.resolve()) in line
        elif counts and line.startswith("Rss:"):
            found += int(line.split()[1]) * 1024
    return found


def test_few_terms_are_counted_as_many_are() -> None:
    """S10 S1 what a small space's list says of a term is what a large one's table says."""
    draw = np.random.default_rng(3)
    texts = [draw.choice(1_000, size=20, replace=False) + 1 for _ in range(400)]
    counted = DocumentFrequencies(np.zeros(0, dtype=np.int64))
    grown: list[int] = []
    for text in texts:
        grown += text.tolist()
        if counted.is_full:
            counted = DocumentFrequencies(np.array(grown))
        else:
            counted.add(text)
        terms = np.array([[1, 7, 500], [999, 1_000, 2_000]])
        expected = [[sum(each == one for one in grown) for each in row] for row in terms.tolist()]
        assert counted.counts(terms).tolist() == expected
        if len(grown) == 1_000:
            assert counted.nbytes < 20_000
    few = DocumentFrequencies(np.concatenate(texts[:3]))
    few.subtract(texts[1])
    assert few.counts(texts[1]).tolist() == [
        int(each in texts[0]) + int(each in texts[2]) for each in texts[1]
    ]


async def test_a_space_in_use_stays_in_memory(tmp_path: Path, open_lab: OpenLab) -> None:
    """S10 what is held is never dropped: a reader and the writer see the same columns."""
    lab = await open_lab(tmp_path, cache_bytes=1)
    for number in range(3):
        await write(lab, number)
    parts = lab.edge._parts
    part = parts["space-1"]
    with parts.columns.held(part):
        space = parts.columns[part]
        await asked(lab, 0)
        await asked(lab, 2)
        assert parts.columns[part] is space
    await asked(lab, 0)

    assert parts.columns[part] is not space


async def test_erasures_of_many_spaces_share_one_making_of_the_files(
    tmp_path: Path, open_lab: OpenLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M4 S10 what waits for a shard's files to be made anew is done with one of them."""
    lab = await open_lab(tmp_path, partitions=1)
    copied, copies = lab.edge._copied, []

    def counted(partition: Partition[EdgeShard]) -> EdgeShard:
        copies.append(partition)
        return copied(partition)

    monkeypatch.setattr(lab.edge, "_copied", counted)
    for number in range(20):
        await write(lab, number)
        gone = Batch(30, NOW, erased=["m1"], to_confirm=["m1"])
        await lab.index.apply(f"space-{number}", gone)

    spaces = await lab.index.unconfirmed()
    done = await asyncio.gather(*(lab.index.scrub(space) for space in spaces))
    await lab.index.scrub_removed()

    assert len(spaces) == 20
    assert done == [["m1"]] * 20
    assert len(copies) == 1


async def test_a_removed_space_leaves_neither_points_nor_its_secret(
    tmp_path: Path, open_lab: OpenLab
) -> None:
    """M4 S10 its points go by its number, its secret with its name, and the files are made anew."""
    lab = await open_lab(tmp_path, partitions=1)
    await write(lab, 1)
    await write(lab, 2)
    lost = secrets_at(tmp_path)["space-2"]
    vector = lab.embedder.vector(texts_of(2)[-1]).astype("<f2").tobytes()[:64]
    before = await asked(lab, 1)
    assert vector in bytes_below(tmp_path)

    await lab.index.remove("space-2")

    for sought in (lost, b"space-2", vector):
        assert sought not in bytes_below(tmp_path)
    for one, other in zip(await asked(lab, 1), before, strict=True):
        assert np.allclose(one, other, atol=1e-6, equal_nan=True)


async def test_the_last_space_takes_its_files_along(tmp_path: Path, open_lab: OpenLab) -> None:
    """S10 no file, thread or model stays for a partition without spaces."""
    lab = await open_lab(tmp_path)
    await lab.index.remove("default")

    assert not [path for path in tmp_path.iterdir() if path.is_dir()]  # noqa: ASYNC240 - few
    assert not await lab.index.states()


def bytes_below(root: Path) -> bytes:
    """Everything on disk."""
    return b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())


async def test_spaces_need_no_threads_files_or_memory_maps(
    tmp_path: Path, open_lab: OpenLab
) -> None:
    """S10 W7 what an index takes of the system is its partitions', not its spaces'."""
    lab = await open_lab(tmp_path, partitions=2)
    for number in range(4):
        await write(lab, number)
    before = taken(tmp_path)
    for number in range(4, 40):
        await write(lab, number)

    assert taken(tmp_path) == before


def taken(root: Path) -> tuple[int, int, int]:
    """Threads, descriptors, and files below a directory."""
    files = sum(1 for each in root.rglob("*") if each.is_file())
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")), files


async def test_a_start_reads_the_watermarks_alone(
    tmp_path: Path, open_lab: OpenLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10 W4 a start does not read what the spaces hold."""
    lab = await open_lab(tmp_path)
    for number in range(9):
        await write(lab, number)
    before = dict(await lab.index.states())
    await lab.index.close()
    read: list[Any] = []
    pages = EdgeShard._pages

    def counted(*given: Any, **named: Any) -> Iterator[Any]:
        for page in pages(*given, **named):
            read.extend(page)
            yield page

    monkeypatch.setattr(EdgeShard, "_pages", counted)
    again = await open_lab(tmp_path)

    assert dict(await again.index.states()) == before
    assert len(read) == 10, "the space that labs have, and nine"


async def test_spaces_without_their_secrets_are_removed_and_begun_anew(
    tmp_path: Path, open_lab: OpenLab
) -> None:
    """S10 should the file of secrets be lost, nothing of the former points is found or left."""
    lab = await open_lab(tmp_path, partitions=1)
    await write(lab, 1)
    await lab.index.close()
    for path in tmp_path.glob("spaces.db*"):  # noqa: ASYNC240 - a handful of files
        path.unlink()
    again = await open_lab(tmp_path, partitions=1)
    (partition,) = again.edge._parts.partitions.values()

    assert set(await again.index.states()) == {"default"}
    assert every_state(partition.shard) == []
