import asyncio
import io
from collections.abc import AsyncIterator

import grpc
import pytest
from chassis_probe import (
    READER,
    WRITER,
    Dynamic,
    ProbeServicer,
    Reply,
    Request,
    Stub,
    echo,
    failure_of,
    registration,
    until,
)
from concord_chassis.call import requests
from concord_chassis.call.failure import DETAILS_KEY, FieldViolation, from_rpc_error
from concord_chassis.observe.log import json_lines
from concord_testing.serving import serving


async def _several(*acts: str) -> AsyncIterator[Dynamic]:
    for act in acts:
        yield Request(act=act)


async def _exhaust(replies: AsyncIterator[Dynamic]) -> None:
    async for _ in replies:
        pass


async def test_each_call_shape_carries_messages() -> None:
    """W1: one request or many, one reply or many: calls of each shape pass all stages."""
    async with serving([registration(ProbeServicer())]) as live:
        stub = Stub(live.channel(WRITER))

        assert (await stub.ask(Request(act="one"))).text == "one"
        assert [reply.text async for reply in stub.follow(Request(act="a"))] == ["a", "a", "a"]
        assert (await stub.collect(_several("a", "b"))).text == "a,b"
        assert [reply.text async for reply in stub.converse(_several("a", "b"))] == ["a", "b"]


@pytest.mark.parametrize("shape", ["collect", "converse"])
async def test_every_message_of_a_request_stream_is_validated(shape: str) -> None:
    """W1: a third message that breaks a rule is refused, after the servicer got the first two."""
    servicer = ProbeServicer()
    async with serving([registration(servicer)]) as live:
        call = getattr(Stub(live.channel(WRITER)), shape)(_several("a", "b", "NOT LOWER", "d"))
        failure = await failure_of(_exhaust(call) if shape == "converse" else call)

    assert failure.reason == "ERROR_REASON_FIELD_INVALID"
    assert failure.violations == (FieldViolation("act", "must match [a-z ]*"),)
    assert servicer.seen == ["a", "b"]


@pytest.mark.parametrize("shape", ["ask", "follow"])
async def test_a_single_request_is_validated_before_the_servicer_sees_it(shape: str) -> None:
    """W1: the chassis enforces field rules, before the servicer is called."""
    servicer = ProbeServicer()
    async with serving([registration(servicer)]) as live:
        call = getattr(Stub(live.channel(READER)), shape)(Request(act="NOT LOWER"))
        failure = await failure_of(call if shape == "ask" else call.read())

    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert servicer.seen == []


@pytest.mark.parametrize("shape", ["ask", "collect", "converse"])
async def test_a_message_over_the_limit_is_refused_with_its_reason(shape: str) -> None:
    """W1: a request message over 1 MiB is refused with a typed error, also in a stream."""
    servicer = ProbeServicer()
    large = Request(act="a", payload="x" * (2 << 20))

    async def one() -> AsyncIterator[Dynamic]:
        yield large

    async with serving([registration(servicer)]) as live:
        stub = Stub(live.channel(WRITER))
        call = stub.ask(large) if shape == "ask" else getattr(stub, shape)(one())
        failure = await failure_of(call.read() if shape == "converse" else call)

    assert failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert failure.reason == "ERROR_REASON_MESSAGE_TOO_LARGE"
    assert "1048576" in failure.message
    assert servicer.seen == []


async def test_a_message_of_exactly_the_limit_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """W1: the size limit is inclusive (tested with a limit of 1,000 bytes)."""
    monkeypatch.setattr(requests, "MAX_MESSAGE_BYTES", 1000)
    async with serving([registration(ProbeServicer())]) as live:
        stub = Stub(live.channel(READER))
        request = Request(act="a")
        request.payload = "x" * (1000 - request.ByteSize() - 3)
        assert request.ByteSize() == 1000

        assert (await stub.ask(request)).text == "a"

        request.payload += "x"
        assert (await failure_of(stub.ask(request))).reason == "ERROR_REASON_MESSAGE_TOO_LARGE"


@pytest.mark.parametrize(("mebibytes", "typed"), [(15, True), (17, False)])
async def test_up_to_16_mib_the_server_gives_the_reason(mebibytes: int, typed: bool) -> None:
    """W1: the typed error comes for messages of up to 16 MiB; above, gRPC sends the code alone."""
    large = Request(act="a", payload="x" * (mebibytes << 20))
    async with serving([registration(ProbeServicer())]) as live:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await Stub(live.channel(READER)).ask(large)

    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert (DETAILS_KEY in dict(refused.value.trailing_metadata() or ())) is typed
    assert from_rpc_error(refused.value).reason == "ERROR_REASON_MESSAGE_TOO_LARGE"


@pytest.mark.parametrize("shape", ["ask", "follow"])
async def test_a_reply_over_8_mib_becomes_its_reason(shape: str) -> None:
    """W1: a reply that the caller's gRPC would refuse is refused by the server, with a reason."""

    async def large(_request: Dynamic) -> str:
        return "x" * (8 << 20)

    async with serving([registration(ProbeServicer(large))]) as live:
        call = getattr(Stub(live.channel(READER)), shape)(Request())
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await (call if shape == "ask" else call.read())

    assert DETAILS_KEY in dict(refused.value.trailing_metadata() or ())
    assert from_rpc_error(refused.value).reason == "ERROR_REASON_MESSAGE_TOO_LARGE"


async def test_bytes_that_are_not_the_message_are_refused() -> None:
    """W1: bytes of another type are refused with a typed error, without the parser's text."""
    async with serving([registration(ProbeServicer())]) as live:
        channel = live.channel(READER)
        raw: Dynamic = channel.unary_unary("/concord_chassis_probe.v1.ProbeService/Ask")
        failure = await failure_of(raw(b"\xff\xff\xff"))

    assert failure.reason == "ERROR_REASON_FIELD_INVALID"
    assert failure.message == "The bytes are not a concord_chassis_probe.v1.Request."


@pytest.mark.parametrize("shape", ["ask", "follow", "collect", "converse"])
async def test_a_cancelled_call_reaches_the_servicer_as_cancellation(shape: str) -> None:
    """Style 7: a cancellation passes through every stage and reaches the servicer's method."""
    entered = asyncio.Event()

    async def wait(request: Dynamic) -> str:
        entered.set()
        await asyncio.Event().wait()
        return await echo(request)

    servicer = ProbeServicer(wait)
    async with serving([registration(servicer)]) as live:
        stub = Stub(live.channel(WRITER))
        request = Request(act="a") if shape in {"ask", "follow"} else _several("a")
        call = getattr(stub, shape)(request)
        reading = asyncio.ensure_future(call.read() if shape in {"follow", "converse"} else call)
        await entered.wait()

        call.cancel()

        with pytest.raises(asyncio.CancelledError):
            await reading
        await until(lambda: servicer.interrupted == ["a"])


class _Endless(ProbeServicer):
    """Sends large replies for ever; `closed` is set when its generator is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = 0
        self.closed = False

    async def Follow(  # noqa: N802
        self, _request: Dynamic, _context: object
    ) -> AsyncIterator[Dynamic]:
        try:
            while True:
                self.sent += 1
                yield Reply(text="x" * (1 << 20))
        finally:
            self.closed = True


class _Watching(io.StringIO):
    """A log stream that notes, at each call's line, whether the servicer's generator was closed."""

    def __init__(self, servicer: _Endless) -> None:
        super().__init__()
        self._servicer = servicer
        self.closed_by_then: list[bool] = []

    def write(self, text: str) -> int:
        if '"call"' in text:
            self.closed_by_then.append(self._servicer.closed)
        return super().write(text)


async def test_a_reply_stream_is_closed_before_its_call_ends() -> None:
    """Style 7: a stream's generator, which may hold a cursor or a lock, is closed with its call.

    The client reads only the first reply, so the server waits in a write, outside the generator.
    """
    servicer = _Endless()
    log = _Watching(servicer)
    async with serving([registration(servicer)], log=json_lines("test", stream=log)) as live:
        call = Stub(live.channel(READER)).follow(Request(act="a"))
        await call.read()
        await until(lambda: servicer.sent >= 2)
        call.cancel()
        await until(lambda: bool(log.closed_by_then))

    assert log.closed_by_then == [True]
