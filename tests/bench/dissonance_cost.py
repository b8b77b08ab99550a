"""What a full check of a space costs without a model."""

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
from concord.type.v1.type_pb2 import Memory
from concord_chassis.identity import Caller
from concord_dissonance import bootstrap as dissonance_parts
from concord_dissonance.config import Addresses
from concord_testing.embedders import WordEmbedder

from tests.bench import sentences
from tests.bench.filling import found, remember
from tests.bench.run import Run
from tests.bench.servers import Whole, nowhere, served, whole
from tests.bench.table import Bar, Row

if TYPE_CHECKING:  # the name exists for type checkers only
    from concord.dissonance.v1.dissonance_pb2_grpc import DissonanceServiceAsyncStub

PATIENCE = 1800.0
SPACE = "default"
OPPOSED = 50
"""One in so many sentences is there a second time, denied."""


@dataclass(frozen=True)
class Checked:
    """What two checks took, in seconds, and what the first covered."""

    size: int
    full: float
    unchanged: float
    summary: CheckSummary


async def bench(run: Run) -> AsyncIterator[Row]:
    """Four rows."""
    small, large = [
        await _checked(run.folder / str(size), size)
        for size in (run.size(1_000, 100), run.size(10_000, 400))
    ]
    judged = large.summary.coverage
    growth = math.log(large.full / small.full) / math.log(large.size / small.size)
    note = f"{sum(large.summary.findings.values()):,} findings; skipped {dict(judged.skipped)}"
    what = f"dissonance, {large.size:,} memories"
    yield Row(f"{what}, full check", "s", (large.full,), bar=Bar(60), note=note)
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


async def _checked(folder: Path, size: int) -> Checked:
    async with AsyncExitStack() as stack:
        system = await stack.enter_async_context(whole(folder, WordEmbedder()))
        token = await remember(system, islice(_memories(), size), name="fill", space=SPACE)
        await found(system, token, space=SPACE)
        stub = await _dissonance(stack, system)
        full, summary = await _timed(stub, "full", full=True)
        unchanged, _ = await _timed(stub, "unchanged", full=False)
    return Checked(size, full, unchanged, summary)


def _memories() -> Iterator[Memory]:
    for number, text in enumerate(sentences.endless(1)):
        yield Memory(content=text)
        if number % OPPOSED == 0:
            yield Memory(content=f"It is not true that {text[0].lower()}{text[1:]}")


async def _dissonance(stack: AsyncExitStack, system: Whole) -> "DissonanceServiceAsyncStub":
    issuer = system.graph.serving.issuer
    addresses = Addresses(
        graph_address=system.graph.serving.address,
        search_address=system.search.serving.address,
        governance_address="unix:/nowhere",
    )
    log = stack.enter_context(nowhere("dissonance"))
    app = dissonance_parts.build(addresses, issuer, log=log)
    stack.push_async_callback(app.close)
    live = await stack.enter_async_context(served(app.registrations, app.translate, issuer=issuer))
    who = Caller(SPACE, "bench", frozenset({"dissonance:write"}), "AGENT")
    return DissonanceServiceStub(live.serving.channel(who, cap=None))


async def _timed(
    stub: "DissonanceServiceAsyncStub", request_id: str, *, full: bool
) -> tuple[float, CheckSummary]:
    request = DetectContradictionsRequest(request_id=request_id, full=full)
    began = time.perf_counter()
    async for reply in stub.DetectContradictions(request, timeout=PATIENCE):
        if reply.HasField("summary"):
            return time.perf_counter() - began, reply.summary
    raise RuntimeError("the check ended without a summary")
