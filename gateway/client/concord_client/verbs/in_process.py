"""A whole Concord in the caller's own process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from concord_client.client import AsyncClient, Client
from concord_client.credentials import DEFAULT_SPACE, Target
from concord_client.verbs.clients import AsyncConcord, Concord


@asynccontextmanager
async def embedded_async(path: Path | str) -> AsyncIterator[AsyncConcord]:
    """A whole Concord in this process and event loop, on the directory `path`.

    It is closed at the end of the block.
    """
    from concord_embedded import running

    async with (
        running(Path(path)) as system,
        AsyncConcord(AsyncClient(Target(system.url, system.keys[DEFAULT_SPACE]))) as concord,
    ):
        yield concord


@contextmanager
def embedded(path: Path | str) -> Iterator[Concord]:
    """A whole Concord in this process, on the directory `path`, in a thread of its own.

    Raises `concord_embedded.StartError`, for example if another process uses the directory.
    """
    from concord_embedded import running

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="concord", daemon=True)
    thread.start()
    running_system = running(Path(path))

    def done(coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result()

    try:
        system = done(running_system.__aenter__())
        try:
            with Concord(Client(Target(system.url, system.keys[DEFAULT_SPACE]))) as concord:
                yield concord
        finally:
            done(running_system.__aexit__(None, None, None))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
