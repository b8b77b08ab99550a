"""Kills a task where it waits: by an error that its code does not expect, thrown in at that place.

A cancelled task is no dead one: code treats the two differently. So `kill` cancels, and what was
cancelled raises `Killed` in place of the `CancelledError`.
"""

import asyncio
from collections.abc import Coroutine, Generator, Iterator
from contextlib import contextmanager
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Killed(Exception):
    """A bug of ours, as far as the code can know."""


_doomed: set["asyncio.Task[Any]"] = set()


@contextmanager
def mortal() -> Iterator[None]:
    """Makes each task that begins in the block mortal, on the loop that runs."""
    loop = asyncio.get_running_loop()

    # `Any`: asyncio's own type of a factory names what its versions differ in.
    def factory(loop: asyncio.AbstractEventLoop, work: Any, **named: Any) -> Any:
        task = asyncio.Task(_mortal(work), loop=loop, **named)
        task.add_done_callback(lambda _: work.close())  # it may have been cancelled at the start
        return task

    before = loop.get_task_factory()
    loop.set_task_factory(factory)
    try:
        yield
    finally:
        loop.set_task_factory(before)


def kill(task: "asyncio.Task[Any]") -> bool:
    """Kills a task at the place where it waits; returns whether it was alive."""
    _doomed.add(task)
    alive = task.cancel()
    if not alive:
        _doomed.discard(task)
    return alive


async def _mortal(work: Coroutine[Any, Any, T]) -> T:
    return await _driven(work)


@coroutine
def _driven(work: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    """Runs a coroutine as `await` does, but for the cancellation of a doomed task."""
    try:
        waited_for = work.send(None)
        while True:
            try:
                woken = yield waited_for
            except asyncio.CancelledError as cancelled:
                waited_for = work.throw(_death(cancelled))
            except BaseException as error:  # noqa: BLE001 - it is thrown on
                waited_for = work.throw(error)
            else:
                waited_for = work.send(woken)
    except StopIteration as ended:
        value: T = ended.value
        return value
    finally:
        work.close()


def _death(cancelled: asyncio.CancelledError) -> BaseException:
    task = asyncio.current_task()
    if task is None or task not in _doomed:
        return cancelled
    _doomed.discard(task)
    task.uncancel()
    return Killed()
