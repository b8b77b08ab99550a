"""What Neo4j's errors mean to graph. The driver's own words go to the log, never to a client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from concord_chassis.neo4j_server import ServerBusy, ServerUnavailable, told

from concord_graph.domain.exceptions import Overloaded, StoreUnavailable


@contextmanager
def told_by_graph() -> Iterator[None]:
    """Raise graph's own word for what the driver raises. Our own bugs stay what they are."""
    try:
        with told():
            yield
    except ServerBusy as error:
        raise Overloaded(str(error)) from error
    except ServerUnavailable as error:
        raise StoreUnavailable(str(error)) from error
