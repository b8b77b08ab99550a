"""MemoryHealthService."""

from typing import cast

from concord.search.v1 import health_pb2, health_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call import opaque
from concord_chassis.call.call import Context
from concord_chassis.call.identity import caller

from concord_search.servicer import incoming
from concord_search.usecases.assess_health import AssessHealth

DEFAULT_LIMIT = 100
UNHEALTHY = (
    type_pb2.HEALTH_STATUS_AT_RISK,
    type_pb2.HEALTH_STATUS_STALE,
    type_pb2.HEALTH_STATUS_ORPHAN,
)
_OTHER = (type_pb2.MEMORY_KIND_UNSPECIFIED, type_pb2.MEMORY_KIND_TURN)
ASSESSED_KINDS = tuple(kind for kind in type_pb2.MemoryKind.values() if kind not in _OTHER)


class MemoryHealthServicer(health_pb2_grpc.MemoryHealthServiceServicer):
    """The health of the memories of the caller's space."""

    def __init__(self, assess: AssessHealth) -> None:
        self._assess = assess

    async def AssessHealth(
        self, request: health_pb2.AssessHealthRequest, context: Context
    ) -> health_pb2.AssessHealthResponse:
        cursor = opaque.page_cursor(request, (str,))
        found = await self._assess(
            caller().space,
            statuses=incoming.numbers(request.statuses, "statuses") or UNHEALTHY,
            kinds=incoming.numbers(request.kinds, "kinds") or ASSESSED_KINDS,
            limit=request.page_size or DEFAULT_LIMIT,
            token=cursor[0] if cursor else "",
            as_of=incoming.as_of(request.as_of),
        )
        return health_pb2.AssessHealthResponse(
            memories=[
                health_pb2.AssessedMemory(
                    memory_id=each.id,
                    statement=each.statement,
                    health=cast(type_pb2.Health, each.health),
                )
                for each in found.listed
            ],
            counts=[
                health_pb2.HealthCount(status=type_pb2.HealthStatus.ValueType(status), count=number)
                for status, number in sorted(found.counts.items())
            ],
            next_page_token=opaque.page_token(request, [found.token]) if found.token else "",
        )
