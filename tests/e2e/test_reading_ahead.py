"""Texts are read in the background: how many wait is said, and none is missed."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from concord.search.v1.search_pb2 import GetIndexStatusRequest, SearchRequest
from concord.search.v1.search_pb2_grpc import IndexServiceStub, SearchServiceStub
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from concord_dissonance.adapters.sqlite_sketches.store import SqliteSketches
from concord_dissonance.domain.errors import SketchesUnusable
from concord_dissonance.domain.statements import Statement
from concord_dissonance.usecases import read_ahead
from concord_dissonance.usecases.sketches import Sketched
from dissonance_over_graph import Dissonant, dissonant
from governed_world import World, eventually
from writing import to_erase

TEXTS = ("The lighthouse is red.", "The harbour is deep.", "The ferry to Föhr leaves at noon.")
READER = frozenset({"search:read"})


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that waits for no writer."""
    monkeypatch.setattr(read_ahead, "QUIET", 0.01)


class Reads:
    """What is read while it is let; `texts` in the order of reading."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts: list[str] = []
        self.may = asyncio.Event()
        read = Sketched._read  # what a parse is spent on

        def noted(sketched: Sketched, sides: Sequence[Any]) -> Any:
            self.texts += [each.text for each in sides]
            return read(sketched, sides)

        called = Sketched.__call__

        async def let(
            sketched: Sketched, space: str, memories: Sequence[Statement], *, at_once: int
        ) -> Any:
            await self.may.wait()
            return await called(sketched, space, memories, at_once=at_once)

        monkeypatch.setattr(Sketched, "_read", noted)
        monkeypatch.setattr(Sketched, "__call__", let)


@pytest.fixture
async def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    """Reading, which waits until it may."""
    return Reads(monkeypatch)


def counting(works: Dissonant, space: str = "one") -> Callable[[], Any]:
    """Return how to ask for the number of unread texts in a space's index status; None: unset."""
    assert works.search is not None
    index = IndexServiceStub(works.search.channel(Caller(space, "agent", READER, "AGENT")))

    async def ask() -> int | None:
        status = await index.GetIndexStatus(GetIndexStatusRequest())
        return status.unread_texts if status.HasField("unread_texts") else None

    return ask


async def test_the_state_of_the_index_counts_what_is_unread(live: World, reads: Reads) -> None:
    """S10 D3 Of each space alone; turns leave the count when they were looked at; words are found
    meanwhile; what is changed, or there since before the start, counts too."""
    reads.may.set()
    async with dissonant(live, follow=False) as works:
        early = works.space("two")
        first = [await early.add(text) for text in TEXTS]
    reads.may.clear()
    async with dissonant(live) as works:
        home, other = works.space(), works.space("two")
        unread, of_other = counting(works), counting(works, "two")
        before = await eventually(of_other, lambda count: count == len(TEXTS))
        reads.may.set()
        await eventually(of_other, lambda count: count == 0)
        reads.may.clear()
        added = [await home.add(text) for text in TEXTS]
        await home.add("Is it?", kind=type_pb2.MEMORY_KIND_TURN)
        waits = await eventually(unread, lambda count: count == len(TEXTS))
        assert works.search is not None
        search = SearchServiceStub(works.search.channel(Caller("one", "agent", READER, "AGENT")))
        asked = SearchRequest(query="lighthouse")
        asked.consistency.at_least_as_fresh = home.token
        found = (await search.Search(asked)).results
        reads.may.set()
        await eventually(unread, lambda count: count == 0)
        reads.may.clear()
        await other.memories.EraseMemory(to_erase(first[0]))
        gone = await eventually(of_other, lambda count: count == 0)
        await home.update(added[0], "The lighthouse is white.")
        again = await eventually(unread, lambda count: count == 1)
        reads.may.set()
        await eventually(unread, lambda count: count == 0)

    assert (before, waits, gone, again) == (3, 3, 0, 1)
    assert found[0].memory.id == added[0].id
    assert sorted(reads.texts) == sorted([*TEXTS, *TEXTS, "The lighthouse is white."])


async def test_a_number_that_nobody_knows_is_not_none(live: World, reads: Reads) -> None:
    """S10 D13 Unset without dissonance, and while it has not looked since its start."""
    async with dissonant(live, judges=False) as works:
        reads.may.set()
        await works.space().add(TEXTS[0])
        silent = await counting(works)()
    async with dissonant(live, follow=False) as works:
        unknown = await counting(works)()

    assert (silent, unknown) == (None, None)


@dataclass
class Kept:
    """The sketches of space "one" in a replica's file."""

    file: Path

    async def ids(self) -> set[str]:
        """The memories that have one."""
        return await self._asked("SELECT id FROM sketches WHERE space = 'one'")

    async def place(self) -> set[int]:
        """The place up to which the space was read; empty before the first one."""
        return await self._asked("SELECT seq FROM positions WHERE space = 'one'")

    async def _asked(self, query: str) -> set[Any]:
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(self.file)) as db:
            return {each for (each,) in db.execute(query)}
        return set()  # nothing was read yet


@pytest.mark.parametrize("step", ["reached", "put"])
async def test_a_death_between_reading_and_noting_the_place_loses_nothing(
    live: World,
    reads: Reads,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    """D3 D13 M4 What was kept is not read again, what was not is; what was written or erased while
    nobody lived is read, or leaves the file."""
    reads.may.set()
    again = int(step == "put")
    kept, came = Kept(tmp_path / "sketches.db"), asyncio.Event()

    async def die(*_: object) -> None:
        came.set()
        await asyncio.Event().wait()  # until the process ends

    with monkeypatch.context() as dying:
        dying.setattr(SqliteSketches, step, die)
        async with dissonant(live, sketches_path=kept.file) as works:
            home = works.space()
            first = await home.add(TEXTS[0])
            await asyncio.wait_for(came.wait(), 60)
    noted = await kept.place()
    second = await home.add(TEXTS[1])
    third = await home.add(TEXTS[2])
    if not again:
        await home.memories.EraseMemory(to_erase(first))
    lives = {second.id, third.id} | ({first.id} if again else set())
    async with dissonant(live, sketches_path=kept.file):
        await eventually(kept.ids, lambda there: there == lives)
        await eventually(kept.place)

    assert not noted
    assert Counter(reads.texts) == Counter([TEXTS[0]] * again + list(TEXTS))


async def test_each_replica_has_a_file_of_its_own(
    live: World, reads: Reads, tmp_path: Path
) -> None:
    """D13 M4 Both read all and drop what is erased; on one file a second process does not start."""
    reads.may.set()
    files = [Kept(tmp_path / f"{name}.db") for name in "ab"]
    async with dissonant(live, sketches_path=files[0].file) as works:
        home = works.space()
        async with dissonant(live, sketches_path=files[1].file, with_search=False):
            first, second = [await home.add(text) for text in TEXTS[:2]]
            for each in files:
                await eventually(each.ids, lambda there: there == {first.id, second.id})
            await home.memories.EraseMemory(to_erase(first))
            for each in files:
                await eventually(each.ids, lambda there: there == {second.id})
        with pytest.raises(SketchesUnusable, match="another process's"):
            async with dissonant(live, sketches_path=files[0].file, with_search=False):
                pass

        with_one = await files[0].ids()
    assert with_one == {second.id}
    assert Counter(reads.texts) == Counter(TEXTS[:2] * 2)
