"""Spans of the current call, for an OpenTelemetry collector.

Without a collector no spans are made, and OpenTelemetry is not loaded. A call continues its
caller's trace (W3C Trace Context), and channels pass the trace on; work outside of a call is in no
trace. A span holds names, ids, counts and codes, but no texts, and so no exceptions.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # at run time OpenTelemetry is loaded only if a collector is set
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanKind, Tracer

HEADERS = frozenset({"traceparent", "tracestate"})
Attributes = Mapping[str, str | int]
Metadata = Mapping[str, str | bytes]

_SERVER_ERRORS = frozenset({2, 4, 12, 13, 14, 15})
"""gRPC's codes that make a server's span an error, by OpenTelemetry's conventions: UNKNOWN,
DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS."""
_CLIENT_SUCCESSES = frozenset({0, 1})
"""gRPC's codes that do not make a client's span an error: OK and CANCELLED."""


class Spans:
    """Makes the spans of one service."""

    def __init__(self, tracer: "Tracer") -> None:
        from opentelemetry import trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._tracer, self._trace = tracer, trace
        self._propagator = TraceContextTextMapPropagator()

    def of_call(self, path: str, metadata: Metadata) -> AbstractContextManager[None]:
        """Runs a block in the span of an incoming call, in the caller's trace or in a new one."""
        received = {name: metadata[name] for name in HEADERS & metadata.keys()}
        parent = self._propagator.extract(received)
        kind = self._trace.SpanKind.SERVER
        return self._under_way(path.removeprefix("/"), parent, kind, _rpc_names(path))

    def client_span(self, span: "Span", path: str) -> "Span":
        """Returns a child of `span` for a call to another service; the caller must end it."""
        names = _rpc_names(path)
        kind, parent = self._trace.SpanKind.CLIENT, self._trace.set_span_in_context(span)
        return self._tracer.start_span(path.removeprefix("/"), parent, kind, names)

    def child(self, span: "Span", name: str) -> AbstractContextManager[None]:
        """Runs a block in a new child of `span`."""
        parent = self._trace.set_span_in_context(span)
        return self._under_way(name, parent, self._trace.SpanKind.INTERNAL, {})

    def headers(self, span: "Span") -> dict[str, str]:
        """Returns the headers by which another service continues the trace below `span`."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier, self._trace.set_span_in_context(span))
        return carrier

    def fail(self, span: "Span") -> None:
        """Sets the status of `span` to an error."""
        span.set_status(self._trace.StatusCode.ERROR)

    @contextmanager
    def _under_way(
        self, name: str, parent: "Context", kind: "SpanKind", attributes: Attributes
    ) -> Iterator[None]:
        span = self._tracer.start_span(name, parent, kind, attributes)
        before = _CURRENT.get()
        _CURRENT.set((self, span))
        try:
            yield
        finally:
            _CURRENT.set(before)  # no `reset`: a stream may be closed in another context
            span.end()


def _rpc_names(path: str) -> dict[str, str]:
    service, _, method = path.removeprefix("/").rpartition("/")
    return {"rpc.system": "grpc", "rpc.service": service, "rpc.method": method}


_CURRENT: ContextVar["tuple[Spans, Span] | None"] = ContextVar("concord_span", default=None)


def span(name: str) -> AbstractContextManager[None]:
    """Runs a block in a span of a part of the current call, such as a store's transaction.

    Outside of a traced call, no span is made.
    """
    current = _CURRENT.get()
    return nullcontext() if current is None else current[0].child(current[1], name)


def note(attributes: Attributes) -> None:
    """Adds ids, counts or codes (never texts) to the current span, if there is one."""
    if current := _CURRENT.get():
        current[1].set_attributes(dict(attributes))


def set_code(code: int, attributes: Attributes) -> None:
    """Sets the final gRPC code, and more attributes, of the current call's span, if there is one.

    Codes in `_SERVER_ERRORS` make the span an error.
    """
    if current := _CURRENT.get():
        note({"rpc.grpc.status_code": code, **attributes})
        if code in _SERVER_ERRORS:
            current[0].fail(current[1])


class ClientSpan:
    """The span of a call to another service that is under way."""

    def __init__(self, spans: Spans, span: "Span") -> None:
        self._spans, self._span = spans, span
        self.headers: Mapping[str, str] = spans.headers(span)
        """The metadata by which the other service continues the trace."""

    def end(self, code: int) -> None:
        """Ends the span with a gRPC code; every code but OK and CANCELLED makes it an error.

        OpenTelemetry's conventions count CANCELLED, too, as a client's error.
        """
        self._span.set_attribute("rpc.grpc.status_code", code)
        if code not in _CLIENT_SUCCESSES:
            self._spans.fail(self._span)
        self._span.end()


def begin_client_span(path: str) -> ClientSpan | None:
    """Begins and returns the span of a call to another service; None outside of a traced call."""
    current = _CURRENT.get()
    if current is None:
        return None
    spans, parent = current
    return ClientSpan(spans, spans.client_span(parent, path))


def outgoing() -> Mapping[str, str]:
    """Returns the metadata by which another service continues the current trace, if any."""
    current = _CURRENT.get()
    return {} if current is None else current[0].headers(current[1])


def trace_id() -> str:
    """Returns the current trace's id, 32 hex digits, as collectors show it; "" without a trace."""
    current = _CURRENT.get()
    return "" if current is None else f"{current[1].get_span_context().trace_id:032x}"
