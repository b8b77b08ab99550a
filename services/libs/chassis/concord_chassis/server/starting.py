"""The start of a service's process: errors that may pass are waited out, others end the process.

Until the service's server starts, nothing listens on its addresses: a health check cannot connect.
"""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from concord_chassis.config import ConfigError
from concord_chassis.observe.log import Logger
from concord_chassis.server.server import BindError

T = TypeVar("T")

FIRST_WAIT = 0.5
LONGEST_WAIT = 5.0
"""Seconds between two attempts of `until_usable`: the first wait doubles up to the longest one."""


def run(name: str, serve: Coroutine[Any, Any, None], *refusals: type[Exception]) -> None:
    """Runs a service to its end.

    On `ConfigError`, `BindError` or one of `refusals`, whose texts say what to do, the process
    prints the text and exits with status 1; on a signal before the server starts, with 143.
    """
    # In a container the service is process 1, which a signal without a handler does not end.
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
    """Calls `begin` until it raises none of `unusable`; returns its result.

    The texts of `unusable` say what to do; a text is logged if it differs from the last one.
    `begin` must leave nothing open when it raises. Its other exceptions are not caught.
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
