"""The stages that every call passes before the servicer's method, in one ordered list.

gRPC's own interceptors wrap a handler anew for each call. Here each method's stages are composed
once, when the server is built: each stage is a function around the next one.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Never, cast

import grpc
from google.protobuf.message import Message

from concord_chassis.call import deadline, failure, identity
from concord_chassis.call.access import Method
from concord_chassis.call.call import Call, Context, Stage, Step
from concord_chassis.call.drain import Drain
from concord_chassis.call.failure import Failure
from concord_chassis.call.identity import TokenVerifier
from concord_chassis.call.requests import Reader, RequestStream, discard_rest
from concord_chassis.call.rules import Rulebook
from concord_chassis.observe import request_id, tracing
from concord_chassis.observe.log import Logger
from concord_chassis.observe.metrics import Metrics
from concord_chassis.observe.tracing import Spans

_SERVER_FAULTS = frozenset(
    {grpc.StatusCode.INTERNAL, grpc.StatusCode.DATA_LOSS, grpc.StatusCode.UNKNOWN}
)
"""The codes of faults of ours, which are logged as errors."""

NotPermitted = Callable[[str, Message | None], Awaitable[None]]
"""Called with a method's name and the request, None if that is not well formed, when the caller
lacks the permission."""

_TRANSIENT = frozenset(
    {
        "ERROR_REASON_UNAVAILABLE",
        "ERROR_REASON_DEADLINE_EXCEEDED",
        "ERROR_REASON_OVERLOADED",
    }
)


def ordered(
    *,
    log: Logger,
    metrics: Metrics,
    verifier: TokenVerifier,
    drain: Drain,
    rulebook: Rulebook,
    not_permitted: Mapping[str, NotPermitted],
    spans: Spans | None,
    operations: Mapping[str, str],
) -> list[Stage]:
    """Returns the stages, the outermost first."""
    return [
        request_ids(),  # first, so that whatever happens to the call can be found again
        # outside the log, whose line names the trace; absent unless a collector is set
        *([traced(spans, operations)] if spans else []),
        canonical_log(log),  # outside translation, so that it logs the code that was sent
        measured(metrics),  # outside translation, so that it counts the code that was sent
        translated(log),  # outside all that may refuse, so that every refusal is typed
        # before any work for a stranger, even parsing
        authenticated(verifier, rulebook, not_permitted),
        deadlined(drain),  # before work that nobody may be waiting for
        validated(rulebook),  # last: a servicer sees only well-formed messages
    ]


def compose(stages: list[Stage], method: Method, last: Step) -> Step:
    """Returns one step that runs all `stages` of `method`, then `last`."""
    step = last
    for stage in reversed(stages):
        step = stage(method, step)
    return step


def request_ids() -> Stage:
    """Accepts the caller's request id, or makes one, and returns it in the trailing metadata."""

    def stage(_method: Method, then: Step) -> Step:
        async def step(call: Call) -> bytes | None:
            call.request_id = request_id.accept(call.metadata.get(request_id.METADATA_KEY))
            request_id.enter(call.request_id)
            call.context.set_trailing_metadata(((request_id.METADATA_KEY, call.request_id),))
            return await then(call)

        return step

    return stage


def traced(spans: Spans, operations: Mapping[str, str]) -> Stage:
    """Makes a span for the call, in the caller's trace if the call's metadata names one.

    `operations` has, by method path, OpenTelemetry's name of the operation on a memory store.
    """

    def stage(method: Method, then: Step) -> Step:
        operation = operations.get(method.path)
        names = {"gen_ai.operation.name": operation} if operation else {}

        async def step(call: Call) -> bytes | None:
            with spans.of_call(method.path, call.metadata):
                try:
                    return await then(call)
                finally:
                    space = call.caller.space if operation and call.caller else ""
                    store = {"gen_ai.memory.store.id": space} if space else {}
                    reason = {"concord.reason": call.reason} if call.reason else {}
                    tracing.set_code(
                        call.code.value[0],
                        {"concord.request_id": call.request_id, **reason, **names, **store},
                    )

        return step

    return stage


def canonical_log(log: Logger) -> Stage:
    """Logs one line per call: caller, method, outcome and milliseconds; no content."""

    def stage(method: Method, then: Step) -> Step:
        async def step(call: Call) -> bytes | None:
            try:
                return await then(call)
            finally:
                write = log.error if call.code in _SERVER_FAULTS else log.info
                write(
                    "call",
                    method=method.path,
                    code=call.code.name,
                    reason=call.reason,
                    ms=round((time.monotonic() - call.started) * 1000, 3),
                    request_id=call.request_id,
                    principal=call.caller.principal if call.caller else "",
                    space=call.caller.space if call.caller else "",
                )

        return step

    return stage


def measured(metrics: Metrics) -> Stage:
    """Counts calls by method and code, and measures their seconds by method."""

    def stage(method: Method, then: Step) -> Step:
        in_flight = metrics.in_flight.labels(method.service, method.name)
        seconds = metrics.seconds.labels(method.service, method.name)

        async def step(call: Call) -> bytes | None:
            in_flight.inc()
            try:
                return await then(call)
            finally:
                in_flight.dec()
                seconds.observe(time.monotonic() - call.started)
                metrics.handled.labels(method.service, method.name, call.code.name).inc()

        return step

    return stage


def translated(log: Logger) -> Stage:
    """Ends a call that raised an exception with a typed error.

    Only cancellation and gRPC's own `AbortError` pass through: gRPC would send the text of any
    other exception to the caller.
    """

    def stage(method: Method, then: Step) -> Step:
        async def step(call: Call) -> bytes | None:
            try:
                return await then(call)
            except asyncio.CancelledError:
                call.code = _why_cancelled()
                raise
            except grpc.aio.AbortError:
                call.code = _code_of(call.context)
                raise
            except Exception as error:  # noqa: BLE001 - the edge: bugs are logged, not sent
                refusal = _failure_of(error, log)
            if method.streams_in:
                await discard_rest(call.context)
            return await _refuse(call, refusal)

        return step

    return stage


async def _refuse(call: Call, refusal: Failure) -> Never:
    call.code, call.reason = refusal.code, refusal.reason
    await call.context.abort(
        refusal.code,
        failure.wire_message(refusal),
        failure.trailing_metadata(refusal, call.request_id),
    )


def _failure_of(error: Exception, log: Logger) -> Failure:
    """Returns the failure for an exception, or for the only exception in a group.

    It is INTERNAL for an exception that nothing translates, and for a reason that the contract
    lacks. A dependency that did not answer in the call's own time makes it DEADLINE_EXCEEDED. An
    exception whose failure has one of the codes in `_SERVER_FAULTS` is logged as a bug.
    """
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    try:
        known = error if isinstance(error, Failure) else failure.translate(error)
    except Exception as second:
        log.error("bug", exc_info=second)
        known = None
    if known is None and isinstance(error, grpc.aio.AioRpcError):
        known = _of_dependency(error)
    if known is None or known.reason not in failure.REASONS:
        known = failure.internal()
    if known.reason == "ERROR_REASON_UNAVAILABLE" and _is_late():
        known = deadline.exceeded("A dependency did not answer within the call's time.")
    if known.code in _SERVER_FAULTS:
        log.error("bug", exc_info=error)
    return known


def _of_dependency(error: grpc.aio.AioRpcError) -> Failure | None:
    """Returns the failure of a dependency that is away, slow or busy.

    None for any other refusal of a dependency: the request that it refused is a bug of ours.
    """
    known = failure.from_rpc_error(error)
    return known if known.reason in _TRANSIENT else None


def _why_cancelled() -> grpc.StatusCode:
    """Returns DEADLINE_EXCEEDED or CANCELLED, for the log and the metrics.

    gRPC cancels a call both when its caller has left and when the caller's deadline has passed. The
    caller's deadline is a little before ours, by the time that the call took to arrive: so a call
    that is cancelled within `deadline.RESERVE` seconds of our deadline is DEADLINE_EXCEEDED.
    """
    return grpc.StatusCode.DEADLINE_EXCEEDED if _is_late() else grpc.StatusCode.CANCELLED


def _is_late() -> bool:
    """Returns whether the call has at most the time for its reply left."""
    left = deadline.remaining()
    return left is not None and left <= deadline.RESERVE


def _code_of(context: Context) -> grpc.StatusCode:
    """Returns the code with which a servicer itself called `abort`; gRPC keeps it as a number."""
    sent: object = context.code()
    known = (code for code in grpc.StatusCode if code.value[0] == sent)
    return next(known, grpc.StatusCode.UNKNOWN)


def authenticated(
    verifier: TokenVerifier,
    rulebook: Rulebook,
    not_permitted: Mapping[str, NotPermitted],
) -> Stage:
    """Verifies the bearer token, and that its scopes include the method's permission.

    `not_permitted` has, by service, a function that is awaited before a call without the permission
    is refused. Only `handlers.UNKNOWN`, which stands for all unknown methods, has no permission:
    even a caller without a token receives METHOD_UNKNOWN.
    """

    def stage(method: Method, then: Step) -> Step:
        permission = method.permission
        if not permission:
            return then
        record = not_permitted.get(method.service)
        reader = Reader(method, rulebook.check_for(method.request))

        async def step(call: Call) -> bytes | None:
            caller = verifier.verify(_bearer(call.metadata.get("authorization")))
            call.caller = caller
            reach = method.reach(caller.scopes)
            identity.enter(replace(caller, reach=reach) if reach else caller)
            if reach is None:
                if record is not None:
                    await record(method.name, _well_formed(reader, call.request))
                raise identity.not_permitted(permission, caller.scopes)
            return await then(call)

        return step

    return stage


def _well_formed(reader: Reader, request: object) -> Message | None:
    if isinstance(request, bytes):
        with suppress(Failure):
            return reader.read(request)
    return None


def _bearer(header: object) -> str:
    if not isinstance(header, str) or header[:7].lower() != "bearer ":
        raise identity.invalid_credential("Send `authorization: Bearer TOKEN`.")
    return header[7:]


def deadlined(drain: Drain) -> Stage:
    """Refuses a call that arrives after its deadline, and ends any other at its deadline.

    A unary call without a deadline gets `deadline.DEFAULT` seconds. A stream without a deadline may
    go on until the server drains.
    """

    def stage(method: Method, then: Step) -> Step:
        unbounded = method.streams_in or method.streams_out

        async def step(call: Call) -> bytes | None:
            left: float | None = call.context.time_remaining()
            if left is not None and left <= 0:
                raise deadline.exceeded("The call came without time left.")
            if left is None and unbounded:
                deadline.enter(None)
                async with drain.following():
                    return await then(call)
            return await _within(deadline.DEFAULT if left is None else left, then, call)

        return step

    return stage


async def _within(seconds: float, then: Step, call: Call) -> bytes | None:
    deadline.enter(seconds)
    scope = asyncio.timeout(seconds)
    try:
        async with scope:
            return await then(call)
    except TimeoutError:
        if not scope.expired():
            raise
        raise deadline.exceeded("The call took longer than its deadline.") from None


def validated(rulebook: Rulebook) -> Stage:
    """Parses each request message and checks it against the contract's rules."""

    def stage(method: Method, then: Step) -> Step:
        reader = Reader(method, rulebook.check_for(method.request))

        async def step(call: Call) -> bytes | None:
            call.request = reader.read(cast(bytes, call.request))  # no stage before has parsed it
            return await then(call)

        async def stream_step(call: Call) -> bytes | None:
            call.request = RequestStream(call.context, reader.read)
            return await then(call)

        return stream_step if method.streams_in else step

    return stage
