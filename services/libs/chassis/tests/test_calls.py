"""Calls from end to end: what a caller sees of a server's stages, deadlines and stop."""

import asyncio
import io
import json
from contextvars import ContextVar

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
from concord_chassis.call import deadline, identity
from concord_chassis.call.failure import Failure
from concord_chassis.observe import request_id
from concord_chassis.observe.log import json_lines
from concord_testing.serving import Serving, serving


def _stub(live: Serving) -> Stub:
    return Stub(live.channel(READER))


async def _forever(_request: Dynamic) -> str:
    await asyncio.Event().wait()
    return ""


async def test_a_call_passes_all_stages() -> None:
    """W1: a call has its request id, its line in the log and its trailing metadata."""
    log = io.StringIO()
    async with serving([registration(ProbeServicer())], log=json_lines("test", stream=log)) as live:
        call = _stub(live).ask(Request(act="one"), metadata=(("x-request-id", "r-1"),))
        reply = await call
        ended = call.done(), call.cancelled(), await call.code(), await call.details()
        trailing = dict(await call.trailing_metadata())
        head = tuple(await call.initial_metadata())

    (line,) = [each for each in map(json.loads, log.getvalue().splitlines()) if "method" in each]
    assert (line["code"], line["request_id"], line["principal"]) == ("OK", "r-1", "reader")
    assert reply.text == "one"
    assert ended == (True, False, grpc.StatusCode.OK, "")
    assert trailing == {"x-request-id": "r-1"}
    assert head == ()


@pytest.mark.parametrize(
    ("act", "reason"),
    [("NOT LOWER", "ERROR_REASON_FIELD_INVALID"), ("a", "ERROR_REASON_ITEM_NOT_FOUND")],
)
async def test_a_refusal_arrives_whole(act: str, reason: str) -> None:
    """W1: a refusal has its code, reason, message, violations and the time to wait."""

    async def refuse(_request: Dynamic) -> str:
        raise Failure(
            grpc.StatusCode.NOT_FOUND,
            "ERROR_REASON_ITEM_NOT_FOUND",
            "none",
            metadata={"id": "x"},
            retry_after=2.0,
        )

    async with serving([registration(ProbeServicer(refuse))]) as live:
        call = _stub(live).ask(Request(act=act))
        failure = await failure_of(call)
        code, details = await call.code(), await call.details()

    assert failure.reason == reason
    assert (code, details) == (failure.code, failure.message)
    if act == "a":
        assert (failure.message, failure.metadata, failure.retry_after) == ("none", {"id": "x"}, 2)
    else:
        assert [each.field for each in failure.violations] == ["act"]


async def test_without_the_permission_a_call_is_refused() -> None:
    """W7: being in the same process gives no right: the token decides."""
    async with serving([registration(ProbeServicer())]) as live:
        unknown = await failure_of(Stub(live.channel(None)).ask(Request(act="a")))
        reader = await failure_of(_stub(live).change(Request(act="a")))

    assert unknown.code is grpc.StatusCode.UNAUTHENTICATED
    assert reader.code is grpc.StatusCode.PERMISSION_DENIED


async def test_a_deadline_ends_the_call_and_its_work() -> None:
    """Style 7: at the caller's deadline the call ends, and the servicer's work is cancelled."""
    servicer = ProbeServicer(_forever)
    async with serving([registration(servicer)]) as live:
        failure = await failure_of(_stub(live).ask(Request(act="a"), timeout=0.3))
        await until(lambda: servicer.interrupted == ["a"])

    assert failure.code is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_a_caller_that_leaves_ends_the_work() -> None:
    """Style 7: a call whose caller is cancelled, or which is cancelled itself, ends its work."""
    servicer = ProbeServicer(_forever)
    async with serving([registration(servicer)]) as live:
        stub = _stub(live)

        async def ask() -> None:
            await stub.ask(Request(act="a"))

        asking = asyncio.create_task(ask())
        call = stub.ask(Request(act="b"))
        await until(lambda: sorted(servicer.seen) == ["a", "b"])
        asking.cancel()
        assert call.cancel()
        await until(lambda: sorted(servicer.interrupted) == ["a", "b"])
        with pytest.raises(asyncio.CancelledError):
            await asking
        with pytest.raises(asyncio.CancelledError):
            await call

        assert call.cancelled()
        assert await call.code() is grpc.StatusCode.CANCELLED


@pytest.mark.parametrize("ends_as", ["reply", "refusal", "cancelled"])
async def test_a_caller_leaves_at_once(ends_as: str) -> None:
    """Style 7: a caller that is cancelled, or whose time is over, does not wait for a servicer that
    takes long to end, loses neither to what the servicer ends with, and asks only once."""
    go = asyncio.Event()

    async def linger(_request: Dynamic) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await go.wait()
            if ends_as == "cancelled":
                raise
        if ends_as == "refusal":
            raise Failure(grpc.StatusCode.UNAVAILABLE, "ERROR_REASON_UNAVAILABLE", "later")
        return "late"

    servicer = ProbeServicer(linger)
    async with serving([registration(servicer)]) as live:
        stub = _stub(live)
        async with asyncio.timeout(SECONDS):
            late = await failure_of(stub.ask(Request(act="a"), timeout=0.3))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await stub.ask(Request(act="b"))
            call = stub.ask(Request(act="c"))
            await until(lambda: "c" in servicer.seen)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        go.set()
        await asyncio.sleep(0.2)  # in which a retry would arrive

        assert (late.code, call.cancelled()) == (grpc.StatusCode.DEADLINE_EXCEEDED, True)
        assert servicer.seen == ["a", "b", "c"]


async def test_a_call_sees_nothing_of_its_callers_context() -> None:
    """W7: the servicer has the caller, request id and deadline of its own call, not its caller's,
    and leaves nothing of them behind."""
    found: list[object] = []

    async def look(_request: Dynamic) -> str:
        left = deadline.remaining()
        found.append((identity.caller().principal, request_id.current(), left is None or left > 5))
        return ""

    async with serving([registration(ProbeServicer(look))]) as live:
        request_id.enter("outer")
        identity.enter(WRITER)
        deadline.enter(3)
        raw = live.channel(READER)
        await Stub(raw).ask(Request(act="a"), metadata=(("x-request-id", "inner"),), timeout=2)
        after = (request_id.current(), identity.caller().principal)

    assert found == [("reader", "inner", False)]
    assert after == ("outer", "writer")


async def test_a_call_sees_the_context_in_which_its_server_was_started() -> None:
    """W6: the servicer has what was set for the process, such as its TLS between services."""
    setting: ContextVar[str] = ContextVar("setting")
    setting.set("the process's")

    async def look(_request: Dynamic) -> str:
        return setting.get("none")

    async with serving([registration(ProbeServicer(look))]) as live:
        setting.set("the caller's")
        reply = await _stub(live).ask(Request(act="a"))

    assert reply.text == "the process's"


async def test_a_server_stops_when_its_calls_have_ended() -> None:
    """W1: a stop waits for a call, cuts it off after the grace time, and takes no other."""
    go = asyncio.Event()

    async def wait(request: Dynamic) -> str:
        await (go.wait() if request.act == "short" else asyncio.Event().wait())
        return str(request.act)

    servicer = ProbeServicer(wait)
    async with serving([registration(servicer)]) as live:
        stub = _stub(live)
        short, long = stub.ask(Request(act="short")), stub.ask(Request(act="long"))
        await until(lambda: len(servicer.seen) == 2)
        stopping = asyncio.create_task(live.server.stop(1.0))
        await asyncio.sleep(0.05)
        late = await failure_of(stub.ask(Request(act="late"), timeout=0.2))
        go.set()

        assert (await short).text == "short"
        cut_off = await failure_of(long)
        await stopping

    assert cut_off.code is grpc.StatusCode.UNAVAILABLE
    assert servicer.interrupted == ["long"]
    assert late.code in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}
    assert sorted(servicer.seen) == ["long", "short"]


async def test_a_stop_ends_a_call_that_is_made_again() -> None:
    """W1: a server that stops refuses the calls that it cuts off; their callers are not
    cancelled, even in a retry."""

    async def refuse_once(_request: Dynamic) -> str:
        if len(servicer.seen) == 1:
            raise Failure(grpc.StatusCode.UNAVAILABLE, "ERROR_REASON_UNAVAILABLE", "later")
        return await _forever(_request)

    servicer = ProbeServicer(refuse_once)
    async with serving([registration(servicer)]) as live:
        call = _stub(live).ask(Request(act="a"))
        await until(lambda: len(servicer.seen) == 2)
        await live.server.stop(0.1)

        assert (await failure_of(call)).code is grpc.StatusCode.UNAVAILABLE


async def test_a_stage_that_fails_ends_the_call() -> None:
    """Style 10: a failure outside of translation, such as of the log, is the server's: UNKNOWN."""

    class Full(io.StringIO):
        def write(self, text: str) -> int:
            if '"call"' in text:
                raise OSError("the disk is full")
            return len(text)

    log = json_lines("test", stream=Full())
    async with serving([registration(ProbeServicer())], log=log) as live:
        call = _stub(live).ask(Request(act="a"))

        assert (await failure_of(call)).code is grpc.StatusCode.UNKNOWN
        assert await call.code() is grpc.StatusCode.UNKNOWN


async def test_a_servicer_may_abort_with_a_code_alone() -> None:
    """W1: `abort` needs neither a text nor metadata, and keeps the metadata that is set."""

    class Aborting(ProbeServicer):
        async def Ask(self, _request: Dynamic, context: Dynamic) -> Dynamic:  # noqa: N802
            await context.abort(grpc.StatusCode.NOT_FOUND)

    async with serving([registration(Aborting())]) as live:
        call = _stub(live).ask(Request(act="a"), metadata=(("x-request-id", "r-1"),))
        assert (await failure_of(call)).code is grpc.StatusCode.NOT_FOUND
        assert dict(await call.trailing_metadata()) == {"x-request-id": "r-1"}
