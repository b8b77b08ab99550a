"""One HTTP/1.1 connection: uvicorn's, with timeouts and with errors in the contract's form.

uvicorn itself waits for ever for the first byte of a request and for a body that nobody reads,
and answers a request that is not HTTP in plain text.
"""

import asyncio
import resource
from typing import Any

import grpc
import h11
from concord_chassis.call.failure import Failure, FieldViolation
from concord_chassis.observe import request_id as request_ids
from uvicorn.protocols.http.h11_impl import H11Protocol

from concord_gateway.config import Config
from concord_gateway.http import connect_error
from concord_gateway.http.connect_error import JSON
from concord_gateway.in_flight import overloaded

_HTTP_2 = b"PRI * HTTP/2"
_NOT_HTTP = Failure(
    grpc.StatusCode.INVALID_ARGUMENT,
    "ERROR_REASON_FIELD_INVALID",
    "This is not a valid request of HTTP/1.1, which this address speaks, with one statement of its "
    "body's length; gRPC has another port.",
    violations=[FieldViolation("", "is not a request of HTTP/1.1")],
)
_LATE = Failure(
    grpc.StatusCode.DEADLINE_EXCEEDED,
    "ERROR_REASON_DEADLINE_EXCEEDED",
    "The headers of the request did not arrive in time.",
)


def most_connections(limit: int) -> int:
    """How many connections may be open: at most half of the descriptors of this process."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors == resource.RLIM_INFINITY:
        return limit
    return min(limit, descriptors // 2)


class _OneLength(h11.Connection):
    """Refuses a request that states its body's length twice: by Content-Length and in chunks.

    A proxy before this address may believe the other length (RFC 9112, 6.1: request smuggling).
    """

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if {b"content-length", b"transfer-encoding"} <= names:
                raise h11.RemoteProtocolError("two lengths of one body")
        return event


class Connection(H11Protocol):
    """A caller's connection."""

    # The other arguments are uvicorn's own.
    def __init__(self, *args: Any, settings: Config, **named: Any) -> None:
        super().__init__(*args, **named)
        self.conn = _OneLength(h11.SERVER)
        self._settings = settings
        self._awaited: object = None  # the part of a request that the timer is of
        self._timer: asyncio.TimerHandle | None = None
        self._is_overdue = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        """Starts the timer of the headers, or refuses a connection above the limit."""
        super().connection_made(transport)
        most = most_connections(self._settings.http_connections)
        if len(self.connections) > most:
            self._end_with(overloaded("connections", most, f"{most} connections are open here."))
        else:
            self._await_next()

    def data_received(self, data: bytes) -> None:
        """Parses the bytes, and starts the timer of the next part of the request."""
        if data.startswith(_HTTP_2) and self.conn.their_state is h11.IDLE:
            self._end_with(_NOT_HTTP)  # h11 would take HTTP/2's preface for two requests
            return
        super().data_received(data)
        self._await_next()

    def on_response_complete(self) -> None:
        """Starts the timer of the next request, unless the body of this one is overdue."""
        super().on_response_complete()
        if self._is_overdue:
            self.transport.close()
        self._await_next()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the timer."""
        super().connection_lost(exc)
        self._await(None, 0)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn gives its own text
        """Answers a request that is not HTTP."""
        self._end_with(_NOT_HTTP)

    def _await_next(self) -> None:
        """Starts the one timer for a request's headers, or the one for its body: a byte now and
        then does not restart it."""
        state = self.conn.their_state
        if state is self._awaited or self.transport.is_closing():
            return
        if state is h11.IDLE:
            self._await(state, self._settings.http_header_seconds)
        elif state is h11.SEND_BODY:
            self._await(state, self._settings.http_body_seconds)
        else:
            self._await(state, 0)

    def _await(self, state: object, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._awaited = state
        self._timer = self.loop.call_later(seconds, self._late) if seconds else None

    def _late(self) -> None:
        began, _ = self.conn.trailing_data
        if self._awaited is h11.SEND_BODY:
            self._is_overdue = True
            if self.cycle.response_complete:  # else `Unary`, which waits for the body, answers
                self.transport.close()
        elif began:
            self._end_with(_LATE)
        else:
            self.transport.close()

    def _end_with(self, failure: Failure) -> None:
        """Closes the connection; sends the failure first if no response has begun."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            error = connect_error.of_failure(failure, request_ids.new())
            body = error.body()
            head = [
                ("content-type", JSON),
                ("content-length", str(len(body))),
                ("connection", "close"),
            ]
            events = (
                h11.Response(status_code=error.http_status, headers=head),
                h11.Data(data=body),
                h11.EndOfMessage(),
            )
            for event in events:
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
