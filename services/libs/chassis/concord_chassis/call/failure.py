"""Failures that a caller receives: a code, a reason for machines, a sentence for people.

`Failure` is the one exception whose content reaches the caller. A service raises exceptions of its
own domain that state what `translate` makes a `Failure` of. Any other exception is a bug of ours:
the caller receives INTERNAL without a message. On the wire a failure is a `google.rpc.Status` in
the trailing metadata `grpc-status-details-bin`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, runtime_checkable

import grpc
from concord.errors.v1 import errors_pb2
from google.protobuf import duration_pb2
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

DOMAIN = "concord"
DETAILS_KEY = "grpc-status-details-bin"
REQUEST_ID_KEY = "x-request-id"
PUSHBACK_KEY = "grpc-retry-pushback-ms"
REASONS = frozenset(errors_pb2.ErrorReason.keys())

# By default gRPC peers refuse a reply with over 8 KiB of metadata, and base64 adds a third.
MAX_DETAILS_BYTES = 4096
MAX_MESSAGE_CHARACTERS = 500
MAX_VIOLATION_CHARACTERS = 160

TRANSIENT = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.UNAUTHENTICATED,
    }
)
"""The codes with which a service does not answer another now, but may later."""

_NOTHING: Mapping[str, str] = MappingProxyType({})
TLS_REMEDY = "check SERVICES_TLS_CA, SERVICES_TLS_CERT and SERVICES_TLS_KEY of both services"
_NO_TLS = re.compile(r"Tls handshake failed|(failed to connect|backends failing).*Socket closed")
"""Matches gRPC's messages for a refused certificate, and for TLS on one side only."""


@dataclass(frozen=True)
class FieldViolation:
    """One field that breaks a rule: its path (`memory.tags[3]`) and what the rule demands."""

    field: str
    description: str


class Failure(Exception):
    """A refusal with all that the caller is sent.

    `reason` is the name of a `concord.errors.v1.ErrorReason`, whose comment lists the keys of
    `metadata`. `retry_after` is the seconds until the caller should try again; None: not stated.
    With `resend` False the client's channel does not retry the call, even if its retry policy
    covers the code: for a refusal that used up the caller's time, where another attempt could only
    end with DEADLINE_EXCEEDED.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str,
        message: str,
        *,
        metadata: Mapping[str, str] = _NOTHING,
        violations: Sequence[FieldViolation] = (),
        retry_after: float | None = None,
        resend: bool = True,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.metadata = dict(metadata)
        self.violations = tuple(violations)
        self.retry_after = retry_after
        self.resend = resend

    def __str__(self) -> str:
        return f"{self.code.name} {self.reason}: {self.message}"

    @property
    def summary(self) -> str:
        """The code's name for a log and, if TLS seems to prevent the connection, the settings to
        check: a side that refuses TLS closes the connection without a reason."""
        no_tls = self.code is grpc.StatusCode.UNAVAILABLE and _NO_TLS.search(self.message)
        return f"{self.code.name}; {TLS_REMEDY}" if no_tls else self.code.name


@runtime_checkable
class Refusal(Protocol):
    """What an error of a service states for its caller, as attributes: no domain imports this.

    `code` is the name of a gRPC code, `reason` that of an ErrorReason. An error may also state
    `message` (without it, the caller receives the error's own text), `metadata`, `violations` (each
    the path of a field and what the rule demands), `retry_after` and `resend`, as `Failure` has.
    """

    code: str
    reason: str


def translate(error: Exception) -> Failure | None:
    """Returns the failure that an error states or, as `failure`, passes on; None if it does
    neither."""
    if isinstance(passed_on := getattr(error, "failure", None), Failure):
        return passed_on
    if not isinstance(error, Refusal) or error.code not in grpc.StatusCode.__members__:
        return None
    return Failure(
        grpc.StatusCode[error.code],
        error.reason,
        getattr(error, "message", str(error)),
        metadata=getattr(error, "metadata", _NOTHING),
        violations=[FieldViolation(*each) for each in getattr(error, "violations", ())],
        retry_after=getattr(error, "retry_after", None),
        resend=getattr(error, "resend", True),
    )


def internal() -> Failure:
    """Returns the failure of a bug of ours: INTERNAL, without a message."""
    return Failure(grpc.StatusCode.INTERNAL, "ERROR_REASON_INTERNAL", "")


def trailing_metadata(failure: Failure, request_id: str) -> tuple[tuple[str, str | bytes], ...]:
    """Returns the trailing metadata of a call that ends with `failure`.

    The message is cut to 500 characters, each violation's path and description to 160. Violations
    are left out, the last ones first, until the status has at most 4,096 bytes; nothing else is.
    """
    most = MAX_VIOLATION_CHARACTERS
    violations = [
        FieldViolation(each.field[:most], each.description[:most]) for each in failure.violations
    ]
    status = _status(failure, violations, request_id)
    while violations and status.ByteSize() > MAX_DETAILS_BYTES:
        violations.pop()
        status = _status(failure, violations, request_id)
    metadata = ((REQUEST_ID_KEY, request_id), (DETAILS_KEY, status.SerializeToString()))
    return metadata if failure.resend else (*metadata, (PUSHBACK_KEY, "-1"))


def wire_message(failure: Failure) -> str:
    """Returns the failure's message, cut to 500 characters, for the wire."""
    return failure.message[:MAX_MESSAGE_CHARACTERS]


def from_rpc_error(error: grpc.aio.AioRpcError) -> Failure:
    """Returns the failure in the error that a client's call raised.

    An error without readable details is not from a server of the chassis but mostly from gRPC
    itself: no connection, a deadline that passed on our side, or a message over gRPC's own limit.
    Its reason follows from the code alone.
    """
    for key, value in error.trailing_metadata() or ():
        if key == DETAILS_KEY and isinstance(value, bytes):
            found = _from_status(error.code(), value)
            if found is not None:
                return found
    reason = _REASON_OF_BARE_CODE.get(error.code(), "ERROR_REASON_INTERNAL")
    return Failure(error.code(), reason, error.details() or "")


# The reason of each code that gRPC's runtime itself sends, without details.
_REASON_OF_BARE_CODE = {
    grpc.StatusCode.UNAVAILABLE: "ERROR_REASON_UNAVAILABLE",
    grpc.StatusCode.DEADLINE_EXCEEDED: "ERROR_REASON_DEADLINE_EXCEEDED",
    grpc.StatusCode.RESOURCE_EXHAUSTED: "ERROR_REASON_MESSAGE_TOO_LARGE",
    grpc.StatusCode.UNIMPLEMENTED: "ERROR_REASON_METHOD_UNKNOWN",
}


def _status(
    failure: Failure, violations: Sequence[FieldViolation], request_id: str
) -> status_pb2.Status:
    status = status_pb2.Status(code=failure.code.value[0], message=wire_message(failure))
    for detail in _details(failure, violations, request_id):
        status.details.add().Pack(detail)
    return status


def _details(
    failure: Failure, violations: Sequence[FieldViolation], request_id: str
) -> list[Message]:
    details: list[Message] = [
        error_details_pb2.ErrorInfo(
            reason=failure.reason, domain=DOMAIN, metadata=failure.metadata
        ),
        error_details_pb2.RequestInfo(request_id=request_id),
    ]
    if violations:
        details.append(
            error_details_pb2.BadRequest(
                field_violations=[
                    error_details_pb2.BadRequest.FieldViolation(
                        field=violation.field, description=violation.description
                    )
                    for violation in violations
                ]
            )
        )
    if failure.retry_after is not None:
        delay = duration_pb2.Duration()
        delay.FromNanoseconds(round(failure.retry_after * 1e9))
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    return details


def _from_status(code: grpc.StatusCode, data: bytes) -> Failure | None:
    """Returns the failure in a serialized status; None if it is damaged or has no `ErrorInfo`."""
    info = error_details_pb2.ErrorInfo()
    bad, retry = error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    try:
        status = status_pb2.Status.FromString(data)
        for detail in status.details:
            for known in (info, bad, retry):
                if detail.Is(known.DESCRIPTOR):
                    detail.Unpack(known)
    except DecodeError:
        return None
    if not info.reason:
        return None
    after = retry.retry_delay.ToNanoseconds() / 1e9 if retry.HasField("retry_delay") else None
    return Failure(
        code,
        info.reason,
        status.message,
        metadata=info.metadata,
        violations=[FieldViolation(v.field, v.description) for v in bad.field_violations],
        retry_after=after,
    )
