"""Asks governance whose a key or session is, and for sessions, under the gateway's own token."""

from typing import Any

import grpc
from concord.governance.v1 import access_pb2, access_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller, RenewedToken, TokenIssuer
from concord_chassis.observe import tracing
from concord_chassis.observe.log import Logger
from google.protobuf.timestamp_pb2 import Timestamp

from concord_gateway.admission import AUTHORIZATION
from concord_gateway.callers import ApiKey, Refusal
from concord_gateway.errors import GovernanceSilent

_ACCESS = access_pb2.DESCRIPTOR.services_by_name["AccessService"]
SERVICE = _ACCESS.full_name
CREATE_SESSION = _ACCESS.methods_by_name["CreateSession"]
PRINCIPAL = "gateway"
PERMISSION = "callers:resolve"
ANSWERS_WITHIN = 2.0
"""Seconds after which governance counts as silent about a key that is known."""
FIRST_WITHIN = 10.0
"""Seconds after which it does about one of which no answer is cached, which has nothing to go by:
while hundreds of clients begin at once, that one waits rather than fails."""
WRITES_WITHIN = 10.0
"""Seconds in which it makes or ends a session: its store may be busy."""

_KINDS = {
    type_pb2.PRINCIPAL_KIND_AGENT: "AGENT",
    type_pb2.PRINCIPAL_KIND_HUMAN: "HUMAN",
    type_pb2.PRINCIPAL_KIND_SYSTEM: "SYSTEM",
}


class Governance:
    """Governance behind a channel, asked about keys."""

    def __init__(self, channel: grpc.aio.Channel, issuer: TokenIssuer, logger: Logger) -> None:
        self._access = access_pb2_grpc.AccessServiceStub(channel)
        gateway = Caller("", PRINCIPAL, frozenset({PERMISSION}), "SYSTEM")
        self._token = RenewedToken(issuer, gateway, ["governance"])
        self._logger = logger

    async def create_sign_in(self, authorization: str) -> str:
        """A one-time code of the key of an `authorization` value for governance alone.

        Raises `grpc.aio.AioRpcError`, as the others below.
        """
        request = access_pb2.CreateSignInRequest()
        return (await self._access.CreateSignIn(request, **_terms(authorization))).code

    async def create_session(self, code: str, digest: str) -> Timestamp:
        """Makes a code a session with this digest; returns when the session ends."""
        request = access_pb2.CreateSessionRequest(code=code, session_digest=digest)
        return (await self._access.CreateSession(request, **_terms(self._own()))).expire_time

    async def end_session(self, digest: str) -> None:
        """Ends the session with this digest."""
        request = access_pb2.EndSessionRequest(session_digest=digest)
        await self._access.EndSession(request, **_terms(self._own()))

    async def ask(self, digest: str, is_known: bool) -> ApiKey | Refusal:
        """The key with this digest, or why it is not let in. Raises `GovernanceSilent`.

        `is_known`: whether an earlier answer can serve in place of this one.
        """
        try:
            found = await self._access.GetCaller(
                access_pb2.GetCallerRequest(key_digest=digest),
                **_terms(self._own(), ANSWERS_WITHIN if is_known else FIRST_WITHIN),
            )
        except grpc.aio.AioRpcError as error:
            self._logger.warning("keys unchecked", code=error.code().name, details=error.details())
            raise GovernanceSilent from error
        if found.status == access_pb2.KEY_STATUS_EXPIRED:
            return Refusal.EXPIRED
        if found.status != access_pb2.KEY_STATUS_ACTIVE:
            return Refusal.UNKNOWN
        origin = type_pb2.Origin.Name(found.origin).removeprefix("ORIGIN_")
        return ApiKey(
            found.key_id,
            Caller(
                found.space,
                found.principal,
                frozenset(found.permissions),
                _KINDS[found.kind],
                origin="" if origin == "UNSPECIFIED" else origin,
            ),
            found.expire_time.ToMicroseconds() / 1e6 if found.HasField("expire_time") else None,
        )

    def _own(self) -> str:
        return f"Bearer {self._token()}"


def _terms(authorization: str, seconds: float = WRITES_WITHIN) -> dict[str, Any]:
    """A call's timeout and metadata; `Any`: they differ in type."""
    metadata = ((AUTHORIZATION, authorization), *tracing.outgoing().items())
    return {"timeout": seconds, "metadata": metadata}
