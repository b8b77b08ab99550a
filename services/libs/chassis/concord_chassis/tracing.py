"""Spans of the current call, sent to an OpenTelemetry collector. None are made where none is set.

OpenTelemetry is not even loaded then. A call takes its caller's trace on (W3C Trace Context), and
its channels hand it on; what happens outside of any call is in no trace. A span holds names, ids,
counts and codes, never a text: no exception is recorded in one.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # loaded where a collector is set
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanKind, Tracer

HEADERS = frozenset({"traceparent", "tracestate"})
Attributes = Mapping[str, str | int]
Metadata = Mapping[str, str | bytes]

_FAILED = frozenset({2, 4, 12, 13, 14, 15})
"""gRPC's codes that make a server's span an error, by OpenTelemetry's conventions: UNKNOWN,
DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS."""
_UNFAILED = frozenset({0, 1})


class Spans:
    """Makes the spans of one service."""

    def __init__(self, tracer: "Tracer") -> None:
        from opentelemetry import trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._tracer, self._trace = tracer, trace
        self._propagator = TraceContextTextMapPropagator()

    def of_call(self, path: str, metadata: Metadata) -> AbstractContextManager[None]:
        """A call that came in, in its caller's trace or in one of its own."""
        theirs = {name: metadata[name] for name in HEADERS & metadata.keys()}
        above = self._propagator.extract(theirs)
        kind = self._trace.SpanKind.SERVER
        return self._under_way(path.removeprefix("/"), above, kind, _rpc_names(path))

    def asking(self, span: "Span", path: str) -> "Span":
        """A call to another service that `span` makes; whoever began it ends it."""
        names = _rpc_names(path)
        kind, above = self._trace.SpanKind.CLIENT, self._trace.set_span_in_context(span)
        return self._tracer.start_span(path.removeprefix("/"), above, kind, names)

    def below(self, span: "Span", name: str) -> AbstractContextManager[None]:
        """A part of what `span` does."""
        above = self._trace.set_span_in_context(span)
        return self._under_way(name, above, self._trace.SpanKind.INTERNAL, {})

    def headers(self, span: "Span") -> dict[str, str]:
        """What tells the next service which trace it is in."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier, self._trace.set_span_in_context(span))
        return carrier

    def fail(self, span: "Span") -> None:
        """Says that what `span` did failed."""
        span.set_status(self._trace.StatusCode.ERROR)

    @contextmanager
    def _under_way(
        self, name: str, above: "Context", kind: "SpanKind", attributes: Attributes
    ) -> Iterator[None]:
        span = self._tracer.start_span(name, above, kind, attributes)
        before = _CURRENT.get()
        _CURRENT.set((self, span))
        try:
            yield
        finally:
            _CURRENT.set(before)  # no token: a stream may be closed in another context
            span.end()


def _rpc_names(path: str) -> dict[str, str]:
    service, _, method = path.removeprefix("/").rpartition("/")
    return {"rpc.system": "grpc", "rpc.service": service, "rpc.method": method}


_CURRENT: ContextVar["tuple[Spans, Span] | None"] = ContextVar("concord_span", default=None)


def span(name: str) -> AbstractContextManager[None]:
    """A part of the current call, such as a question to a store; nothing without a current one."""
    current = _CURRENT.get()
    return nullcontext() if current is None else current[0].below(current[1], name)


def note(attributes: Attributes) -> None:
    """Adds ids, counts or codes to the current span, if there is one; never a text."""
    if current := _CURRENT.get():
        current[1].set_attributes(dict(attributes))


def ended(code: int, attributes: Attributes) -> None:
    """Notes with which code of gRPC's the current call ended, if it is traced."""
    if current := _CURRENT.get():
        note({"rpc.grpc.status_code": code, **attributes})
        if code in _FAILED:
            current[0].fail(current[1])


class Asked:
    """A call to another service under way, in the current trace."""

    def __init__(self, spans: Spans, span: "Span") -> None:
        self._spans, self._span = spans, span
        self.headers: Mapping[str, str] = spans.headers(span)
        """The metadata that takes the trace on."""

    def ended(self, code: int) -> None:
        """Ends it, with a code of gRPC's; for a caller every code but OK and CANCELLED is an error,
        by OpenTelemetry's conventions."""
        self._span.set_attribute("rpc.grpc.status_code", code)
        if code not in _UNFAILED:
            self._spans.fail(self._span)
        self._span.end()


def asked(path: str) -> Asked | None:
    """A call to another service that begins now; None outside of a trace."""
    current = _CURRENT.get()
    return None if current is None else Asked(current[0], current[0].asking(current[1], path))


def outgoing() -> Mapping[str, str]:
    """The metadata that takes the current trace on to another service; empty outside of one."""
    current = _CURRENT.get()
    return {} if current is None else current[0].headers(current[1])


def trace_id() -> str:
    """The current trace's id in 32 hexadecimal digits, as collectors show it; "" outside of one."""
    current = _CURRENT.get()
    return "" if current is None else f"{current[1].get_span_context().trace_id:032x}"
