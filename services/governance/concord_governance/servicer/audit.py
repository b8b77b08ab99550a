"""AuditService and PrincipalService."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
from concord.governance.v1 import (
    audit_pb2,
    audit_pb2_grpc,
    principal_pb2,
    principal_pb2_grpc,
)
from concord.type.v1 import type_pb2
from concord_attestation.consent import REQUIRED_SLOTS
from concord_chassis.call.identity import caller
from concord_chassis.call.opaque import page_cursor, page_token
from concord_chassis.call.paging import page_of

from concord_governance.domain.signing import LogKey
from concord_governance.ports.graph import Graph
from concord_governance.servicer import incoming, outgoing
from concord_governance.usecases.audit_log import AuditLog

Context = grpc.aio.ServicerContext[Any, Any]
DEFAULT_PAGE = 50


class AuditServicer(audit_pb2_grpc.AuditServiceServicer):
    """Shows the log of the caller's space."""

    def __init__(self, audit_log: AuditLog) -> None:
        self._log = audit_log

    async def ListAuditEntries(
        self, request: audit_pb2.ListAuditEntriesRequest, context: Context
    ) -> audit_pb2.ListAuditEntriesResponse:
        cursor = page_cursor(request, int)
        size = request.page_size or DEFAULT_PAGE
        found = self._log.newest_first(
            caller().space,
            incoming.entry_filter(request),
            -1 if cursor is None else cursor,
            size + 1,
        )
        page = await page_of(found, outgoing.entry, size)
        return audit_pb2.ListAuditEntriesResponse(
            entries=page.messages,
            next_page_token=page_token(request, page.last.index) if page.last else "",
        )

    async def GetCheckpoint(
        self, request: audit_pb2.GetCheckpointRequest, context: Context
    ) -> audit_pb2.GetCheckpointResponse:
        note = await self._log.checkpoint(caller().space)
        return audit_pb2.GetCheckpointResponse(checkpoint=note)

    async def GetInclusionProof(
        self, request: audit_pb2.GetInclusionProofRequest, context: Context
    ) -> audit_pb2.GetInclusionProofResponse:
        leaf, hashes = await self._log.inclusion(caller().space, request.index, request.tree_size)
        return audit_pb2.GetInclusionProofResponse(leaf=leaf, hashes=hashes)

    async def GetConsistencyProof(
        self, request: audit_pb2.GetConsistencyProofRequest, context: Context
    ) -> audit_pb2.GetConsistencyProofResponse:
        hashes = await self._log.consistency(caller().space, request.old_size, request.new_size)
        return audit_pb2.GetConsistencyProofResponse(hashes=hashes)

    async def ExportAuditLog(
        self, request: audit_pb2.ExportAuditLogRequest, context: Context
    ) -> AsyncIterator[audit_pb2.ExportAuditLogResponse]:
        async for lines in self._log.export(caller().space):
            yield audit_pb2.ExportAuditLogResponse(lines=lines)


class PrincipalServicer(principal_pb2_grpc.PrincipalServiceServicer):
    """Shows the principals whose consents count, with their keys."""

    def __init__(self, graph: Graph, signer: LogKey, governance_key: bytes) -> None:
        self._graph = graph
        self._signer = signer
        self._governance_key = governance_key

    async def GetPrincipals(
        self, request: principal_pb2.GetPrincipalsRequest, context: Context
    ) -> principal_pb2.GetPrincipalsResponse:
        space = caller().space
        reply = principal_pb2.GetPrincipalsResponse(
            status=type_pb2.LOOKUP_STATUS_NOT_FOUND,
            governance_key=self._governance_key,
            log_key=self._signer.public_key,
            log_origin=self._signer.origin(space),
        )
        standing = await self._graph.principal_keys(space)
        if standing is not None:
            reply.status = type_pb2.LOOKUP_STATUS_FOUND
            reply.genesis_digest = standing.genesis.digest
            for name in REQUIRED_SLOTS:
                reply.slots.append(outgoing.slot_key(name, standing.genesis.slot(name)))
        return reply
