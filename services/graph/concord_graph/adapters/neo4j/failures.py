"""Translates the server's failures into graph's errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from concord_stores.neo4j_server import ServerBusy, ServerUnavailable

from concord_graph.domain.errors import Overloaded, StoreUnavailable


@contextmanager
def told_by_graph() -> Iterator[None]:
    """Raise graph's error for a failure of the server."""
    try:
        yield
    except ServerBusy as error:
        raise Overloaded(str(error)) from error
    except ServerUnavailable as error:
        raise StoreUnavailable(str(error)) from error
