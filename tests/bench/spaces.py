"""Many spaces in one running system: its start, memory, threads, first uses and rest (W7, S10)."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import grpc
from concord.governance.v1 import access_pb2
from concord.governance.v1.access_pb2_grpc import AccessServiceStub
from concord.graph.v1 import memory_pb2
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.search.v1 import search_pb2
from concord.search.v1.search_pb2_grpc import SearchServiceStub
from concord.type.v1 import type_pb2
from concord_client import credentials

from tests.bench.run import Run
from tests.bench.table import Bar, Row
from tests.load.system import PATIENCE, Space, Up, bearer, made, up

FULL, TENTH, QUICK = 50_000, 5_000, 60
LONGER, SEARCHED, ERASED = Bar(10.0), Bar(2.0), Bar(5.0)
"""Seconds."""
RESIDENT, IDLE, FLAT = Bar(850.0), Bar(2.0), Bar(1.25)
"""Megabytes; percent of a core; times the threads or descriptors of few spaces in use."""
TRIES = 10
MOST_USED = 5_000
"""So many spaces are searched once."""
SETTLES = 900.0
"""Seconds within which a system that was filled has read what was written, and rests."""
POLL = 0.02


async def bench(run: Run) -> AsyncIterator[Row]:
    """Nine rows; `--large` fills 50,000 spaces, which takes an hour or more."""
    spaces = FULL if run.large else run.size(TENTH, QUICK)
    empty, draw = await _rest(run.folder / "empty", run.size(60, 2)), random.Random(36)
    began = time.perf_counter()
    with up(run.folder / "full") as system:
        filled = await made(system, [1 if at % 10 else 10 for at in range(spaces)], draw)
    took = time.perf_counter() - began
    note = f"filled in {took:,.0f} s: ten memories in a tenth of the spaces, one in the others"
    for row in await measured(run.folder / "full", filled, empty, run.size(60, 2), note):
        yield row


@dataclass(frozen=True)
class Rest:
    """A system that started and then rested: seconds to its start, on the wall and of processors,
    percent of a core at rest, seconds until it rested, megabytes."""

    start: float
    processor: float
    idle: float
    settled: float
    megabytes: float


async def _rest(data: Path, seconds: float) -> Rest:
    with up(data):
        pass  # the first start makes keys and files
    began = time.perf_counter()
    with up(data) as system:
        return await _rested(system, time.perf_counter() - began, seconds)


async def _rested(system: Up, start: float, seconds: float) -> Rest:
    """Waits until the system has read what was written, then measures it at rest."""
    processor, began = system.seconds(), time.perf_counter()
    while True:
        settled = time.perf_counter() - began
        before = system.seconds()
        await asyncio.sleep(seconds)
        idle = 100 * (system.seconds() - before) / seconds
        if IDLE.met(idle) or settled > SETTLES or seconds < 10:
            break
    system.look()
    return Rest(start, processor, idle, settled, system.most_megabytes)


async def measured(
    data: Path, spaces: Sequence[Space], empty: Rest, seconds: float, note: str
) -> list[Row]:
    """Starts a filled system and measures it, at rest for some seconds too."""
    began, count = time.perf_counter(), f"{len(spaces):,} spaces"
    with up(data) as system:
        start = time.perf_counter() - began
        rest = await _rested(system, start, seconds)
        async with grpc.aio.insecure_channel(system.url) as channel:
            some = random.Random(1).sample(spaces, min(TRIES, len(spaces)))
            searched = [await _searched(channel, each) for each in some]
            erased = [await _erased(channel, each) for each in some]
            refused = await _refused(channel, system)
            system.look()
            threads, descriptors = system.threads, system.descriptors
            used = spaces[:: max(1, len(spaces) // MOST_USED)][:MOST_USED]
            gate = asyncio.Semaphore(8)
            await asyncio.gather(*(_used(channel, each, gate) for each in used))
            system.look()
    more = f"spaces: {{}}, {len(used):,} of {count} used"
    return [
        Row(
            f"spaces: start with {count}",
            "s",
            (start,),
            floor=(empty.start,),
            floor_is=f"an empty system; of processors {rest.processor:.1f}, {empty.processor:.1f}",
            note=note,
        ),
        Row("spaces: start, longer than of none", "s", (start - empty.start,), bar=LONGER),
        _flat(more.format("threads"), system.threads, threads),
        _flat(more.format("descriptors"), system.descriptors, descriptors),
        Row(
            more.format("resident"),
            "MB",
            (system.most_megabytes,),
            floor=(empty.megabytes,),
            floor_is=f"an empty system; at rest after the start with all {rest.megabytes:,.0f}",
            bar=RESIDENT,
        ),
        Row("spaces: an add is searched, at most", "s", (max(searched),), bar=SEARCHED),
        Row("spaces: an erasure's receipt, at most", "s", (max(erased),), bar=ERASED),
        Row(
            "spaces: at rest",
            "% core",
            (rest.idle,),
            floor=(empty.idle,),
            floor_is=f"an empty system, for {seconds:.0f} s too",
            bar=IDLE,
            note=f"{rest.settled:.0f} s after the start: until then it read what was written",
        ),
        Row("spaces: one more", "made", (float(not refused),), note=refused or "below the limit"),
    ]


def _flat(what: str, figure: int, floor: int) -> Row:
    floor_is = f"with {TRIES} in use"
    return Row(what, "", (figure,), (floor,), floor_is, ratio=figure / floor, bar=FLAT)


async def _searched(channel: grpc.aio.Channel, space: Space) -> float:
    """Seconds from the request of an add until a search finds it."""
    began = time.perf_counter()
    word = f"zanzibar {time.time_ns()}"
    adding = memory_pb2.AddMemoryRequest(
        request_id=word, memory=type_pb2.Memory(id="late", content=f"The ferry leaves {word}.")
    )
    await MemoryServiceStub(channel).AddMemory(adding, metadata=bearer(space.key), timeout=PATIENCE)
    while True:
        if "late" in await _found(channel, space, f"ferry {word}"):
            return time.perf_counter() - began
        await asyncio.sleep(POLL)


async def _used(channel: grpc.aio.Channel, space: Space, gate: asyncio.Semaphore) -> None:
    async with gate:
        await _found(channel, space, "an offer of this week")


async def _found(channel: grpc.aio.Channel, space: Space, text: str) -> set[str]:
    reply = await SearchServiceStub(channel).Search(
        search_pb2.SearchRequest(query=text, page_size=5),
        metadata=bearer(space.key),
        timeout=PATIENCE,
    )
    return {each.memory.id for each in reply.results}


async def _erased(channel: grpc.aio.Channel, space: Space) -> float:
    """Seconds from an erasure until its receipt is complete."""
    memory, key = MemoryServiceStub(channel), bearer(space.key)
    look = memory_pb2.GetMemoryRequest(id="late", peek=True)
    etag = (await memory.GetMemory(look, metadata=key)).memory.etag
    began = time.perf_counter()
    erasing = memory_pb2.EraseMemoryRequest(request_id="erase", id="late", etag=etag)
    await memory.EraseMemory(erasing, metadata=key, timeout=PATIENCE)
    asked = memory_pb2.GetEraseReceiptRequest(memory_id="late")
    while True:
        found = await memory.GetEraseReceipt(asked, metadata=key)
        if found.receipt.HasField("complete_time"):
            return time.perf_counter() - began
        await asyncio.sleep(POLL)


async def _refused(channel: grpc.aio.Channel, system: Up) -> str:
    """Why one more space is refused; empty if it is made."""
    key = credentials.read(system.data / credentials.FILE_NAME).keys[credentials.SYSTEM_SPACE]
    one = access_pb2.CreateSpaceRequest(request_id="one-more", space="one-more")
    try:
        await AccessServiceStub(channel).CreateSpace(one, metadata=bearer(key))
    except grpc.aio.AioRpcError as error:
        return f"{error.code().name}: {error.details()}"
    return ""
