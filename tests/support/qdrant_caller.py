"""What asks a Qdrant server without Concord's adapter."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import grpc
from qdrant_client import grpc as wire


@dataclass(frozen=True)
class Caller:
    """The stubs of a server's services."""

    channel: grpc.Channel
    qdrant: Any
    collections: Any
    points: Any


@contextmanager
def calling(url: str) -> Iterator[Caller]:
    """A caller of the server at an address."""
    with closing(grpc.insecure_channel(urlsplit(url).netloc)) as channel:
        stubs: Any = wire  # its constructors have no types
        yield Caller(
            channel,
            stubs.QdrantStub(channel),
            stubs.CollectionsStub(channel),
            stubs.PointsStub(channel),
        )
