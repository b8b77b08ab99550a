"""A relay on loopback that adds an API key to each request, for clients that cannot send one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

CHUNK = 1 << 16
_REQUEST_LINE_ENDS = b" HTTP/1.1\r\n"


@asynccontextmanager
async def relay(address: str, key: str) -> AsyncIterator[str]:
    """A relay to `address` ("host:port"); yields its own."""
    host, _, port = address.rpartition(":")
    added = _REQUEST_LINE_ENDS + f"Authorization: Bearer {key}\r\n".encode()

    async def carry(source: asyncio.StreamReader, sink: asyncio.StreamWriter, new: bytes) -> None:
        with suppress(ConnectionError):
            while data := await source.read(CHUNK):
                sink.write(data.replace(_REQUEST_LINE_ENDS, new))
                await sink.drain()
        sink.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(host, int(port))
        async with asyncio.TaskGroup() as both:
            both.create_task(carry(reader, far_writer, added))
            both.create_task(carry(far_reader, writer, _REQUEST_LINE_ENDS))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
