"""The calls: what of the three services is overridden here is there, and nothing else."""

from typing import Any

import qdrant_edge as engine
from qdrant_client import grpc as wire

from tests.support.qdrant_stand_in import layout, messages
from tests.support.qdrant_stand_in.messages import OF_A_CLUSTER
from tests.support.qdrant_stand_in.refusal import only, unimplemented
from tests.support.qdrant_stand_in.storage import Storage

VERSION = "1.19.0"
"""Of the server whose engine `EDGE` is."""
EDGE = "0.9"
"""The minor version of qdrant-edge-py."""


class Qdrant(wire.QdrantServicer):
    """Health."""

    def HealthCheck(self, request: Any, context: Any) -> Any:
        return wire.HealthCheckReply(title="qdrant: Concord's stand-in", version=VERSION)


class Collections(wire.CollectionsServicer):
    """Collections and aliases."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def List(self, request: Any, context: Any) -> Any:
        names = [wire.CollectionDescription(name=name) for name in self._storage.names]
        return wire.ListCollectionsResponse(collections=names)

    def Get(self, request: Any, context: Any) -> Any:
        found = self._storage[request.collection_name]
        return wire.GetCollectionInfoResponse(result=layout.info(found.made, found.shard.info()))

    def Create(self, request: Any, context: Any) -> Any:
        self._storage.create(request)
        return wire.CollectionOperationResponse(result=True)

    def Delete(self, request: Any, context: Any) -> Any:
        only(request, "collection_name", *OF_A_CLUSTER)
        done = self._storage.delete(request.collection_name)
        return wire.CollectionOperationResponse(result=done)

    def ListAliases(self, request: Any, context: Any) -> Any:
        aliases = [
            wire.AliasDescription(alias_name=alias, collection_name=name)
            for alias, name in self._storage.aliases.items()
        ]
        return wire.ListAliasesResponse(aliases=aliases)

    def UpdateAliases(self, request: Any, context: Any) -> Any:
        only(request, "actions", *OF_A_CLUSTER)
        for action in request.actions:
            only(action, "create_alias", "delete_alias")
        self._storage.change_aliases(request.actions)
        return wire.CollectionOperationResponse(result=True)


class Points(wire.PointsServicer):
    """Points of a collection, which its name or an alias names."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def _shard(self, request: Any) -> engine.EdgeShard:
        return self._storage[request.collection_name].shard

    def CreateFieldIndex(self, request: Any, context: Any) -> Any:
        self._shard(request).update(layout.field_index(request))
        return wire.PointsOperationResponse(result=_done())

    def UpdateBatch(self, request: Any, context: Any) -> Any:
        only(request, "collection_name", "operations", *OF_A_CLUSTER)
        shard, results = self._shard(request), []
        for update in messages.updates(request.operations):
            shard.update(update)
            results.append(_done())
        return wire.UpdateBatchResponse(result=results)

    def Get(self, request: Any, context: Any) -> Any:
        only(request, "collection_name", "ids", "with_payload", "with_vectors", *OF_A_CLUSTER)
        found = self._shard(request).retrieve(
            [messages.point_id(each) for each in request.ids],
            with_payload=messages.enabled(request.with_payload),
            with_vector=messages.enabled(request.with_vectors),
        )
        return wire.GetResponse(result=[messages.retrieved(each) for each in found])

    def Count(self, request: Any, context: Any) -> Any:
        only(request, "collection_name", "filter", "exact", *OF_A_CLUSTER)
        if not request.exact:
            raise unimplemented("count that is not exact")
        wanted = messages.filter_of(request.filter)
        count = self._shard(request).count(engine.CountRequest(exact=True, filter=wanted))
        return wire.CountResponse(result=wire.CountResult(count=count))

    def Scroll(self, request: Any, context: Any) -> Any:
        only(
            request,
            *("collection_name", "filter", "offset", "limit", "with_payload", "with_vectors"),
            *OF_A_CLUSTER,
        )
        records, following = self._shard(request).scroll(
            engine.ScrollRequest(
                offset=messages.point_id(request.offset) if request.HasField("offset") else None,
                limit=request.limit if request.HasField("limit") else 10,
                filter=messages.filter_of(request.filter) if request.HasField("filter") else None,
                with_payload=messages.enabled(request.with_payload),
                with_vector=messages.enabled(request.with_vectors),
            )
        )
        return wire.ScrollResponse(
            result=[messages.retrieved(each) for each in records],
            next_page_offset=None if following is None else messages.id_message(following),
        )

    def Query(self, request: Any, context: Any) -> Any:
        found = self._shard(request).query(messages.query(request))
        return wire.QueryResponse(result=[messages.scored(each) for each in found])

    def QueryBatch(self, request: Any, context: Any) -> Any:
        only(request, "collection_name", "query_points", *OF_A_CLUSTER)
        asked = [messages.query(each) for each in request.query_points]
        found = self._shard(request).query_batch(engine.QueryBatchRequest(asked))
        answers = [
            wire.BatchResult(result=[messages.scored(each) for each in answer]) for answer in found
        ]
        return wire.QueryBatchResponse(result=answers)


def _done() -> wire.UpdateResult:
    return wire.UpdateResult(status=wire.UpdateStatus.Completed)


def implemented() -> set[str]:
    """The calls that are there, as SERVICE.METHOD."""
    return {
        f"{made.__name__}.{method}"
        for made in (Qdrant, Collections, Points)
        for method in vars(made)
        if method.isalpha() and method in vars(made.__base__)
    }
