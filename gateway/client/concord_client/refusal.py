"""The error of a failed call, read from its rich details: `Refused`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

DETAILS_KEY = "grpc-status-details-bin"


@dataclass(frozen=True)
class Violation:
    """One field that breaks a rule of the contract: its path and what the rule demands."""

    field: str
    description: str


class Refused(Exception):
    """A call was refused or failed.

    `reason` is the name of a `concord.errors.v1.ErrorReason` value: programs decide by it, or by
    `code`, never by `message`. `metadata` has the keys that the value's comment names.
    `retry_after` is in seconds, None if the server names no time.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str,
        message: str,
        *,
        metadata: Mapping[str, str] | None = None,
        violations: Iterable[Violation] = (),
        retry_after: float | None = None,
        request_id: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.metadata = dict(metadata or {})
        self.violations = tuple(violations)
        self.retry_after = retry_after
        self.request_id = request_id

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"


class FieldInvalid(Refused):
    """Arguments break rules of the contract; `violations` names the fields and the rules."""


class NotFound(Refused):
    """There is no such item in the space."""


class EtagMismatch(Refused):
    """The item was changed since the caller read it: read it again."""


class ConsentNeeded(Refused):
    """The item is constitutive: propose the change."""


class NotPermitted(Refused):
    """The key is unknown or expired, or lacks a permission."""


class Overloaded(Refused):
    """A limit is reached; `retry_after`: the seconds to wait before the next attempt."""


class Unreachable(Refused):
    """Nothing answered at the address: Concord is not running there."""


def from_rpc_error(error: grpc.RpcError) -> Refused:
    """The refusal that a call's error carries.

    An error without details comes from gRPC itself (no connection, or a deadline that passed on
    our side), and its reason follows from the code.
    """
    if not isinstance(error, (grpc.Call, grpc.aio.AioRpcError)):
        return Refused(grpc.StatusCode.UNKNOWN, "ERROR_REASON_INTERNAL", "The call failed.")
    code, message = error.code(), error.details() or ""
    for key, value in error.trailing_metadata() or ():
        if key == DETAILS_KEY and isinstance(value, bytes):
            found = _from_details(code, value)
            if found is not None:
                return found
    if code is grpc.StatusCode.UNAVAILABLE:
        return Unreachable(code, "ERROR_REASON_UNAVAILABLE", message)
    return Refused(code, _REASON_OF_BARE_CODE.get(code, "ERROR_REASON_INTERNAL"), message)


KIND_OF_REASON: Mapping[str, type[Refused]] = {
    "ERROR_REASON_FIELD_INVALID": FieldInvalid,
    "ERROR_REASON_ITEM_NOT_FOUND": NotFound,
    "ERROR_REASON_ETAG_MISMATCH": EtagMismatch,
    "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED": ConsentNeeded,
    "ERROR_REASON_CREDENTIAL_INVALID": NotPermitted,
    "ERROR_REASON_CREDENTIAL_EXPIRED": NotPermitted,
    "ERROR_REASON_PERMISSION_MISSING": NotPermitted,
    "ERROR_REASON_OVERLOADED": Overloaded,
    "ERROR_REASON_TOO_MANY_PENDING": Overloaded,
    "ERROR_REASON_TOO_MANY_REFUSALS": Overloaded,
}
"""The reasons with a subclass of `Refused`; all others are plain `Refused`."""

_REASON_OF_BARE_CODE = {
    grpc.StatusCode.DEADLINE_EXCEEDED: "ERROR_REASON_DEADLINE_EXCEEDED",
    grpc.StatusCode.RESOURCE_EXHAUSTED: "ERROR_REASON_MESSAGE_TOO_LARGE",
    grpc.StatusCode.UNIMPLEMENTED: "ERROR_REASON_METHOD_UNKNOWN",
}


def _from_details(code: grpc.StatusCode, data: bytes) -> Refused | None:
    """The refusal in packed details; None if they are damaged or have no `ErrorInfo`."""
    info, request = error_details_pb2.ErrorInfo(), error_details_pb2.RequestInfo()
    bad, retry = error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    try:
        status = status_pb2.Status.FromString(data)
        for detail in status.details:
            for known in (info, request, bad, retry):
                if detail.Is(known.DESCRIPTOR):
                    detail.Unpack(known)
    except DecodeError:
        return None
    if not info.reason:
        return None
    delay = retry.retry_delay.ToNanoseconds() / 1e9 if retry.HasField("retry_delay") else None
    kind = KIND_OF_REASON.get(info.reason, Refused)
    return kind(
        code,
        info.reason,
        status.message,
        metadata=info.metadata,
        violations=[Violation(each.field, each.description) for each in bad.field_violations],
        retry_after=delay,
        request_id=request.request_id,
    )
