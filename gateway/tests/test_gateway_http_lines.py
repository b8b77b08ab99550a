"""Streaming replies over HTTP: lines of JSON."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from concord_chassis.channel.keepalive import SERVER_KEEPALIVE
from concord_gateway import addresses
from concord_gateway.admission import LET_IN_EVERY
from concord_gateway.callers import HOLDS, ApiKey
from concord_gateway.credentials import digest_of
from concord_gateway.http import lines
from gateway_echo import BRIEF, ECHO, SECRET, WRITER, Front, Request, eventually, front
from gateway_refusals import info, outcome

NDJSON = "application/x-ndjson"
FOLLOW = f"/{ECHO.full_name}/Follow"
LONG = "long " * 50_000
COOKIE, HALF = "C" * 21 + "c" * 22, "S" * 21 + "s" * 22


@asynccontextmanager
async def following(
    door: Front, act: str, *, path: str = FOLLOW, text: str = "", **headers: str
) -> AsyncIterator[httpx.Response]:
    """An open stream; each reply has the text."""
    given = door.json(**{"accept": NDJSON, **headers})
    value = {"act": act, "longText": text}
    async with door.http.stream("POST", path, json=value, headers=given) as response:
        yield response


async def stalled(door: Front) -> int:
    """Waits until the service writes no more; how many replies it has written."""
    before = -1
    while before != door.servicer.written:
        before = door.servicer.written
        await asyncio.sleep(0.5)
    return before


def session_of(door: Front) -> dict[str, str]:
    """Headers with a session of the writer's key, which governance knows."""
    digest = sha256(f"{COOKIE}.{HALF}".encode()).hexdigest()
    door.keys.keys[digest] = ApiKey("w", WRITER)
    port = door.gateway.http_port
    return {
        "accept": NDJSON,
        "content-type": "application/json",
        "cookie": f"concord-session-{port}={COOKIE}",
        "x-concord-session": HALF,
    }


async def told(response: httpx.Response) -> list[Any]:
    """The values of a whole stream."""
    return [json.loads(line) async for line in response.aiter_lines()]


async def test_each_reply_is_a_line(door: Front) -> None:
    """W2 W5: a streaming reply over HTTP, for keys as for sessions."""
    async with following(door, "echo", x_request_id="mine") as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == NDJSON
        assert response.headers["x-request-id"] == "mine"
        assert response.headers["cache-control"] == "no-store"
        values = await told(response)

    assert [each["result"]["text"] for each in values] == ["0:echo", "1:echo", "2:echo"]
    assert door.servicer.whole == ["echo"]


async def test_a_line_arrives_before_the_next_reply_is_made(door: Front) -> None:
    """W5: progress is seen as it happens, and the headers before the first reply."""
    async with following(door, "hang") as response:
        assert response.status_code == 200
        await eventually(lambda: door.servicer.hanging == 1)
    async with following(door, "flood") as response:
        async for line in response.aiter_lines():
            assert json.loads(line)["result"]["text"] == "0:flood"
            assert door.servicer.written < 100_000
            break
    await eventually(lambda: sorted(door.servicer.cut) == ["flood", "hang", "hang"])


async def test_a_reader_who_stops_reading_stops_the_service(door: Front) -> None:
    """W2: nothing is collected for a slow reader."""
    async with following(door, "flood", text=LONG) as response:
        await anext(response.aiter_raw())
        assert await stalled(door) < 1_000


async def test_a_failure_is_the_last_line(door: Front) -> None:
    """W2: with code, reason and details as a unary call has them."""
    async with following(door, "refuse late") as response:
        first, last = await told(response)
    unary = await door.say({"act": "refuse"})

    assert first == {"result": {"text": "first"}}
    assert last.keys() == {"error"}
    of_stream = [each for each in last["error"]["details"] if "RequestInfo" not in each["type"]]
    of_unary = [each for each in unary.json()["details"] if "RequestInfo" not in each["type"]]
    assert (last["error"]["code"], of_stream) == ("failed_precondition", of_unary)


async def test_our_bug_and_a_lost_service_say_nothing(door: Front) -> None:
    """Style 10: also in a line."""
    async with following(door, "bug") as response:
        (bug,) = await told(response)
    assert bug["error"]["code"] == "internal"
    assert SECRET not in json.dumps(bug)

    async with following(door, "hang") as response:
        await eventually(lambda: door.servicer.hanging == 1)
        await door.upstream.server.stop(0)
        (lost,) = await told(response)
    assert lost["error"]["code"] == "unavailable"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"accept": "application/json"}, (501, "unimplemented", "ERROR_REASON_METHOD_UNKNOWN")),
        ({"accept": "*/*"}, (501, "unimplemented", "ERROR_REASON_METHOD_UNKNOWN")),
        ({"content_type": "text/plain"}, (415, "unimplemented", "ERROR_REASON_METHOD_UNKNOWN")),
        (
            {"authorization": "Bearer x"},
            (401, "unauthenticated", "ERROR_REASON_CREDENTIAL_INVALID"),
        ),
        ({"connect_timeout_ms": "x"}, (400, "invalid_argument", "ERROR_REASON_FIELD_INVALID")),
    ],
)
async def test_what_is_refused_before_the_first_line_has_its_status(
    door: Front, headers: dict[str, str], expected: tuple[int, str, str]
) -> None:
    """W2: as of a unary call; without the accept header nothing has changed."""
    async with following(door, "echo", **headers) as response:
        await response.aread()

    assert outcome(response) == expected
    assert door.servicer.written == 0


async def test_accept_may_name_more(door: Front) -> None:
    """W2: a list, with parameters."""
    async with following(door, "echo", accept=f"text/html, {NDJSON};q=0.9") as response:
        assert len(await told(response)) == 3


@pytest.mark.parametrize("name", ["Collect", "Converse"])
async def test_callers_do_not_stream_over_http(door: Front, name: str) -> None:
    """W2: HTTP/1.1 has one body."""
    async with following(door, "echo", path=f"/{ECHO.full_name}/{name}") as response:
        await response.aread()

    assert outcome(response) == (501, "unimplemented", "ERROR_REASON_METHOD_UNKNOWN")


async def test_a_deadline_ends_a_stream_and_none_does_not(tmp_path: Path) -> None:
    """W2: as over gRPC, where a stream without a deadline has none, whatever a unary call has."""
    async with front(tmp_path, deadline=BRIEF[0]) as door:
        async with following(door, "hang", connect_timeout_ms="300") as response:
            (last,) = await told(response)
        assert last["error"]["code"] == "deadline_exceeded"
        async with following(door, "hang") as response:
            await eventually(lambda: door.servicer.hanging == 1)
            await asyncio.sleep(2 * BRIEF[0])
            assert door.servicer.hanging == 1


async def test_streams_are_counted(tmp_path: Path) -> None:
    """W7: those of HTTP and gRPC together, by key; a session's are its key's, exports' theirs."""
    async with front(tmp_path, streams_per_key=2, exports_per_key=1, page=True) as door:
        headers = session_of(door)
        call = door.stub.follow(Request(act="hang"))
        await eventually(lambda: door.servicer.hanging == 1)
        async with door.http.stream(
            "POST", f"/{ECHO.full_name}/ExportAll", json={"act": "hang"}, headers=headers
        ):
            await eventually(lambda: door.servicer.hanging == 2)
            async with following(door, "echo") as response:
                await response.aread()
            assert outcome(response) == (429, "resource_exhausted", "ERROR_REASON_OVERLOADED")
            assert info(response)["metadata"] == {"limit": "streams", "max": "2"}
            by_session = await door.http.post(FOLLOW, json={}, headers=headers)
            assert info(by_session)["metadata"] == {"limit": "streams", "max": "2"}
        await eventually(lambda: door.servicer.hanging == 1)
        async with following(door, "echo") as response:
            assert len(await told(response)) == 3
        call.cancel()


@pytest.mark.parametrize("by_session", [False, True])
async def test_a_silent_stream_ends_with_its_credential(tmp_path: Path, by_session: bool) -> None:
    """W7 W5: within 5 s of the revocation, or of the sign-out, without another reply."""
    async with front(tmp_path, page=True) as door:
        headers = session_of(door) if by_session else door.json(accept=NDJSON)
        async with door.http.stream(
            "POST", FOLLOW, json={"act": "hang"}, headers=headers
        ) as stream:
            await eventually(lambda: door.servicer.hanging == 1)
            ended = sha256(f"{COOKIE}.{HALF}".encode()).hexdigest()
            del door.keys.keys[ended if by_session else digest_of(door.writer)]
            async with asyncio.timeout(HOLDS + 2 * LET_IN_EVERY):
                (last,) = await told(stream)

        assert last["error"]["code"] == "unauthenticated"
        await eventually(lambda: door.servicer.hanging == 0)


async def test_a_client_that_reads_nothing_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W7: nobody holds a stream open by not reading: it ends without its last line."""
    monkeypatch.setattr(lines, "LAST_LINE_SECONDS", 0.2)
    async with front(tmp_path) as door, following(door, "flood", text=LONG) as response:
        rest = response.aiter_raw()
        await anext(rest)
        await stalled(door)
        del door.keys.keys[digest_of(door.writer)]
        await eventually(lambda: door.servicer.cut == ["flood"])
        await asyncio.sleep(0.5)
        with pytest.raises(httpx.RemoteProtocolError):
            async for _ in rest:
                pass


async def test_the_halves_of_a_session_go_no_further(tmp_path: Path) -> None:
    """W5: no service gets a cookie or a secret, whether it is the credential or beside a key."""
    async with front(tmp_path, page=True) as door:
        session = session_of(door) | {"accept": "*/*"}
        say = f"/{ECHO.full_name}/Say"
        for headers in (session, {**session, **door.headers()}):
            reply = await door.http.post(say, json={"act": "metadata"}, headers=headers)
            assert reply.status_code == 200, reply.text
            assert COOKIE not in reply.text
            assert HALF not in reply.text
        over_grpc = (*door.as_writer, ("x-concord-session", HALF), ("cookie", COOKIE))
        reply = await door.stub.say(Request(act="metadata"), metadata=over_grpc)
        assert COOKIE not in reply.text
        assert HALF not in reply.text


def test_a_vanished_client_is_noticed_as_over_grpc() -> None:
    """W2: HTTP has no pings: TCP asks, after the same time, and gives up after the same."""
    with addresses.bound("127.0.0.1:0", "X") as listening:
        address = listening.getsockname()
        with socket.create_connection(address):
            listening.setblocking(True)
            accepted, _ = listening.accept()
            with accepted:
                found = {
                    name: accepted.getsockopt(level, getattr(socket, name))
                    for level, name in (
                        (socket.SOL_SOCKET, "SO_KEEPALIVE"),
                        (socket.IPPROTO_TCP, "TCP_KEEPIDLE"),
                        (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT"),
                    )
                }

    gone_after = SERVER_KEEPALIVE.idle + SERVER_KEEPALIVE.timeout
    assert found == {
        "SO_KEEPALIVE": 1,
        "TCP_KEEPIDLE": SERVER_KEEPALIVE.idle,
        "TCP_USER_TIMEOUT": gone_after * 1000,
    }
