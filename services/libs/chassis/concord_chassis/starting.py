"""A service process until it serves: what is wrong is said in words, waited out if it may pass.

Before it serves, nothing listens: whoever asks for its health hears that it is not there.
"""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from concord_chassis.config import ConfigError
from concord_chassis.log import Logger
from concord_chassis.server import BindError

T = TypeVar("T")

FIRST_WAIT = 0.5
LONGEST_WAIT = 5.0
"""Seconds between two attempts to begin."""


def run(name: str, serve: Coroutine[Any, Any, None], *refusals: type[Exception]) -> None:
    """Runs a service to its end; one that cannot start exits with status 1 and the words of what it
    raised: `ConfigError`, `BindError` or one of `refusals`, whose texts say what to do.
    """
    # In a container it is process 1, which no signal ends by itself.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    refused: tuple[type[Exception], ...] = (ConfigError, BindError, *refusals)
    try:
        asyncio.run(serve)
    except refused as error:
        sys.exit(f"{name} cannot start: {error}")
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGTERM)


async def until_usable(
    begin: Callable[[], Awaitable[T]], log: Logger, *unusable: type[Exception]
) -> T:
    """What `begin` returns, once it raises none of `unusable`: their texts say what to do.

    Each new text is logged once; `begin` must leave nothing open when it raises.
    """
    wait, logged = FIRST_WAIT, ""
    while True:
        try:
            return await begin()
        except unusable as error:
            if str(error) != logged:
                logged = str(error)
                log.error("waiting for the store", reason=logged)
        await asyncio.sleep(wait)
        wait = min(wait * 2, LONGEST_WAIT)
