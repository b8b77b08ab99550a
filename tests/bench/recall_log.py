"""What the recall log costs a search: a space where it is on, beside one where it is off."""

from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import islice

from concord.graph.v1.recall_pb2 import SetRecallLogRequest
from concord.graph.v1.recall_pb2_grpc import RecallServiceStub
from concord.search.v1.search_pb2 import SearchRequest, SearchResponse
from concord.type.v1.type_pb2 import Memory

from tests.bench import sentences
from tests.bench.filling import found, remember
from tests.bench.run import Run
from tests.bench.searching import METHOD
from tests.bench.servers import Whole, agent, whole
from tests.bench.stand_in import StandIn
from tests.bench.table import Row
from tests.bench.timing import NONE

ON, OFF = "logged", "unlogged"
CALLS = 20


async def bench(run: Run) -> AsyncIterator[Row]:
    """Like questions of the same memories, in turn; ten results an answer."""
    size, asked = run.size(2_000, 200), sentences.questions(seed=8)
    logged = unlogged = NONE
    async with whole(run.folder / "recalls", StandIn()) as system:
        for space in (ON, OFF):
            texts = islice(sentences.endless(1), size)
            memories = (Memory(content=text) for text in texts)
            token = await remember(system, memories, name="fill", space=space)
            await found(system, token, space=space)
        await _turn_on(system)
        for turn in range(run.rounds):
            warm_up = 0 if turn else CALLS
            # questions of its own for each: what was asked once is not embedded again
            lanes = [
                system.search.lane(
                    METHOD,
                    [SearchRequest(query=text) for text in islice(asked, CALLS + warm_up)],
                    SearchResponse,
                    space=space,
                )
                for space in (ON, OFF)
            ]
            of_on, of_off = await run.caller.alternate(
                lanes, rounds=1, calls=CALLS, warm_up=max(warm_up, 1)
            )
            logged, unlogged = logged + of_on, unlogged + of_off
    yield Row(
        f"search with the recall log, {size:,} memories",
        "ms",
        logged.pair,
        floor=unlogged.pair,
        floor_is="the same without it; ratio of p50",
        ratio=logged.at(50) / unlogged.at(50),
    )


async def _turn_on(system: Whole) -> None:
    admin = replace(agent(ON), scopes=frozenset({"recall:admin"}))
    stub = RecallServiceStub(system.graph.serving.channel(admin))
    await stub.SetRecallLog(SetRecallLogRequest(enabled=True))
