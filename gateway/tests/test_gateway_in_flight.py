import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import grpc
from concord_chassis.call.failure import Failure
from gateway_echo import ECHO, SECONDS, Dynamic, Front, Request, Stub, eventually, front
from gateway_refusals import refusal, refused
from google.rpc import error_details_pb2

HANG = Request(act="hang")


@asynccontextmanager
async def under_way(door: Front, calls: list[Dynamic]) -> AsyncIterator[None]:
    """A block in which the calls have reached the service and wait there."""
    try:
        await eventually(lambda: door.servicer.hanging == len(calls))
        yield
    finally:
        for call in calls:
            call.cancel()
        await eventually(lambda: door.servicer.hanging == 0)


async def overload(call: Dynamic) -> Failure:
    """Why the call was refused."""
    failure = await refused(call)
    assert failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    return failure


async def test_a_key_that_has_all_its_calls_under_way_is_refused_the_next(tmp_path: Path) -> None:
    """W7: at once, with what was reached and when to come again; other keys go on, and so does
    this one when a call has ended."""
    async with front(tmp_path, calls_per_key=3) as door:
        calls = [door.stub.say(HANG) for _ in range(3)]
        async with under_way(door, calls):
            found = await overload(door.stub.say(Request(act="x")))
            others = await door.stub.say(Request(act="x"), metadata=door.as_reader)
        again = await door.stub.say(Request(act="x"))

    assert (found.reason, found.retry_after) == ("ERROR_REASON_OVERLOADED", 1.0)
    assert found.metadata == {"limit": "calls", "max": "3"}
    assert (others.text, again.text) == ("x", "x")


async def test_a_key_has_fewer_streams_than_calls_and_fewer_exports_than_streams(
    tmp_path: Path,
) -> None:
    """W7: an export counts as a stream, and a stream as a call; in every shape of call."""
    async with front(tmp_path, calls_per_key=4, streams_per_key=3, exports_per_key=1) as door:
        stub, mine = door.stub, {"metadata": door.as_writer}

        async def hanging() -> AsyncIterator[Dynamic]:
            yield HANG

        calls = [stub.export(HANG, **mine), *(stub.collect(hanging(), **mine) for _ in range(2))]
        async with under_way(door, calls):
            over = [
                await overload(stub.export(HANG, **mine)),
                await overload(stub.follow(HANG, **mine)),
                await overload(stub.collect(hanging(), **mine)),
                await overload(stub.converse(hanging(), **mine)),
            ]
            plain = await stub.say(Request(act="x"), **mine)
            others = stub.export(Request(act="y"), metadata=door.as_reader)
            assert (await others.read()).text == "0:y"

    assert plain.text == "x"
    assert [each.metadata["limit"] for each in over] == ["streams"] * 4


async def test_one_more_export_of_a_key_is_refused(tmp_path: Path) -> None:
    """W7: two by default, while its other streams go on."""
    async with front(tmp_path) as door:
        calls = [door.stub.export(HANG) for _ in range(2)]
        async with under_way(door, calls):
            found = await overload(door.stub.export(HANG))
            stream = door.stub.follow(Request(act="y"))
            assert (await stream.read()).text == "0:y"

    assert found.metadata == {"limit": "exports", "max": "2"}


async def test_http_and_grpc_share_a_keys_places(tmp_path: Path) -> None:
    """W7: 429 with the same reason; another spelling of the scheme is the same key."""
    async with front(tmp_path, calls_per_key=2) as door:
        posts = [
            asyncio.ensure_future(
                door.http.post(
                    f"/{ECHO.full_name}/Say",
                    content='{"act": "hang"}',
                    headers=door.json() | {"authorization": f"{scheme} {door.writer}"},
                )
            )
            for scheme in ("Bearer", "bEARER")
        ]
        async with under_way(door, posts):
            answer = await door.say({"act": "x"})
            found = await overload(door.stub.say(Request(act="x")))

    info = {each["type"]: each["debug"] for each in answer.json()["details"]}
    assert (answer.status_code, found.reason) == (429, "ERROR_REASON_OVERLOADED")
    assert info["google.rpc.ErrorInfo"]["metadata"] == {"limit": "calls", "max": "2"}
    assert error_details_pb2.RetryInfo.DESCRIPTOR.full_name in info


async def test_all_keys_together_have_a_limit_too(tmp_path: Path) -> None:
    """W7: what is more than the services take is refused with its reason, not by the transport."""
    async with front(tmp_path, calls=2) as door:
        calls = [door.stub.say(HANG, metadata=each) for each in (door.as_writer, door.as_reader)]
        async with under_way(door, calls):
            found = await overload(door.stub.say(Request(act="x"), metadata=door.as_reader))

    assert found.metadata == {"limit": "calls_of_all", "max": "2"}


async def test_an_unknown_method_is_named_so_without_a_key(door: Front) -> None:
    """W1: UNIMPLEMENTED, as whoever probes for a service expects, not "send a key"."""
    call = door.stub.nonsense(Request(), metadata=())
    assert await refusal(call) == ("UNIMPLEMENTED", "METHOD_UNKNOWN")


async def test_a_rush_is_answered_or_refused_with_a_reason(tmp_path: Path) -> None:
    """W7 More calls at once than gRPC holds of its own accord: none is dropped without a word."""
    rush = 600
    async with front(tmp_path) as door, AsyncExitStack() as channels:
        at = f"127.0.0.1:{door.gateway.grpc_port}"
        own = [("grpc.use_local_subchannel_pool", 1)]
        stubs = [
            Stub(await channels.enter_async_context(grpc.aio.insecure_channel(at, options=own)))
            for _ in range(2)
        ]
        calls = [stub.nonsense(Request(), timeout=SECONDS) for stub in stubs for _ in range(rush)]
        codes = {await call.code() for call in calls}

    assert codes == {grpc.StatusCode.UNIMPLEMENTED}
