"""Reading as of another time: `--as-of` and `--as-known-at` on every command that reads."""

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from concord.graph.v1.graph_pb2 import FindPathResponse, GetNodeResponse, QueryNeighborsResponse
from concord.graph.v1.memory_pb2 import AddMemoryResponse, GetLineageResponse, GetMemoryResponse
from concord.search.v1.search_pb2 import SearchResponse
from concord_client.cli.testing import Commands

Unique = Callable[[str], str]


def just_now() -> str:
    """The present, as it is written on the command line."""
    return datetime.now(UTC).isoformat()


@pytest.fixture
def chain(concord: Commands, unique: Unique) -> tuple[str, str, str]:
    """A memory, when only that was known, and the memory that replaced it from 2021 on."""
    old, new = unique("old"), unique("new")
    concord.done("add", f"Quokkas of {old}", "--id", old, "--valid-from", "2020-01-01")
    then = just_now()
    concord.reply(
        AddMemoryResponse,
        *("add", f"Quokkas of {new}", "--id", new, "--supersedes", old),
        *("--valid-from", "2021-01-01"),
    )
    return old, new, then


def test_get_and_lineage(concord: Commands, chain: tuple[str, str, str]) -> None:
    """T3 T5 W4 Standing as it held and as it was known; a chain that had not gone on yet."""
    old, new, then = chain

    def replaced(*options: str) -> bool:
        reply = concord.reply(GetMemoryResponse, "get", old, *options)
        return reply.memory.standing.is_superseded

    assert replaced()
    assert not replaced("--as-of", "2020-06-01")
    assert not replaced("--as-known-at", then)
    assert concord("get", new, "--as-known-at", then).exit_code == 1
    known = concord.reply(GetLineageResponse, "lineage", old, "--as-known-at", then)
    assert [item.id for item in known.items] == [old]
    assert new in concord.done("lineage", old, "--as-of", "2020-06-01")


def test_search(concord: Commands, chain: tuple[str, str, str]) -> None:
    """T3 S4 W4 What held, what was known, and the reason says as of when."""
    old, new, then = chain

    def found(*options: str) -> set[str]:
        reply = concord.reply(SearchResponse, "search", f"quokkas {old} {new}", *options)
        return {result.memory.id for result in reply.results} & {old, new}

    assert found() == {new}
    assert found("--as-of", "2020-06-01") == {old}
    assert found("--as-known-at", then) == {old}
    assert found("--as-of", "2019-01-01") == set()
    assert "As of 2020-06-01" in concord.done("search", f"quokkas {old}", "--as-of", "2020-06-01")


def test_walks_nodes_and_exports(concord: Commands, unique: Unique) -> None:
    """T3 G9 G10 G15 W4 Neighbours, paths, nodes and lines as they were known."""
    a, b = unique("A"), unique("B")
    before = just_now()
    concord.done("link", a, "KNOWS", b)
    unknown = ("--as-known-at", before)

    assert concord.reply(GetNodeResponse, "get", a).node.name == a
    assert concord("get", a, *unknown).exit_code == 1
    assert len(concord.reply(QueryNeighborsResponse, "neighbors", a).neighbors) == 1
    assert concord("neighbors", a, *unknown).exit_code == 1
    assert len(concord.reply(FindPathResponse, "path", a, b).paths) == 1
    assert concord("path", a, b, *unknown).exit_code == 1
    names = [json.loads(line).get("name") for line in concord.done("export").splitlines()]
    former = [json.loads(line) for line in concord.done("export", *unknown).splitlines()]
    assert a in names
    assert a not in [line.get("name") for line in former]


def test_a_time_that_is_none_is_refused(concord: Commands) -> None:
    """W4 The option names itself what it takes."""
    result = concord("search", "x", "--as-known-at", "yesterday")

    assert result.exit_code == 2
    assert "is no ISO 8601 time" in result.stderr
