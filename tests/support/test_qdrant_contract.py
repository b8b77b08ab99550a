"""What Concord builds on in a Qdrant server, asked without Concord: of a real one, too."""

import math
import random
import threading
from collections.abc import Mapping, Sequence

import grpc
import pytest
from concord_testing.qdrant_server import LocalQdrant
from qdrant_client import grpc as wire
from qdrant_client.conversions.conversion import grpc_to_payload, payload_to_grpc

from tests.support.qdrant_caller import Caller, calling

pytestmark = pytest.mark.qdrant

COMMON, RARE = 1, 2
"""Two words."""


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


def of_tenant(name: str) -> wire.Filter:
    """The points of a tenant."""
    condition = wire.FieldCondition(key="tenant", match=wire.Match(keyword=name))
    return wire.Filter(must=[wire.Condition(field=condition)])


def by_word(server: Caller, name: str, word: int, tenant: str, *, corpus: bool) -> dict[int, float]:
    """A tenant's points with a word, and their scores by its own statistics or by all points'."""
    idf = wire.IdfParams(corpus=of_tenant(tenant)) if corpus else None
    asked = wire.QueryPoints(
        collection_name=name,
        query=wire.Query(
            nearest=wire.VectorInput(sparse=wire.SparseVector(indices=[word], values=[1.0]))
        ),
        using="w",
        filter=of_tenant(tenant),
        params=wire.SearchParams(idf=idf),
        limit=100,
    )
    request = wire.QueryBatchPoints(collection_name=name, query_points=[asked])
    (answer,) = server.points.QueryBatch(request).result
    return {each.id.num: each.score for each in answer.result}


def inverse_frequency(points: int, with_word: int) -> float:
    """The weight of a word: BM25's, never below 0."""
    return math.log((points - with_word + 0.5) / (with_word + 0.5) + 1)


def test_a_tenant_is_found_alone_by_its_own_statistics(server: Caller) -> None:
    """G13, S10 A filter parts tenants, and a corpus weighs a word by one tenant's points."""
    create(server, "tenants")
    ours = [point(number, [COMMON], tenant="ours") for number in range(4)]
    theirs = [point(number, [RARE], tenant="theirs") for number in range(10, 30)]
    update(server, "tenants", written(*ours, *theirs, point(4, [COMMON, RARE], tenant="ours")))
    told = server.collections.Get(wire.GetCollectionInfoRequest(collection_name="tenants")).result

    everywhere = by_word(server, "tenants", COMMON, "ours", corpus=False)
    alone = by_word(server, "tenants", COMMON, "ours", corpus=True)
    rare = by_word(server, "tenants", RARE, "ours", corpus=True)
    assert everywhere.keys() == alone.keys() == {0, 1, 2, 3, 4}
    assert everywhere[0] == pytest.approx(inverse_frequency(25, 5), rel=1e-4)
    assert alone[0] == pytest.approx(inverse_frequency(5, 5), rel=1e-4)
    assert rare == {4: pytest.approx(inverse_frequency(5, 1), rel=1e-4)}
    assert told.payload_schema["tenant"].params.keyword_index_params.is_tenant


def test_a_tenant_is_removed_alone(server: Caller) -> None:
    """M4, S10 Points are removed, and counted, by a filter."""
    create(server, "left")
    points = [point(number, [COMMON], tenant="ab"[number % 2]) for number in range(10)]
    update(server, "left", written(*points))
    update(server, "left", removed(wire.PointsSelector(filter=of_tenant("a"))))
    counted = [
        server.points.Count(
            wire.CountPoints(collection_name="left", filter=of_tenant(name), exact=True)
        ).result.count
        for name in ("a", "b")
    ]

    assert held(server, "left").keys() == {1, 3, 5, 7, 9}
    assert counted == [0, 5]


def test_an_alias_leads_somewhere_at_every_moment(server: Caller) -> None:
    """S10 Removed and made in one request, an alias is never seen missing."""
    for number, name in enumerate(("one", "other")):
        create(server, name)
        update(server, name, written(point(number, [COMMON], tenant="a")))
    lead(server, "one", anew=False)
    stopped, seen = threading.Event(), set[int]()

    def ask() -> None:
        while not stopped.is_set():
            seen.update(held(server, "alias"))

    reader = threading.Thread(target=ask)
    reader.start()
    for _ in range(20):
        lead(server, "other")
        lead(server, "one")
    stopped.set()
    reader.join()

    assert held(server, "alias").keys() == {0}
    assert seen == {0, 1}


def lead(server: Caller, name: str, *, anew: bool = True) -> None:
    """Makes the alias lead to a collection, in the place of another."""
    former = wire.AliasOperations(delete_alias=wire.DeleteAlias(alias_name="alias"))
    now = wire.CreateAlias(collection_name=name, alias_name="alias")
    actions = [*([former] if anew else []), wire.AliasOperations(create_alias=now)]
    server.collections.UpdateAliases(wire.ChangeAliases(actions=actions))


def test_a_removed_collection_takes_its_aliases_along(server: Caller) -> None:
    """S10 What is gone is NOT_FOUND by every name, and its name is free."""
    create(server, "gone")
    lead(server, "gone", anew=False)
    server.collections.Delete(wire.DeleteCollection(collection_name="gone"))
    for name in ("gone", "alias"):
        with pytest.raises(grpc.RpcError) as refused:
            held(server, name)
        assert refused.value.code() is grpc.StatusCode.NOT_FOUND
    create(server, "gone")

    assert held(server, "gone") == {}


def test_what_was_acknowledged_is_there_after_kills(own: LocalQdrant) -> None:
    """S10 kill -9 at any moment: no acknowledged change of points or collections is lost."""
    draw, kept = random.Random(5), dict[int, int]()
    for turn in range(6):
        with calling(own.url) as server:
            if turn == 0:
                create(server, "kept")
                create(server, "dropped")
                lead(server, "kept", anew=False)
                server.collections.Delete(wire.DeleteCollection(collection_name="dropped"))
            killer = threading.Timer(draw.uniform(0.05, 0.4), own.kill)
            killer.start()
            unsure = change_until_killed(server, draw, kept)
            killer.join()
        own.start()
        with calling(own.url) as server:
            found = {number: said["n"] for number, said in held(server, "alias").items()}
            named = server.collections.List(wire.ListCollectionsRequest()).collections
            told = server.collections.Get(wire.GetCollectionInfoRequest(collection_name="kept"))

        assert [each.name for each in named] == ["kept"]
        assert "tenant" in told.result.payload_schema
        assert {k: v for k, v in found.items() if k != unsure} == {
            k: v for k, v in kept.items() if k != unsure
        }
        kept = {number: int(str(said)) for number, said in found.items()}


def change_until_killed(server: Caller, draw: random.Random, kept: dict[int, int]) -> int:
    """Changes points until the server is gone; returns whose last change got no answer."""
    while True:
        number, value = draw.randint(0, 50), draw.randint(0, 10**6)
        known = number in kept
        if known and draw.random() < 0.3:
            change, after = removed(selected(number)), None
        elif known and draw.random() < 0.5:
            change, after = payload_set(number, n=value), value
        else:
            change, after = written(point(number, [COMMON], n=value)), value
        try:
            update(server, "alias", change)
        except grpc.RpcError:
            return number
        kept.pop(number, None)
        if after is not None:
            kept[number] = after
