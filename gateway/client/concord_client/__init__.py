"""Concord's Python client.

    import concord_client
    from concord.type.v1.type_pb2 import Memory
    from concord.graph.v1.memory_pb2 import AddMemoryRequest

    with concord_client.connect() as concord:
        reply = concord.memory.AddMemory(AddMemoryRequest(memory=Memory(content="Tea is at four.")))

The names are those of the contracts: `concord.memory` is `concord.graph.v1.MemoryService`. Every
failure is a `Refused` with its machine-readable reason. Nothing is loaded before it is used, so
that the command line starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concord_client.client import AsyncClient, Client, connect, connect_async
    from concord_client.credentials import CredentialsError
    from concord_client.refusal import Refused, Unreachable, Violation

__all__ = [
    "AsyncClient",
    "Client",
    "CredentialsError",
    "Refused",
    "Unreachable",
    "Violation",
    "connect",
    "connect_async",
]

_ROOM_OF = {
    "AsyncClient": "client",
    "Client": "client",
    "CredentialsError": "credentials",
    "Refused": "refusal",
    "Unreachable": "refusal",
    "Violation": "refusal",
    "connect": "client",
    "connect_async": "client",
}


def __getattr__(name: str) -> object:
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{room}"), name)
    return found
