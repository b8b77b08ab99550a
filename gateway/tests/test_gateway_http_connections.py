import asyncio
import json
import os
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from concord_gateway.http.protocol import most_connections
from gateway_echo import ECHO, SECONDS, Front, front


@asynccontextmanager
async def connected(
    door: Front, sent: bytes = b""
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection on which so much was sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", door.gateway.http_port)
    try:
        writer.write(sent)
        yield reader, writer
    finally:
        writer.close()


async def answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, Any]]:
    """Status and JSON of the answer that ends a connection."""
    async with asyncio.timeout(SECONDS):
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head.lower()
    return int(head.split()[1]), json.loads(body)


def reason(error: dict[str, Any]) -> str:
    """The machine-readable reason of an error."""
    found = [each["debug"] for each in error["details"] if each["type"].endswith("ErrorInfo")]
    return str(found[0]["reason"])


def post(door: Front, *more: str) -> bytes:
    """The head of a request that says something, with more headers."""
    lines = [
        f"POST /{ECHO.full_name}/Say HTTP/1.1",
        "host: localhost",
        f"authorization: Bearer {door.writer}",
        "content-type: application/json",
        *more,
    ]
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n"


@pytest.mark.parametrize(
    "sent",
    [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"no such thing\r\n\r\n"],
)
async def test_what_is_not_http_is_told_in_the_contracts_form(door: Front, sent: bytes) -> None:
    """W7 W2 gRPC, TLS or nonsense at the HTTP address: 400 in JSON, with a reason."""
    async with connected(door, sent + b"\r\n\r\n") as (reader, _):
        status, error = await answer(reader)

    assert (status, error["code"]) == (400, "invalid_argument")
    assert reason(error) == "ERROR_REASON_FIELD_INVALID"


async def test_a_body_that_breaks_its_framing_is_told_likewise(door: Front) -> None:
    """W7 W2 A chunk without its length, in the middle of a request."""
    head = post(door, "transfer-encoding: chunked")
    async with connected(door, head + b"nonsense\r\n") as (reader, _):
        status, error = await answer(reader)

    assert (status, reason(error)) == (400, "ERROR_REASON_FIELD_INVALID")


async def test_a_body_of_two_lengths_is_refused(door: Front) -> None:
    """W7 W2 Two hops could each believe another one; the connection ends with the refusal."""
    head = post(door, "content-length: 4", "transfer-encoding: chunked")
    async with connected(door, head + b"b\r\n" + b'{"act":"x"}\r\n0\r\n\r\n') as (reader, _):
        status, error = await answer(reader)

    assert (status, reason(error)) == (400, "ERROR_REASON_FIELD_INVALID")
    assert door.servicer.said == 0


async def test_a_body_that_says_it_is_too_large_is_not_waited_for(door: Front) -> None:
    """W7 W2 413 before the body comes, and no invitation to send it; what comes is dropped."""
    head = post(door, f"content-length: {(1 << 20) + 1}", "expect: 100-continue")
    async with connected(door, head) as (reader, writer), asyncio.timeout(SECONDS):
        assert b"413" in await reader.readline()
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"x" * ((1 << 20) + 1) + post(door, "content-length: 2") + b"{}")
        assert b"ERROR_REASON_MESSAGE_TOO_LARGE" in await reader.readuntil(b"HTTP/1.1 200 OK")


async def test_nobody_holds_a_connection_without_asking(tmp_path: Path) -> None:
    """W7 One that sends nothing is closed, one whose headers drip is told why, also behind an
    answered request; whoever asks in time is served."""
    async with front(tmp_path, http_header_seconds=0.3) as door:
        body = b'{"act":"x"}'
        whole = post(door, f"content-length: {len(body)}") + body
        async with (
            connected(door) as (silent, _),
            connected(door, b"POST / HTTP/1.1\r\nhost:") as (begun, dripping),
            connected(door, whole) as (served, _),
        ):
            assert b"200 OK" in await served.readline()
            for _ in range(3):
                dripping.write(b"x")
                await asyncio.sleep(0.05)
            async with asyncio.timeout(SECONDS):
                assert await silent.read() == b""
                assert (await served.read()).endswith(b"}")
            status, error = await answer(begun)

    assert (status, reason(error)) == (504, "ERROR_REASON_DEADLINE_EXCEEDED")


async def test_a_body_has_its_time_however_long_the_caller_would_wait(tmp_path: Path) -> None:
    """W7 A method that waits for it answers; where none does, the connection is closed."""
    async with front(tmp_path, http_body_seconds=0.3) as door:
        slow = post(door, "content-length: 99", "connect-timeout-ms: 100000")
        nowhere = b"POST /nowhere HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n"
        async with connected(door, slow) as (reader, _):
            status, error = await answer(reader)
        async with connected(door, nowhere) as (lost, writer), asyncio.timeout(SECONDS):
            assert b"404" in await lost.readline()
            writer.write(b"x")
            await lost.read()

    assert (status, reason(error)) == (504, "ERROR_REASON_DEADLINE_EXCEEDED")


def for_agents(door: Front, length: int) -> bytes:
    """The head of a request to the tools for agents."""
    head = post(door, f"content-length: {length}", "accept: application/json, text/event-stream")
    return head.replace(f"/{ECHO.full_name}/Say".encode(), b"/mcp")


async def test_a_body_for_the_tools_has_its_time_and_its_limit(tmp_path: Path) -> None:
    """W7 W2 The tools for agents wait for no body longer, and take no larger one, than methods."""
    async with front(tmp_path, http_body_seconds=0.3) as door:
        async with connected(door, for_agents(door, 99)) as (reader, _):
            slow = await answer(reader)
        large = for_agents(door, (1 << 20) + 1)
        async with connected(door, large) as (reader, _):
            status, error = await answer(reader)

    assert (slow[0], reason(slow[1])) == (504, "ERROR_REASON_DEADLINE_EXCEEDED")
    assert (status, reason(error)) == (413, "ERROR_REASON_MESSAGE_TOO_LARGE")


async def test_one_connection_too_many_is_refused_with_its_reason(tmp_path: Path) -> None:
    """W7 At once; and there is room again when one has ended."""
    async with front(tmp_path, http_connections=2) as door:
        async with connected(door), connected(door), connected(door) as (third, _):
            status, error = await answer(third)
        assert (status, reason(error)) == (429, "ERROR_REASON_OVERLOADED")

        async def served() -> bool:
            return (await door.say({"act": "x"})).status_code == 200

        async with asyncio.timeout(SECONDS):
            while not await served():  # noqa: ASYNC110 - the end of a connection is told to nobody
                await asyncio.sleep(0.01)


def test_connections_leave_descriptors_to_the_rest() -> None:
    """W7 Where a process may open few files, half of them are left: nobody is kept out by what
    only waits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = max(int(each) for each in os.listdir("/proc/self/fd")) + 100
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, hard))
        assert most_connections(10_000) == few // 2
        assert most_connections(1) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
