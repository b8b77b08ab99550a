"""Ends the calls without an end when the server has to stop.

A stream without a deadline, such as a change feed, may go on for ever. Waiting for it would make
every stop take all of its grace period. So the server ends such streams at once with UNAVAILABLE,
and their callers open them again at another replica, or after the restart.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc

from concord_chassis.call.failure import Failure


class Drain:
    """The calls of one server that have no deadline and may go on for ever."""

    def __init__(self) -> None:
        self._following: set[asyncio.Timeout] = set()
        self._began = False

    def begin(self) -> None:
        """Ends every block of `following`, and each one entered from now on, with UNAVAILABLE."""
        self._began = True
        for scope in self._following:
            scope.reschedule(asyncio.get_running_loop().time())

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Runs a block that `begin` interrupts; the block then raises `Failure` (UNAVAILABLE)."""
        if self._began:
            raise _draining()
        scope = asyncio.timeout(None)
        try:
            async with scope:
                self._following.add(scope)
                yield
        except TimeoutError:
            if not scope.expired():
                raise
            raise _draining() from None
        finally:
            self._following.discard(scope)


def _draining() -> Failure:
    return Failure(
        grpc.StatusCode.UNAVAILABLE, "ERROR_REASON_UNAVAILABLE", "The server is stopping."
    )
