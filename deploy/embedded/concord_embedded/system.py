"""The system in one event loop: all services, and the gateway in front of them."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from concord_embedded import credentials, data_directory, log_file, runtime_directory
from concord_embedded.assembly import LOOPBACK, Assembly, deleted_spaces
from concord_embedded.credentials import Credentials
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import StartError

GRACE = 10.0
READY_WITHIN = 60.0


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

    def __repr__(self) -> str:
        return f"Running(url={self.url!r}, http_url={self.http_url!r})"


@asynccontextmanager
async def running(
    data_dir: Path,
    port: int = 0,
    *,
    environ: Mapping[str, str] | None = None,
    grace: float = GRACE,
) -> AsyncIterator[Running]:
    """The whole system, ready, on `data_dir`; drained and closed after the block.

    gRPC listens on 127.0.0.1:`port`, HTTP on the port after it; port 0 takes any two. `environ`
    (default: the process's own) gives the services' optional settings. `grace`: seconds
    that calls under way get at the end. Raises `StartError`.
    """
    environ = os.environ if environ is None else environ
    async with AsyncExitStack() as undo:
        data = undo.enter_context(data_directory.opened(data_dir))
        log = undo.enter_context(log_file.opened(data.log))
        with data_directory.explained(data.root):
            sockets = undo.enter_context(runtime_directory.made(environ, data.runtime_note))
            known = credentials.ensure(data, await deleted_spaces(data, environ))
        assembly = Assembly(data, sockets, log, environ)
        undo.push_async_callback(assembly.stop, grace)
        await assembly.start(port)
        system = _published(data, known, assembly)
        await _until_ready(assembly, data)
        yield replace(system, rolled_back=assembly.rolled_back, disk_full=assembly.disk_full)


async def _until_ready(assembly: Assembly, data: DataDirectory) -> None:
    try:
        async with asyncio.timeout(READY_WITHIN):
            await assembly.until_ready()
    except TimeoutError:
        raise StartError(
            f"Not ready after {READY_WITHIN:.0f} s: the log {data.log} says why."
        ) from None


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
    )
