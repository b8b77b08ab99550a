import io
import json
from typing import ClassVar

import grpc
import pytest
from chassis_probe import (
    READER,
    WRITER,
    Answer,
    Dynamic,
    ProbeServicer,
    Request,
    Stub,
    failure_of,
    registration,
)
from concord_chassis.call.failure import (
    Failure,
    FieldViolation,
    from_rpc_error,
    trailing_metadata,
    translate,
)
from concord_chassis.observe.log import json_lines
from concord_testing.serving import serving
from google.rpc import error_details_pb2, status_pb2


class DomainError(Exception):
    """An exception of a service's domain."""

    code = "FAILED_PRECONDITION"
    reason = "ERROR_REASON_ITEM_STATE"
    message = "It is not so."
    metadata: ClassVar = {"item_id": "i"}
    violations: tuple[tuple[str, ...], ...] = (("x[1].y", "is odd"),)
    retry_after = 1.25


class Misstated(DomainError):
    """An exception that states a violation without its demand."""

    violations = (("x[1].y",),)


class Miscoded(DomainError):
    """An exception with a code that gRPC lacks."""

    code = "NOT_SO"


SECRET = "the text of a bug, with a secret in it"


def _raising(error: Exception) -> Answer:
    async def answer(_request: Dynamic) -> str:
        raise error

    return answer


async def _answered(error: Exception, shape: str = "ask") -> tuple[Failure, str]:
    """Returns the failure that a caller receives when the servicer raises `error`, and the log."""
    log = io.StringIO()
    async with serving(
        [registration(ProbeServicer(_raising(error)))],
        log=json_lines("test", stream=log),
    ) as live:
        stub = Stub(live.channel(WRITER))
        call = getattr(stub, shape)(Request(act="a"))
        failure = await failure_of(call.read() if shape == "follow" else call)
    return failure, log.getvalue()


@pytest.mark.parametrize("shape", ["ask", "follow"])
async def test_a_failure_arrives_whole(shape: str) -> None:
    """W1: the client receives a failure's reason, metadata, violations, retry time and message."""
    sent = Failure(
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "ERROR_REASON_OVERLOADED",
        "Später.",
        metadata={"a": "1", "b": "2"},
        violations=[FieldViolation("x[1].y", "is odd")],
        retry_after=1.25,
    )

    received, _ = await _answered(sent, shape)

    assert received.code is sent.code
    assert vars(received) == vars(sent)


async def test_the_status_on_the_wire_is_googles() -> None:
    """Design 3: every error is a google.rpc.Status with domain "concord" and the request id."""
    sent = Failure(grpc.StatusCode.ABORTED, "ERROR_REASON_REVISION_STALE", "Again.")
    async with serving([registration(ProbeServicer(_raising(sent)))]) as live:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await Stub(live.channel(READER)).ask(Request(), metadata=(("x-request-id", "r-1"),))

    trailing = dict(caught.value.trailing_metadata())
    status = status_pb2.Status.FromString(trailing["grpc-status-details-bin"])
    info, request = error_details_pb2.ErrorInfo(), error_details_pb2.RequestInfo()
    assert status.details[0].Unpack(info)
    assert status.details[1].Unpack(request)
    assert (status.code, status.message) == (10, "Again.")
    assert (info.domain, info.reason) == ("concord", "ERROR_REASON_REVISION_STALE")
    assert request.request_id == trailing["x-request-id"] == "r-1"


async def test_a_services_own_exception_reaches_the_caller_as_it_states() -> None:
    """Style 9: a service raises exceptions of its domain, which are translated at the edge."""
    received, _ = await _answered(DomainError(SECRET))

    assert received.code is grpc.StatusCode.FAILED_PRECONDITION
    assert received.reason == "ERROR_REASON_ITEM_STATE"
    assert (received.message, received.metadata) == ("It is not so.", {"item_id": "i"})
    assert received.violations == (FieldViolation("x[1].y", "is odd"),)
    assert received.retry_after == 1.25


def test_an_exception_with_another_librarys_code_states_nothing() -> None:
    """Style 9: `translate` is also called for the parts of a reply: it must not raise for them."""
    assert translate(Miscoded()) is None


async def test_a_failure_in_a_group_of_one_is_that_failure() -> None:
    """Style 9: an exception that a task group has wrapped is translated like the exception."""
    received, _ = await _answered(ExceptionGroup("g", [DomainError()]))

    assert received.reason == "ERROR_REASON_ITEM_STATE"


BUGS = {
    "an exception that states nothing": ValueError(SECRET),
    "an exception that states half a violation": Misstated(SECRET),
    "an exception with a code that gRPC lacks": Miscoded(SECRET),
    "our own misuse of a dependency": grpc.aio.AioRpcError(
        grpc.StatusCode.INVALID_ARGUMENT, grpc.aio.Metadata(), grpc.aio.Metadata(), SECRET
    ),
    "a message of ours that was too large": grpc.aio.AioRpcError(
        grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.aio.Metadata(), grpc.aio.Metadata(), SECRET
    ),
    "a reason that the contract lacks": Failure(
        grpc.StatusCode.ABORTED, "ERROR_REASON_MADE_UP", SECRET
    ),
    "a timeout that is not the call's": TimeoutError(SECRET),
    "several at once": ExceptionGroup(SECRET, [DomainError(), DomainError()]),
}


@pytest.mark.parametrize("name", BUGS)
@pytest.mark.parametrize("shape", ["ask", "follow"])
async def test_a_bug_is_logged_in_full_and_not_described_to_callers(name: str, shape: str) -> None:
    """Design 3: for our bug the caller gets INTERNAL without a message; the log has all of it."""
    received, log = await _answered(BUGS[name], shape)

    assert received.code is grpc.StatusCode.INTERNAL
    assert received.reason == "ERROR_REASON_INTERNAL"
    assert received.message == ""
    assert received.metadata == {}
    bugs = [line for line in map(json.loads, log.splitlines()) if line["event"] == "bug"]
    assert any(SECRET in bug["exception"] and "Traceback" in bug["exception"] for bug in bugs)
    assert all(bug["request_id"] for bug in bugs)


async def test_a_reply_of_the_wrong_type_is_a_bug_too() -> None:
    """Design 4: the text of an error in serializing the reply is not sent to the caller either."""

    class Wrong(ProbeServicer):
        async def Ask(self, _request: object, _context: object) -> object:  # noqa: N802
            return "not a message"

    async with serving(
        [registration(Wrong())], log=json_lines("test", stream=io.StringIO())
    ) as live:
        received = await failure_of(Stub(live.channel(READER)).ask(Request()))

    assert (received.code, received.message) == (grpc.StatusCode.INTERNAL, "")


AWAY = [
    (grpc.StatusCode.UNAVAILABLE, "ERROR_REASON_UNAVAILABLE", False),
    (grpc.StatusCode.DEADLINE_EXCEEDED, "ERROR_REASON_DEADLINE_EXCEEDED", False),
    (grpc.StatusCode.RESOURCE_EXHAUSTED, "ERROR_REASON_OVERLOADED", True),
]


@pytest.mark.parametrize(("code", "reason", "detailed"), AWAY)
async def test_a_dependency_that_is_away_is_nobodys_bug(
    code: grpc.StatusCode, reason: str, detailed: bool
) -> None:
    """Design 3: if a dependency is away, slow or busy, the caller gets its code, not INTERNAL."""
    details = trailing_metadata(Failure(code, reason, ""), "r") if detailed else ()
    trailing = grpc.aio.Metadata(*details)

    received, _ = await _answered(grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailing, "away"))

    assert (received.code, received.reason) == (code, reason)


async def test_details_fit_what_peers_accept() -> None:
    """Style 2: long violations are cut so that the metadata stays under gRPC's 8 KiB."""
    sent = Failure(
        grpc.StatusCode.INVALID_ARGUMENT,
        "ERROR_REASON_FIELD_INVALID",
        "ö" * 5000,
        violations=[FieldViolation(f"{n}." + "x" * 3000, "y" * 3000) for n in range(20)],
    )

    received, _ = await _answered(sent)

    assert received.reason == "ERROR_REASON_FIELD_INVALID"
    assert len(received.message) == 500
    assert 5 <= len(received.violations) < 20
    assert received.violations[0].field.startswith("0.xxx")


async def test_damaged_or_foreign_details_fall_back_to_the_code() -> None:
    """Design 3: the reason of an error without readable details follows from its code alone."""
    damaged = grpc.aio.Metadata(("grpc-status-details-bin", b"\xff\xff"))
    foreign = grpc.aio.Metadata(
        ("grpc-status-details-bin", status_pb2.Status(code=14).SerializeToString())
    )
    for trailing in (damaged, foreign):
        error = grpc.aio.AioRpcError(
            grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), trailing, "gone"
        )

        failure = from_rpc_error(error)

        assert (failure.reason, failure.message) == ("ERROR_REASON_UNAVAILABLE", "gone")


async def test_a_stage_that_fails_ends_the_call() -> None:
    """Style 10: a failure outside of translation, such as of the log, is the server's: UNKNOWN."""

    class Full(io.StringIO):
        def write(self, text: str) -> int:
            if '"call"' in text:
                raise OSError("the disk is full")
            return len(text)

    log = json_lines("test", stream=Full())
    async with serving([registration(ProbeServicer())], log=log) as live:
        failure = await failure_of(Stub(live.channel(READER)).ask(Request()))

    assert failure.code is grpc.StatusCode.UNKNOWN


async def test_a_servicer_may_abort_with_a_code_alone() -> None:
    """W1: `abort` needs neither a text nor metadata, and keeps the metadata that is set."""

    class Aborting(ProbeServicer):
        async def Ask(self, _request: Dynamic, context: Dynamic) -> Dynamic:  # noqa: N802
            await context.abort(grpc.StatusCode.NOT_FOUND)

    async with serving([registration(Aborting())]) as live:
        call = Stub(live.channel(READER)).ask(Request(), metadata=(("x-request-id", "r-1"),))

        assert (await failure_of(call)).code is grpc.StatusCode.NOT_FOUND
        assert dict(await call.trailing_metadata()) == {"x-request-id": "r-1"}


async def test_no_one_listening_is_unavailable() -> None:
    """Design 3: a call without a connection has a reason, too."""
    async with serving([registration(ProbeServicer())]) as live:
        channel = live.channel(READER)
        await live.server.stop(0)

        failure = await failure_of(Stub(channel).change(Request()))

    assert failure.reason == "ERROR_REASON_UNAVAILABLE"
