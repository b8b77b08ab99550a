"""For tests: a relay on loopback that can fall silent, like a machine that lost power."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

CHUNK = 1 << 16


class Relay:
    """Forwards bytes between each connection and the address behind, until `vanish`."""

    def __init__(self, behind: str) -> None:
        """`behind`: `unix:/path` or `host:port`."""
        self.address = ""
        self._behind = behind
        self._open = asyncio.Event()
        self._open.set()
        self._writers: list[asyncio.StreamWriter] = []

    def vanish(self) -> None:
        """From now on forwards nothing, and closes nothing."""
        self._open.clear()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carries one connection."""
        far_reader, far_writer = await self._reach()
        self._writers += [writer, far_writer]
        async with asyncio.TaskGroup() as both:
            both.create_task(self._carry(reader, far_writer))
            both.create_task(self._carry(far_reader, writer))

    async def close(self) -> None:
        """Ends every connection."""
        for writer in self._writers:
            writer.close()
        self._open.set()

    async def _reach(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._behind.startswith("unix:"):
            return await asyncio.open_unix_connection(self._behind.removeprefix("unix:"))
        host, _, port = self._behind.rpartition(":")
        return await asyncio.open_connection(host, int(port))

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await source.read(CHUNK):
                await self._open.wait()
                sink.write(data)
                await sink.drain()
        await self._open.wait()
        sink.close()


@asynccontextmanager
async def relay(behind: str, port: int = 0) -> AsyncIterator[Relay]:
    """A relay to `behind`; its `address` is what to connect to. Port 0: any."""
    made = Relay(behind)
    server = await asyncio.start_server(made.connected, "127.0.0.1", port)
    made.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()
        await made.close()
        await server.wait_closed()
