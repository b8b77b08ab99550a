"""The whole of Concord in one process, on one data directory.

`concord up` runs `up`; `running` is the same system inside a program of yours. The services speak
with each other as in production: gRPC with signed tokens, here on Unix sockets. They are imported
when one of the names below is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concord_embedded.errors import StartError
    from concord_embedded.system import Running, running

__all__ = ["Running", "StartError", "running"]

_ROOM_OF = {"Running": "system", "StartError": "errors", "running": "system"}


def __getattr__(name: str) -> object:
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{room}"), name)
    return found
