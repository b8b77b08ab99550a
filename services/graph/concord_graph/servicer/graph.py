"""GraphService."""

from __future__ import annotations

from collections.abc import Sequence

from concord.graph.v1 import graph_pb2, graph_pb2_grpc
from concord_chassis.call import deadline
from concord_chassis.call.identity import caller
from concord_chassis.call.opaque import page_cursor, page_token

from concord_graph.domain.spelling import NameKind
from concord_graph.ports import Reads
from concord_graph.servicer import calls, incoming, outgoing
from concord_graph.servicer.actions import Actions
from concord_graph.usecases.read.items import (
    get_edge,
    get_edge_of_triple,
    get_node,
    list_edges,
)
from concord_graph.usecases.read.near_names import near_triple
from concord_graph.usecases.read.neighbors import NeighborPage
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.read.shown import Shown
from concord_graph.usecases.read.walks import neighbors, path_page
from concord_graph.usecases.write.commands import Commands

DEFAULT_NEIGHBOR_PAGE = 20
DEFAULT_PATH_DEPTH = 5
DEFAULT_PATHS = 10


class GraphServicer(graph_pb2_grpc.GraphServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(self, commands: Commands, reader: Reader, actions: Actions) -> None:
        self._commands = commands
        self._reader = reader
        self._actions = actions

    async def UpsertNode(
        self, request: graph_pb2.UpsertNodeRequest, context: calls.Context
    ) -> graph_pb2.UpsertNodeResponse:
        done = await calls.execute(self._commands, request, self._actions.upsert_node(request))
        return calls.reply(
            graph_pb2.UpsertNodeResponse,
            done,
            node=outgoing.done_node(done),
            created=done.result.is_new,
        )

    async def GetNode(
        self, request: graph_pb2.GetNodeRequest, context: calls.Context
    ) -> graph_pb2.GetNodeResponse:
        as_of, name = incoming.as_of(request), incoming.text(request.name)
        node = await self._reader.read(
            caller().space,
            lambda tx, now: get_node(tx, as_of.at(now), node_id=request.id, name=name),
            brief=True,
        )
        if node is None:
            names = await calls.near(self._reader, NameKind.NODE, name)
            return graph_pb2.GetNodeResponse(status=calls.NOT_FOUND, near_names=names)
        return graph_pb2.GetNodeResponse(status=calls.FOUND, node=outgoing.node(node))

    async def UpdateNode(
        self, request: graph_pb2.UpdateNodeRequest, context: calls.Context
    ) -> graph_pb2.UpdateNodeResponse:
        done = await calls.execute(self._commands, request, self._actions.update_node(request))
        return calls.reply(graph_pb2.UpdateNodeResponse, done, node=outgoing.done_node(done))

    async def DeleteNode(
        self, request: graph_pb2.DeleteNodeRequest, context: calls.Context
    ) -> graph_pb2.DeleteNodeResponse:
        done = await calls.execute(self._commands, request, self._actions.delete_node(request))
        return calls.reply(
            graph_pb2.DeleteNodeResponse, done, deleted_edge_count=done.result.edge_count
        )

    async def ListNodes(
        self, request: graph_pb2.ListNodesRequest, context: calls.Context
    ) -> graph_pb2.ListNodesResponse:
        after = page_cursor(request, str) or ""
        label = incoming.text(request.label)
        as_of, limit = incoming.as_of(request), calls.page_limit(request)
        found = await self._reader.read(
            caller().space, lambda tx, now: tx.list_nodes(label, as_of.at(now), after, limit)
        )
        nodes, token = calls.one_page(request, found, lambda last: last.name)
        return graph_pb2.ListNodesResponse(nodes=map(outgoing.node, nodes), next_page_token=token)

    async def UpsertEdge(
        self, request: graph_pb2.UpsertEdgeRequest, context: calls.Context
    ) -> graph_pb2.UpsertEdgeResponse:
        command = self._actions.upsert_edge(request)
        done = await calls.execute(self._commands, request, command, session_id=request.session_id)
        return calls.reply(
            graph_pb2.UpsertEdgeResponse,
            done,
            edge=outgoing.done_edge(done),
            created=done.result.is_new,
        )

    async def GetEdge(
        self, request: graph_pb2.GetEdgeRequest, context: calls.Context
    ) -> graph_pb2.GetEdgeResponse:
        shown = await self._edge(request)
        if shown is None:
            near = await self._near_triple(request)
            return graph_pb2.GetEdgeResponse(status=calls.NOT_FOUND, near_names=near)
        edge = outgoing.edge(shown)
        return graph_pb2.GetEdgeResponse(status=calls.FOUND, edge=edge)

    async def _edge(self, request: graph_pb2.GetEdgeRequest) -> Shown | None:
        as_of = incoming.as_of(request)
        triple = None
        if request.WhichOneof("by") != "id":
            triple = incoming.triple(request.triple)

        async def work(tx: Reads, now: int) -> Shown | None:
            if triple:
                return await get_edge_of_triple(tx, triple, as_of.at(now), now)
            return await get_edge(tx, request.id, as_of.at(now), now)

        shown = await self._reader.read(caller().space, work, brief=True)
        self._reader.count_item(caller().space, shown, request.session_id, peek=request.peek)
        return shown

    async def _near_triple(self, request: graph_pb2.GetEdgeRequest) -> Sequence[str]:
        if request.WhichOneof("by") == "id":
            return ()
        triple = incoming.triple(request.triple)
        return await self._reader.read(
            caller().space, lambda tx, now: near_triple(tx, *triple, now)
        )

    async def UpdateEdge(
        self, request: graph_pb2.UpdateEdgeRequest, context: calls.Context
    ) -> graph_pb2.UpdateEdgeResponse:
        command = self._actions.update_edge(request)
        done = await calls.execute(self._commands, request, command, session_id=request.session_id)
        return calls.reply(graph_pb2.UpdateEdgeResponse, done, edge=outgoing.done_edge(done))

    async def DeleteEdge(
        self, request: graph_pb2.DeleteEdgeRequest, context: calls.Context
    ) -> graph_pb2.DeleteEdgeResponse:
        command = self._actions.delete_edge(request)
        done = await calls.execute(self._commands, request, command, session_id=request.session_id)
        return calls.reply(graph_pb2.DeleteEdgeResponse, done)

    async def ListEdges(
        self, request: graph_pb2.ListEdgesRequest, context: calls.Context
    ) -> graph_pb2.ListEdgesResponse:
        after = page_cursor(request, str) or ""
        filter_ = incoming.edge_filter(request.filter)
        as_of, limit = incoming.as_of(request), calls.page_limit(request)
        found = await self._reader.read(
            caller().space,
            lambda tx, now: list_edges(tx, filter_, as_of.at(now), now, after=after, limit=limit),
        )
        shown, token = calls.one_page(request, found, lambda last: last.view.item.id)
        return graph_pb2.ListEdgesResponse(edges=map(outgoing.edge, shown), next_page_token=token)

    async def QueryNeighbors(
        self, request: graph_pb2.QueryNeighborsRequest, context: calls.Context
    ) -> graph_pb2.QueryNeighborsResponse:
        cursor = page_cursor(request, (int, (float, int, str)))
        pinned, after = (cursor[0], tuple(cursor[1])) if cursor else (None, None)
        page = await neighbors(
            self._reader,
            caller().space,
            incoming.end_ref(request.start, "start"),
            request.depth or 1,
            lambda now: incoming.walk(request, now),
            pinned=pinned,
            after=after,
            limit=request.page_size or DEFAULT_NEIGHBOR_PAGE,
        )
        if page is None:
            return graph_pb2.QueryNeighborsResponse(status=calls.NOT_FOUND)
        if not request.peek:
            passed = (reached.edge_id for reached, _ in page.entries)
            self._reader.count(caller().space, passed, request.session_id)
        last = page.entries[-1][0].rank if page.entries else None
        reply = graph_pb2.QueryNeighborsResponse(
            status=calls.FOUND,
            next_page_token=page_token(request, [page.now, last]) if page.has_more else "",
            truncated=page.truncated,
            visited_edge_count=page.visited,
        )
        _fill_neighbors(reply, page)
        return reply

    async def FindPath(
        self, request: graph_pb2.FindPathRequest, context: calls.Context
    ) -> graph_pb2.FindPathResponse:
        start = incoming.end_ref(request.start, "start")
        end = incoming.end_ref(request.end, "end")
        page = await self._reader.read(
            caller().space,
            lambda tx, now: path_page(
                tx,
                start,
                end,
                incoming.walk(request, now),
                now,
                max_depth=request.max_depth or DEFAULT_PATH_DEPTH,
                max_paths=request.max_paths or DEFAULT_PATHS,
                out_of_time=_nearly_over,
            ),
        )
        if page is None:
            return graph_pb2.FindPathResponse(status=calls.NOT_FOUND)
        if not request.peek:
            self._reader.count(caller().space, page.edges, request.session_id)
        paths = []
        for found in page.found.paths:
            edges = [page.edges[edge_id] for edge_id in found.edge_ids]
            path = graph_pb2.Path(
                edges=map(outgoing.edge, edges),
                weight=found.weight,
                path_relevance=1.0,
            )
            for edge in edges:
                path.path_relevance *= edge.relevance
            paths.append(path)
        return graph_pb2.FindPathResponse(
            status=calls.FOUND, paths=paths, truncated=page.found.truncated
        )


def _fill_neighbors(reply: graph_pb2.QueryNeighborsResponse, page: NeighborPage) -> None:
    for reached, shown in page.entries:
        message = reply.neighbors.add()
        outgoing.fill_edge(message.edge, shown)
        message.distance = reached.distance
        message.path.extend(reached.path)
        edge = message.edge
        far = edge.target if edge.target.id == reached.neighbor_id else edge.source
        message.neighbor.CopyFrom(far)


def _nearly_over() -> bool:
    left = deadline.remaining()
    return left is not None and left < deadline.RESERVE
