"""Threads for work that would block the event loop: stores, models, hashing."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from threading import BoundedSemaphore, Lock
from typing import Any, Generic, ParamSpec, TypeVar

import grpc

from concord_chassis.call.failure import Failure
from concord_chassis.observe import tracing

P = ParamSpec("P")
T = TypeVar("T")


MOST_WAITING = 1024


class Workers:
    """A fixed number of threads with a bounded queue of at most `MOST_WAITING` functions.

    With `max_workers=1`, all work of a store runs in one thread. Functions of one lane start in the
    order in which they came; among the lanes, the one that has used the threads least comes next.
    So a lane's short work waits for one long work of the others at most, not for all that wait.
    """

    def __init__(self, max_workers: int, name: str) -> None:
        self._executor = ThreadPoolExecutor(max_workers, thread_name_prefix=name)
        self._room = BoundedSemaphore(max_workers + MOST_WAITING)
        self._name = name
        self._waiting = _FairQueue()

    async def run(self, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs `fn` in one of the threads, in the lane of all such calls; see `run_in`."""
        return await self.run_in("", fn, *args, **kwargs)

    async def run_in(self, lane: str, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs `fn` in one of the threads; returns its result, or raises its exception.

        `fn` runs in the current call's context and, if the call is traced, in a span with the name
        of these threads. If the caller is cancelled, `fn` is not started; if it is running, it runs
        to its end and its result is dropped.

        Raises `Failure` (OVERLOADED) when the queue is full, `RuntimeError` after `close`.
        """
        if not self._room.acquire(blocking=False):
            raise Failure(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                "ERROR_REASON_OVERLOADED",
                "Too much is waiting to be done.",
                retry_after=1.0,
            )
        with tracing.span(self._name):
            work = _Work(partial(copy_context().run, fn, *args, **kwargs))
            self._waiting.put(lane, work)
            try:
                self._executor.submit(self._waiting.run_next)
            except RuntimeError:
                self._waiting.drop()
                self._room.release()
                raise
            work.outcome.add_done_callback(lambda _: self._room.release())
            return await asyncio.wrap_future(work.outcome)

    def close(self) -> None:
        """Drops the waiting functions, and returns when the running ones have ended."""
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._waiting.drop()


class _Work(Generic[T]):
    """A function that waits for a thread, and the future of its outcome."""

    def __init__(self, fn: Callable[[], T]) -> None:
        self._fn = fn
        self.outcome: Future[T] = Future()

    def run(self) -> None:
        """Runs the function unless its caller has gone."""
        if not self.outcome.set_running_or_notify_cancel():
            return
        try:
            result = self._fn()
        except BaseException as error:  # noqa: BLE001 - its caller gets it
            self.outcome.set_exception(error)
            del self  # the error's traceback holds this frame: no cycle
        else:
            self.outcome.set_result(result)


class _FairQueue:
    """Waiting work by lanes: the lane that used least time comes next.

    That is start-time fair queueing (P. Goyal, H. M. Vin, H. Cheng, 1996). A lane that comes anew
    begins where the others are, so that nobody saves up time. Safe among threads.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._lanes: dict[str, deque[_Work[Any]]] = {}
        self._used: dict[str, float] = {}  # seconds by lane, since last none waited
        self._now = 0.0  # what the lane whose work began last had used

    def put(self, lane: str, work: _Work[Any]) -> None:
        """Adds work at the end of its lane."""
        with self._lock:
            if lane not in self._lanes:
                self._lanes[lane] = deque()
                self._used[lane] = max(self._used.get(lane, 0.0), self._now)
            self._lanes[lane].append(work)

    def run_next(self) -> None:
        """Runs the work whose turn it is, in this thread; call it once for each work."""
        lane, work = self._take()
        began = time.perf_counter()
        try:
            work.run()
        finally:
            self._note(lane, time.perf_counter() - began)

    def drop(self) -> None:
        """Cancels all work that waits."""
        with self._lock:
            dropped = [work for lane in self._lanes.values() for work in lane]
            self._lanes.clear()
        for work in dropped:
            work.outcome.cancel()

    def _take(self) -> tuple[str, _Work[Any]]:
        with self._lock:
            lane = min(self._lanes, key=self._used.__getitem__)
            self._now = self._used[lane]
            work = self._lanes[lane].popleft()
            if not self._lanes[lane]:
                del self._lanes[lane]
            return lane, work

    def _note(self, lane: str, seconds: float) -> None:
        with self._lock:
            self._used[lane] = self._used.get(lane, self._now) + seconds
            if not self._lanes:
                self._used.clear()
                self._now = 0.0
