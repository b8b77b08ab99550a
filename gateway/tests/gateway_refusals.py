"""What a refusal says, read as a client reads it."""

import base64

import grpc
import httpx
import pytest
from concord_chassis.call.failure import Failure, from_rpc_error
from gateway_echo import Dynamic
from google.rpc import error_details_pb2


def info(response: httpx.Response) -> dict[str, object]:
    """The readable ErrorInfo of an error response, whose whole shape is checked too."""
    error = response.json()
    assert response.headers["content-type"] == "application/json"
    assert {"code", "message", "details"} >= set(error)
    for detail in error["details"]:
        assert {"type", "value", "debug"} >= set(detail)
        assert "=" not in detail["value"]
    detail = next(d for d in error["details"] if d["type"] == "google.rpc.ErrorInfo")
    value = base64.b64decode(detail["value"] + "==")
    found = error_details_pb2.ErrorInfo.FromString(value)
    assert {"reason": found.reason, "domain": "concord"}.items() <= detail["debug"].items()
    debug: dict[str, object] = detail["debug"]
    return debug


def violations(response: httpx.Response) -> list[str]:
    """The fields that an error response names."""
    details = response.json()["details"]
    found = [d["debug"] for d in details if d["type"] == "google.rpc.BadRequest"]
    return [each.get("field", "") for debug in found for each in debug["fieldViolations"]]


def outcome(response: httpx.Response) -> tuple[int, str, object]:
    """HTTP status, Connect code and reason of an error response."""
    return response.status_code, response.json()["code"], info(response)["reason"]


async def refused(call: Dynamic) -> Failure:
    """The failure of a call that is refused, as its caller learns it."""
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await (call if hasattr(call, "__await__") else call.read())
    return from_rpc_error(error.value)


async def refusal(call: Dynamic) -> tuple[str, str]:
    """The names of the code and of the reason (ERROR_REASON_...) with which a call is refused."""
    failure = await refused(call)
    return failure.code.name, failure.reason.removeprefix("ERROR_REASON_")
