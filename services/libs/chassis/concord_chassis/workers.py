"""Threads for what would block the event loop: stores, models, hashing."""

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
    """A fixed number of threads with a bounded queue before them.

    One worker is also a way to give a store a single thread of its own.
    """

    def __init__(self, max_workers: int, name: str, *, max_waiting: int = 1024) -> None:
        self._executor = ThreadPoolExecutor(max_workers, thread_name_prefix=name)
        self._room = BoundedSemaphore(max_workers + max_waiting)
        self._name = name

    async def run(self, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs `fn` in a thread, in the current call's context and, where that is traced, in a span
        of the threads' name; returns or raises its outcome.

        A cancelled caller's function does not start; one that runs already runs to its end, and
        its outcome is dropped. Raises `Failure` (OVERLOADED) when the queue is full, and
        `RuntimeError` once closed.
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
        """Drops what waits and returns when what runs has ended."""
        self._executor.shutdown(wait=True, cancel_futures=True)
