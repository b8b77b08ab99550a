"""One shard: a collection of the server, by its own name until an alias leads to it."""

from collections.abc import Collection, Iterator, Sequence

from qdrant_client import grpc as wire
from qdrant_client.conversions.conversion import payload_to_grpc

from concord_search.adapters.qdrant.filters import Filter, PointId
from concord_search.adapters.qdrant.payload import Payload
from concord_search.adapters.qdrant.shard import (
    SCROLL_PAGE,
    Nearest,
    Points,
    Scored,
    Shard,
    Weighing,
)
from concord_search.adapters.qdrant_server import messages
from concord_search.adapters.qdrant_server.connection import Connection


class ServerShard(Shard):
    """A collection. Its errors are `Connection`'s.

    Payload fields are sent with the next points, in one request; each batch ends with a point, the
    watermark. It is read by its alias, which may come to lead to a later collection, and written by
    its own name: once it was made anew, a late write finds nothing.
    """

    points_a_write = 256
    points_a_copy = 200

    def __init__(self, connection: Connection, collection: str, *, replicated: bool) -> None:
        super().__init__(collection)
        self.collection = collection
        self._connection = connection
        self._pending: list[wire.PointsUpdateOperation] = []
        # A write that one replica acknowledged must be visible when another one answers.
        majority = wire.ReadConsistency(type=wire.ReadConsistencyType.Majority)
        self._consistency = majority if replicated else None

    def _upsert(self, points: Points) -> None:
        sent = [messages.written(*each) for each in points]
        upsert = wire.PointsUpdateOperation.PointStructList(points=sent)
        self._update(wire.PointsUpdateOperation(upsert=upsert))

    def _set_payload(self, point: PointId, values: Payload) -> None:
        fields = payload_to_grpc(values)
        chosen = messages.selector([point])
        write = wire.PointsUpdateOperation.SetPayload(payload=fields, points_selector=chosen)
        self._pending.append(wire.PointsUpdateOperation(set_payload=write))

    def _delete(self, points: Sequence[PointId]) -> None:
        deletion = wire.PointsUpdateOperation.DeletePoints(points=messages.selector(points))
        self._update(wire.PointsUpdateOperation(delete_points=deletion))

    def _delete_all(self, wanted: Filter) -> None:
        chosen = wire.PointsSelector(filter=messages.filter_of(wanted))
        deletion = wire.PointsUpdateOperation.DeletePoints(points=chosen)
        self._update(wire.PointsUpdateOperation(delete_points=deletion))

    def _update(self, *operations: wire.PointsUpdateOperation) -> None:
        request = wire.UpdateBatchPoints(
            collection_name=self.collection, wait=True, operations=[*self._pending, *operations]
        )
        self._connection.write(self._connection.points.UpdateBatch, request)
        self._pending = []

    def query(self, queries: Sequence[Nearest]) -> list[Scored]:
        return self._answers([messages.query(self.name, each) for each in queries])

    def weigh(self, query: Weighing) -> Scored:
        return self._answers([messages.weighing(self.name, query)])[0]

    def _answers(self, queries: Sequence[wire.QueryPoints]) -> list[Scored]:
        request = wire.QueryBatchPoints(
            collection_name=self.name, query_points=queries, read_consistency=self._consistency
        )
        answers = self._connection.reply(self._connection.points.QueryBatch, request).result
        return [messages.scored(each.result) for each in answers]

    def _points(self, wanted: Collection[PointId], *, with_payload: bool) -> Points:
        request = wire.GetPoints(
            collection_name=self.name,
            ids=messages.point_ids(wanted),
            with_payload=wire.WithPayloadSelector(enable=with_payload),
            with_vectors=wire.WithVectorsSelector(enable=True),
            read_consistency=self._consistency,
        )
        found = self._connection.reply(self._connection.points.Get, request).result
        return [messages.read(each) for each in found]

    def count(self, wanted: Filter) -> int:
        request = wire.CountPoints(
            collection_name=self.name, filter=messages.filter_of(wanted), exact=True
        )
        return int(self._connection.reply(self._connection.points.Count, request).result.count)

    def payloads_from(self, point: PointId) -> Iterator[tuple[PointId, Payload]]:
        """Every point from an id on, ascending, with its payload."""
        for page in self._pages(SCROLL_PAGE, None, with_vectors=False, start=point):
            for found, _, values in page:
                yield found, values

    def _pages(
        self, size: int, wanted: Filter | None, *, with_vectors: bool, start: PointId = 0
    ) -> Iterator[Points]:
        request = wire.ScrollPoints(
            collection_name=self.name,
            filter=messages.filter_of(wanted) if wanted else None,
            limit=size,
            offset=wire.PointId(num=start),
            with_payload=wire.WithPayloadSelector(enable=True),
            with_vectors=wire.WithVectorsSelector(enable=with_vectors),
            read_consistency=self._consistency,
        )
        while True:
            reply = self._connection.reply(self._connection.points.Scroll, request)
            yield [messages.read(each) for each in reply.result]
            if not reply.HasField("next_page_offset"):
                return
            request.offset.CopyFrom(reply.next_page_offset)

    def flush(self) -> None:
        """Sends pending writes; the server keeps its own log."""
        if self._pending:
            self._update()

    def close(self) -> None:
        """Sends pending writes. The connection stays open."""
        self.flush()
