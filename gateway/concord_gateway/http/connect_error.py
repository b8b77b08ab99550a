"""Errors as the Connect protocol writes them: an HTTP status and one JSON object.

The machine-readable reason is the `google.rpc.ErrorInfo` among the details, as JSON in its
"debug". The object has only fields that Connect defines.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import grpc
from concord_chassis.call import failure as failures
from concord_chassis.call.failure import DETAILS_KEY, Failure
from google.protobuf import descriptor_pool, json_format
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from google.rpc import status_pb2

JSON = "application/json"

# https://connectrpc.com/docs/protocol#error-codes
HTTP_STATUS: Mapping[grpc.StatusCode, int] = {
    grpc.StatusCode.CANCELLED: 499,
    grpc.StatusCode.UNKNOWN: 500,
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.DEADLINE_EXCEEDED: 504,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.ALREADY_EXISTS: 409,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.FAILED_PRECONDITION: 400,
    grpc.StatusCode.ABORTED: 409,
    grpc.StatusCode.OUT_OF_RANGE: 400,
    grpc.StatusCode.UNIMPLEMENTED: 501,
    grpc.StatusCode.INTERNAL: 500,
    grpc.StatusCode.UNAVAILABLE: 503,
    grpc.StatusCode.DATA_LOSS: 500,
    grpc.StatusCode.UNAUTHENTICATED: 401,
}


def code_name(code: grpc.StatusCode) -> str:
    """A code as Connect spells it: "canceled", where gRPC has CANCELLED."""
    return "canceled" if code is grpc.StatusCode.CANCELLED else code.name.lower()


@dataclass(frozen=True)
class ConnectError:
    """One error: gRPC's code and message, and the packed details."""

    code: grpc.StatusCode
    message: str
    details: tuple[AnyMessage, ...] = field(default=())

    @property
    def http_status(self) -> int:
        """The HTTP status that Connect gives the code."""
        return HTTP_STATUS[self.code]

    def value(self) -> dict[str, object]:
        """The error's JSON object."""
        shown: dict[str, object] = {"code": code_name(self.code)}
        if self.message:
            shown["message"] = self.message
        if self.details:
            shown["details"] = [_detail(each) for each in self.details]
        return shown

    def body(self) -> bytes:
        """The error's JSON text."""
        return json.dumps(self.value(), ensure_ascii=False).encode()

    def end_of_stream(self) -> bytes:
        """The error as the end-of-stream message of a Connect stream that has no other message."""
        text = json.dumps({"error": self.value()}, ensure_ascii=False).encode()
        return b"\x02" + len(text).to_bytes(4, "big") + text


def of_failure(failure: Failure, request_id: str) -> ConnectError:
    """The gateway's own refusal as an error."""
    metadata = dict(failures.trailing_metadata(failure, request_id))
    details = _details(metadata.get(DETAILS_KEY))
    return ConnectError(failure.code, failures.wire_message(failure), details)


def of_service(error: grpc.aio.AioRpcError) -> ConnectError:
    """A service's error: the code, message and details that it sent."""
    metadata = dict(error.trailing_metadata() or ())
    return ConnectError(error.code(), error.details() or "", _details(metadata.get(DETAILS_KEY)))


def _details(packed: object) -> tuple[AnyMessage, ...]:
    if not isinstance(packed, bytes):
        return ()
    try:
        return tuple(status_pb2.Status.FromString(packed).details)
    except DecodeError:
        return ()


def _detail(packed: AnyMessage) -> dict[str, object]:
    name = packed.TypeName()
    shown: dict[str, object] = {
        "type": name,
        "value": base64.b64encode(packed.value).rstrip(b"=").decode(),
    }
    try:
        kind = GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(name))
        shown["debug"] = json_format.MessageToDict(kind.FromString(packed.value))
    except (KeyError, DecodeError, json_format.Error):
        return shown  # clients that know the type can still decode its value
    return shown
