"""LineageService."""

from __future__ import annotations

from concord.graph.v1 import lineage_pb2, lineage_pb2_grpc
from concord_chassis.call.identity import caller

from concord_graph.servicer import calls, incoming, outgoing
from concord_graph.servicer.actions import Actions
from concord_graph.usecases.read.chains import chain_of
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.write.commands import Commands


class LineageServicer(lineage_pb2_grpc.LineageServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(self, commands: Commands, reader: Reader, actions: Actions) -> None:
        self._commands = commands
        self._reader = reader
        self._actions = actions

    async def AddLineage(
        self, request: lineage_pb2.AddLineageRequest, context: calls.Context
    ) -> lineage_pb2.AddLineageResponse:
        done = await calls.execute(self._commands, request, self._actions.add_lineage(request))
        return calls.reply(
            lineage_pb2.AddLineageResponse,
            done,
            edge=outgoing.done_edge(done),
            created=done.result.is_new,
        )

    async def GetLineage(
        self, request: lineage_pb2.GetLineageRequest, context: calls.Context
    ) -> lineage_pb2.GetLineageResponse:
        as_of = incoming.as_of(request)
        chain = await self._reader.read(
            caller().space, lambda tx, now: chain_of(tx, request.id, as_of.at(now), now)
        )
        if chain is None:
            return lineage_pb2.GetLineageResponse(status=calls.NOT_FOUND)
        return lineage_pb2.GetLineageResponse(
            status=calls.FOUND,
            items=[outgoing.lineage_item(link, chain.valid) for link in chain.items],
            edges=map(outgoing.edge, chain.edges),
            truncated=chain.truncated,
        )
