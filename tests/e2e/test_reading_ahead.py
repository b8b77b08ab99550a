"""Texts are read in the background: how many wait is said, and none is missed."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from concord.search.v1.search_pb2 import GetIndexStatusRequest, SearchRequest
from concord.search.v1.search_pb2_grpc import IndexServiceStub, SearchServiceStub
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
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
