"""Which memories were returned to whom: opt-in, ids alone, for 90 days, erased with the memory."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from concord.graph.v1 import recall_pb2, record_pb2
from concord_chassis.observe.log import json_lines
from concord_chassis.server.background import Background
from concord_graph.domain.errors import StoreCorrupt, StoreUnavailable
from concord_graph.domain.sessions import Recall, RecallFilter
from concord_graph.ports import GraphStore, Reads
from concord_graph.usecases import recalls as use_case
from concord_graph.usecases.recalls import RECALLS, Recalls
from concord_testing.polling import SECONDS, until
from graph_world import DAY, START, Calls, Clock, World, micros, world


def query_of(live: World, number: int) -> str:
    """Return an id of now, as search makes them: by time, then by number."""
    text = f"{live.clock.now // 1000:012x}"
    return f"{text[:8]}-{text[8:]}-7{number:03d}"


async def recall(home: Calls, query_id: str, *memory_ids: str, **fields: str) -> bool:
    """Tell what an answer returned; say whether it was kept."""
    told = recall_pb2.Recall(
        query_id=query_id,
        principal=fields.get("principal", "agent-1"),
        session_id=fields.get("session_id", ""),
        memory_ids=memory_ids,
    )
    return (await home.recall.AddRecall(recall_pb2.AddRecallRequest(recall=told))).kept


async def listed(home: Calls, **fields: object) -> recall_pb2.ListRecallsResponse:
    """List the log."""
    return await home.recall.ListRecalls(recall_pb2.ListRecallsRequest(**fields))  # type: ignore[arg-type] # a test's own


async def turn(home: Calls, *, on: bool) -> None:
    """Turn the log on or off."""
    await home.recall.SetRecallLog(recall_pb2.SetRecallLogRequest(enabled=on))


def is_in(path: Path, words: bytes) -> bool:
    """Return whether some file of a store holds the words."""
    return any(words in each.read_bytes() for each in path.parent.glob(f"{path.name}*"))


async def test_keeps_nothing_until_it_is_turned_on(live: World, home: Calls) -> None:
    """W8 Opt-in; what was logged stays when it is turned off, and no more comes."""
    memory = await home.add("Tea at four.")
    one, two, three = (query_of(live, number) for number in range(3))

    assert not await recall(home, one, memory.id)
    assert not (await listed(home)).enabled
    await turn(home, on=True)
    assert await recall(home, two, memory.id, principal="anna", session_id="talk")
    await turn(home, on=False)
    assert not await recall(home, three, memory.id)

    reply = await listed(home)
    (kept,) = reply.recalls
    assert not reply.enabled
    assert (kept.query_id, kept.principal, kept.session_id) == (two, "anna", "talk")
    assert (list(kept.memory_ids), micros(kept.recall_time)) == ([memory.id], live.clock.now)


async def test_lists_the_newest_first_and_by_each_field(live: World, home: Calls) -> None:
    """W8 By query, memory, principal and session, page by page; another space has its own."""
    tea, rain = (await home.add("Tea at four.")).id, (await home.add("It rains.")).id
    await turn(home, on=True)
    queries = [query_of(live, number) for number in range(4)]
    await recall(home, queries[0], rain, tea)
    await recall(home, queries[1], tea, principal="anna")
    await recall(home, queries[2], rain, session_id="talk")
    await recall(home, queries[3], tea, rain, session_id="talk")

    async def found(**fields: object) -> list[str]:
        return [each.query_id for each in (await listed(home, **fields)).recalls]

    assert await found() == queries[::-1]
    assert await found(memory_id=rain) == [queries[3], queries[2], queries[0]]
    assert await found(principal="anna") == [queries[1]]
    assert await found(session_id="talk", memory_id=tea) == [queries[3]]
    (one,) = (await listed(home, query_id=queries[0])).recalls
    assert list(one.memory_ids) == [rain, tea]
    page = await listed(home, page_size=3)
    rest = await listed(home, page_size=3, page_token=page.next_page_token)
    assert [each.query_id for each in rest.recalls] == [queries[0]]
    assert not (await listed(live.calls("other"))).recalls


async def test_goes_with_the_memory_and_with_time(live: World, home: Calls) -> None:
    """W8 M4 An erased memory is in no entry, and no entry is older than 90 days."""
    tea, rain = await home.add("Tea at four."), await home.add("It rains.")
    await turn(home, on=True)
    first = query_of(live, 0)
    await recall(home, first, tea.id, rain.id)
    await home.erase(tea)
    await recall(home, query_of(live, 1), tea.id)

    assert [list(each.memory_ids) for each in (await listed(home)).recalls] == [[rain.id]]
    live.clock.pass_(90 * DAY)
    assert len((await listed(home)).recalls) == 1
    live.clock.pass_(DAY)
    assert not (await listed(home)).recalls
    await recall(home, query_of(live, 2), rain.id)
    assert not (await listed(home, query_id=first)).recalls


async def test_a_querys_text_is_erased_by_its_id(live: World, home: Calls) -> None:
    """W8 S7 The text and the reasons go, those of votes too; the rest of the records stays."""
    query_id = query_of(live, 0)
    query = {"id": query_id, "text": "my secret", "weight": 2.0, "constitutive_first": False}
    vote = {**query, "helpful": True, "reason": "for my secret", "time": 1}
    names = [
        record_pb2.RecordName(kind="ranked_query", key=query_id),
        record_pb2.RecordName(kind="feedback", key=f"{query_id}/anna"),
    ]
    records = [
        record_pb2.Record(name=name, body=json.dumps(body))
        for name, body in zip(names, (query, vote), strict=True)
    ]
    await home.record.PutRecords(record_pb2.PutRecordsRequest(records=records))
    erase = recall_pb2.EraseQueryTextRequest(query_id=query_id)

    assert (await home.recall.EraseQueryText(erase)).erased
    await until(lambda: not is_in(live.path, b"my secret"))
    left = (await home.record.GetRecords(record_pb2.GetRecordsRequest(names=names))).records
    assert [json.loads(each.body) for each in left] == [
        {**query, "text": ""},
        {**vote, "text": "", "reason": ""},
    ]
    erase.query_id = "no-such"
    assert not (await home.recall.EraseQueryText(erase)).erased


@asynccontextmanager
async def writing(log: Recalls) -> AsyncIterator[None]:
    """Write a log in the background, as graph does, until it is closed in good order."""
    await log.turn("home", on=True)
    tasks = Background(json_lines("graph"))
    tasks.start(RECALLS, partial(log.run, partial(tasks.tried, RECALLS)))
    yield
    await log.close()
    await tasks.close()


async def stored(store: GraphStore, count: int) -> None:
    """Wait until a store has so many entries."""

    async def entries(tx: Reads) -> int:
        return len(await tx.recalls(RecallFilter(), "", 10))

    async with asyncio.timeout(SECONDS):
        while await store.read("home", entries) < count:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)


async def test_is_written_without_a_reader(store: GraphStore) -> None:
    """W8 No answer waits for the disk; what was returned is in the store soon after."""
    log = Recalls(store, Clock())
    async with writing(log):
        assert await log.add("home", Recall(_id_at(0), "p", "", ("m",)))
        await stored(store, 1)


async def test_an_orderly_stop_loses_none(tmp_path: Path) -> None:
    """W8 What was returned just before it is in the log of the next life."""
    path, clock = tmp_path / "graph.db", Clock()
    async with world(path, clock=clock) as live:
        memory = await live.calls().add("Tea at four.")
        await turn(live.calls(), on=True)
        query_id = query_of(live, 0)
        await recall(live.calls(), query_id, memory.id)

    async with world(path, clock=clock) as live:
        assert [each.query_id for each in (await listed(live.calls())).recalls] == [query_id]


async def test_goes_on_after_a_store_that_refused(store: GraphStore) -> None:
    """W8 A refusal ends neither the writing in the background nor an orderly stop."""
    refusing = _Refusing(store)
    log = Recalls(cast(Any, refusing), Clock())
    async with writing(log):
        for error in (StoreCorrupt("damaged"), StoreUnavailable("away")):
            refusing.error, refusing.refuses, before = error, True, refusing.refused
            assert await log.add("home", Recall(_id_at(before), "p", "", ("m",)))
            await refusing.until(before + 1)
            refusing.refuses = False
        await stored(store, 2)
        refusing.refuses = True
        assert await log.add("home", Recall(_id_at(900), "p", "", ("m",)))


async def test_as_many_wait_as_the_limit_says(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W8 A store that refuses loses none: the next answer fails, and those before it are kept."""
    monkeypatch.setattr(use_case, "MOST_WAITING", 2)
    refusing = _Refusing(store)
    log = Recalls(cast(Any, refusing), Clock())

    await log.turn("home", on=True)
    refusing.refuses = True
    ids = [_id_at(each) for each in range(3)]
    for each in ids[:2]:
        assert await log.add("home", Recall(each, "p", "", ("m",)))
    with pytest.raises(StoreUnavailable):
        await log.add("home", Recall(ids[2], "p", "", ("m",)))
    refusing.refuses = False

    kept, _ = await log.list("home", RecallFilter(), "", 10)
    assert [each.query_id for each in kept] == [ids[1], ids[0]]


def _id_at(number: int) -> str:
    text = f"{START // 1000:012x}"
    return f"{text[:8]}-{text[8:]}-7{number:03d}"


class _Refusing:
    """A store whose writes are refused while it is told to."""

    refuses = False
    refused = 0

    def __init__(self, store: Any) -> None:
        self._store = store
        self.error: Exception = StoreUnavailable("the disk is full")

    async def until(self, refused: int) -> None:
        """Wait until so many writes were refused."""
        await until(lambda: self.refused >= refused)

    async def read(self, *asked: Any, brief: bool = False) -> Any:
        return await self._store.read(*asked, brief=brief)

    async def write(self, *asked: Any) -> Any:
        if self.refuses:
            self.refused += 1
            raise self.error
        return await self._store.write(*asked)
