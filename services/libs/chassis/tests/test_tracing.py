"""Traces: continued from the caller, passed on, sent to the set collector only, without texts."""

import asyncio
import io
import json
import subprocess
import sys

import grpc
import pytest
from chassis_probe import (
    READER,
    Dynamic,
    ProbeServicer,
    Request,
    Stub,
    registration,
)
from concord_chassis.call.failure import Failure
from concord_chassis.channel.channel import connect
from concord_chassis.config import ConfigError
from concord_chassis.observe import trace_exporter, tracing
from concord_chassis.observe.log import Logger, json_lines
from concord_chassis.observe.trace_exporter import exported, read
from concord_chassis.server.workers import Workers
from concord_testing.collector import TakenSpan, collecting
from concord_testing.serving import serving

INTERNAL, SERVER, CLIENT = 1, 2, 3
"""Kinds of spans, as numbers in OpenTelemetry's protocol."""
SERVICE = "concord_chassis_probe.v1.ProbeService"
TRACE, ABOVE = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
THEIRS = (("traceparent", f"00-{TRACE}-{ABOVE}-01"), ("tracestate", "vendor=1"))
QUIET = json_lines("test", level="critical")


async def _answer(request: Dynamic) -> str:
    if request.act == "refuse":
        raise Failure(grpc.StatusCode.ABORTED, "ERROR_REASON_REVISION_STALE", "A poisoned text.")
    if request.act == "break":
        raise ValueError("a poisoned text")
    tracing.note({"concord.probe": 7})
    return json.dumps(dict(tracing.outgoing()))


async def traced(*requests: Dynamic, log: Logger = QUIET) -> tuple[list[TakenSpan], bytes]:
    """Returns the spans of calls with the metadata `THEIRS`, and the collector's received bytes."""
    async with collecting() as collector:
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint}
        async with exported(read(environ), QUIET) as spans_of:
            spans = spans_of("probe")
            async with serving(
                [registration(ProbeServicer(_answer))], spans=spans, log=log
            ) as live:
                for request in requests:
                    call = Stub(live.channel(READER)).ask(request, metadata=THEIRS)
                    await asyncio.wait([asyncio.ensure_future(call)])
    return collector.spans, collector.wire


async def test_a_call_is_a_span_in_its_callers_trace() -> None:
    """W1: a call's span is below the caller's span and has names, code and ids."""
    (span,), _ = await traced(Request(act="a"))

    assert (span.service, span.name) == ("concord-probe", f"{SERVICE}/Ask")
    assert (span.raw.trace_id.hex(), span.raw.parent_span_id.hex()) == (TRACE, ABOVE)
    assert span.raw.trace_state == "vendor=1"
    attributes = span.attributes
    assert attributes.pop("concord.request_id")
    assert attributes == {
        "rpc.system": "grpc",
        "rpc.service": SERVICE,
        "rpc.method": "Ask",
        "rpc.grpc.status_code": 0,
        "concord.probe": 7,
    }


async def test_traces_go_to_the_collector_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """W6: spans do not go through a web proxy in the machine's environment."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")

    assert (await traced(Request(act="a")))[0]


async def test_a_failed_call_says_why_and_no_text() -> None:
    """W6: a failed call's span has code and reason, but no payload, message or traceback."""
    stream = io.StringIO()
    spans, wire = await traced(
        Request(act="refuse", payload="poisoned"),
        Request(act="break", payload="poisoned"),
        log=json_lines("probe", stream=stream),
    )

    refused, broken = spans
    reasons = [each.attributes["concord.reason"] for each in spans]
    assert reasons == ["ERROR_REASON_REVISION_STALE", "ERROR_REASON_INTERNAL"]
    codes = (grpc.StatusCode.ABORTED, grpc.StatusCode.INTERNAL)
    assert [each.attributes["rpc.grpc.status_code"] for each in spans] == [
        c.value[0] for c in codes
    ]
    assert [refused.raw.status.code, broken.raw.status.code] == [0, 2]
    assert b"poisoned" not in wire
    assert b"Traceback" not in wire
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert {line["trace_id"] for line in lines if line["event"] in ("call", "bug")} == {TRACE}


async def test_the_trace_goes_on_through_channels_and_threads() -> None:
    """W1: a call's inner calls and its work in threads are in spans below the call's span."""
    async with collecting() as collector:
        config = read({"OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint})
        async with exported(config, QUIET) as spans_of:
            workers = Workers(1, "probe-store")
            async with serving(
                [registration(ProbeServicer(_answer))], spans=spans_of("inner")
            ) as inner:

                async def asking(request: Dynamic) -> str:
                    trace_id = await workers.run(tracing.trace_id)
                    channel = inner.channel(READER)
                    reply = await Stub(channel).ask(request)
                    return f"{trace_id} {reply.text}"

                async with serving(
                    [registration(ProbeServicer(asking))], spans=spans_of("outer")
                ) as outer:
                    reply = await Stub(outer.channel(READER)).ask(Request(act="a"))
            workers.close()

    named = {(each.service, each.name, int(each.raw.kind)): each.raw for each in collector.spans}
    outer_server = named["concord-outer", f"{SERVICE}/Ask", SERVER]
    store = named["concord-outer", "probe-store", INTERNAL]
    outer_client = named["concord-outer", f"{SERVICE}/Ask", CLIENT]
    inner_server = named["concord-inner", f"{SERVICE}/Ask", SERVER]
    assert len(named) == 4
    assert not outer_server.parent_span_id
    assert {store.parent_span_id, outer_client.parent_span_id} == {outer_server.span_id}
    assert inner_server.parent_span_id == outer_client.span_id
    (client_span,) = (s for s in collector.spans if s.raw.kind == CLIENT)
    assert client_span.attributes == {
        "rpc.system": "grpc",
        "rpc.service": SERVICE,
        "rpc.method": "Ask",
        "rpc.grpc.status_code": 0,
    }
    assert outer_client.start_time_unix_nano <= inner_server.start_time_unix_nano
    assert inner_server.end_time_unix_nano <= outer_client.end_time_unix_nano
    assert {each.trace_id for each in named.values()} == {outer_server.trace_id}
    assert reply.text.startswith(outer_server.trace_id.hex())


async def test_a_service_that_does_not_answer_is_a_failed_span_of_who_asked() -> None:
    """W1: a call without a connection has a failed client span, with its code."""
    async with collecting() as collector:
        config = read({"OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint})
        async with exported(config, QUIET) as spans_of, connect("unix:/nobody", token=None) as gone:

            async def asking(request: Dynamic) -> str:
                with pytest.raises(grpc.aio.AioRpcError):
                    await Stub(gone).ask(request, timeout=10.0)
                return "said"

            registered = [registration(ProbeServicer(asking))]
            async with serving(registered, spans=spans_of("outer")) as outer:
                await Stub(outer.channel(READER)).ask(Request(act="a"))

    (client_span,) = (each for each in collector.spans if each.raw.kind == CLIENT)
    unavailable = grpc.StatusCode.UNAVAILABLE.value[0]
    assert (client_span.attributes["rpc.grpc.status_code"], client_span.raw.status.code) == (
        unavailable,
        2,
    )


async def test_what_happens_in_no_call_is_in_no_trace() -> None:
    """W6: outside of a call, and without a collector, there are no spans, metadata or trace ids."""
    async with exported(read({}), QUIET) as spans_of:
        assert spans_of("probe") is None
    with tracing.span("nothing"):
        tracing.note({"a": 1})
        tracing.set_code(0, {})

    assert tracing.outgoing() == {}
    assert tracing.trace_id() == ""


async def test_a_collector_that_is_away_delays_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Style 9: spans that the collector does not accept are dropped, with a warning in the log."""
    monkeypatch.setattr(trace_exporter, "EXPORT_SECONDS", 0.5)
    stream = io.StringIO()
    config = read({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"})
    async with (
        exported(config, json_lines("probe", stream=stream)) as spans_of,
        serving([registration(ProbeServicer(_answer))], spans=spans_of("p")) as live,
    ):
        assert (await Stub(live.channel(READER)).ask(Request(act="a"))).text

    assert '"event": "traces"' in stream.getvalue()


def test_opentelemetrys_exporter_is_loaded_where_it_is_used() -> None:
    """W4: a start without a collector does not load OpenTelemetry."""
    code = "import sys, concord_chassis.server.server; print('opentelemetry' in sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == "False"


@pytest.mark.parametrize("endpoint", ["127.0.0.1:4317", "ftp://a:1", "http://user:word@a:1"])
def test_what_is_no_endpoint_is_refused(endpoint: str) -> None:
    """Style 8: a malformed endpoint is refused at the start; the error does not show its value."""
    with pytest.raises(ConfigError, match="OTEL_EXPORTER_OTLP_ENDPOINT is not valid") as refused:
        read({"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint})

    assert endpoint not in str(refused.value)
