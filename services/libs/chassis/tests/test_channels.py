import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from chassis_probe import (
    READER,
    SECONDS,
    WRITER,
    Dynamic,
    ProbeServicer,
    Request,
    Stub,
    failure_of,
    registration,
    until,
)
from concord_chassis.call import deadline
from concord_chassis.call.failure import Failure
from concord_chassis.channel.addresses import valid_addresses
from concord_chassis.channel.channel import RETRIES, connect
from concord_chassis.observe import request_id
from concord_testing.serving import serving


class Flaky:
    """A gRPC handler without the chassis: it refuses with `code` before the attempt `good`."""

    def __init__(self, good: int, code: grpc.StatusCode) -> None:
        self._good, self._code = good, code
        self.attempts = 0
        self.metadata: list[dict[str, Any]] = []
        self.time_left: list[float | None] = []

    async def answer(self, request: bytes, context: Dynamic) -> bytes:
        self.attempts += 1
        self.metadata.append(dict(context.invocation_metadata()))
        self.time_left.append(context.time_remaining())
        if self.attempts < self._good:
            await context.abort(self._code, "not yet")
        return request

    def service(self, _details: object) -> "grpc.RpcMethodHandler[Any, Any]":
        return grpc.unary_unary_rpc_method_handler(self.answer)


@asynccontextmanager
async def _flaky(
    folder: Path, good: int = 1, code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
) -> AsyncIterator[tuple[Flaky, str]]:
    flaky = Flaky(good, code)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers([flaky])  # type: ignore[list-item] # it has what gRPC calls
    address = f"unix:{folder / 's'}"
    server.add_insecure_port(address)
    await server.start()
    try:
        yield flaky, address
    finally:
        await server.stop(0)


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED])
async def test_a_call_that_was_not_served_is_sent_again(
    tmp_path: Path, code: grpc.StatusCode
) -> None:
    """W1: a call is retried on what a server that stops says: every method may be repeated."""
    async with (
        _flaky(tmp_path, 3, code) as (flaky, address),
        connect(address, token=None) as channel,
    ):
        await Stub(channel).ask(Request())

    assert flaky.attempts == 3


async def test_calls_that_wait_at_a_stopping_server_are_not_cancelled(tmp_path: Path) -> None:
    """W1, S10: gRPC cancels the calls that wait for a stopping server's Python; their callers learn
    at most that nobody serves."""
    waited: set[grpc.StatusCode] = set()

    async def ask(stub: Stub) -> None:
        try:
            while True:
                await stub.ask(Request())
        except grpc.aio.AioRpcError as error:
            waited.add(error.code())

    async with connect(f"unix:{tmp_path / 's'}", token=None) as channel:
        async with _flaky(tmp_path):
            asking = [asyncio.create_task(ask(Stub(channel))) for _ in range(100)]
            await Stub(channel).ask(Request())
        await asyncio.gather(*asking)

    assert waited == {grpc.StatusCode.UNAVAILABLE}


async def test_no_other_code_is_sent_again(tmp_path: Path) -> None:
    """W1: a call that is refused with another code is tried once."""
    async with (
        _flaky(tmp_path, 2, grpc.StatusCode.ABORTED) as (flaky, address),
        connect(address, token=None) as channel,
    ):
        failure = await failure_of(Stub(channel).ask(Request()))

    assert failure.code is grpc.StatusCode.ABORTED
    assert flaky.attempts == 1


@pytest.mark.parametrize(("resend", "attempts"), [(True, 4), (False, 1)])
async def test_a_refusal_can_ask_not_to_be_sent_again(resend: bool, attempts: int) -> None:
    """S10, design 3: a failure with `resend=False` reaches the caller without a retry."""
    seen = 0

    async def refuse(_request: Dynamic) -> str:
        nonlocal seen
        seen += 1
        raise Failure(
            grpc.StatusCode.UNAVAILABLE, "ERROR_REASON_INDEX_STALE", "later", resend=resend
        )

    async with serving([registration(ProbeServicer(refuse))]) as live:
        token = live.issuer.mint(READER)
        async with connect(live.address, token=lambda: token) as channel:
            failure = await failure_of(Stub(channel).ask(Request()))

    assert seen == attempts
    assert failure.reason == "ERROR_REASON_INDEX_STALE"


async def test_a_caller_that_leaves_does_not_wait_and_asks_once() -> None:
    """Style 7: a caller that is cancelled, or whose time is over, does not wait for a servicer that
    takes long to end, and is not sent again for what the servicer ends with."""
    go = asyncio.Event()

    async def linger(_request: Dynamic) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await go.wait()
        raise Failure(grpc.StatusCode.UNAVAILABLE, "ERROR_REASON_UNAVAILABLE", "later")

    servicer = ProbeServicer(linger)
    async with serving([registration(servicer)]) as live, asyncio.timeout(SECONDS):
        stub = Stub(live.channel(READER))
        late = await failure_of(stub.ask(Request(act="a"), timeout=0.3))
        call = stub.ask(Request(act="b"))
        await until(lambda: "b" in servicer.seen)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        go.set()
        await asyncio.sleep(0.2)  # in which a retry would arrive

    assert late.code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert servicer.seen == ["a", "b"]


def test_the_policy_holds_for_every_method() -> None:
    """Design 4: the retry policy is for all methods; the service config sets no `timeout`."""
    (policy,) = json.loads(RETRIES)["methodConfig"]

    assert policy["name"] == [{}]
    assert "timeout" not in policy


async def test_a_call_carries_token_request_id_and_deadline(tmp_path: Path) -> None:
    """Design 4: a channel adds a deadline, a token and the request id to each outgoing call."""
    async with (
        _flaky(tmp_path) as (flaky, address),
        connect(address, token=lambda: "tok", cap=900) as channel,
    ):
        stub = Stub(channel)
        request_id.enter("r-7")
        await stub.ask(Request())
        await stub.ask(Request(), timeout=300, metadata=(("authorization", "Bearer own"),))

    first, second = flaky.metadata
    assert (first["authorization"], first["x-request-id"]) == ("Bearer tok", "r-7")
    assert (second["authorization"], second["x-request-id"]) == ("Bearer own", "r-7")
    assert flaky.time_left == pytest.approx([900, 300], abs=SECONDS)


async def test_without_a_cap_a_call_has_no_deadline_of_its_own(tmp_path: Path) -> None:
    """W1: with `cap=None` a call has no deadline, but inside of another call the other's."""
    async with (
        _flaky(tmp_path) as (flaky, address),
        connect(address, token=None, cap=None) as channel,
    ):
        await Stub(channel).ask(Request())

        async def inside_a_call() -> None:
            deadline.enter(500)
            await Stub(channel).ask(Request())

        await asyncio.create_task(inside_a_call())

    assert flaky.time_left[0] is None
    assert flaky.time_left[1] == pytest.approx(500, abs=SECONDS)
    assert "authorization" not in flaky.metadata[0]


async def test_deadline_and_request_id_pass_through_a_service(tmp_path: Path) -> None:
    """W1: an inner call has less time than is left to the outer call, and its request id."""
    async with _flaky(tmp_path) as (flaky, address), connect(address, token=None, cap=900) as inner:

        async def forward(_request: Dynamic) -> str:
            await Stub(inner).ask(Request())
            return request_id.current()

        async with serving([registration(ProbeServicer(forward))]) as live:
            call = Stub(live.channel(READER, cap=900)).ask(
                Request(), timeout=200, metadata=(("x-request-id", "r-9"),)
            )
            reply = await call
            trailing = dict(await call.trailing_metadata())

    assert reply.text == flaky.metadata[0]["x-request-id"] == trailing["x-request-id"] == "r-9"
    assert flaky.time_left[0] is not None
    assert 200 - SECONDS < flaky.time_left[0] < 201  # gRPC rounds on the wire


async def test_an_inner_call_without_time_is_not_sent(tmp_path: Path) -> None:
    """Design 4: with at most 50 ms left, an inner call fails before it is sent."""
    async with (
        _flaky(tmp_path) as (flaky, address),
        connect(address, token=None) as channel,
    ):

        async def late() -> None:
            deadline.enter(0.01)
            await Stub(channel).ask(Request())

        with pytest.raises(Failure) as caught:
            await asyncio.create_task(late())

    assert caught.value.reason == "ERROR_REASON_DEADLINE_EXCEEDED"
    assert flaky.attempts == 0


@pytest.mark.parametrize("offered", ["", "a b", "ä", "x" * 129, "new\nline"])
async def test_a_malformed_request_id_is_replaced(offered: str) -> None:
    """Style: an arbitrary text of a caller never enters our logs."""
    accepted = request_id.accept(offered)

    assert accepted != offered
    assert len(accepted) == 32
    assert request_id.accept("Good-1.2:3_x") == "Good-1.2:3_x"


async def test_each_call_without_an_id_gets_its_own() -> None:
    """W1: each request has an id of its own in logs and errors."""
    async with serving([registration(ProbeServicer())]) as live:
        raw = grpc.aio.insecure_channel(live.address)
        async with raw:
            token = live.issuer.mint(WRITER)
            ids = set()
            for _ in range(3):
                call = Stub(raw).ask(
                    Request(), metadata=(("authorization", f"Bearer {token}"),), timeout=SECONDS
                )
                await call
                ids.add(dict(await call.trailing_metadata())["x-request-id"])

    assert len(ids) == 3


async def test_a_large_reply_passes() -> None:
    """W1: replies may be up to 8 MiB, above gRPC's own 4 MiB."""

    async def large(_request: Dynamic) -> str:
        return "x" * (7 << 20)

    async with serving([registration(ProbeServicer(large))]) as live:
        assert len((await Stub(live.channel(READER)).ask(Request())).text) == 7 << 20


async def test_replicas_take_turns_and_one_may_go() -> None:
    """W1, design 1: calls go to all replicas in turn; when one is gone, to the remaining ones."""
    ports, flaky, servers = [], [Flaky(1, grpc.StatusCode.OK) for _ in range(2)], []
    for each in flaky:
        server = grpc.aio.server()
        server.add_generic_rpc_handlers([each])  # type: ignore[list-item] # it has what gRPC calls
        ports.append(server.add_insecure_port("127.0.0.1:0"))
        await server.start()
        servers.append(server)
    async with connect("|".join(f"127.0.0.1:{port}" for port in ports), token=None) as channel:
        async with asyncio.timeout(SECONDS):  # until both servers are connected
            while not all(each.attempts for each in flaky):
                await Stub(channel).ask(Request())
        await servers[0].stop(0)
        before = flaky[1].attempts
        for _ in range(4):
            await Stub(channel).ask(Request())
        assert flaky[1].attempts == before + 4
    await servers[1].stop(0)


@pytest.mark.parametrize("wrong", ["graph-1:7611|graph-2:7611", "10.0.0.1:1|", "unix:/a|unix:/b"])
def test_a_list_of_replicas_is_of_addresses(wrong: str) -> None:
    """W1, style 8: a list of replicas that are not IPv4 addresses is refused at the start."""
    with pytest.raises(ValueError, match="IPv4"):
        valid_addresses(wrong)
    assert valid_addresses("10.0.0.1:1|10.0.0.2:1") == "10.0.0.1:1|10.0.0.2:1"
    assert valid_addresses("graph:7611") == "graph:7611"
