"""What checks of a space cost without a model, and what a write pays for being followed."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from concord.dissonance.v1.dissonance_pb2 import CheckSummary, DetectContradictionsRequest
from concord.dissonance.v1.dissonance_pb2_grpc import DissonanceServiceStub
from concord.graph.v1.memory_pb2 import AddMemoryRequest, AddMemoryResponse
from concord.type.v1.type_pb2 import Memory
from concord_chassis.call.identity import Caller
from concord_dissonance import bootstrap as dissonance_parts
from concord_dissonance.config import Addresses
from concord_dissonance.usecases.read_ahead import AT_ONCE
from concord_reading.frame import Passage
from concord_reading.reader import Reader
from concord_testing.embedders import WordEmbedder

from tests.bench import sentences
from tests.bench.filling import found, remember
from tests.bench.run import Run
from tests.bench.servers import Whole, nowhere, served, whole
from tests.bench.table import Bar, Row
from tests.bench.timing import NONE

if TYPE_CHECKING:  # the name exists for type checkers only
    from concord.dissonance.v1.dissonance_pb2_grpc import DissonanceServiceAsyncStub

PATIENCE = 1800.0
SPACE = "default"
ADD = "/concord.graph.v1.MemoryService/AddMemory"
MOST_FINDINGS = 1_000_000
CALLS, WARM_UP = 25, 5
SETTLE = 3.0
"""Seconds in which what follows a batch of writes ends, so that the other system's pay nothing."""
NEW = 20
"""Memories that are new at the second check."""
OPPOSED = 50
"""One in so many sentences is there a second time, denied."""


@dataclass(frozen=True)
class Checked:
    """What reading and checks took, in seconds, and what a full one covered.

    `unread`: a full check that reads all texts; `full`: one by the same process that has read them.
    """

    size: int
    unread: float
    full: float
    changed: float
    unchanged: float
    summary: CheckSummary


async def bench(run: Run) -> AsyncIterator[Row]:
    """Eight rows."""
    small, middle, large = [
        await _checked(run.folder / str(size), size)
        for size in (run.size(1_000, 100), run.size(4_000, 200), run.size(10_000, 400))
    ]
    judged = large.summary.coverage
    growth = math.log(large.full / small.full) / math.log(large.size / small.size)
    note = f"{sum(large.summary.findings.values()):,} findings; skipped {dict(judged.skipped)}"
    what = f"dissonance, {large.size:,} memories"
    yield Row(
        f"{what}, full check of texts that are read", "s", (large.full,), bar=Bar(60), note=note
    )
    yield Row(f"{what}, full check that reads all texts", "s", (large.unread,))
    yield Row(
        f"dissonance, {middle.size:,} memories, check after {NEW} new",
        "s",
        (middle.changed,),
        floor=(middle.full,),
        floor_is="the full check",
        ratio=middle.changed / middle.full,
        bar=Bar(0.1),
    )
    yield _reading(run)
    pairs = judged.candidates / large.size
    yield Row(f"{what}, pairs a statement", "", (pairs,), bar=Bar(20))
    yield Row(
        f"{what}, growth exponent",
        "",
        (growth,),
        bar=Bar(1.15),
        note=f"from {small.size:,} memories, which took {small.full:.1f} s",
    )
    yield Row(
        f"{what}, unchanged second check",
        "s",
        (large.unchanged,),
        floor=(large.full,),
        floor_is="the full check",
        ratio=large.unchanged / large.full,
        bar=Bar(0.05),
    )
    yield await _write(run)


def _reading(run: Run) -> Row:
    size = run.size(10_000, 100)
    passages = [Passage(text) for text in islice(sentences.endless(5), size)]
    reader = Reader()
    reader.read(Passage("The parser is loaded first."))
    began = time.perf_counter()
    for start in range(0, size, AT_ONCE):
        reader.read_all(passages[start : start + AT_ONCE])
    note = f"{AT_ONCE} at once, as in the background"
    return Row(f"reading {size:,} texts", "s", (time.perf_counter() - began,), note=note)


async def _write(run: Run) -> Row:
    """AddMemory by turns in a system that dissonance follows, and in one without it."""
    times, texts = [NONE, NONE], sentences.endless(seed=3)
    async with AsyncExitStack() as stack:
        systems = [
            await stack.enter_async_context(whole(run.folder / name, WordEmbedder()))
            for name in ("alone", "followed")
        ]
        await _dissonance(stack, systems[1], follow=True)
        for turn in range(run.rounds):
            for place in (0, 1) if turn % 2 else (1, 0):
                requests = [
                    AddMemoryRequest(request_id=f"{turn}-{at}", memory=Memory(content=text))
                    for at, text in enumerate(islice(texts, CALLS + WARM_UP))
                ]
                lane = systems[place].graph.lane(ADD, requests, AddMemoryResponse, space=SPACE)
                (took,) = await run.caller.alternate([lane], rounds=1, calls=CALLS, warm_up=WARM_UP)
                times[place] += took
                await asyncio.sleep(SETTLE)
    alone, followed = times
    return Row(
        "dissonance, AddMemory while it follows",
        "ms",
        followed.pair,
        floor=alone.pair,
        floor_is="AddMemory with graph and search alone, by turns",
        ratio=followed.at(50) / alone.at(50),
        bar=Bar(1.05),
    )


async def _checked(folder: Path, size: int) -> Checked:
    async with AsyncExitStack() as stack:
        system = await stack.enter_async_context(whole(folder, WordEmbedder()))
        token = await remember(system, islice(_memories(), size), name="fill", space=SPACE)
        await found(system, token, space=SPACE)
        stub = await _dissonance(stack, system)
        unread, _ = await _timed(stub, "unread", full=True)
        full, summary = await _timed(stub, "full", full=True)
        new = (Memory(content=text) for text in islice(sentences.endless(2), NEW))
        token = await remember(system, new, name="new", space=SPACE)
        await found(system, token, space=SPACE)
        changed, _ = await _timed(stub, "changed", full=False)
        unchanged, _ = await _timed(stub, "unchanged", full=False)
    return Checked(size, unread, full, changed, unchanged, summary)


def _memories() -> Iterator[Memory]:
    for number, text in enumerate(sentences.endless(1)):
        yield Memory(content=text)
        if number % OPPOSED == 0:
            yield Memory(content=f"It is not true that {text[0].lower()}{text[1:]}")


async def _dissonance(
    stack: AsyncExitStack, system: Whole, *, follow: bool = False
) -> "DissonanceServiceAsyncStub":
    issuer = system.graph.serving.issuer
    addresses = Addresses(
        graph_address=system.graph.serving.address,
        search_address=system.search.serving.address,
        governance_address="unix:/nowhere",
    )
    log = stack.enter_context(nowhere("dissonance"))
    app = dissonance_parts.build(addresses, issuer, log=log)
    if follow:
        await app.start()
    stack.push_async_callback(app.close)
    live = await stack.enter_async_context(served(app.registrations, issuer=issuer))
    who = Caller(SPACE, "bench", frozenset({"dissonance:write"}), "AGENT")
    return DissonanceServiceStub(live.serving.channel(who, cap=None))


async def _timed(
    stub: "DissonanceServiceAsyncStub", request_id: str, *, full: bool
) -> tuple[float, CheckSummary]:
    request = DetectContradictionsRequest(
        request_id=request_id, full=full, max_text_findings=MOST_FINDINGS
    )
    began = time.perf_counter()
    async for reply in stub.DetectContradictions(request, timeout=PATIENCE):
        if reply.HasField("summary"):
            return time.perf_counter() - began, reply.summary
    raise RuntimeError("the check ended without a summary")
