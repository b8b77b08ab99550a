"""SearchService and IndexService."""

from concord.search.v1 import search_pb2, search_pb2_grpc
from concord_chassis.call.call import Context
from concord_chassis.call.identity import caller
from concord_chassis.observe import tracing

from concord_search.ports.index import Version
from concord_search.servicer import incoming, outgoing
from concord_search.usecases.find_similar import FindSimilar
from concord_search.usecases.index_status import IndexStatus
from concord_search.usecases.integrative_search import IntegrativeSearch
from concord_search.usecases.parked import ParkedChanges
from concord_search.usecases.reconcile import Reconcile
from concord_search.usecases.reindex import Reindex
from concord_search.usecases.search import Search

RETURNED = "gen_ai.memory.record.count"


class SearchServicer(search_pb2_grpc.SearchServiceServicer):
    """Finds memories in the caller's space."""

    def __init__(
        self, search: Search, integrative: IntegrativeSearch, find_similar: FindSimilar
    ) -> None:
        self._search = search
        self._integrative = integrative
        self._find_similar = find_similar

    async def Search(
        self, request: search_pb2.SearchRequest, context: Context
    ) -> search_pb2.SearchResponse:
        space = caller().space
        found = await self._search(space, incoming.query(request))
        reply = outgoing.answer(found, request, space)
        tracing.note({RETURNED: len(reply.results)})
        return reply

    async def IntegrativeSearch(
        self, request: search_pb2.IntegrativeSearchRequest, context: Context
    ) -> search_pb2.IntegrativeSearchResponse:
        space = caller().space
        query, node = incoming.integrative_query(request), incoming.text(request.context_node)
        found = await self._integrative(space, query, node, use_models=request.use_models)
        reply = outgoing.integrative(found, space)
        tracing.note({RETURNED: len(reply.results)})
        return reply

    async def FindSimilar(
        self, request: search_pb2.FindSimilarRequest, context: Context
    ) -> search_pb2.FindSimilarResponse:
        found = await self._find_similar(caller().space, incoming.similar_query(request))
        reply = outgoing.similar(found)
        tracing.note({RETURNED: len(reply.similar)})
        return reply

    async def BatchFindSimilar(
        self, request: search_pb2.BatchFindSimilarRequest, context: Context
    ) -> search_pb2.BatchFindSimilarResponse:
        space, ids, query = caller().space, list(request.memory_ids), incoming.near_query(request)
        return outgoing.similar_to_each(await self._find_similar.each(space, ids, query))


class IndexServicer(search_pb2_grpc.IndexServiceServicer):
    """Reports on the index of the caller's space, repairs and rebuilds it."""

    def __init__(
        self,
        status: IndexStatus,
        reconcile: Reconcile,
        reindex: Reindex,
        parked: ParkedChanges,
    ) -> None:
        self._status = status
        self._reconcile = reconcile
        self._reindex = reindex
        self._parked = parked

    async def GetIndexStatus(
        self, request: search_pb2.GetIndexStatusRequest, context: Context
    ) -> search_pb2.GetIndexStatusResponse:
        return outgoing.index_status(await self._status(caller().space))

    async def ReconcileIndex(
        self, request: search_pb2.ReconcileIndexRequest, context: Context
    ) -> search_pb2.ReconcileIndexResponse:
        found = await self._reconcile(caller().space, repair=request.repair)
        return outgoing.agreement(found)

    async def Reindex(
        self, request: search_pb2.ReindexRequest, context: Context
    ) -> search_pb2.ReindexResponse:
        space = caller().space
        if request.roll_back:
            state = await self._reindex.roll_back(space)
        else:
            state = await self._reindex(space, request.model_id)
        return search_pb2.ReindexResponse(version=outgoing.index_version(Version.NEXT, state))

    async def DropIndexVersion(
        self, request: search_pb2.DropIndexVersionRequest, context: Context
    ) -> search_pb2.DropIndexVersionResponse:
        role = incoming.spare_version(request)
        was_there = await self._reindex.remove(caller().space, role)
        return search_pb2.DropIndexVersionResponse(existed=was_there)

    async def ListParkedChanges(
        self, request: search_pb2.ListParkedChangesRequest, context: Context
    ) -> search_pb2.ListParkedChangesResponse:
        size = request.page_size or incoming.DEFAULT_PARKED_PAGE
        found = await self._parked.page(caller().space, incoming.first_parked(request), size)
        return outgoing.parked_page(found, request)

    async def RetryParkedChanges(
        self, request: search_pb2.RetryParkedChangesRequest, context: Context
    ) -> search_pb2.RetryParkedChangesResponse:
        applied, left = await self._parked.retry(caller().space)
        return search_pb2.RetryParkedChangesResponse(applied_changes=applied, parked_changes=left)
