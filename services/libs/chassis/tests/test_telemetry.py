import asyncio
import io
import json

import grpc
import pytest
from chassis_probe import (
    READER,
    Dynamic,
    ProbeServicer,
    Request,
    Stub,
    failure_of,
    registration,
    until,
)
from concord_chassis.call.failure import Failure
from concord_chassis.observe.log import json_lines
from concord_chassis.observe.metrics import Metrics
from concord_testing.serving import Serving, serving

SERVICE = "concord_chassis_probe.v1.ProbeService"


async def _answer(request: Dynamic) -> str:
    if request.act == "refuse":
        raise Failure(grpc.StatusCode.ABORTED, "ERROR_REASON_REVISION_STALE", "Again.")
    if request.act == "break":
        raise ValueError("a bug")
    if request.act == "wait":
        await asyncio.Event().wait()
    return "fine"


async def _some_calls(live: Serving) -> None:
    stub = Stub(live.channel(READER))
    await stub.ask(Request(act="a", payload="a payload that nobody may log"))
    await failure_of(stub.ask(Request(act="refuse")))
    await failure_of(stub.ask(Request(act="break")))
    await failure_of(stub.change(Request()))
    await failure_of(stub.nonsense(Request()))
    await failure_of(Stub(live.channel(None)).ask(Request()))
    assert len([reply async for reply in stub.follow(Request(act="a"))]) == 3


async def test_each_call_leaves_one_line() -> None:
    """W1: one canonical line per request: method, code, reason, ms, request id, caller."""
    stream = io.StringIO()
    async with serving(
        [registration(ProbeServicer(_answer))], log=json_lines("probe", stream=stream)
    ) as live:
        await _some_calls(live)

    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    calls = [line for line in lines if line["event"] == "call"]
    fields = [
        (c["method"].rpartition("/")[2], c["code"], c["reason"], c["principal"]) for c in calls
    ]
    assert fields == [
        ("Ask", "OK", "", "reader"),
        ("Ask", "ABORTED", "ERROR_REASON_REVISION_STALE", "reader"),
        ("Ask", "INTERNAL", "ERROR_REASON_INTERNAL", "reader"),
        ("Change", "PERMISSION_DENIED", "ERROR_REASON_PERMISSION_MISSING", "reader"),
        ("unknown", "UNIMPLEMENTED", "ERROR_REASON_METHOD_UNKNOWN", ""),
        ("Ask", "UNAUTHENTICATED", "ERROR_REASON_CREDENTIAL_INVALID", ""),
        ("Follow", "OK", "", "reader"),
    ]
    assert [call["level"] for call in calls].count("error") == 1
    assert all(call["server"] == "probe" and call["ms"] >= 0 for call in calls)
    assert len({call["request_id"] for call in calls}) == len(calls)


async def test_neither_payloads_nor_tokens_are_logged() -> None:
    """W6: the log has neither payloads nor tokens, even for a bug at level debug."""
    stream = io.StringIO()
    async with serving(
        [registration(ProbeServicer(_answer))],
        log=json_lines("probe", stream=stream, level="debug"),
    ) as live:
        token = live.issuer.mint(READER)
        await Stub(live.channel_with(token)).ask(
            Request(act="a", payload="a payload that nobody may log")
        )
        await failure_of(
            Stub(live.channel_with(token)).ask(Request(act="break", payload="nor may this be"))
        )

    text = stream.getvalue()
    assert '"call"' in text
    assert "ValueError: a bug" in text
    for secret in ("nobody may log", "nor may this be", token, token.split(".")[1]):
        assert secret not in text


async def test_metrics_count_calls_by_method_and_code() -> None:
    """W1: calls, also refused ones, are counted by method and code; unknown methods as one."""
    metrics = Metrics()
    async with serving(
        [registration(ProbeServicer(_answer))],
        metrics=metrics,
        log=json_lines("p", stream=io.StringIO()),
    ) as live:
        await _some_calls(live)

    def value(name: str, **labels: str) -> float | None:
        return metrics.registry.get_sample_value(name, labels)

    def handled(method: str, code: str) -> float | None:
        return value("concord_rpc_handled_total", service=SERVICE, method=method, code=code)

    assert handled("Ask", "OK") == 1
    assert handled("Ask", "ABORTED") == 1
    assert handled("Ask", "INTERNAL") == 1
    assert handled("Ask", "UNAUTHENTICATED") == 1
    assert handled("Change", "PERMISSION_DENIED") == 1
    assert handled("Ask", "UNAVAILABLE") is None
    assert value("concord_rpc_handled_total", service="", method="unknown", code="UNIMPLEMENTED")
    assert value("concord_rpc_seconds_count", service=SERVICE, method="Ask") == 4
    assert value("concord_rpc_in_flight", service=SERVICE, method="Ask") == 0


async def test_calls_under_way_are_counted_until_their_callers_leave() -> None:
    """W1: a call is counted as in flight until it ends; one whose caller has left is logged as
    CANCELLED."""
    metrics, stream = Metrics(), io.StringIO()
    log = json_lines("p", stream=stream)
    labels = {"service": SERVICE, "method": "Ask"}

    def in_flight() -> float | None:
        return metrics.registry.get_sample_value("concord_rpc_in_flight", labels)

    registered = [registration(ProbeServicer(_answer))]
    async with serving(registered, metrics=metrics, log=log) as live:
        call = Stub(live.channel(READER)).ask(Request(act="wait"))
        waiting = asyncio.ensure_future(call)
        await until(lambda: in_flight() == 1)
        call.cancel()
        await asyncio.wait([waiting])
        await until(lambda: in_flight() == 0)

    assert '"CANCELLED"' in stream.getvalue()


def test_lines_below_the_level_are_not_written() -> None:
    """Style 8: lines below the level are not written; an unknown level is a `KeyError`."""
    stream = io.StringIO()
    log = json_lines("p", stream=stream, level="warning")

    log.info("no")
    log.warning("yes", n=1)

    line = json.loads(stream.getvalue())
    assert (line["event"], line["n"], line["server"], line["level"]) == ("yes", 1, "p", "warning")
    with pytest.raises(KeyError):
        json_lines("p", level="loud")
