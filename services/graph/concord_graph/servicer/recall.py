"""RecallService."""

from __future__ import annotations

from collections.abc import Callable

from concord.graph.v1 import recall_pb2, recall_pb2_grpc
from concord_chassis.call.identity import caller
from concord_chassis.call.opaque import page_cursor

from concord_graph.domain.sessions import Recall, RecallFilter
from concord_graph.servicer.calls import Context, one_page, page_limit
from concord_graph.servicer.outgoing import stamp
from concord_graph.usecases.recalls import Recalls


class RecallServicer(recall_pb2_grpc.RecallServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(self, recalls: Recalls, erased: Callable[[], None]) -> None:
        """`erased` runs after each erasure."""
        self._recalls = recalls
        self._erased = erased

    async def ListRecalls(
        self, request: recall_pb2.ListRecallsRequest, context: Context
    ) -> recall_pb2.ListRecallsResponse:
        before = page_cursor(request, str) or ""
        wanted = RecallFilter(
            request.query_id, request.memory_id, request.principal, request.session_id
        )
        limit = page_limit(request)
        found, is_on = await self._recalls.list(caller().space, wanted, before, limit)
        page, token = one_page(request, found, lambda last: last.query_id)
        return recall_pb2.ListRecallsResponse(
            recalls=map(_recall, page), next_page_token=token, enabled=is_on
        )

    async def SetRecallLog(
        self, request: recall_pb2.SetRecallLogRequest, context: Context
    ) -> recall_pb2.SetRecallLogResponse:
        await self._recalls.turn(caller().space, on=request.enabled)
        return recall_pb2.SetRecallLogResponse()

    async def EraseQueryText(
        self, request: recall_pb2.EraseQueryTextRequest, context: Context
    ) -> recall_pb2.EraseQueryTextResponse:
        erased = await self._recalls.erase_text(caller().space, request.query_id)
        self._erased()
        return recall_pb2.EraseQueryTextResponse(erased=erased)

    async def AddRecall(
        self, request: recall_pb2.AddRecallRequest, context: Context
    ) -> recall_pb2.AddRecallResponse:
        said = request.recall
        recall = Recall(said.query_id, said.principal, said.session_id, tuple(said.memory_ids))
        kept = await self._recalls.add(caller().space, recall)
        return recall_pb2.AddRecallResponse(kept=kept)


def _recall(found: Recall) -> recall_pb2.Recall:
    return recall_pb2.Recall(
        query_id=found.query_id,
        principal=found.principal,
        session_id=found.session_id,
        memory_ids=found.memory_ids,
        recall_time=stamp(found.time),
    )
