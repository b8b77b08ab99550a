"""Every page of a list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol


class Paged(Protocol):
    """A reply of which more may follow."""

    next_page_token: str


async def pages(call: Callable[[Any], Awaitable[Paged]], request: Any) -> list[Any]:
    """Return every page of a list."""
    found = []
    while True:
        reply = await call(request)
        found.append(reply)
        if not reply.next_page_token:
            return found
        request.page_token = reply.next_page_token
