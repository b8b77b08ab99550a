"""A local server that speaks `/v1/chat/completions`, and misbehaves on demand."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]
Answer = Callable[[Body], "bytes | Iterator[bytes] | float | None"]
"""The reply for a request's body: bytes; pieces, after which the line is closed; a float: silence
for so many seconds; None: a closed line."""


@dataclass
class ChatEndpoint:
    """The server's address, the requests that it got, and the function that answers them."""

    answer: Answer
    url: str = ""
    asked: list[Body] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


def http(status: int, body: bytes, *headers: str) -> bytes:
    """Return an HTTP reply."""
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "Content-Type: application/json", "", ""]).encode() + body


def completion(content: str | None, *, finish: str = "stop", refusal: str | None = None) -> bytes:
    """Return a completion with this content."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    reply = {"id": "x", "object": "chat.completion", "choices": [choice]}
    return http(200, json.dumps(reply).encode())


def cut(reply: bytes) -> Iterator[bytes]:
    """Return the first half of a reply, after which the line is closed."""
    return iter([reply[: len(reply) // 2]])


def endless() -> Iterator[bytes]:
    """Return a reply that does not end."""
    head = http(200, b"").replace(b"Content-Length: 0", b"Content-Length: 999999999999")
    return itertools.chain([head], itertools.repeat(b" " * 65_536))


def verdict(*words: str) -> bytes:
    """Return an honest verdict: these words are not neutral."""
    return completion(json.dumps({"neutral": not words, "words": list(words)}))


@asynccontextmanager
async def serving_chat(answer: Answer) -> AsyncIterator[ChatEndpoint]:
    """Serve on a free port of loopback."""
    endpoint = ChatEndpoint(answer)
    writers: set[asyncio.StreamWriter] = set()

    async def on_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                body = await _request(endpoint, reader)
                reply = endpoint.answer(body)  # by the current `answer`, on older lines too
                if isinstance(reply, float):
                    await asyncio.sleep(reply)
                    break
                if reply is None:
                    break
                for piece in [reply] if isinstance(reply, bytes) else reply:
                    writer.write(piece)
                    await writer.drain()
                if not isinstance(reply, bytes):
                    break
        writer.close()
        writers.discard(writer)

    server = await asyncio.start_server(on_connection, "127.0.0.1", 0)
    endpoint.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield endpoint
    finally:
        server.close()
        for writer in list(writers):
            writer.close()
        await server.wait_closed()


async def _request(endpoint: ChatEndpoint, reader: asyncio.StreamReader) -> Body:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    pairs = (line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
    headers = {name.lower(): value for name, value in pairs}
    body: Body = json.loads(await reader.readexactly(int(headers["content-length"])))
    endpoint.asked.append(body)
    endpoint.keys.append(headers.get("authorization", ""))
    return body
