"""Latencies of calls that take turns, measured from a process of their own."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from multiprocessing import get_context
from typing import Self, TypeVar

import grpc
import numpy as np
import uvloop
from google.protobuf.message import Message

T = TypeVar("T")

WARM_UP = 50
TIMEOUT = 30.0


@dataclass(frozen=True)
class Lane:
    """One kind of call: where it goes, and the requests (serialised) that it sends in turn."""

    address: str
    metadata: tuple[tuple[str, str], ...]
    method: str
    requests: tuple[bytes, ...]
    reply: type[Message]


@dataclass(frozen=True)
class Latencies:
    """Milliseconds, as measured."""

    ms: tuple[float, ...]

    def at(self, percentile: float) -> float:
        """The latency that so many percent of the calls stay below."""
        return float(np.percentile(self.ms, percentile))

    @property
    def pair(self) -> tuple[float, float]:
        """(p50, p95)."""
        return self.at(50), self.at(95)

    def __add__(self, other: Self) -> "Latencies":
        return Latencies(self.ms + other.ms)


NONE = Latencies(())


async def timed(work: Callable[[T], Awaitable[object]], given: Iterable[T]) -> Latencies:
    """Does work on each of what is given, one after the other; returns how long each took."""
    taken = []
    for each in given:
        began = time.perf_counter()
        await work(each)
        taken.append((time.perf_counter() - began) * 1000)
    return Latencies(tuple(taken))


class Caller:
    """A closed-loop client in another process."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    async def alternate(
        self, lanes: Sequence[Lane], *, rounds: int, calls: int, warm_up: int = WARM_UP
    ) -> list[Latencies]:
        """Calls each lane `calls` times, in turn, for so many rounds; one result per lane.

        Before it measures, it sends the first `warm_up` requests of each lane.
        """
        loop = asyncio.get_running_loop()
        measured = partial(_measured, tuple(lanes), rounds, calls, warm_up)
        found = await loop.run_in_executor(self._pool, measured)
        return [Latencies(tuple(each)) for each in found]


@contextmanager
def caller() -> Iterator[Caller]:
    """A caller, gone after the block. It is spawned: gRPC does not survive a fork."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield Caller(pool)


def _measured(lanes: Sequence[Lane], rounds: int, calls: int, warm_up: int) -> list[list[float]]:
    return uvloop.run(_alternate(lanes, rounds, calls, warm_up))


async def _alternate(
    lanes: Sequence[Lane], rounds: int, calls: int, warm_up: int
) -> list[list[float]]:
    channels = [grpc.aio.insecure_channel(lane.address) for lane in lanes]
    try:
        clients = [_Client(*pair) for pair in zip(lanes, channels, strict=True)]
        for client in clients:
            await client.call(warm_up)
        found: list[list[float]] = [[] for _ in lanes]
        for _ in range(rounds):
            for client, latencies in zip(clients, found, strict=True):
                latencies.extend(await client.call(calls))
        return found
    finally:
        for channel in channels:
            await channel.close()


class _Client:
    def __init__(self, lane: Lane, channel: grpc.aio.Channel) -> None:
        self._ask: grpc.aio.UnaryUnaryMultiCallable[bytes, Message] = channel.unary_unary(
            lane.method, None, lane.reply.FromString
        )
        self._metadata = lane.metadata
        self._requests = cycle(lane.requests)

    async def call(self, times: int) -> list[float]:
        """Calls one after the other; milliseconds each."""
        latencies = []
        for request in islice(self._requests, times):
            began = time.perf_counter()
            await self._ask(request, metadata=self._metadata, timeout=TIMEOUT)
            latencies.append((time.perf_counter() - began) * 1000)
        return latencies
