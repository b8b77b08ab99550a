"""GovernedChangeService."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
from concord.graph.v1 import governed_pb2, governed_pb2_grpc
from concord_chassis.identity import caller
from google.protobuf.message import Message

from concord_graph.domain.exceptions import FieldInvalid
from concord_graph.domain.items import ItemKind
from concord_graph.servicer import outgoing
from concord_graph.servicer.actions import Actions
from concord_graph.servicer.calls import execute
from concord_graph.usecases.commands import Commands
from concord_graph.usecases.governed import GovernedChanges
from concord_graph.usecases.queries import Queries

Context = grpc.aio.ServicerContext[Any, Any]


class GovernedServicer(governed_pb2_grpc.GovernedChangeServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(
        self,
        commands: Commands,
        queries: Queries,
        actions: Actions,
        governed: GovernedChanges,
        *,
        action_digest: Callable[[Message], str],
        erased: Callable[[], None],
    ) -> None:
        """`erased` is called when something was."""
        self._erased = erased
        self._commands = commands
        self._queries = queries
        self._actions = actions
        self._governed = governed
        self._action_digest = action_digest

    async def EnrolPrincipals(
        self, request: governed_pb2.EnrolPrincipalsRequest, context: Context
    ) -> governed_pb2.EnrolPrincipalsResponse:
        """Write the space's genesis."""
        done = await execute(
            self._commands,
            request,
            lambda writer: self._governed.enrol(writer, request.enrolment_secret, request.genesis),
        )
        space = caller().space
        return governed_pb2.EnrolPrincipalsResponse(
            genesis_digest=await self._queries.genesis_digest(space),
            token=outgoing.done_token(space, done),
        )

    async def ApplyGovernedChange(
        self, request: governed_pb2.ApplyGovernedChangeRequest, context: Context
    ) -> governed_pb2.ApplyGovernedChangeResponse:
        """Apply a change that both parties consented to."""
        try:
            digest = self._action_digest(request.action)
        except ValueError as error:
            raise FieldInvalid("action", "has no JSON form") from error
        work = self._actions.governed(request.action)
        done = await execute(
            self._commands,
            request,
            lambda writer: self._governed.apply(writer, digest, request.grant, work),
        )
        if request.action.WhichOneof("action") == "erase_memory":
            self._erased()
        reply = governed_pb2.ApplyGovernedChangeResponse(
            token=outgoing.done_token(caller().space, done)
        )
        if outgoing.is_kind(done, ItemKind.NODE):
            reply.node.CopyFrom(outgoing.done_node(done))
        elif outgoing.is_kind(done, ItemKind.EDGE):
            reply.edge.CopyFrom(outgoing.done_edge(done))
        elif done.views and done.views[0].item.kind == ItemKind.MEMORY:
            reply.memory.CopyFrom(outgoing.done_memory(done))
        return reply
