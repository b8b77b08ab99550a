"""What Concord builds on in a Qdrant server, asked without Concord: of a real one, too."""

import math
import threading

import grpc
import pytest
from qdrant_client import grpc as wire

from tests.support.qdrant_caller import Caller, create, held, lead, point, removed, update, written

pytestmark = pytest.mark.qdrant

COMMON, RARE = 1, 2
"""Two words."""


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
    assert 0 < len(seen) <= 2


def test_a_removed_collection_takes_its_aliases_along(server: Caller) -> None:
    """S10 What is gone is NOT_FOUND by every name, and its name is free."""
    create(server, "gone")
    lead(server, "gone", anew=False)
    server.collections.Delete(wire.DeleteCollection(collection_name="gone"))
    for name in ("gone", "alias"):
        with pytest.raises(grpc.RpcError) as refused:
            held(server, name)
        assert refused.value.code() is grpc.StatusCode.NOT_FOUND
    aliases = server.collections.ListAliases(wire.ListAliasesRequest()).aliases
    create(server, "gone")

    assert "alias" not in {each.alias_name for each in aliases}
    assert held(server, "gone") == {}
