"""Threads for work that would block the event loop: stores, models, hashing."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import BoundedSemaphore
from typing import ParamSpec, TypeVar

import grpc

from concord_chassis import tracing
from concord_chassis.failure import Failure

P = ParamSpec("P")
T = TypeVar("T")


class Workers:
    """A fixed number of threads with a bounded queue of at most `max_waiting` functions.

    With `max_workers=1`, all work of a store runs in one thread.
    """

    def __init__(self, max_workers: int, name: str, *, max_waiting: int = 1024) -> None:
        self._executor = ThreadPoolExecutor(max_workers, thread_name_prefix=name)
        self._room = BoundedSemaphore(max_workers + max_waiting)
        self._name = name

    async def run(self, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
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
            context = copy_context()
            try:
                work = self._executor.submit(lambda: context.run(fn, *args, **kwargs))
            except RuntimeError:
                self._room.release()
                raise
            work.add_done_callback(lambda _: self._room.release())
            return await asyncio.wrap_future(work)

    def close(self) -> None:
        """Drops the waiting functions, and returns when the running ones have ended."""
        self._executor.shutdown(wait=True, cancel_futures=True)
