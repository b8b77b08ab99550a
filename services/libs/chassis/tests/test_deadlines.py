import asyncio
import io
import json
import time

import grpc
import pytest
from chassis_probe import (
    READER,
    SECONDS,
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
from concord_chassis.call.identity import TokenVerifier
from concord_chassis.observe.log import json_lines
from concord_testing.serving import Serving, new_issuer, serving


async def _forever(_request: Dynamic) -> str:
    await asyncio.Event().wait()
    return ""


def _bare(live: Serving, shape: str) -> Dynamic:
    """Returns a call without a deadline, such as a client without the chassis may send."""
    return getattr(Stub(live.channel(READER, cap=None)), shape)(Request(act="a"))


async def test_a_unary_call_without_deadline_gets_the_default_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """W1: a unary call without a deadline ends with DEADLINE_EXCEEDED after the default one."""
    monkeypatch.setattr(deadline, "DEFAULT", 0.03)
    servicer = ProbeServicer(_forever)
    async with serving([registration(servicer)]) as live:
        failure = await failure_of(_bare(live, "ask"))

    assert failure.code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert failure.reason == "ERROR_REASON_DEADLINE_EXCEEDED"
    assert failure.message == "The call took longer than its deadline."
    assert servicer.interrupted == ["a"]


# Deadlines in seconds, tried in turn: on a busy machine a call may arrive after the first ones.
PATIENCE = (0.04, 0.4, 4.0, 20.0)


@pytest.mark.parametrize("shape", ["ask", "follow"])
async def test_a_callers_deadline_ends_the_work_and_is_logged_as_such(shape: str) -> None:
    """Style 7: the servicer's work is cancelled at the caller's deadline; the log has the code."""
    log = io.StringIO()
    servicer = ProbeServicer(_forever)
    async with serving([registration(servicer)], log=json_lines("test", stream=log)) as live:
        for seconds in PATIENCE:
            call = getattr(Stub(live.channel(READER)), shape)(Request(act="a"), timeout=seconds)
            failure = await failure_of(call if shape == "ask" else call.read())
            assert failure.code is grpc.StatusCode.DEADLINE_EXCEEDED
            await until(lambda: servicer.interrupted == servicer.seen)
            await until(lambda: len(_calls(log)) >= len(servicer.seen))
            if "DEADLINE_EXCEEDED" in log.getvalue() and servicer.seen:
                break

    codes = {line["code"] for line in _calls(log)}
    assert "DEADLINE_EXCEEDED" in codes
    assert codes <= {"DEADLINE_EXCEEDED", "CANCELLED"}  # the caller's clock began before ours
    assert servicer.seen


def _calls(log: io.StringIO) -> list[dict[str, str]]:
    lines = (json.loads(line) for line in log.getvalue().splitlines())
    return [line for line in lines if line["event"] == "call"]


async def test_a_call_that_arrives_without_time_left_is_refused() -> None:
    """W1: a call whose deadline has passed is refused before the servicer is called."""
    issuer = new_issuer()
    pause = 0.0

    def slow_clock() -> float:
        time.sleep(pause)  # the check of the token takes longer than the caller's deadline
        return time.time()

    servicer = ProbeServicer()
    verifier = TokenVerifier({issuer.name: issuer.public_key}, now=slow_clock)
    log = io.StringIO()
    async with serving(
        [registration(servicer)],
        issuer=issuer,
        verifier=verifier,
        log=json_lines("test", stream=log),
    ) as live:
        channel = live.channel(READER)
        await Stub(channel).ask(Request(act="connect"))
        for seconds in PATIENCE:
            pause = seconds * 1.2
            failure = await failure_of(Stub(channel).ask(Request(act="late"), timeout=seconds))
            assert failure.code is grpc.StatusCode.DEADLINE_EXCEEDED
            await asyncio.sleep(0.02)
            if len(_calls(log)) > 1:
                break

    connected, *late = [line["reason"] for line in _calls(log)]
    assert connected == ""
    assert set(late) == {"ERROR_REASON_DEADLINE_EXCEEDED"}
    assert servicer.seen == ["connect"]


async def test_remaining_time_is_the_callers_or_the_default_or_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """W1: `remaining` follows the caller's deadline; without one, the default, or None (stream)."""
    monkeypatch.setattr(deadline, "DEFAULT", 700)
    seen: dict[str, float | None] = {}

    async def remember(request: Dynamic) -> str:
        seen[request.act] = deadline.remaining()
        return ""

    servicer = ProbeServicer(remember)
    async with serving([registration(servicer)]) as live:
        await Stub(live.channel(READER, cap=300)).ask(Request(act="own"))
        careless = Stub(live.channel(READER, cap=None))
        await careless.ask(Request(act="default"))
        await careless.follow(Request(act="following")).read()
        await careless.follow(Request(act="bounded"), timeout=200).read()

    assert seen.pop("following") is None
    assert seen == pytest.approx({"own": 300, "default": 700, "bounded": 200}, abs=SECONDS)


async def test_an_outgoing_call_gets_less_than_is_left() -> None:
    """Design 4: an outgoing call gets min(cap, remaining time - 50 ms)."""
    assert deadline.remaining() is None
    assert deadline.outgoing(4) == 4

    async def within(seconds: float, cap: float) -> float:
        deadline.enter(seconds)
        return deadline.outgoing(cap)

    assert await asyncio.create_task(within(1000, 400)) == 400
    assert 100 - SECONDS < await asyncio.create_task(within(100, 400)) <= 99.95
    with pytest.raises(Failure) as caught:
        await asyncio.create_task(within(0.04, 4))
    assert caught.value.reason == "ERROR_REASON_DEADLINE_EXCEEDED"


@pytest.mark.parametrize(
    ("left", "reason"), [(0.04, "ERROR_REASON_DEADLINE_EXCEEDED"), (9, "ERROR_REASON_UNAVAILABLE")]
)
async def test_a_dependency_without_time_is_no_dependency_that_is_gone(
    left: float, reason: str
) -> None:
    """Design 4: whoever gave too little time learns that, not that a service does not answer."""

    async def refuse(_request: Dynamic) -> str:
        deadline.enter(left)
        raise Failure(grpc.StatusCode.UNAVAILABLE, "ERROR_REASON_UNAVAILABLE", "x", resend=False)

    async with serving([registration(ProbeServicer(refuse))]) as live:
        failure = await failure_of(Stub(live.channel(READER)).ask(Request(act="a")))

    assert failure.reason == reason
