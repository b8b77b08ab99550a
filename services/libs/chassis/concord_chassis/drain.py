"""Ends calls that would never end by themselves when the server has to stop.

A stream without a deadline follows something forever. Waiting for it would make every stop last
its whole grace; so the server ends it at once, and the caller comes again elsewhere.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc

from concord_chassis.failure import Failure


class Drain:
    """Knows the calls of one server that follow forever."""

    def __init__(self) -> None:
        self._following: set[asyncio.Timeout] = set()
        self._began = False

    def begin(self) -> None:
        """Ends every following call, and each that comes from now on, with UNAVAILABLE."""
        self._began = True
        for scope in self._following:
            scope.reschedule(asyncio.get_running_loop().time())

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """A block that `begin` interrupts. Raises `Failure` (UNAVAILABLE) then."""
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
