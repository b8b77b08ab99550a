"""The failures that a caller gets if a service sent an error, or did not answer."""

import grpc
from concord_chassis.call.failure import DETAILS_KEY, Failure

_AWAY = Failure(
    grpc.StatusCode.UNAVAILABLE,
    "ERROR_REASON_UNAVAILABLE",
    "The service behind the gateway does not answer; the same request may be sent again.",
)
# Statuses that gRPC's own runtime makes, and the failures that the caller gets for them.
_OF_RUNTIME = {
    grpc.StatusCode.UNAVAILABLE: _AWAY,
    grpc.StatusCode.CANCELLED: _AWAY,  # by a service that stops; ours raises CancelledError
    grpc.StatusCode.DEADLINE_EXCEEDED: Failure(
        grpc.StatusCode.DEADLINE_EXCEEDED,
        "ERROR_REASON_DEADLINE_EXCEEDED",
        "The deadline passed before the service answered.",
    ),
    grpc.StatusCode.RESOURCE_EXHAUSTED: Failure(
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "ERROR_REASON_MESSAGE_TOO_LARGE",
        "A message is larger than the service takes or the gateway passes on.",
    ),
    grpc.StatusCode.UNIMPLEMENTED: Failure(
        grpc.StatusCode.UNIMPLEMENTED,
        "ERROR_REASON_METHOD_UNKNOWN",
        "The service behind the gateway does not know this method.",
    ),
}
_UNEXPECTED = Failure(
    grpc.StatusCode.INTERNAL, "ERROR_REASON_INTERNAL", "The service failed unexpectedly."
)


def made_by_runtime(error: grpc.aio.AioRpcError) -> bool:
    """Whether gRPC's runtime on our side made `error`, and not a service.

    All errors of services carry details; those of the runtime never do, and their texts name
    sockets and addresses.
    """
    return not any(key == DETAILS_KEY for key, _ in error.trailing_metadata() or ())


def of_runtime(error: grpc.aio.AioRpcError) -> Failure:
    """The failure to send in place of an error that the runtime made."""
    return _OF_RUNTIME.get(error.code(), _UNEXPECTED)


def too_large(limit: int) -> Failure:
    """The failure of a request larger than `limit` bytes."""
    return Failure(
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "ERROR_REASON_MESSAGE_TOO_LARGE",
        f"A request may have at most {limit} bytes.",
    )


def method_unknown(message: str) -> Failure:
    """The failure of a call to a method that does not exist, or not over this protocol."""
    return Failure(grpc.StatusCode.UNIMPLEMENTED, "ERROR_REASON_METHOD_UNKNOWN", message)
