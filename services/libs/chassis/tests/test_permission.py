import grpc
import pytest
from chassis_probe import (
    READER,
    WRITER,
    Dynamic,
    ProbeServicer,
    Request,
    Stub,
    failure_of,
    registration,
)
from concord_chassis.call.identity import Caller, Reach, caller
from concord_testing.serving import serving


@pytest.mark.parametrize("header", ["", "Bearer", "Basic abc", "Bearer  ", "Bearer x.y.z"])
async def test_an_authorization_that_is_no_token_is_refused(header: str) -> None:
    """W6: a call is refused unless it has a bearer token that verifies."""
    async with serving([registration(ProbeServicer())]) as live:
        call = Stub(live.channel(None)).ask(Request(), metadata=(("authorization", header),))

        assert (await failure_of(call)).reason == "ERROR_REASON_CREDENTIAL_INVALID"


async def test_the_scheme_is_read_in_any_case() -> None:
    """RFC 9110 section 11.1: the scheme is case-insensitive."""
    async with serving([registration(ProbeServicer())]) as live:
        header = f"bEARER {live.issuer.mint(READER)}"

        reply = await Stub(live.channel(None)).ask(
            Request(act="a"), metadata=(("authorization", header),)
        )

        assert reply.text == "a"


@pytest.mark.parametrize("shape", ["ask", "follow"])
async def test_strangers_are_turned_away_before_parsing(shape: str) -> None:
    """W6: authentication comes before validation: the refusal shows no field rule."""
    servicer = ProbeServicer()
    async with serving([registration(servicer)]) as live:
        call = getattr(Stub(live.channel(None)), shape)(Request(act="BROKEN RULE"))

        failure = await failure_of(call if shape == "ask" else call.read())

    assert failure.code is grpc.StatusCode.UNAUTHENTICATED
    assert failure.reason == "ERROR_REASON_CREDENTIAL_INVALID"
    assert servicer.seen == []


async def test_a_scope_that_the_method_does_not_ask_for_opens_nothing() -> None:
    """W6: each method needs its own permission, which the refusal names."""
    servicer = ProbeServicer()
    async with serving([registration(servicer)]) as live:
        failure = await failure_of(Stub(live.channel(READER)).change(Request()))

    assert failure.code is grpc.StatusCode.PERMISSION_DENIED
    assert failure.reason == "ERROR_REASON_PERMISSION_MISSING"
    assert failure.metadata == {"permission": "probe:write"}
    assert servicer.seen == []


@pytest.mark.parametrize(
    ("scopes", "reach"),
    [
        ({"probe:write"}, Reach.ALL),
        ({"probe:own"}, Reach.OWN),
        ({"probe:append"}, Reach.NONE),
        ({"probe:append", "probe:own"}, Reach.OWN),
        ({"probe:append", "probe:write"}, Reach.ALL),
    ],
)
async def test_a_lesser_form_lets_in_and_says_how_far(scopes: set[str], reach: Reach) -> None:
    """W7: the servicer learns from the permission itself what the call may change."""
    seen: list[Reach] = []

    async def remember(_request: Dynamic) -> str:
        seen.append(caller().reach)
        return ""

    who = Caller("space-a", "writer", frozenset(scopes), "AGENT")
    async with serving([registration(ProbeServicer(remember))]) as live:
        await Stub(live.channel(who)).change(Request())

    assert seen == [reach]


@pytest.mark.parametrize("scopes", [{"probe:append"}, {"probe:appends"}, {"other:own"}, {":own"}])
async def test_a_form_that_the_contract_does_not_let_in_opens_nothing(scopes: set[str]) -> None:
    """W7: and the refusal says what the key carries instead, if it is less."""
    servicer = ProbeServicer()
    who = Caller("space-a", "writer", frozenset(scopes), "AGENT")
    async with serving([registration(servicer)]) as live:
        failure = await failure_of(Stub(live.channel(who)).collect(iter([Request()])))

    assert failure.reason == "ERROR_REASON_PERMISSION_MISSING"
    assert failure.metadata == {"permission": "probe:write"}
    assert ("but only probe:append" in failure.message) == ("probe:append" in scopes)
    assert servicer.seen == []


async def test_the_servicer_knows_the_tokens_caller_and_nothing_else() -> None:
    """W6: the space comes from the token only; a space in another header is ignored."""
    seen: list[Caller] = []

    async def remember(_request: Dynamic) -> str:
        seen.append(caller())
        return ""

    async with serving([registration(ProbeServicer(remember))]) as live:
        claims = (("x-space", "space-b"), ("space", "space-b"))
        await Stub(live.channel(READER)).ask(Request(), metadata=claims)
        await Stub(live.channel(WRITER)).ask(Request())

    assert seen == [READER, WRITER]


async def test_an_unknown_method_has_its_reason_also_for_strangers() -> None:
    """W1: an unknown method is refused as unknown, even without a token."""
    async with serving([registration(ProbeServicer())]) as live:
        known = await failure_of(Stub(live.channel(READER)).nonsense(Request()))
        stranger = await failure_of(Stub(live.channel(None)).nonsense(Request()))

    for found in (known, stranger):
        assert found.code is grpc.StatusCode.UNIMPLEMENTED
        assert found.reason == "ERROR_REASON_METHOD_UNKNOWN"
