"""What the guard of standing costs each AddMemory (W9).

The same service with the guard and with the guard out of the way takes turns, and a processor's
time counts: a busy machine slows both alike. The interval is of the rounds' ratios, resampled.
"""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np
from concord.graph.v1.memory_pb2 import AddMemoryRequest
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.graph.v1.relation_pb2 import DeclareRelationRequest
from concord.graph.v1.relation_pb2_grpc import RelationServiceStub
from concord.type.v1.type_pb2 import Fact, Memory
from concord_graph.usecases.read import shown, states
from concord_graph.usecases.write.standing_guard import Judged, StandingGuard

from tests.bench.run import Run
from tests.bench.servers import agent, graph, served
from tests.bench.table import Bar, Row

if TYPE_CHECKING:  # this name exists for type checkers only
    from concord.graph.v1.memory_pb2_grpc import MemoryServiceAsyncStub

CALLS = 10
MOST = 1.05
SEED = 34
RESAMPLED = 2_000


async def bench(run: Run) -> AsyncIterator[Row]:
    """A row for a plain memory, and for one with a value of a functional relation."""
    async with graph(run.folder / "cost" / "graph.db") as app, served(app.registrations) as live:
        channel = live.serving.channel(agent(), cap=None)
        declare = DeclareRelationRequest(request_id="declare", name="LIVES_IN", functional=True)
        await RelationServiceStub(channel).DeclareRelation(declare)
        for what, has_fact in (("a plain memory", False), ("one with a functional value", True)):
            stub = MemoryServiceStub(channel)
            taken = await _taken(stub, what, has_fact=has_fact, rounds=run.size(60, 3))
            with_it, without = np.median(taken, axis=0)
            ratios = taken[:, 0] / taken[:, 1]
            low, high = _interval(ratios)
            yield Row(
                f"AddMemory, {what}, with the guard",
                "ms",
                (float(with_it),),
                floor=(float(without),),
                floor_is="the guard out of the way; a processor's time; median of rounds' ratios",
                ratio=float(np.median(ratios)),
                bar=Bar(MOST),
                note=f"95 % of resampled medians lie in {low:.3f} to {high:.3f}",
            )


async def _taken(
    stub: "MemoryServiceAsyncStub", what: str, *, has_fact: bool, rounds: int
) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """Milliseconds of a processor per call, shape (rounds, 2): with the guard, and without."""
    taken = np.zeros((rounds, 2))
    for number in range(-1, rounds):  # the first one warms up
        for side in (0, 1) if number % 2 else (1, 0):
            requests = [
                AddMemoryRequest(request_id=name, memory=_memory(name, has_fact=has_fact))
                for name in (f"{what} {number} {side} {call}" for call in range(CALLS))
            ]
            with _out_of_the_way() if side else mock.MagicMock():
                began = time.process_time()
                for each in requests:
                    await stub.AddMemory(each)
                spent = (time.process_time() - began) * 1000 / CALLS
            if number >= 0:
                taken[number, side] = spent
    return taken


def _memory(name: str, *, has_fact: bool) -> Memory:
    facts = [Fact(subject=name, relation="LIVES_IN", object=f"home of {name}")] if has_fact else []
    return Memory(content=f"What is said of {name}.", facts=facts)


@contextmanager
def _out_of_the_way() -> Iterator[None]:
    """Nothing is judged, and no reply looks for open claims."""

    async def judged(_self: object, _before: object, after: object, _rows: object) -> object:
        return Judged(after)  # type: ignore[type-var] # whatever is written

    async def unclaimed(_tx: object, views: object, _at: object) -> object:
        return views

    with (
        mock.patch.object(StandingGuard, "judged", judged),
        mock.patch.object(shown, "with_claims", unclaimed),
        mock.patch.object(states, "with_claims", unclaimed),
    ):
        yield


def _interval(ratios: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> tuple[float, float]:
    chance = np.random.default_rng(SEED)
    drawn = np.median(chance.choice(ratios, (RESAMPLED, len(ratios))), axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)
