"""RelationService."""

from __future__ import annotations

from concord.graph.v1 import relation_pb2, relation_pb2_grpc
from concord_chassis.call.identity import caller
from concord_chassis.call.opaque import page_cursor

from concord_graph.domain.spelling import NameKind
from concord_graph.servicer import calls, incoming, outgoing
from concord_graph.servicer.actions import Actions
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.read.walks import FollowedPage, followed_page
from concord_graph.usecases.write.commands import Commands


class RelationServicer(relation_pb2_grpc.RelationServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(self, commands: Commands, reader: Reader, actions: Actions) -> None:
        self._commands = commands
        self._reader = reader
        self._actions = actions

    async def DeclareRelation(
        self, request: relation_pb2.DeclareRelationRequest, context: calls.Context
    ) -> relation_pb2.DeclareRelationResponse:
        done = await calls.execute(self._commands, request, self._actions.declare_relation(request))
        return calls.reply(
            relation_pb2.DeclareRelationResponse,
            done,
            relation=outgoing.done_relation(done)
            if done.relation is not None
            else relation_pb2.Relation(name=incoming.text(request.name)),  # it only claims
            created=done.result.is_new,
        )

    async def ListRelations(
        self, request: relation_pb2.ListRelationsRequest, context: calls.Context
    ) -> relation_pb2.ListRelationsResponse:
        after = page_cursor(request, str) or ""
        as_of = incoming.as_of(request)
        found = await self._reader.read(
            caller().space,
            lambda tx, now: tx.list_relations(as_of.at(now), after, calls.page_limit(request)),
        )
        relations, token = calls.one_page(request, found, lambda last: last.name)
        return relation_pb2.ListRelationsResponse(
            relations=map(outgoing.relation, relations), next_page_token=token
        )

    async def FollowRelations(
        self, request: relation_pb2.FollowRelationsRequest, context: calls.Context
    ) -> relation_pb2.FollowRelationsResponse:
        space = caller().space
        start = incoming.end_ref(request.start, "start")
        relations = [incoming.text(relation) for relation in request.relations]
        as_of = incoming.as_of(request)
        page = await self._reader.read(
            space, lambda tx, now: followed_page(tx, start, relations, as_of, now)
        )
        if page is None:
            names = await calls.near(self._reader, NameKind.NODE, start.name)
            return relation_pb2.FollowRelationsResponse(status=calls.NOT_FOUND, near_names=names)
        if not request.peek:
            self._reader.count(space, page.edges, request.session_id)
        return _followed(page)


def _followed(page: FollowedPage) -> relation_pb2.FollowRelationsResponse:
    reply = relation_pb2.FollowRelationsResponse(status=calls.FOUND)
    for hop in page.hops:
        reply.hops.add(
            relation=hop.relation,
            edges=[outgoing.edge(page.edges[edge_id]) for edge_id in hop.edge_ids],
            truncated=hop.truncated,
            held_relations=hop.held_relations,
        )
    last = page.hops[-1]
    if not last.end_ids:
        reply.unheld_hop = len(page.hops)
    targets = {edge.target.id: edge.target for edge in reply.hops[-1].edges}
    reply.ends.extend(targets[end_id] for end_id in last.end_ids)
    return reply
