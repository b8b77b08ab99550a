"""Points, filters and queries in the messages of Qdrant's gRPC contract."""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from qdrant_client import grpc as wire
from qdrant_client.conversions.conversion import payload_to_grpc

from concord_search.adapters.qdrant import formula
from concord_search.adapters.qdrant.filters import (
    Condition,
    Filter,
    HasId,
    MatchAny,
    MatchWord,
    PointId,
    Range,
)
from concord_search.adapters.qdrant.formula import Term
from concord_search.adapters.qdrant.payload import Payload
from concord_search.adapters.qdrant.shard import (
    DENSE,
    WORDS,
    Nearest,
    Scored,
    Vectors,
    Weighing,
)


def point_ids(points: Iterable[PointId]) -> list[wire.PointId]:
    """Points' ids as messages."""
    return [wire.PointId(num=point) for point in points]


def selector(points: Sequence[PointId]) -> wire.PointsSelector:
    """These points."""
    return wire.PointsSelector(points=wire.PointsIdsList(ids=point_ids(points)))


def written(point: PointId, vectors: Vectors, values: Payload) -> wire.PointStruct:
    """A whole point."""
    named = {}
    if DENSE in vectors:
        named[DENSE] = wire.Vector(dense=wire.DenseVector(data=vectors[DENSE]))
    if WORDS in vectors:
        named[WORDS] = wire.Vector(sparse=_sparse(vectors[WORDS]))
    return wire.PointStruct(
        id=wire.PointId(num=point),
        vectors=wire.Vectors(vectors=wire.NamedVectors(vectors=named)),
        payload=payload_to_grpc(values),
    )


def _sparse(words: Any) -> wire.SparseVector:
    return wire.SparseVector(indices=words.indices, values=words.values)


def read(found: wire.RetrievedPoint) -> tuple[PointId, Vectors, Payload]:
    """A point, as `written` takes it."""
    named = found.vectors.vectors.vectors
    vectors: dict[str, Any] = {}
    if DENSE in named:
        vectors[DENSE] = list(named[DENSE].dense.data)
    if WORDS in named:
        vectors[WORDS] = named[WORDS].sparse
    return found.id.num, vectors, {name: _plain(value) for name, value in found.payload.items()}


def _plain(value: wire.Value) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "list_value":
        return [_plain(each) for each in value.list_value.values]
    return getattr(value, str(kind))


def _params(wanted: Nearest) -> wire.SearchParams:
    """Scores are raw cosines even if vectors are quantised."""
    exact = wire.QuantizationSearchParams(rescore=True)
    if wanted.corpus is None:
        return wire.SearchParams(quantization=exact)
    corpus = wire.IdfParams(corpus=filter_of(wanted.corpus))
    return wire.SearchParams(quantization=exact, idf=corpus)


def query(collection: str, wanted: Nearest) -> wire.QueryPoints:
    """A query of one branch."""
    vector = (
        wire.VectorInput(dense=wire.DenseVector(data=wanted.vector))
        if wanted.using == DENSE
        else wire.VectorInput(sparse=_sparse(wanted.vector))
    )
    return wire.QueryPoints(
        collection_name=collection,
        query=wire.Query(nearest=vector),
        using=wanted.using,
        filter=filter_of(wanted.filter),
        limit=wanted.limit,
        score_threshold=wanted.least,
        params=_params(wanted),
        with_payload=wire.WithPayloadSelector(enable=False),
    )


def weighing(collection: str, wanted: Weighing) -> wire.QueryPoints:
    """A query that is ranked by a formula."""
    absent: dict[str, float] = {}
    expression = _expression(wanted.formula, absent)
    branches = [query(collection, each) for each in wanted.branches]
    return wire.QueryPoints(
        collection_name=collection,
        prefetch=[
            wire.PrefetchQuery(
                query=each.query,
                using=each.using,
                filter=each.filter,
                params=each.params,
                limit=each.limit,
            )
            for each in branches
        ],
        query=wire.Query(
            formula=wire.Formula(expression=expression, defaults=payload_to_grpc(absent))
        ),
        limit=wanted.limit,
        with_payload=wire.WithPayloadSelector(enable=False),
    )


def _expression(term: Term, absent: dict[str, float]) -> wire.Expression:
    """A formula; adds to `absent` each branch's score of points that it missed."""
    made = wire.Expression

    def of(inner: Term) -> wire.Expression:
        return _expression(inner, absent)

    match term:
        case formula.Score(branch, default):
            absent[f"$score[{branch}]"] = default
            return made(variable=f"$score[{branch}]")
        case formula.Field(name):
            return made(variable=name)
        case formula.Is(condition):
            return made(condition=_condition(condition))
        case formula.Sum(terms):
            return made(sum=wire.SumExpression(sum=map(of, terms)))
        case formula.Product(terms):
            return made(mult=wire.MultExpression(mult=map(of, terms)))
        case formula.Largest(terms):
            return reduce(_larger, map(of, terms))
        case formula.Quotient(over, under):
            return made(div=wire.DivExpression(left=of(over), right=of(under)))
        case formula.Exp(inner):
            return made(exp=of(inner))
        case formula.Ln(inner):
            return made(ln=of(inner))
        case float():
            return _constant(term)


def _larger(one: wire.Expression, other: wire.Expression) -> wire.Expression:
    """The larger of two, as half of their sum plus distance: the server has no maximum."""
    negative = wire.Expression(neg=other)
    distance = wire.Expression(abs=wire.Expression(sum=wire.SumExpression(sum=[one, negative])))
    twice = wire.Expression(sum=wire.SumExpression(sum=[one, other, distance]))
    return wire.Expression(mult=wire.MultExpression(mult=[twice, _constant(0.5)]))


def _constant(number: float) -> wire.Expression:
    """A number as the sum of two: constants on the wire have single precision, too little for an
    instant in microseconds."""
    near = float(np.float32(number))
    parts = [wire.Expression(constant=part) for part in (near, number - near)]
    return wire.Expression(sum=wire.SumExpression(sum=parts))


def scored(found: Sequence[wire.ScoredPoint]) -> Scored:
    """The points and scores that a query found."""
    scores = np.array([each.score for each in found], dtype=np.float64)
    return Scored(np.array([each.id.num for each in found], dtype=np.int64), scores)


def filter_of(wanted: Filter) -> wire.Filter:
    """A filter."""
    return wire.Filter(
        must=[_condition(each) for each in wanted.must],
        must_not=[_condition(each) for each in wanted.must_not],
        should=[_condition(each) for each in wanted.should],
    )


def _condition(wanted: Condition) -> wire.Condition:
    match wanted:
        case MatchAny(field, numbers):
            match_any = wire.Match(integers=wire.RepeatedIntegers(integers=numbers))
            return wire.Condition(field=wire.FieldCondition(key=field, match=match_any))
        case MatchWord(field, word):
            match = wire.Match(keyword=word)
            return wire.Condition(field=wire.FieldCondition(key=field, match=match))
        case Range(field, gt, gte, lt, lte):
            within = wire.Range(gt=gt, gte=gte, lt=lt, lte=lte)
            return wire.Condition(field=wire.FieldCondition(key=field, range=within))
        case HasId(points):
            return wire.Condition(has_id=wire.HasIdCondition(has_id=point_ids(points)))
        case Filter():
            return wire.Condition(filter=filter_of(wanted))
