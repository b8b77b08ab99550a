"""What asks a Qdrant server without Concord's adapter: stubs, and points of a small collection."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import grpc
from qdrant_client import grpc as wire
from qdrant_client.conversions.conversion import grpc_to_payload, payload_to_grpc


@dataclass(frozen=True)
class Caller:
    """The stubs of a server's services."""

    channel: grpc.Channel
    qdrant: Any
    collections: Any
    points: Any


@contextmanager
def calling(url: str) -> Iterator[Caller]:
    """A caller of the server at an address."""
    with closing(grpc.insecure_channel(urlsplit(url).netloc)) as channel:
        stubs: Any = wire  # its constructors have no types
        yield Caller(
            channel,
            stubs.QdrantStub(channel),
            stubs.CollectionsStub(channel),
            stubs.PointsStub(channel),
        )


def create(server: Caller, name: str) -> None:
    """Makes a collection for points with two vectors, and an index of their tenants."""
    dense = wire.VectorParams(size=2, distance=wire.Distance.Cosine)
    words = wire.SparseVectorParams(modifier=wire.Modifier.Idf)
    server.collections.Delete(wire.DeleteCollection(collection_name=name))
    server.collections.Create(
        wire.CreateCollection(
            collection_name=name,
            vectors_config=wire.VectorsConfig(params_map=wire.VectorParamsMap(map={"d": dense})),
            sparse_vectors_config=wire.SparseVectorConfig(map={"w": words}),
        )
    )
    tenants = wire.KeywordIndexParams(is_tenant=True)
    server.points.CreateFieldIndex(
        wire.CreateFieldIndexCollection(
            collection_name=name,
            wait=True,
            field_name="tenant",
            field_type=wire.FieldType.FieldTypeKeyword,
            field_index_params=wire.PayloadIndexParams(keyword_index_params=tenants),
        )
    )


def point(number: int, words: Sequence[int], **payload: object) -> wire.PointStruct:
    """A point."""
    sparse = wire.SparseVector(indices=words, values=[1.0] * len(words))
    named = {
        "d": wire.Vector(dense=wire.DenseVector(data=[1.0, number])),
        "w": wire.Vector(sparse=sparse),
    }
    return wire.PointStruct(
        id=wire.PointId(num=number),
        vectors=wire.Vectors(vectors=wire.NamedVectors(vectors=named)),
        payload=payload_to_grpc(payload),
    )


def written(*points: wire.PointStruct) -> wire.PointsUpdateOperation:
    """The operation that writes points."""
    upsert = wire.PointsUpdateOperation.PointStructList(points=points)
    return wire.PointsUpdateOperation(upsert=upsert)


def payload_set(number: int, **payload: object) -> wire.PointsUpdateOperation:
    """The operation that writes fields of a point's payload."""
    write = wire.PointsUpdateOperation.SetPayload(
        payload=payload_to_grpc(payload), points_selector=selected(number)
    )
    return wire.PointsUpdateOperation(set_payload=write)


def removed(selector: wire.PointsSelector) -> wire.PointsUpdateOperation:
    """The operation that removes points."""
    return wire.PointsUpdateOperation(
        delete_points=wire.PointsUpdateOperation.DeletePoints(points=selector)
    )


def selected(*numbers: int) -> wire.PointsSelector:
    """Points by their numbers."""
    ids = [wire.PointId(num=number) for number in numbers]
    return wire.PointsSelector(points=wire.PointsIdsList(ids=ids))


def update(server: Caller, name: str, *operations: wire.PointsUpdateOperation) -> None:
    """Makes changes, and waits for them."""
    server.points.UpdateBatch(
        wire.UpdateBatchPoints(collection_name=name, wait=True, operations=operations)
    )


def held(server: Caller, name: str) -> dict[int, Mapping[str, object]]:
    """Every point's payload."""
    reply = server.points.Scroll(
        wire.ScrollPoints(
            collection_name=name, limit=10_000, with_payload=wire.WithPayloadSelector(enable=True)
        )
    )
    return {each.id.num: grpc_to_payload(each.payload) for each in reply.result}


def lead(server: Caller, name: str, *, anew: bool = True) -> None:
    """Makes the alias lead to a collection, in the place of another."""
    former = wire.AliasOperations(delete_alias=wire.DeleteAlias(alias_name="alias"))
    now = wire.CreateAlias(collection_name=name, alias_name="alias")
    actions = [*([former] if anew else []), wire.AliasOperations(create_alias=now)]
    server.collections.UpdateAliases(wire.ChangeAliases(actions=actions))
