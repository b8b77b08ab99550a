"""Work under a lease from graph: of dissonance's replicas only the lease's holder follows a space.

If the holder dies, its lease runs out 10 seconds after its last renewal. The other replicas get
`LeaseElsewhere` until then, wait as long as that says, and the first to ask becomes the holder.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from concord_dissonance.domain.errors import LeaseElsewhere, ServiceUnavailable
from concord_dissonance.ports.feed import Lease, Leases

T = TypeVar("T")

RENEW_EVERY = 3.0
"""In seconds. A lease lasts for 10, so two renewals may fail."""


async def alone(leases: Leases, space: str, work: Callable[[], Awaitable[T]]) -> T:
    """Run work in a space under its lease; cancel the work when the lease is lost.

    If two processes have worked at once all the same, nothing is done twice: a position is stored
    only over the last one's etag, and a conflict or proposal only once for its pair.
    Raises `LeaseElsewhere`, `ServiceUnavailable`.
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
        with suppress(ServiceUnavailable):  # until it runs out, it stays ours
            renewed = await leases.renew(space, lease.number)
            until = asked + lease.remaining
