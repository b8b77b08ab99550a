"""Qdrant's messages in the engine's types, and back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import qdrant_edge as engine
from qdrant_client import grpc as wire
from qdrant_client.conversions.conversion import grpc_to_payload, payload_to_grpc

from tests.support.qdrant_stand_in.refusal import only, unimplemented

Id = int | UUID
OF_A_CLUSTER = ("read_consistency", "ordering", "timeout", "wait")
"""Fields that are taken without effect: there is one replica, and each write is waited for."""


def point_id(message: wire.PointId) -> Id:
    """A point's id."""
    return message.num if message.WhichOneof("point_id_options") == "num" else UUID(message.uuid)


def id_message(point: Any) -> wire.PointId:
    """The message of a point's id."""
    return wire.PointId(num=point) if isinstance(point, int) else wire.PointId(uuid=str(point))


def updates(operations: Iterable[wire.PointsUpdateOperation]) -> list[engine.UpdateOperation]:
    """The updates of a batch, in their order."""
    return [_update(each) for each in operations]


def _update(operation: wire.PointsUpdateOperation) -> engine.UpdateOperation:
    made = engine.UpdateOperation
    match operation.WhichOneof("operation"):
        case "upsert":
            only(operation.upsert, "points")
            return made.upsert_points([_point(each) for each in operation.upsert.points])
        case "delete_points":
            only(operation.delete_points, "points")
            chosen = operation.delete_points.points
            if chosen.HasField("filter"):
                return made.delete_points_by_filter(filter_of(chosen.filter))
            return made.delete_points(_chosen(chosen))
        case "set_payload":
            only(operation.set_payload, "payload", "points_selector")
            fields = grpc_to_payload(operation.set_payload.payload)
            return made.set_payload(_chosen(operation.set_payload.points_selector), fields)
        case other:
            raise unimplemented(f"PointsUpdateOperation.{other}")


def _chosen(selector: wire.PointsSelector) -> list[Any]:
    only(selector, "points")
    return [point_id(each) for each in selector.points.ids]


def _point(message: wire.PointStruct) -> engine.Point:
    vectors = message.vectors
    if message.HasField("vectors"):
        only(vectors, "vectors")
    named = {name: _vector(each) for name, each in vectors.vectors.vectors.items()}
    return engine.Point(point_id(message.id), named, grpc_to_payload(message.payload))


def _vector(message: wire.Vector | wire.VectorInput) -> Any:
    only(message, "dense", "sparse")
    if message.HasField("dense"):
        return list(message.dense.data)
    return engine.SparseVector(list(message.sparse.indices), list(message.sparse.values))


def query(message: wire.QueryPoints) -> engine.QueryRequest:
    """A query."""
    only(
        message,
        *("collection_name", "prefetch", "query", "using", "filter", "params", "score_threshold"),
        *("limit", "offset", "with_vectors", "with_payload", *OF_A_CLUSTER),
    )
    return engine.QueryRequest(
        limit=message.limit if message.HasField("limit") else 10,
        offset=message.offset,
        query=_scoring(message),
        prefetches=[_prefetch(each) for each in message.prefetch],
        with_vector=enabled(message.with_vectors),
        with_payload=enabled(message.with_payload),
        filter=_filter_in(message),
        score_threshold=message.score_threshold if message.HasField("score_threshold") else None,
        params=_params(message),
    )


def enabled(message: wire.WithPayloadSelector | wire.WithVectorsSelector) -> bool:
    """Whether payloads or vectors are wanted."""
    only(message, "enable")
    return message.enable


def _prefetch(message: wire.PrefetchQuery) -> engine.Prefetch:
    only(message, "query", "using", "filter", "params", "limit")
    return engine.Prefetch(
        limit=message.limit if message.HasField("limit") else 10,
        query=_scoring(message),
        filter=_filter_in(message),
        params=_params(message),
    )


def _filter_in(message: wire.QueryPoints | wire.PrefetchQuery) -> engine.Filter | None:
    return filter_of(message.filter) if message.HasField("filter") else None


def _scoring(message: wire.QueryPoints | wire.PrefetchQuery) -> Any:
    asked = message.query
    match asked.WhichOneof("variant"):
        case "nearest":
            using = message.using if message.HasField("using") else None
            return engine.Query.Nearest(_vector(asked.nearest), using=using)
        case "fusion" if asked.fusion == wire.Fusion.DBSF:
            return engine.Fusion.Dbsf()
        case "formula":
            defaults = grpc_to_payload(asked.formula.defaults)
            return engine.Formula(_expression(asked.formula.expression), defaults)
        case other:
            raise unimplemented(f"such a Query ({other})")


def _params(message: wire.QueryPoints | wire.PrefetchQuery) -> engine.SearchParams | None:
    if not message.HasField("params"):
        return None
    asked = message.params
    only(asked, "exact", "quantization", "idf")
    corpus = filter_of(asked.idf.corpus) if asked.idf.HasField("corpus") else None
    only(asked.quantization, "rescore")
    return engine.SearchParams(
        exact=asked.exact,
        quantization=engine.QuantizationSearchParams(rescore=asked.quantization.rescore)
        if asked.HasField("quantization")
        else None,
        idf=engine.IdfParams(corpus=corpus) if asked.HasField("idf") else None,
    )


def _expression(message: wire.Expression) -> Any:
    made, kind = engine.Expression, message.WhichOneof("variant")

    def of(inner: wire.Expression) -> Any:
        return _expression(inner)

    match kind:
        case "constant":
            return made.Constant(message.constant)
        case "variable":
            return made.Variable(message.variable)
        case "condition":
            return made.Condition(_condition(message.condition))
        case "sum":
            return made.Sum([of(each) for each in message.sum.sum])
        case "mult":
            return made.Mult([of(each) for each in message.mult.mult])
        case "div":
            only(message.div, "left", "right")
            return made.Div(of(message.div.left), of(message.div.right), None)
        case "neg" | "abs" | "exp" | "ln":
            return getattr(made, kind.capitalize())(of(getattr(message, kind)))
        case other:
            raise unimplemented(f"Expression.{other}")


def filter_of(message: wire.Filter) -> engine.Filter:
    """A filter."""
    only(message, "must", "must_not", "should")
    return engine.Filter(
        must=_conditions(message.must),
        must_not=_conditions(message.must_not),
        should=_conditions(message.should),
    )


def _conditions(messages: Sequence[wire.Condition]) -> list[Any] | None:
    return [_condition(each) for each in messages] or None


def _condition(message: wire.Condition) -> Any:
    match message.WhichOneof("condition_one_of"):
        case "field":
            return _field_condition(message.field)
        case "has_id":
            return engine.HasIdCondition({point_id(each) for each in message.has_id.has_id})
        case "filter":
            return filter_of(message.filter)
        case other:
            raise unimplemented(f"Condition.{other}")


def _field_condition(message: wire.FieldCondition) -> engine.FieldCondition:
    only(message, "key", "match", "range")
    bounds = {field.name: bound for field, bound in message.range.ListFields()}
    return engine.FieldCondition(
        message.key,
        match=_match(message.match) if message.HasField("match") else None,
        range=engine.RangeFloat(**bounds) if message.HasField("range") else None,
    )


def _match(message: wire.Match) -> Any:
    match message.WhichOneof("match_value"):
        case "keyword":
            return engine.MatchValue(message.keyword)
        case "integers":
            return engine.MatchAny(list(message.integers.integers))
        case other:
            raise unimplemented(f"Match.{other}")


def retrieved(record: engine.Record) -> wire.RetrievedPoint:
    """A point that was read."""
    return wire.RetrievedPoint(
        id=id_message(record.id),
        payload=payload_to_grpc(record.payload or {}),
        vectors=_vectors_output(record.vector),
    )


def scored(hit: engine.ScoredPoint) -> wire.ScoredPoint:
    """A point that a query found."""
    return wire.ScoredPoint(
        id=id_message(hit.id),
        score=hit.score,
        version=hit.version,
        payload=payload_to_grpc(hit.payload or {}),
        vectors=_vectors_output(hit.vector),
    )


def _vectors_output(vectors: Any) -> wire.VectorsOutput | None:
    if vectors is None:
        return None
    assert isinstance(vectors, Mapping)
    named = {name: _vector_output(each) for name, each in vectors.items()}
    return wire.VectorsOutput(vectors=wire.NamedVectorsOutput(vectors=named))


def _vector_output(vector: Any) -> wire.VectorOutput:
    if isinstance(vector, engine.SparseVector):
        sparse = wire.SparseVector(indices=vector.indices, values=vector.values)
        return wire.VectorOutput(sparse=sparse)
    return wire.VectorOutput(dense=wire.DenseVector(data=vector))
