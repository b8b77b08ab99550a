"""RelationService."""

from __future__ import annotations

from typing import Any

import grpc
from concord.graph.v1 import relation_pb2, relation_pb2_grpc
from concord_chassis.identity import caller
from concord_chassis.opaque import page_cursor, page_token

from concord_graph.servicer import incoming, outgoing
from concord_graph.servicer.actions import Actions
from concord_graph.servicer.calls import DEFAULT_PAGE, execute
from concord_graph.usecases.queries import Queries
from concord_graph.usecases.write.commands import Commands

Context = grpc.aio.ServicerContext[Any, Any]


class RelationServicer(relation_pb2_grpc.RelationServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(self, commands: Commands, queries: Queries, actions: Actions) -> None:
        self._commands = commands
        self._queries = queries
        self._actions = actions

    async def DeclareRelation(
        self, request: relation_pb2.DeclareRelationRequest, context: Context
    ) -> relation_pb2.DeclareRelationResponse:
        """Declare what holds of a relation."""
        done = await execute(self._commands, request, self._actions.declare_relation(request))
        return relation_pb2.DeclareRelationResponse(
            relation=outgoing.done_relation(done),
            created=done.result.is_new,
            token=outgoing.done_token(caller().space, done),
        )

    async def ListRelations(
        self, request: relation_pb2.ListRelationsRequest, context: Context
    ) -> relation_pb2.ListRelationsResponse:
        """List declared relations by name."""
        size = request.page_size or DEFAULT_PAGE
        after = page_cursor(request, str) or ""
        found = await self._queries.relations(
            caller().space, incoming.as_of(request), after, size + 1
        )
        more = len(found) > size
        return relation_pb2.ListRelationsResponse(
            relations=[outgoing.relation(declared) for declared in found[:size]],
            next_page_token=page_token(request, found[size - 1].name) if more else "",
        )
