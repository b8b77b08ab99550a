"""Sessions over HTTP: people sign in to a page with a one-time code or an API key, and out (W5).

A session's credential has two halves, a cookie that the browser keeps from scripts and a secret
that the page sends itself: one without the other opens nothing (0119).
"""

import hashlib
import re
import secrets
from functools import partial
from typing import Protocol

from concord_chassis.call.identity import invalid_credential
from google.protobuf.timestamp_pb2 import Timestamp
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route as HttpRoute

from concord_gateway.admission import AUTHORIZATION, GOVERNANCE_ALONE, SESSION, Admitted, Gate
from concord_gateway.config import Config
from concord_gateway.http import body
from concord_gateway.http import headers as http_headers
from concord_gateway.http.answers import Answers
from concord_gateway.http.connect_error import JSON
from concord_gateway.http.headers import invalid
from concord_gateway.http.payload import loaded
from concord_gateway.in_flight import InFlight
from concord_gateway.routes import Route

PATH = "/session"
COOKIE_PREFIX = "concord-session-"
COOKIE_SECONDS = 12 * 3600
"""As long as a session lives at most."""
SECRET_BYTES = 32
MOST_BYTES = 1024
"""The largest body of a request to sign in."""
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")


class HttpGate:
    """Admits HTTP calls by an API key or, if the page is on, by a session."""

    def __init__(self, gate: Gate, *, page: bool) -> None:
        self._gate, self._page = gate, page

    async def admit(self, request: Request) -> Admitted:
        """Authenticates a call. Raises `Failure` as `Gate.admit`."""
        if AUTHORIZATION in request.headers or not self._page or SESSION not in request.headers:
            return await self._gate.admit(request.headers.items())
        return await self._gate.admit_session(_session_digest(request))


class SignIns(Protocol):
    """Where codes and sessions are kept. Its methods raise `grpc.aio.AioRpcError`."""

    async def create_sign_in(self, authorization: str) -> str:
        """A one-time code of the key that an `authorization` value names."""
        ...

    async def create_session(self, code: str, digest: str) -> Timestamp:
        """Makes a code a session with this digest; returns when the session ends."""
        ...

    async def end_session(self, digest: str) -> None:
        """Ends the session with this digest."""
        ...


class Sessions:
    """`POST /session` signs in, `DELETE /session` signs out."""

    def __init__(
        self,
        gate: Gate,
        sign_ins: SignIns,
        in_flight: InFlight,
        answers: Answers,
        *,
        config: Config,
        counted_as: Route,
    ) -> None:
        """`counted_as`: the method that making or ending a session counts as a call of."""
        self._gate, self._sign_ins, self._in_flight = gate, sign_ins, in_flight
        self._answers, self._config = answers, config
        self._counted_as = counted_as

    @property
    def http_routes(self) -> list[HttpRoute]:
        """The HTTP routes."""
        return [HttpRoute(PATH, self._answer, methods=["POST", "DELETE"])]

    async def _answer(self, request: Request) -> Response:
        act = self._begun if request.method == "POST" else self._ended
        return await self._answers.of(PATH, request, partial(act, request))

    async def _begun(self, request: Request, identity: str) -> Response:
        headers = request.headers
        if http_headers.media_type(headers.get("content-type")) != JSON:  # a form is none of ours
            return self._answers.unsupported(identity, JSON, path=PATH)
        code = _code_in(await body.read(request, MOST_BYTES, self._config.http_body_seconds))
        if AUTHORIZATION in headers:
            if code is not None:
                raise invalid("code", "is not sent beside an API key")
            admitted = await self._gate.admit(headers.items())
            with self._in_flight.place(admitted.key, self._counted_as):
                token = admitted.authorization(GOVERNANCE_ALONE)
                return await self._opened(request, await self._sign_ins.create_sign_in(token))
        if code is None:
            raise invalid("code", "is missing")
        with self._in_flight.place("", self._counted_as):  # whose it is, governance learns first
            return await self._opened(request, code)

    async def _opened(self, request: Request, code: str) -> Response:
        """Makes a code a session. A cookie of a session that another tab has stays as it is."""
        cookie = _cookie(request) or _new_secret()
        secret = _new_secret()
        ends = await self._sign_ins.create_session(code, _digest(cookie, secret))
        response = JSONResponse(
            {"secret": secret, "expireTime": ends.ToJsonString()},
            headers={"cache-control": "no-store"},
        )
        response.set_cookie(
            _cookie_name(request),
            cookie,
            max_age=COOKIE_SECONDS,
            secure=_is_secure(request),
            httponly=True,
            samesite="strict",
        )
        return response

    async def _ended(self, request: Request, _identity: str) -> Response:
        if SESSION not in request.headers:
            raise invalid_credential(f"Only a session is ended: send {SESSION}, and its cookie.")
        digest = _session_digest(request)
        admitted = await self._gate.admit_session(digest)
        with self._in_flight.place(admitted.key, self._counted_as):
            await self._sign_ins.end_session(digest)
        self._gate.forget(digest)
        return Response(status_code=204)


def _session_digest(request: Request) -> str:
    """The digest of the session that a call presents. Raises `Failure` (CREDENTIAL_INVALID)."""
    given, cookie = request.headers.getlist(SESSION), _cookie(request)
    if len(given) != 1 or not _SECRET.fullmatch(given[0]) or cookie is None:
        raise invalid_credential(f"A session is two halves: {SESSION}, and its cookie. Sign in.")
    return _digest(cookie, given[0])


def _digest(cookie: str, secret: str) -> str:
    return hashlib.sha256(f"{cookie}.{secret}".encode()).hexdigest()


def _new_secret() -> str:
    return secrets.token_urlsafe(SECRET_BYTES)


def _cookie(request: Request) -> str | None:
    """The one well-formed cookie of this address; a browser sends those of all ports of a host."""
    name, sent = _cookie_name(request), request.headers.getlist("cookie")
    pairs = (pair.partition("=") for each in sent for pair in each.split(";"))
    values = [value.strip() for key, _, value in pairs if key.strip() == name]
    return values[0] if len(values) == 1 and _SECRET.fullmatch(values[0]) else None


def _cookie_name(request: Request) -> str:
    _, _, port = request.headers["host"].rpartition(":")
    return COOKIE_PREFIX + (port if port.isdecimal() else "443" if _is_secure(request) else "80")


def _is_secure(request: Request) -> bool:
    """Whether the browser speaks TLS: to the gateway, or to a proxy, as the page's origin says."""
    origin = request.headers.get("origin", "")
    return request.url.scheme == "https" or origin.startswith("https://")


def _code_in(plain: bytes) -> str | None:
    value = loaded(plain)
    if not isinstance(value, dict) or not value.keys() <= {"code"}:
        raise invalid("", 'is a JSON object with "code", or an empty one')
    code = value.get("code")
    if code is not None and not isinstance(code, str):
        raise invalid("code", "is a string")
    return code
