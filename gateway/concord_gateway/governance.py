"""Asks governance whose a key is, under the gateway's own token."""

import grpc
from concord.governance.v1 import access_pb2, access_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller, RenewedToken, TokenIssuer
from concord_chassis.observe import tracing
from concord_chassis.observe.log import Logger

from concord_gateway.admission import AUTHORIZATION
from concord_gateway.callers import ApiKey, Refusal
from concord_gateway.errors import GovernanceSilent

SERVICE = access_pb2.DESCRIPTOR.services_by_name["AccessService"].full_name
PRINCIPAL = "gateway"
PERMISSION = "callers:resolve"
ANSWERS_WITHIN = 2.0
"""Seconds after which governance counts as silent."""

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

    async def ask(self, digest: str) -> ApiKey | Refusal:
        """The key with this digest, or why it is not let in. Raises `GovernanceSilent`."""
        try:
            found = await self._access.GetCaller(
                access_pb2.GetCallerRequest(key_digest=digest),
                timeout=ANSWERS_WITHIN,
                metadata=(
                    (AUTHORIZATION, f"Bearer {self._token()}"),
                    *tracing.outgoing().items(),
                ),
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
