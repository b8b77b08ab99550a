"""Reads a request's body within its limits."""

import asyncio

from concord_chassis.call import deadline
from starlette.requests import Request

from concord_gateway.upstream_failure import too_large

DRAINED = 8
"""A body that is too large is read and dropped up to so many times its limit. A connection closed
with unread bytes is reset, and the sender may never see the error."""


async def read(request: Request, limit: int, seconds: float) -> bytes:
    """The body, of at most `limit` bytes.

    Raises `Failure`: MESSAGE_TOO_LARGE, at once if the headers say so already, or
    DEADLINE_EXCEEDED if the body does not arrive in time. Raises `ClientDisconnect`.
    """
    if int(request.headers.get("content-length", 0)) > limit:  # h11 lets only digits pass
        raise too_large(limit)  # what arrives of it nevertheless is dropped
    body, seen = bytearray(), 0
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                seen += len(chunk)
                if seen > DRAINED * limit:
                    break
                if seen <= limit:
                    body += chunk
    except TimeoutError:
        raise deadline.exceeded("The body did not arrive before the deadline.") from None
    if seen > limit:
        raise too_large(limit)
    return bytes(body)
