"""The store for LangGraph: as LangGraph's own in-memory store, but for what is found by meaning."""

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import concord_client
import pytest

pytestmark = pytest.mark.filterwarnings("default")  # LangChain's own


@pytest.fixture(scope="module", params=["ours", "theirs"])
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """Ours over a whole Concord, and the one that shows how a store behaves."""
    memory = pytest.importorskip(
        "langgraph.store.memory", reason="no langgraph: `make test-strangers` installs it"
    )
    if request.param == "theirs":
        yield memory.InMemoryStore()
        return
    ours = import_module("concord_client.langgraph")
    with concord_client.embedded(tmp_path_factory.mktemp("store") / "data") as concord:
        yield ours.ConcordStore(concord)


def keys(items: list[Any]) -> list[str]:
    """Whose items they are."""
    return sorted(item.key for item in items)


@pytest.mark.strangers
def test_an_item_is_put_read_replaced_and_deleted(store: Any) -> None:
    """W4 And put again after that; values come back as they were."""
    place, value = ("people", "ada"), {"text": "Ada lives in Bonn.", "age": 36, "gone": None}
    assert store.get(place, "home") is None
    store.put(place, "home", value)
    item = store.get(place, "home")
    assert (item.namespace, item.key, item.value) == (place, "home", value)
    store.put(place, "home", {"text": "Ada lives in Rome."})
    assert store.get(place, "home").value == {"text": "Ada lives in Rome."}
    store.delete(place, "home")
    store.delete(place, "home")
    assert store.get(place, "home") is None
    assert store.search(place) == []
    store.put(place, "home", {"text": "Ada is back."})
    assert store.get(place, "home").value == {"text": "Ada is back."}


@pytest.mark.strangers
def test_items_are_searched_by_prefix_filter_and_page(store: Any) -> None:
    """W4 Namespaces that only begin alike are others."""
    for number in range(5):
        store.put(("search", "notes"), f"n{number}", {"number": number, "odd": bool(number % 2)})
    store.put(("search", "notes2"), "other", {"number": 9})

    assert keys(store.search(("search", "notes"))) == ["n0", "n1", "n2", "n3", "n4"]
    assert len(store.search(("search",))) == 6
    assert keys(store.search(("search", "notes"), filter={"odd": True})) == ["n1", "n3"]
    assert keys(store.search(("search",), filter={"number": {"$gte": 3}})) == ["n3", "n4", "other"]
    pages = [store.search(("search", "notes"), limit=2, offset=at) for at in (0, 2, 4)]
    assert [len(page) for page in pages] == [2, 2, 1]
    assert keys([item for page in pages for item in page]) == ["n0", "n1", "n2", "n3", "n4"]


@pytest.mark.strangers
def test_namespaces_are_listed(store: Any) -> None:
    """W4 By prefix, suffix, wildcard and depth."""
    for place in [("list", "a", "v1"), ("list", "b", "v1"), ("list", "b", "v2"), ("list2", "a")]:
        store.put(place, "k", {"x": 1})

    assert store.list_namespaces(prefix=("list",)) == [
        ("list", "a", "v1"),
        ("list", "b", "v1"),
        ("list", "b", "v2"),
    ]
    assert store.list_namespaces(prefix=("list", "*", "v2")) == [("list", "b", "v2")]
    assert store.list_namespaces(prefix=("list",), suffix=("v1",), limit=1, offset=1) == [
        ("list", "b", "v1")
    ]
    assert store.list_namespaces(prefix=("list",), max_depth=2) == [("list", "a"), ("list", "b")]


@pytest.mark.strangers
async def test_what_was_put_is_found_by_meaning_at_once(store: Any) -> None:
    """W4 Awaited, too; with its score."""
    await store.aput(("meaning",), "home", {"text": "Ada moved to the town of Bremen."})
    await store.aput(("meaning",), "tea", {"text": "Tea is served at four."})
    found = await store.asearch(("meaning",), query="Where does Ada live?", limit=2)

    assert keys(found) == ["home", "tea"]
    if type(store).__name__ == "ConcordStore":
        assert found[0].key == "home"
        assert found[0].score > found[1].score


@pytest.mark.strangers
def test_what_has_no_order_matches_no_comparison(store: Any) -> None:
    """W4 A null or a text beside a number: LangGraph's own store fails at it."""
    if type(store).__name__ != "ConcordStore":
        pytest.skip("it raises TypeError")
    place = ("orders",)
    for key, value in {"three": 3, "null": None, "text": "3", "four": 4}.items():
        store.put(place, key, {"number": value})
    store.put(place, "none", {"other": 1})
    found = {sign: keys(store.search(place, filter={"number": {sign: 3}}))
             for sign in ("$gt", "$gte", "$lt", "$lte", "$eq")}  # fmt: skip

    assert found == {
        "$gt": ["four"],
        "$gte": ["four", "three"],
        "$lt": [],
        "$lte": ["three"],
        "$eq": ["three"],
    }
    assert keys(store.search(place, filter={"number": None})) == ["none", "null"]


@pytest.mark.strangers
def test_the_example_finds_what_it_kept(store: Any) -> None:
    """W4 Of its user alone."""
    example = import_module("langgraph_store")
    example.learn(store, "ada", "home", "Ada lives in Bremen.")
    example.learn(store, "bo", "home", "Bo lives in Bonn.")
    assert example.recall(store, "ada", "Where does Ada live?") == ["Ada lives in Bremen."]


def test_without_langgraph_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """W4 The sentence says what to install."""
    monkeypatch.setitem(sys.modules, "langgraph.store.base", None)
    monkeypatch.delitem(sys.modules, "concord_client.langgraph", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'concord-client\[langgraph\]'"):
        import_module("concord_client.langgraph")
