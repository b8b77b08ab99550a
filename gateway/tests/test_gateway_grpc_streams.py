import asyncio
import time
from collections.abc import AsyncIterator, Iterable

import grpc
import pytest
from concord_chassis.call.failure import DETAILS_KEY
from concord_chassis.call.requests import LONGEST_PAUSE
from gateway_echo import SECONDS, Dynamic, Front, Request, Stub, eventually
from gateway_refusals import refusal


async def each(acts: Iterable[str]) -> AsyncIterator[Dynamic]:
    """Requests with these acts."""
    for act in acts:
        yield Request(act=act)


async def texts(call: Dynamic) -> list[str]:
    """What a stream of replies says."""
    return [reply.text async for reply in call]


async def read_out(call: Dynamic) -> None:
    """Reads a stream to its end."""
    while await call.read() is not grpc.aio.EOF:
        pass


async def test_every_shape_of_call_goes_through(door: Front) -> None:
    """W1: one request or many, one reply or many."""
    assert (await door.stub.say(Request(act="one"))).text == "one"
    assert await texts(door.stub.follow(Request(act="a"))) == ["0:a", "1:a", "2:a"]
    assert (await door.stub.collect(each("abc"))).text == "a,b,c"
    assert await texts(door.stub.converse(each("abc"))) == ["a", "b", "c"]


async def test_a_conversation_alternates(door: Front) -> None:
    """W1: a reply arrives before the next request is sent, not at the end."""
    call = door.stub.converse()
    for act in ("first", "second"):
        await call.write(Request(act=act))
        assert act == (await call.read()).text
    await call.done_writing()

    assert grpc.aio.EOF is await call.read()
    assert grpc.StatusCode.OK is await call.code()


async def test_a_stream_that_fails_late_ends_with_the_services_own_error(door: Front) -> None:
    """W1: what came before the failure arrives, then the status byte for byte."""
    fixed = (("x-request-id", "fixed"),)
    seen = []
    for call in (
        Stub(door.direct).follow(Request(act="refuse late"), metadata=fixed),
        door.stub.follow(Request(act="refuse late"), metadata=(*door.as_writer, *fixed)),
    ):
        assert (await call.read()).text == "first"
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call.read()
        found = dict(refused.value.trailing_metadata() or ())
        seen.append((refused.value.code(), refused.value.details(), found[DETAILS_KEY]))

    assert seen[0] == seen[1]


@pytest.mark.parametrize("name", ["collect", "converse"])
async def test_a_request_stream_that_is_refused_ends_with_the_services_own_error(
    door: Front, name: str
) -> None:
    """W1: also when the caller has more to send."""
    call = getattr(door.stub, name)()
    await call.write(Request(act="refuse"))

    assert grpc.StatusCode.FAILED_PRECONDITION is await call.code()


async def test_a_service_that_has_heard_enough_may_answer_early(door: Front) -> None:
    """W1: the reply arrives although the caller has not finished."""
    call = door.stub.collect()
    await call.write(Request(act="enough"))

    assert (await call).text == "stopped early"


async def test_a_cancelled_upload_is_never_taken_for_a_whole_one(door: Front) -> None:
    """W1, M6: the service sees the cancellation, not an early end of the stream."""
    for taken in (2, 4, 6, 8, 10):
        call = door.stub.collect()
        await call.write(Request(act="a"))
        await call.write(Request(act="b"))
        await eventually(lambda expected=taken: door.servicer.taken == expected)  # type: ignore[misc]
        call.cancel()

    await eventually(lambda: len(door.servicer.cut) == 5)
    assert door.servicer.whole == []


async def test_a_vanished_uploader_is_never_taken_for_a_finished_one(door: Front) -> None:
    """M6: a connection that is lost is not an end of the stream either."""
    async with grpc.aio.insecure_channel(
        f"127.0.0.1:{door.gateway.grpc_port}", options=[("grpc.use_local_subchannel_pool", 1)]
    ) as leaving:
        call = Stub(leaving).collect(metadata=door.as_writer)
        await call.write(Request(act="a"))
        await eventually(lambda: door.servicer.taken == 1)

    await eventually(lambda: door.servicer.cut == ["a"])
    assert door.servicer.whole == []


async def test_cancelling_a_reply_stream_reaches_the_service(door: Front) -> None:
    """W1: nothing is produced for a reader who left."""
    call = door.stub.follow(Request(act="flood"))
    await call.read()
    call.cancel()

    await eventually(lambda: door.servicer.cut == ["flood"])


async def test_a_slow_reader_slows_the_service(door: Front) -> None:
    """W1: back-pressure reaches the producer; the gateway stores no more than a few buffers."""
    call = door.stub.follow(Request(act="flood", long_text="x" * 10_000))
    await call.read()
    await asyncio.sleep(0.05)
    before = -1
    async with asyncio.timeout(SECONDS):
        while before != door.servicer.written:
            before = door.servicer.written
            await asyncio.sleep(0.05)

    assert before < 2_000
    call.cancel()
    await eventually(lambda: door.servicer.cut == ["flood"])


async def test_a_slow_reader_who_leaves_is_no_bug(door: Front) -> None:
    """W1: a message that can no longer be written is the caller's end, not an INTERNAL of ours."""
    request = Request(act="flood", long_text="x" * 10_000)
    for _ in range(5):
        call = door.stub.follow(request)
        await call.read()
        await asyncio.sleep(0.2)  # by now a write waits for the reader
        call.cancel()
    await eventually(lambda: door.servicer.cut == ["flood"] * 5)

    assert '"bug"' not in door.logged.getvalue()


async def test_a_message_above_the_limit_ends_a_request_stream(door: Front) -> None:
    """W2: in a stream each message counts; nothing is taken as whole."""
    call = door.stub.collect()
    await call.write(Request(act="a"))
    await eventually(lambda: door.servicer.taken == 1)
    await call.write(Request(long_text="x" * (1 << 20)))

    assert (await refusal(call))[1] == "MESSAGE_TOO_LARGE"
    await eventually(lambda: door.servicer.cut == ["a"])
    assert door.servicer.whole == []


@pytest.mark.parametrize("name", ["follow", "collect", "converse"])
async def test_without_a_key_no_stream_opens(door: Front, name: str) -> None:
    """W6: UNAUTHENTICATED with its reason, and the service hears nothing."""
    request = Request(act="a") if name == "follow" else each("a")
    call = getattr(door.stub, name)(request, metadata=())

    assert grpc.StatusCode.UNAUTHENTICATED is await call.code()
    assert door.servicer.taken + door.servicer.written == 0


async def many(size: int) -> AsyncIterator[Dynamic]:
    """More requests than fit into gRPC's buffers at once."""
    for index in range(200):
        yield Request(act=str(index), long_text="x" * (size if index == 50 else 5_000))


@pytest.mark.parametrize("wrong", ["key", "size", "away", "method", "rule"])
async def test_an_uploader_in_full_flow_learns_why_it_is_refused(door: Front, wrong: str) -> None:
    """W1: gRPC's asyncio client hides a status that comes while it still sends."""
    expected = {
        "key": "CREDENTIAL_INVALID",
        "size": "MESSAGE_TOO_LARGE",
        "away": "UNAVAILABLE",
        "method": "METHOD_UNKNOWN",
        "rule": "PERMISSION_MISSING",
    }
    metadata = {"key": (), "rule": door.as_reader}.get(wrong, door.as_writer)
    if wrong == "away":
        await door.upstream.server.stop(0)
    send = door.stub.nothing if wrong == "method" else door.stub.collect

    call = send(many(1 << 21 if wrong == "size" else 1), metadata=metadata)
    assert (await refusal(call))[1] == expected[wrong]


async def unpausing(seconds: float) -> AsyncIterator[Dynamic]:
    """Requests with no more than a breath between them, for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield Request(act="a", long_text="x" * 5_000)
        await asyncio.sleep(LONGEST_PAUSE / 50)


@pytest.mark.parametrize("wrong", ["key", "rule", "away"])
async def test_an_uploader_that_sends_for_long_learns_why_it_is_refused(
    door: Front, wrong: str
) -> None:
    """W1: also when sending takes long, as on a busy machine: only a pause ends it."""
    expected = {
        "key": "CREDENTIAL_INVALID",
        "rule": "PERMISSION_MISSING",
        "away": "UNAVAILABLE",
    }
    metadata = {"key": (), "rule": door.as_reader}.get(wrong, door.as_writer)
    if wrong == "away":
        await door.upstream.server.stop(0)

    call = door.stub.collect(unpausing(1.5 * LONGEST_PAUSE), metadata=metadata)
    assert (await refusal(call))[1] == expected[wrong]


@pytest.mark.parametrize("name", ["follow", "collect", "converse"])
async def test_a_service_that_dies_ends_its_streams(door: Front, name: str) -> None:
    """W1: UNAVAILABLE with its reason."""
    if name == "follow":
        call = door.stub.follow(Request(act="flood", long_text="x" * 10_000))
        await call.read()
    else:
        call = getattr(door.stub, name)()
        await call.write(Request(act="hang"))
        await eventually(lambda: door.servicer.taken == 1)
    await door.upstream.server.stop(0)
    if name == "follow":
        with pytest.raises(grpc.aio.AioRpcError):
            await read_out(call)

    assert grpc.StatusCode.UNAVAILABLE is await call.code()
