"""Of dissonance's replicas one follows a space: the one that has its lease from graph."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from concord_dissonance.domain.errors import LeaseElsewhere, ServiceUnavailable
from concord_dissonance.ports.feed import Lease, Leases

T = TypeVar("T")

RENEW_EVERY = 3.0
"""Seconds; a lease lasts for 10, so two attempts may fail."""


async def alone(leases: Leases, space: str, work: Callable[[], Awaitable[T]]) -> T:
    """Do a work in a space under its lease; it is cancelled when that is lost.

    What two did at once all the same is settled by graph: a position is stored by whoever knows the
    last one, conflicts and proposals are of a pair. Raises `LeaseElsewhere`, `ServiceUnavailable`.
    """
    lease = await leases.acquire(space)
    if not lease.is_ours:
        raise LeaseElsewhere(lease.remaining)
    working = asyncio.ensure_future(work())
    renewing = asyncio.ensure_future(_until_lost(leases, space, lease))
    try:
        await asyncio.wait((working, renewing), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        renewing.result()
        raise LeaseElsewhere(RENEW_EVERY)
    finally:
        for task in (working, renewing):
            task.cancel()
        await asyncio.wait((working, renewing))


async def _until_lost(leases: Leases, space: str, lease: Lease) -> None:
    renewed, loop = True, asyncio.get_running_loop()
    until = loop.time() + lease.remaining
    while renewed and loop.time() < until:
        await asyncio.sleep(RENEW_EVERY)
        asked = loop.time()
        with suppress(ServiceUnavailable):  # while it lasts, nobody else has it
            renewed = await leases.renew(space, lease.number)
            until = asked + lease.remaining
