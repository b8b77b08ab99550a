import asyncio
import json

import grpc
import pytest
from concord_chassis.call.failure import DETAILS_KEY
from concord_gateway.credentials import new_key
from gateway_echo import (
    BRIEF,
    DEADLINE,
    SECONDS,
    SECRET,
    WRITER,
    Front,
    Reply,
    Request,
    Stub,
    eventually,
    with_key,
)
from gateway_refusals import refusal, refused
from google.rpc import error_details_pb2, status_pb2


def rich_status(error: grpc.aio.AioRpcError) -> tuple[object, ...]:
    """What a caller can see of an error, but the ids of the request."""
    found = dict(error.trailing_metadata() or ())
    return error.code(), error.details(), found[DETAILS_KEY]


async def test_a_call_goes_through_as_the_principal_of_its_key(door: Front) -> None:
    """W1, design Identity: the key becomes a token that names space, principal, kind, scopes."""
    reply = await door.stub.say(Request(act="caller"))

    assert reply.text == "('space-a', 'writer', 'HUMAN', ['echo:read', 'echo:write'])"


async def test_a_rich_error_arrives_byte_for_byte_as_from_the_service(door: Front) -> None:
    """W1: code, message and details are the service's own, to the last byte."""
    fixed = (("x-request-id", "fixed"),)
    with pytest.raises(grpc.aio.AioRpcError) as direct:
        await Stub(door.direct).say(Request(act="refuse"), metadata=fixed)
    with pytest.raises(grpc.aio.AioRpcError) as through:
        await door.stub.say(Request(act="refuse"), metadata=(*door.as_writer, *fixed))

    assert rich_status(direct.value) == rich_status(through.value)
    status = status_pb2.Status.FromString(rich_status(through.value)[2])
    assert status.details[0].Is(error_details_pb2.ErrorInfo.DESCRIPTOR)
    assert dict(direct.value.trailing_metadata() or ()) == dict(
        through.value.trailing_metadata() or ()
    )


async def test_a_services_bug_is_told_as_the_service_tells_it(door: Front) -> None:
    """W1: nothing is added to what the service let out."""
    failure = await refused(door.stub.say(Request(act="bug")))

    assert (failure.code, failure.reason) == (grpc.StatusCode.INTERNAL, "ERROR_REASON_INTERNAL")
    assert SECRET not in failure.message


@pytest.mark.parametrize(
    "values",
    [
        (),
        ("",),
        ("Bearer ",),
        (f"Bearer {new_key()}",),
        (f"Basic {new_key()}",),
        ("Bearer ck_short",),
        ("Bearer eyJhbGciOiJFZERTQSJ9.e30.c2ln",),
        ("Bearer {reader}", "Bearer {writer}"),
        ("Bearer {token}",),
    ],
)
async def test_without_a_key_of_ours_nothing_goes_through(
    door: Front, values: tuple[str, ...]
) -> None:
    """W6: UNAUTHENTICATED with its reason. A call that presents two keys names nobody, and even a
    token that the services would trust opens no front door."""
    known = {"reader": door.reader, "writer": door.writer}
    known["token"] = door.upstream.issuer.mint(WRITER)
    metadata = tuple(("authorization", value.format_map(known)) for value in values)

    assert await refusal(door.stub.say(Request(act="x"), metadata=metadata)) == (
        "UNAUTHENTICATED",
        "CREDENTIAL_INVALID",
    )


async def test_scopes_are_judged_by_the_service(door: Front) -> None:
    """W1: the gateway decides nothing; the service's refusal arrives with its permission."""
    failure = await refused(door.stub.change(Request(act="x"), metadata=door.as_reader))

    assert failure.reason == "ERROR_REASON_PERMISSION_MISSING"
    assert failure.metadata == {"permission": "echo:write"}


async def test_methods_for_services_alone_are_out_of_reach(door: Front) -> None:
    """Design 3: `feed:all` is held by services; no key opens its methods."""
    assert (await refusal(door.stub.peek(Request(act="x"))))[0] == "PERMISSION_DENIED"


async def test_metadata_goes_both_ways_without_what_concerns_one_hop(door: Front) -> None:
    """W1: own metadata and the request id pass, the key and the client's user agent do not."""
    call = door.stub.say(
        Request(act="metadata"),
        metadata=(
            *door.as_writer,
            ("x-request-id", "r-1"),
            ("acme-shard", "42"),
            ("acme-shard", "43"),
            ("acme-bin", b"\x00\x01"),
        ),
        timeout=SECONDS,
    )
    seen = [tuple(pair) for pair in json.loads((await call).text)]

    for expected in [("x-request-id", "r-1"), ("acme-shard", "42"), ("acme-shard", "43")]:
        assert expected in seen
    assert ("acme-bin", str(b"\x00\x01")) in seen
    assert len([key for key, _ in seen if key == "authorization"]) == 1
    assert door.writer not in str(seen)
    assert list(await call.initial_metadata()) == [("echo-head", "h"), ("echo-bin", b"\x00\xff")]
    assert ("x-request-id", "r-1") in list(await call.trailing_metadata())


async def test_the_deadline_goes_on_as_what_remains(door: Front) -> None:
    """W1, design 4: the service knows how long its caller will wait."""
    reply = await door.stub.say(Request(act="deadline"), timeout=20.0)

    assert 5 < float(reply.text) < 20.5  # gRPC rounds


async def test_a_call_without_a_deadline_gets_the_default(door: Front) -> None:
    """Design 4: each outgoing call has an explicit deadline (GATEWAY_DEADLINE)."""
    reply = await door.stub.say(Request(act="deadline"), timeout=None)

    assert DEADLINE - 20 < float(reply.text) < DEADLINE + 0.5  # gRPC rounds


async def test_a_deadline_that_passes_cuts_the_service_short(door: Front) -> None:
    """W1: DEADLINE_EXCEEDED for the caller, and the service stops working for nobody."""
    for seconds in BRIEF:
        call = door.stub.say(Request(act="hang"), timeout=seconds)
        assert await call.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        if door.servicer.said:
            break

    await eventually(lambda: door.servicer.cut == ["hang"])


async def test_cancelling_reaches_the_service(door: Front) -> None:
    """W1: the service stops when the caller does."""
    call = door.stub.say(Request(act="hang"))
    await eventually(lambda: door.servicer.said == 1)
    call.cancel()

    await eventually(lambda: door.servicer.cut == ["hang"])


async def test_a_request_above_the_limit_is_refused_with_its_reason(door: Front) -> None:
    """W2: RESOURCE_EXHAUSTED with ERROR_REASON_MESSAGE_TOO_LARGE; above 16 MiB, of which nothing
    gets in, gRPC itself refuses."""
    fits = Request(act="echo", long_text="x" * ((1 << 20) - 100))
    assert Reply(text="echo", echoed=fits) == await door.stub.say(fits)

    for mebibytes in (1, 15):
        call = door.stub.say(Request(long_text="x" * (mebibytes << 20)))
        assert await refusal(call) == ("RESOURCE_EXHAUSTED", "MESSAGE_TOO_LARGE")
        assert DETAILS_KEY in dict(await call.trailing_metadata())
    call = door.stub.say(Request(long_text="x" * (17 << 20)))
    assert await call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_service_that_is_down_is_unavailable_in_our_words(door: Front) -> None:
    """W1: UNAVAILABLE with its reason, no socket's name in the text; and back when it is back."""
    await door.upstream.server.stop(0)

    failure = await refused(door.stub.say(Request(act="x")))

    assert failure.code is grpc.StatusCode.UNAVAILABLE
    assert failure.reason == "ERROR_REASON_UNAVAILABLE"
    for inner in ("unix:", "sock", "connect"):
        assert inner not in failure.message
    assert "upstream failed" in door.logged.getvalue()

    codes = {await says(door)}
    async with door.revived(), asyncio.timeout(SECONDS):
        while grpc.StatusCode.OK not in codes:
            await asyncio.sleep(0.02)
            codes.add(await says(door))
    assert codes <= {grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE}


async def says(door: Front) -> grpc.StatusCode:
    """How a call ends now."""
    code: grpc.StatusCode = await door.stub.say(Request(act="x")).code()
    return code


async def test_a_service_killed_in_mid_call_is_unavailable(door: Front) -> None:
    """W1: the caller of a call that the service lost learns it at once."""
    call = door.stub.say(Request(act="hang"))
    await eventually(lambda: door.servicer.said == 1)
    await door.upstream.server.stop(0)

    assert await refusal(call) == ("UNAVAILABLE", "UNAVAILABLE")


async def test_what_no_service_sees_is_logged_without_the_key(door: Front) -> None:
    """W6: a refusal leaves a line with its reason and request id, and no credential."""
    stray = new_key()
    await refused(
        door.stub.say(Request(act="x"), metadata=(*with_key(stray), ("x-request-id", "r-2")))
    )

    text = door.logged.getvalue()
    assert "ERROR_REASON_CREDENTIAL_INVALID" in text
    assert "r-2" in text
    assert stray not in text
