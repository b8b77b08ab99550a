"""One shard: a collection of the server, named by itself until the part's alias leads to it."""

from collections.abc import Collection, Iterator, Sequence

from qdrant_client import grpc as wire
from qdrant_client.conversions.conversion import payload_to_grpc

from concord_search.adapters.qdrant.filters import PointId
from concord_search.adapters.qdrant.payload import Payload
from concord_search.adapters.qdrant.shard import Nearest, Points, Scored, Vectors, Weighing
from concord_search.adapters.qdrant_server import messages
from concord_search.adapters.qdrant_server.connection import Connection

SCROLL_PAGE = 1_000
COPIED_PAGE = 200
POINTS_A_WRITE = 256


class ServerShard:
    """A collection. Its errors are `Connection.reply`'s.

    Payload fields are sent with the next points, in one request; each batch ends with a point, the
    watermark.
    """

    def __init__(self, connection: Connection, collection: str, *, replicated: bool) -> None:
        self.collection = collection
        self.name = collection
        self.noted: set[PointId] | None = None
        self._connection = connection
        self._pending: list[wire.PointsUpdateOperation] = []
        # A write that one replica acknowledged must be visible when another one answers.
        majority = wire.ReadConsistency(type=wire.ReadConsistencyType.Majority)
        self._consistency = majority if replicated else None

    def upsert(self, points: Points) -> None:
        self._note([point for point, _, _ in points])
        sent = [messages.written(*each) for each in points]
        for start in range(0, len(sent), POINTS_A_WRITE):
            part = sent[start : start + POINTS_A_WRITE]
            upsert = wire.PointsUpdateOperation.PointStructList(points=part)
            self._update(wire.PointsUpdateOperation(upsert=upsert))

    def set_payload(self, point: PointId, values: Payload) -> None:
        self._note([point])
        fields = payload_to_grpc(values)
        chosen = messages.selector([point])
        write = wire.PointsUpdateOperation.SetPayload(payload=fields, points_selector=chosen)
        self._pending.append(wire.PointsUpdateOperation(set_payload=write))

    def delete(self, points: Sequence[PointId]) -> None:
        if points:
            self._note(points)
            deletion = wire.PointsUpdateOperation.DeletePoints(points=messages.selector(points))
            self._update(wire.PointsUpdateOperation(delete_points=deletion))

    def _note(self, points: Sequence[PointId]) -> None:
        if self.noted is not None:
            self.noted.update(points)

    def _update(self, *operations: wire.PointsUpdateOperation) -> None:
        request = wire.UpdateBatchPoints(
            collection_name=self.name, wait=True, operations=[*self._pending, *operations]
        )
        self._connection.reply(self._connection.points.UpdateBatch, request)
        self._pending = []

    def query(self, queries: Sequence[Nearest]) -> list[Scored]:
        request = wire.QueryBatchPoints(
            collection_name=self.name,
            query_points=[messages.query(self.name, each) for each in queries],
            read_consistency=self._consistency,
        )
        return self._scored(request)

    def _scored(self, request: wire.QueryBatchPoints) -> list[Scored]:
        answers = self._connection.reply(self._connection.points.QueryBatch, request).result
        return [messages.scored(each.result) for each in answers]

    def weigh(self, query: Weighing) -> Scored:
        request = wire.QueryBatchPoints(
            collection_name=self.name,
            query_points=[messages.weighing(self.name, query)],
            read_consistency=self._consistency,
        )
        return self._scored(request)[0]

    def vectors_of(self, points: Sequence[int]) -> dict[int, Vectors]:
        return {each.id.num: messages.vectors_of(each) for each in self._found(points)}

    def payload_of(self, point: PointId) -> Payload:
        found = self._found([point])
        return messages.payload_of(found[0].payload) if found else {}

    def points(self, wanted: Collection[PointId]) -> Points:
        return [_whole(each) for each in self._found(wanted)]

    def _found(self, points: Collection[PointId]) -> Sequence[wire.RetrievedPoint]:
        if not points:
            return ()
        request = wire.GetPoints(
            collection_name=self.name,
            ids=[messages.point_id(each) for each in points],
            with_payload=wire.WithPayloadSelector(enable=True),
            with_vectors=wire.WithVectorsSelector(enable=True),
            read_consistency=self._consistency,
        )
        found: Sequence[wire.RetrievedPoint] = self._connection.reply(
            self._connection.points.Get, request
        ).result
        return found

    def count(self) -> int:
        request = wire.CountPoints(collection_name=self.name, exact=True)
        return int(self._connection.reply(self._connection.points.Count, request).result.count)

    def scroll(self) -> Iterator[tuple[PointId, Payload]]:
        for page in self._pages(SCROLL_PAGE, with_vectors=False):
            for each in page:
                yield messages.point_of(each.id), messages.payload_of(each.payload)

    def whole(self) -> Iterator[Points]:
        for page in self._pages(COPIED_PAGE, with_vectors=True):
            yield [_whole(each) for each in page]

    def _pages(self, size: int, *, with_vectors: bool) -> Iterator[Sequence[wire.RetrievedPoint]]:
        request = wire.ScrollPoints(
            collection_name=self.name,
            limit=size,
            with_payload=wire.WithPayloadSelector(enable=True),
            with_vectors=wire.WithVectorsSelector(enable=with_vectors),
            read_consistency=self._consistency,
        )
        while True:
            reply = self._connection.reply(self._connection.points.Scroll, request)
            yield reply.result
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


def _whole(found: wire.RetrievedPoint) -> tuple[PointId, Vectors, Payload]:
    return (
        messages.point_of(found.id),
        messages.vectors_of(found),
        messages.payload_of(found.payload),
    )
