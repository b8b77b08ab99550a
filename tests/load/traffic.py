"""An open loop: calls arrive by a Poisson process, and no slow reply holds the next one back."""

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import grpc
import numpy as np
from concord_client.refusal import Refused

STALL = 0.25
"""Seconds without any reply, while calls are under way, that count as a stall."""
Call = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Arrival:
    """One call: seconds after the start at which it arrives, its kind, and what it does."""

    at: float
    kind: str
    call: Call


@dataclass
class Measured:
    """What came back. Latencies are milliseconds from the arrival, not from the sending."""

    latencies: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    refused: Counter[str] = field(default_factory=Counter)
    """By reason, where the system said that it takes no more now; all else is in `failed`."""
    failed: Counter[str] = field(default_factory=Counter)
    offered: int = 0
    lasted: float = 0.0
    longest_gap: float = 0.0
    """The most seconds without a reply while calls were under way."""
    stalls: int = 0
    processor: float = 0.0
    """Seconds of processors that the system took meanwhile."""

    @property
    def answered(self) -> int:
        """Calls with a reply that is neither a refusal nor a failure."""
        return sum(map(len, self.latencies.values()))

    def at(self, kind: str, percentile: float) -> float:
        """The latency in milliseconds that so many percent of a kind's answers stay below."""
        return float(np.percentile(self.latencies[kind], percentile))


def poisson(
    rate: float,
    seconds: float,
    draw: random.Random,
    pick: Callable[[random.Random], tuple[str, Call]],
) -> list[Arrival]:
    """The arrivals of one client: `rate` a second, exponential gaps, each with a picked call."""
    found, at = [], draw.expovariate(rate)
    while at < seconds:
        found.append(Arrival(at, *pick(draw)))
        at += draw.expovariate(rate)
    return found


async def play(arrivals: Sequence[Arrival]) -> Measured:
    """Sends each call at its time, whatever became of those before; returns when all have ended."""
    measured = Measured(offered=len(arrivals))
    clock, began = time.perf_counter, time.perf_counter()
    under_way, last_reply = 0, clock()

    def replied() -> None:
        nonlocal last_reply
        gap = clock() - last_reply
        measured.longest_gap = max(measured.longest_gap, gap)
        measured.stalls += gap > STALL
        last_reply = clock()

    async def one(arrival: Arrival) -> None:
        nonlocal under_way, last_reply
        if not under_way:  # nobody waited for a reply until now
            last_reply = clock()
        under_way += 1
        try:
            await arrival.call()
            taken = (clock() - began - arrival.at) * 1000
            measured.latencies[arrival.kind].append(taken)
        except Refused as refused:
            said_no = refused.code is grpc.StatusCode.RESOURCE_EXHAUSTED
            counts = measured.refused if said_no else measured.failed
            counts[refused.reason or refused.code.name] += 1
        finally:
            under_way -= 1
            replied()

    async with asyncio.TaskGroup() as group:
        for arrival in sorted(arrivals, key=lambda each: each.at):
            if (wait := began + arrival.at - clock()) > 0:
                await asyncio.sleep(wait)
            group.create_task(one(arrival))
    measured.lasted = clock() - began
    return measured
