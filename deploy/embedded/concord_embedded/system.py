"""The system in one event loop: all services, and the gateway in front of them."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from concord_embedded import credentials, data_directory, log_file, runtime_directory
from concord_embedded.assembly import LOOPBACK, Assembly, deleted_spaces
from concord_embedded.credentials import Credentials
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import StartError

GRACE = 10.0
STUCK_AFTER = 60.0
"""Seconds without one more part of the index, or anything else to wait for, until a start fails."""
SAY_EVERY = 2.0
"""Seconds between two reports on how far a start is."""


@dataclass(frozen=True)
class Running:
    """A running system: its addresses, API keys and enrolment secrets."""

    url: str
    """The gRPC address, host:port; with https:// before it if it speaks TLS."""
    http_url: str
    """The address of HTTP/JSON, with its scheme."""
    keys: Mapping[str, str]
    """API keys by space: the agent's, and of "concord:system" the operator's."""
    owner_keys: Mapping[str, str]
    """The owner's API keys by space. A key of before only administers and reads."""
    enrolment_secrets: Mapping[str, str]
    """The one-time enrolment secrets, by space."""
    data: DataDirectory
    """The data directory."""
    rolled_back: frozenset[str]
    """The spaces whose graph is older than their audit log: governance decides nothing there."""
    disk_full: str
    """Why search waits for room on the disk, and for how much; empty if it does not wait."""
    sign_in_code: Callable[[str], Awaitable[str]] | None = None
    """Returns a one-time code that opens a session of an API key at the page of `http_url`, empty
    if it has none; None for a system of another process."""

    def __repr__(self) -> str:
        return f"Running(url={self.url!r}, http_url={self.http_url!r})"


@asynccontextmanager
async def running(
    data_dir: Path,
    port: int = 0,
    *,
    environ: Mapping[str, str] | None = None,
    grace: float = GRACE,
    on_parts: Callable[[int, int], None] = lambda _ready, _all: None,
) -> AsyncIterator[Running]:
    """The whole system, ready, on `data_dir`; drained and closed after the block.

    gRPC listens on 127.0.0.1:`port`, HTTP on the port after it; port 0 takes any two. `environ`
    (default: the process's own) gives the services' optional settings. `grace`: seconds
    that calls under way get at the end. `on_parts` is told every two seconds of a long start how
    many spaces' parts of the index are ready, of how many. Raises `StartError`.
    """
    environ = os.environ if environ is None else environ
    async with AsyncExitStack() as undo:
        data = undo.enter_context(data_directory.opened(data_dir))
        log = undo.enter_context(log_file.opened(data.log))
        with data_directory.explained(data.root):
            sockets = undo.enter_context(runtime_directory.made(environ, data.runtime_note))
            known = credentials.ensure(data, await deleted_spaces(data, environ))
        assembly = Assembly(data, sockets, log, environ, port)
        undo.push_async_callback(assembly.stop, grace)
        async with _reported(assembly, on_parts):
            await assembly.start()
            system = _published(data, known, assembly)
            await _until_ready(assembly, data)
        yield replace(system, rolled_back=assembly.rolled_back, disk_full=assembly.disk_full)


@asynccontextmanager
async def _reported(
    assembly: Assembly, on_parts: Callable[[int, int], None]
) -> AsyncIterator[None]:
    async def report() -> None:
        said = -1
        while True:
            await asyncio.sleep(SAY_EVERY)
            ready, of = assembly.index_parts
            if ready < of and ready != said:
                on_parts(ready, of)
                said = ready

    reporting = asyncio.create_task(report(), name="report the start")
    try:
        yield
    finally:
        reporting.cancel()


async def _until_ready(assembly: Assembly, data: DataDirectory) -> None:
    """Waits as long as the index has more parts every minute: it makes those that it lacks."""
    ready = asyncio.create_task(assembly.until_ready(), name="until ready")
    try:
        while not ready.done():
            before = assembly.index_parts
            await asyncio.wait([ready], timeout=STUCK_AFTER)
            if not ready.done() and assembly.index_parts == before:
                parts = "{} of {}".format(*before)
                raise StartError(
                    f"Not ready: nothing has happened for {STUCK_AFTER:.0f} s, and the index has "
                    f"{parts} spaces. The log {data.log} says why."
                )
        ready.result()
    finally:
        ready.cancel()


def _published(data: DataDirectory, known: Credentials, assembly: Assembly) -> Running:
    gateway = assembly.gateway
    # With TLS the host is a name, since certificates seldom name addresses, and the scheme https.
    grpc, http, host = (
        ("https://", "https://", "localhost") if gateway.encrypted else ("", "http://", LOOPBACK)
    )
    known = credentials.publish(
        data,
        known,
        url=f"{grpc}{host}:{gateway.grpc_port}",
        http_url=f"{http}{host}:{gateway.http_port}",
    )
    return Running(
        url=known.url,
        http_url=known.http_url,
        keys=known.keys,
        owner_keys={**known.admin_keys, **known.owner_keys},
        enrolment_secrets=known.enrolment_secrets,
        data=data,
        rolled_back=frozenset(),
        disk_full="",
        sign_in_code=gateway.sign_in_code,
    )
