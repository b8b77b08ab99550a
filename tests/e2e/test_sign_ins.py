"""Signing in to a gateway's page: two real gateways before one real governance."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import chosen_store
import grpc
import pytest
import pytest_asyncio
from access_world import ADMIN, OPERATING, READ, STATUS, WRITE, AccessClient, caller_of, holder
from concord.governance.v1 import access_pb2, access_pb2_grpc
from concord_chassis.call.failure import from_rpc_error
from concord_chassis.call.identity import Caller, TokenIssuer
from concord_gateway import callers
from concord_governance.backup import SYSTEM_SPACE, restoring
from concord_governance.bootstrap import opened
from concord_governance.domain.access import Scope, SignIn
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from google.protobuf.timestamp_pb2 import Timestamp
from governed_world import HOUR, SECOND, Clock, Keys, world
from sign_in_world import (
    ACCESS,
    EXPIRED,
    INVALID,
    OPENED,
    UNKNOWN,
    Doors,
    Session,
    at,
    bearer,
    door_before,
    outcome,
)


@pytest_asyncio.fixture(loop_scope="function")
async def doors(tmp_path: Path) -> AsyncIterator[Doors]:
    """Two gateways, and a space called `team`."""
    keys, key = Keys(), Ed25519PrivateKey.generate()
    keys.clients = TokenIssuer(key, "gateway")
    pem = tmp_path / "issuer.pem"
    pem.touch(mode=0o600)
    pem.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    async with AsyncExitStack() as stack:
        live = await stack.enter_async_context(world(tmp_path, keys=keys))
        one = await stack.enter_async_context(door_before(live, tmp_path))
        two = await stack.enter_async_context(door_before(live, tmp_path))
        ops = AccessClient(live, OPERATING)
        await ops.space("team")
        yield Doors(live, ops, one, two)


async def test_a_code_becomes_a_session_of_its_key(doors: Doors) -> None:
    """W5 W7 A session is what its key is, at every gateway; the cookie is no script's to read."""
    made = await doors.key(scopes=[READ, WRITE])
    session = await doors.one.sign_in(made.secret)

    by_key = (await doors.one.call("GetOwnAccess", bearer(made.secret))).json()
    for door in (doors.one, doors.two):
        assert (await door.call("GetOwnAccess", session.headers | at(session))).json() == by_key
    assert by_key["space"] == "team"
    attributes = session.set_cookie.replace(" ", "").split(";")[1:]
    assert {each.lower() for each in attributes} == {
        "httponly",
        "samesite=strict",
        "path=/",
        "max-age=43200",
    }


async def test_a_code_opens_once_within_a_minute(doors: Doors) -> None:
    """W5 A used, late or unknown code, and one of a key that was revoked: one refusal for all."""
    made, revoked = await doors.key(), await doors.key()
    used, late = await doors.one.code(made.secret), await doors.one.code(made.secret)
    of_revoked = await doors.one.code(revoked.secret)
    await doors.ops.revoke(revoked.key)

    assert outcome(await doors.one.post({"code": used})) == OPENED
    for code in (used, of_revoked):
        assert outcome(await doors.two.post({"code": code})) == INVALID
    doors.live.clock.pass_(60 * SECOND)
    refused = [
        await doors.one.post({"code": code}) for code in (used, late, of_revoked, UNKNOWN, "x")
    ]
    assert [outcome(each) for each in refused] == [INVALID] * 5
    assert len({each.json()["message"] for each in refused}) == 1
    assert not any("set-cookie" in each.headers for each in refused)


async def test_a_code_that_two_gateways_redeem_at_once_opens_once(doors: Doors) -> None:
    """W5 Redeeming is atomic."""
    code = await doors.one.code((await doors.key()).secret)
    answers = await asyncio.gather(
        *(door.post({"code": code}) for door in (doors.one, doors.two) * 4)
    )

    assert sorted(outcome(each) for each in answers) == [OPENED, *[INVALID] * 7]


async def test_a_key_is_pasted(doors: Doors) -> None:
    """W5 An API key opens a session without a code; not with one, and no other key does."""
    made = await doors.key()
    session = doors.one.session(await doors.one.post({}, bearer(made.secret)))
    code = await doors.one.code(made.secret)

    assert await doors.one.who(session) == OPENED
    assert outcome(await doors.one.post({}, bearer(f"ck_{UNKNOWN}"))) == INVALID
    assert outcome(await doors.one.post({"code": code}, bearer(made.secret)))[0] == 400
    spoilt: tuple[object, ...] = ({}, {"code": 1}, {"codes": "x"}, [], {"code": "x" * 129})
    for wrong in spoilt:
        assert outcome(await doors.one.post(wrong)) == (400, "ERROR_REASON_FIELD_INVALID")


async def test_one_half_of_a_session_opens_nothing(doors: Doors) -> None:
    """W5 Cookies ignore ports: neither a cookie, nor a secret, nor another port's cookie is one."""
    session = await doors.one.sign_in((await doors.key()).secret)
    other = await doors.one.sign_in((await doors.key()).secret)
    cookie, secret = (session.headers[name] for name in ("cookie", "x-concord-session"))
    name = f"concord-session-{session.port}"
    halves: list[dict[str, str]] = [
        {},
        {"cookie": cookie},
        {"x-concord-session": secret},
        {"cookie": f"concord-session-1={session.cookie}", "x-concord-session": secret},
        {"cookie": cookie, "x-concord-session": ""},
        {"cookie": cookie, "x-concord-session": session.cookie},
        {"cookie": f"{name}={secret}", "x-concord-session": secret},
        {"cookie": other.headers["cookie"], "x-concord-session": secret},
        {"cookie": f"{cookie}; {name}={other.cookie}", "x-concord-session": secret},
        {"cookie": cookie, "authorization": f"Bearer {secret}"},
        {"authorization": f"Bearer {session.cookie}.{secret}"},
    ]

    for headers in halves:
        assert outcome(await doors.one.call("GetOwnAccess", headers)) == INVALID, headers
        assert outcome(await doors.one.http.delete("/session", headers=headers)) == INVALID
    assert await doors.one.who(session) == OPENED


async def test_a_revoked_key_ends_its_sessions_within_five_seconds(doors: Doors) -> None:
    """W5 W7 At every gateway that has just served them; no other key's sessions end."""
    made, other = await doors.key(), await doors.key()
    session, lasting = [await doors.one.sign_in(each.secret) for each in (made, other)]
    elsewhere = session.headers | at(session)
    for door in (doors.one, doors.two):
        assert outcome(await door.call("GetOwnAccess", elsewhere)) == OPENED
    await doors.ops.revoke(made.key)
    revoked = time.monotonic()

    for door in (doors.one, doors.two):
        while outcome(await door.call("GetOwnAccess", elsewhere)) != INVALID:
            assert time.monotonic() - revoked < callers.HOLDS + 1
            await asyncio.sleep(0.1)
    assert await doors.one.who(lasting) == OPENED


async def test_a_session_ends_after_twelve_hours_or_with_its_key(
    doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W5 The earlier of both; a session is no way to let a key live on."""
    monkeypatch.setattr(callers, "HOLDS", 0.0)
    monkeypatch.setattr(callers, "UNKNOWN_HOLDS", 0.0)
    clock = doors.live.clock
    soon, later = Timestamp(), Timestamp()
    soon.FromMicroseconds(clock.now + HOUR)
    later.FromMicroseconds(clock.now + 13 * HOUR)
    long, short = await doors.key(expire_time=later), await doors.key(expire_time=soon)
    lasting, brief = [await doors.one.sign_in(each.secret) for each in (long, short)]

    clock.pass_(HOUR - SECOND)
    assert [await doors.one.who(each) for each in (lasting, brief)] == [OPENED, OPENED]
    clock.pass_(SECOND)
    assert [await doors.one.who(each) for each in (lasting, brief)] == [OPENED, EXPIRED]
    clock.pass_(11 * HOUR - SECOND)
    assert await doors.one.who(lasting) == OPENED
    clock.pass_(SECOND)
    assert await doors.one.who(lasting) == EXPIRED
    await doors.one.sign_in(long.secret)  # which removes what has expired
    assert await doors.one.who(lasting) == INVALID


async def test_signing_out_ends_one_tab(doors: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    """W5 A second tab keeps the browser's cookie; each tab signs out for itself, at once where it
    does so, and at the other gateways with their next question."""
    made = await doors.key()
    first = await doors.one.sign_in(made.secret)
    second = await doors.one.sign_in(made.secret, {"cookie": first.headers["cookie"]})
    assert first.cookie == second.cookie
    assert first.secret != second.secret
    assert [await doors.one.who(each) for each in (first, second)] == [OPENED, OPENED]
    elsewhere = first.headers | at(first)
    assert outcome(await doors.two.call("GetOwnAccess", elsewhere)) == OPENED

    out = await doors.one.http.delete("/session", headers=first.headers)

    assert (out.status_code, out.content) == (204, b"")
    assert [await doors.one.who(each) for each in (first, second)] == [INVALID, OPENED]
    assert outcome(await doors.one.http.delete("/session", headers=first.headers)) == INVALID
    monkeypatch.setattr(callers, "HOLDS", 0.0)
    assert outcome(await doors.two.call("GetOwnAccess", elsewhere)) == INVALID
    forged = {"cookie": f"concord-session-{first.port}=mine"}
    third = await doors.one.sign_in(made.secret, forged)
    assert len(third.cookie) == 43


async def test_a_session_signs_nobody_in(doors: Doors) -> None:
    """W5 Else whoever takes a session once has one for ever, out of the sight of its person."""
    session = await doors.one.sign_in((await doors.key()).secret)

    found = await doors.one.call("CreateSignIn", session.headers)

    assert outcome(found) == (403, "ERROR_REASON_KEY_REFUSED")
    for method, fields in (
        ("CreateSession", {"code": UNKNOWN, "sessionDigest": "0" * 64}),
        ("EndSession", {"sessionDigest": "0" * 64}),
        ("GetCaller", {"keyDigest": "0" * 64}),
    ):
        refused = await doors.one.call(method, session.headers, **fields)
        assert outcome(refused) == (403, "ERROR_REASON_PERMISSION_MISSING")


async def test_what_a_form_can_send_signs_nobody_in_and_calls_nothing(doors: Doors) -> None:
    """W5 A page of another site sends these without asking: no type but JSON is taken."""
    made = await doors.key()
    session = await doors.one.sign_in(made.secret)
    path = f"/{ACCESS.full_name}/GetOwnAccess"
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/proto",
        "",
    ):
        sent = {"content-type": kind} if kind else {}
        code = json.dumps({"code": await doors.one.code(made.secret)}).encode()
        for asked in ("/session", path):
            headers = sent | (session.headers if asked == path else {})
            answer = await doors.one.http.post(asked, content=code, headers=headers)
            assert outcome(answer) == (415, "ERROR_REASON_METHOD_UNKNOWN")


@pytest.mark.parametrize(
    "header", [{"origin": "http://127.0.0.1:1"}, {"origin": "null"}, {"host": "evil.example"}]
)
async def test_a_foreign_page_has_no_session(doors: Doors, header: dict[str, str]) -> None:
    """W5 W6 Also not of another port of this host, whose page gets the browser's cookie sent."""
    made = await doors.key()
    session = await doors.one.sign_in(made.secret)
    code = await doors.one.code(made.secret)
    answers = [
        await doors.one.post({"code": code}, header),
        await doors.one.call("GetOwnAccess", session.headers | header),
        await doors.one.http.delete("/session", headers=session.headers | header),
    ]

    assert {outcome(each) for each in answers} == {(403, "ERROR_REASON_ORIGIN_REFUSED")}
    assert await doors.one.who(session) == OPENED
    assert outcome(await doors.one.post({"code": code})) == OPENED


async def test_sessions_of_two_spaces_see_nothing_of_each_other(doors: Doors) -> None:
    """W5 W7 In one browser, with one cookie: each secret opens its own space alone."""
    await doors.ops.space("other")
    keys = [await doors.key(space, scopes=[READ, ADMIN]) for space in ("team", "other")]
    team = doors.one.session(await doors.one.post({}, bearer(keys[0].secret)))
    cookie = {"cookie": team.headers["cookie"]}
    other = doors.one.session(await doors.one.post({}, bearer(keys[1].secret) | cookie))

    assert team.cookie == other.cookie
    for session, made in ((team, keys[0]), (other, keys[1])):
        listed = (await doors.one.call("ListKeys", session.headers)).json()["keys"]
        assert [each["id"] for each in listed] == [made.key.id]
    foreign = await doors.one.call("ListKeys", team.headers, space="other")
    assert outcome(foreign) == (403, "ERROR_REASON_KEY_REFUSED")


async def test_the_oldest_of_a_hundred_gives_way(doors: Doors) -> None:
    """W5 What one key can have of codes and sessions is bounded; another key's stay."""
    made, other = await doors.key(), await doors.key()
    session, bystander = [await doors.one.sign_in(each.secret) for each in (made, other)]
    for _ in range(99):
        doors.live.clock.pass_(1)
        await doors.one.code(made.secret)
    assert await doors.one.who(session) == OPENED

    doors.live.clock.pass_(1)
    await doors.one.code(made.secret)

    assert (
        await doors.two.who(Session(doors.two.gateway.http_port, session.cookie, session.secret))
        == INVALID
    )
    assert await doors.one.who(bystander) == OPENED


async def test_nothing_that_opens_a_session_is_stored(doors: Doors) -> None:
    """W5 The ledger's files have digests alone, and its log no word of a sign-in."""
    made = await doors.key()
    told = await doors.ops.told()
    unused = await doors.one.code(made.secret)
    session = await doors.one.sign_in(made.secret)
    await doors.one.http.delete("/session", headers=session.headers)

    stored = b"".join(path.read_bytes() for path in doors.live.folder.glob("ledger.db*"))
    for secret in (unused, session.cookie, session.secret):
        assert secret.encode() not in stored
    assert await doors.ops.told() == told


async def test_a_gateway_without_the_page_has_no_sessions(doors: Doors, tmp_path: Path) -> None:
    """W5 GATEWAY_PAGE is off by default: no path, and no credential but keys."""
    made = await doors.key()
    session = await doors.one.sign_in(made.secret)
    async with door_before(doors.live, tmp_path, page=False) as plain:
        code = await plain.code(made.secret)

        assert outcome(await plain.post({"code": code})) == (404, "ERROR_REASON_METHOD_UNKNOWN")
        found = await plain.call("GetOwnAccess", session.headers | at(session))
        assert outcome(found) == INVALID
    assert await doors.one.who(session) == OPENED


async def test_governance_believes_no_key_that_is_not_the_callers(doors: Doors) -> None:
    """W5 A token may outlive its key by minutes: a code of it, or of another principal's, is none;
    nor is a code a session, or a session a code."""
    made, other = await doors.key(), await doors.key(principal="critic")

    async def tried(who: Caller) -> str:
        stub = access_pb2_grpc.AccessServiceStub(doors.live.governance.channel(who))
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.CreateSignIn(access_pb2.CreateSignInRequest())
        return from_rpc_error(refused.value).reason

    planner = holder("team", "planner", Scope.READ)
    assert await tried(planner) == "ERROR_REASON_KEY_REFUSED"
    for key_id in (other.key.id, "0" * 12):
        assert await tried(replace(planner, key_id=key_id)) == "ERROR_REASON_CREDENTIAL_INVALID"
    elsewhere = replace(planner, space="other", key_id=made.key.id)
    assert await tried(elsewhere) == "ERROR_REASON_CREDENTIAL_INVALID"
    code = await doors.one.code(made.secret)
    unspent = await caller_of(doors.live, code)
    assert unspent.status == STATUS.KEY_STATUS_NOT_FOUND
    session = await doors.one.sign_in(made.secret)
    halves = f"{session.cookie}.{session.secret}"
    assert (await caller_of(doors.live, halves)).key_id == made.key.id
    assert outcome(await doors.one.post({"code": halves})) == INVALID
    await doors.ops.revoke(made.key)
    revoked = replace(planner, key_id=made.key.id)
    assert await tried(revoked) == "ERROR_REASON_CREDENTIAL_INVALID"


async def test_a_restored_ledger_has_no_sessions(tmp_path: Path) -> None:
    """W5 What a copy has of sessions may have been ended since."""
    store, clock = chosen_store.LEDGER.of(tmp_path / "ledger.db"), Clock()
    made = SignIn("a" * 64, "b" * 12, True, clock.now, clock.now + HOUR)
    ledger = await opened(store, clock)
    await ledger.write(SYSTEM_SPACE, lambda tx: tx.put_sign_in(made))
    await ledger.close()

    async def digest_at(_space: str, _seq: int) -> str:
        return ""

    async with restoring(store, clock) as restored:
        await restored.begin_again("again", digest_at, {})

    ledger = await opened(store, clock)
    assert await ledger.read(SYSTEM_SPACE, lambda tx: tx.sign_in(made.digest)) is None
    await ledger.close()
