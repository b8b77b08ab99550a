"""A local server that speaks `/v1/embeddings`, and misbehaves when told to."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from concord_testing.embedders import WordEmbedder

Reply = bytes | None
"""The bytes of an HTTP reply; None closes the connection without one."""

Misdeed = Callable[["Asked"], Reply]


@dataclass(frozen=True)
class Asked:
    """One request: its headers in lower case, its texts, and the honest body."""

    headers: dict[str, str]
    texts: Sequence[str]
    body: dict[str, list[dict[str, object]]]


@dataclass
class EmbeddingsEndpoint:
    """The server's address, what it was asked, and what it will do wrong next, in order."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    misdeeds: list[Misdeed] = field(default_factory=list)
    always: Misdeed | None = None

    def answer(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        if self.misdeeds:
            return self.misdeeds.pop(0)(asked)
        return self.always(asked) if self.always else http(200, json.dumps(asked.body).encode())


def http(status: int, body: bytes, *headers: str) -> bytes:
    """An HTTP reply."""
    lines = [
        f"HTTP/1.1 {status} Whatever",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def status(code: int, *headers: str) -> Misdeed:
    """Answers with a status and a body that echoes the first text, as some servers do."""
    return lambda asked: http(
        code, json.dumps({"error": {"message": f"no: {asked.texts[0]}"}}).encode(), *headers
    )


def changed(change: Callable[[list[dict[str, object]]], list[dict[str, object]]]) -> Misdeed:
    """Answers 200 with the embeddings changed."""
    return lambda asked: http(200, json.dumps({"data": change(asked.body["data"])}).encode())


@asynccontextmanager
async def serving_embeddings() -> AsyncIterator[EmbeddingsEndpoint]:
    """The server on a free port of loopback."""
    endpoint = EmbeddingsEndpoint()
    open_writers: set[asyncio.StreamWriter] = set()

    async def on_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_writers.add(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while (reply := endpoint.answer(await _request(reader))) is not None:
                writer.write(reply)
                await writer.drain()
        writer.close()
        open_writers.discard(writer)

    server = await asyncio.start_server(on_connection, "127.0.0.1", 0)
    endpoint.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield endpoint
    finally:
        server.close()
        for writer in list(open_writers):
            writer.close()
        await server.wait_closed()


async def _request(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    pairs = (line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
    headers = {name.lower(): value for name, value in pairs}
    sent = json.loads(await reader.readexactly(int(headers["content-length"])))
    texts = sent["input"]
    vectors = await WordEmbedder().embed(texts)
    data: list[dict[str, object]] = [
        {"object": "embedding", "index": at, "embedding": (3.0 * vector).tolist()}
        for at, vector in enumerate(vectors)
    ]
    return Asked(headers, texts, {"data": data})
