import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import grpc
import pytest
from chassis_probe import READER, until
from concord_chassis.call import identity
from concord_chassis.call.failure import Failure
from concord_chassis.server import workers as worker_threads
from concord_chassis.server.workers import Workers


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    """Yields one thread with a queue for one function."""
    monkeypatch.setattr(worker_threads, "MOST_WAITING", 1)
    pool = Workers(1, "store")
    yield pool
    pool.close()


@asynccontextmanager
async def held(pool: Workers, lane: str = "") -> AsyncIterator[threading.Event]:
    """Holds the pool's one thread until the block ends, or sets the event."""
    gate, begun = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        gate.wait()

    holding = asyncio.create_task(pool.run_in(lane, hold))
    await until(begun.is_set)
    try:
        yield gate
    finally:
        gate.set()
        await holding


async def test_work_runs_in_a_named_thread_of_its_own(workers: Workers) -> None:
    """Design 4: blocking work runs in a thread: on the event loop it would stop all calls."""
    name = await workers.run(lambda: threading.current_thread().name)

    assert name.startswith("store")


async def test_a_worker_knows_the_call_that_it_works_for(workers: Workers) -> None:
    """W6: work in a thread has its call's caller; the next work does not."""

    async def called() -> identity.Caller:
        identity.enter(READER)
        return await workers.run(identity.caller)

    assert await asyncio.create_task(called()) == READER
    with pytest.raises(LookupError):
        await workers.run(identity.caller)


async def test_an_exception_comes_back(workers: Workers) -> None:
    """Style 10: an exception in a thread is raised to the caller of `run`."""
    with pytest.raises(ZeroDivisionError):
        await workers.run(lambda: 1 // 0)


async def test_more_than_fits_is_refused_and_room_comes_back(workers: Workers) -> None:
    """Style 11: work beyond the queue is refused (RESOURCE_EXHAUSTED), with a time for a retry."""
    gate = threading.Event()
    running = [asyncio.create_task(workers.run(gate.wait)) for _ in range(2)]
    await asyncio.sleep(0)

    with pytest.raises(Failure) as caught:
        await workers.run(int)

    assert caught.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert caught.value.reason == "ERROR_REASON_OVERLOADED"
    assert caught.value.retry_after == 1.0
    gate.set()
    assert await asyncio.gather(*running) == [True, True]
    assert await workers.run(int) == 0


async def test_what_waits_for_a_gone_caller_never_starts(workers: Workers) -> None:
    """Style 7: the waiting work of a cancelled call does not start, and frees its place."""
    done: list[str] = []
    async with held(workers):
        waiting = asyncio.create_task(workers.run(done.append, "never"))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])

    assert await workers.run(int) == 0
    assert done == []


async def test_a_closed_pool_takes_no_work() -> None:
    """Style 10: work after `close` is a bug: `run` raises `RuntimeError`."""
    workers = Workers(1, "store")
    workers.close()

    with pytest.raises(RuntimeError):
        await workers.run(int)


async def test_the_lane_that_used_least_comes_next() -> None:
    """W7 one caller's long work keeps nobody waiting for more than what runs: of what waits, the
    work of whoever used the thread least comes next, and each one's own in its order."""
    roomy = Workers(1, "store")
    done: list[str] = []
    running = []
    async with held(roomy, "heavy"):
        for lane, name in [("heavy", "h2"), ("heavy", "h3"), ("light", "l1"), ("light", "l2")]:
            running.append(asyncio.create_task(roomy.run_in(lane, done.append, name)))
            await asyncio.sleep(0)
    await asyncio.gather(*running)
    roomy.close()

    assert done == ["l1", "l2", "h2", "h3"]


async def test_what_waits_is_cancelled_when_the_threads_are_closed() -> None:
    """Style 7: `close` leaves nobody waiting for work that never starts."""
    pool = Workers(1, "store")
    async with held(pool) as gate:
        waiting = asyncio.create_task(pool.run_in("b", int))
        await asyncio.sleep(0)
        closing = asyncio.create_task(asyncio.to_thread(pool.close))
        gate.set()
        await closing
    await asyncio.wait([waiting], timeout=5)

    assert waiting.cancelled() or waiting.result() == 0
