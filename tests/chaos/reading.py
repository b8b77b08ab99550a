"""Lists of the running system, read to their last page."""

from collections.abc import Callable
from typing import Any


def every_page(method: Callable[[Any], Any], request: Any, field: str) -> list[Any]:
    """What a list RPC lists in a field of its replies, on all pages."""
    found: list[Any] = []
    while True:
        reply = method(request)
        found += getattr(reply, field)
        if not reply.next_page_token:
            return found
        request.page_token = reply.next_page_token
