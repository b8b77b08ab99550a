"""`concord list`, `update`, `forget`, `restore` and `delete` against a running system."""

import pytest
from concord.graph.v1.graph_pb2 import (
    DeleteEdgeResponse,
    DeleteNodeResponse,
    GetEdgeResponse,
    GetNodeResponse,
    ListEdgesResponse,
    ListNodesResponse,
    UpsertEdgeResponse,
)
from concord.graph.v1.lineage_pb2 import GetLineageResponse
from concord.graph.v1.memory_pb2 import (
    ForgetMemoryResponse,
    GetMemoryHistoryResponse,
    GetMemoryResponse,
    ListMemoriesResponse,
    RestoreMemoryResponse,
    UpdateMemoryResponse,
)
from concord.search.v1.search_pb2 import SearchResponse
from concord.type.v1 import type_pb2
from concord_testing.command_line import CommandLine, Unique


def linked(concord: CommandLine, *arguments: str) -> type_pb2.Edge:
    """The edge that `concord link` makes."""
    return concord.reply(UpsertEdgeResponse, "link", *arguments).edge


def test_forget_and_restore(concord: CommandLine, unique: Unique) -> None:
    """M4 W4 A forgotten memory is left out of search at once, and comes back whole."""
    own = unique("tea")
    concord.done("add", f"Tea of {own} is at four.", "--id", own)

    def found() -> bool:
        reply = concord.reply(SearchResponse, "search", f"tea of {own}")
        return own in {result.memory.id for result in reply.results}

    assert found()
    assert concord.done("forget", f"memory:{own}").startswith(f"Forgot {own}\n")
    assert not found()
    again = concord("forget", own)
    assert (again.exit_code, "ERROR_REASON_ITEM_STATE" in again.stderr) == (1, True)
    assert concord.done("restore", own) == f"Restored {own}\n"
    assert found()
    assert concord.reply(ForgetMemoryResponse, "forget", own).memory.HasField("forget_time")
    assert concord.reply(RestoreMemoryResponse, "restore", own).memory.id == own


def test_update_changes_what_its_options_name(concord: CommandLine, unique: Unique) -> None:
    """M4 W4 The rest stays, the former words are in the history, search finds the new ones."""
    own, other = unique("desk"), unique("other")
    concord.done("add", f"{own} is red.", "--id", own, "--tag", "a", "--domain", "home")
    concord.done("add", f"{other} is here.", "--id", other)

    result = concord.done("update", own, "--content", f"{own} is blue.", "--kind", "plan")
    reply = concord.reply(
        UpdateMemoryResponse,
        *("update", own, "--tag", "b", "--tag", "c", "--clear", "domain", "--importance", "low"),
        *("--valid-from", "2020-01-01", "--valid-until", "2090-01-01", "--source", "Ada"),
        *("--external-id", f"x:{own}", "--category", "k", "--concept", "colour"),
        *("--fact", f"{own}|HAS|blue", "--supersedes", other),
        *("--surfaces-when", f"{own} desk", "--surfaces-when", "file:*.desk"),
    )

    assert result == f"Updated {own}\n"
    memory = reply.memory
    assert memory.content == f"{own} is blue.\n\nSupersedes: [[memory:{other}]]"
    assert (memory.kind, memory.domain) == (type_pb2.MEMORY_KIND_PLAN, "")
    assert (list(memory.tags), list(memory.concepts)) == (["b", "c"], ["colour"])
    assert memory.importance == type_pb2.IMPORTANCE_LOW
    assert memory.valid_from.ToJsonString() == "2020-01-01T00:00:00Z"
    assert memory.valid_until.ToJsonString() == "2090-01-01T00:00:00Z"
    assert [source.speaker for source in memory.sources] == ["Ada"]
    assert (memory.external_id, memory.category) == (f"x:{own}", "k")
    assert [fact.relation for fact in memory.facts] == ["HAS"]
    assert list(memory.surfaces_when) == [f"{own} desk", "file:*.desk"]
    plain = concord.reply(UpdateMemoryResponse, "update", own, "--clear", "surfaces-when")
    assert not plain.memory.surfaces_when
    history = concord.reply(GetMemoryHistoryResponse, "history", own)
    assert [each.memory.content for each in history.versions][-1] == f"{own} is red."
    lineage = concord.reply(GetLineageResponse, "lineage", other)
    assert {item.id: item.is_head for item in lineage.items} == {own: True, other: False}
    concord.done("update", own, "--content", "-", stdin="From a pipe.\n")
    assert concord.reply(GetMemoryResponse, "get", own).memory.content == "From a pipe."


def test_update_of_nodes_and_edges(concord: CommandLine, unique: Unique) -> None:
    """G1 G2 W4 A node by its name, an edge by its id."""
    ada, bo, eve = unique("Ada"), unique("Bo"), unique("Eve")
    edge = linked(concord, ada, "KNOWS", bo, "--property", "since=2020")

    concord.done("update", edge.id, "--weight", "0.5", "--property", "how=well")
    concord.done("update", ada, "--name", eve, "--label", "Person", "--property", "age=7")

    changed = concord.reply(GetEdgeResponse, "get", f"edge:{edge.id}").edge
    assert (changed.weight, dict(changed.properties)) == (0.5, {"how": "well"})
    node = concord.reply(GetNodeResponse, "get", eve).node
    assert (node.label, dict(node.properties)) == ("Person", {"age": 7})
    assert changed.source.name == eve
    concord.done("update", eve, "--clear", "property")
    assert dict(concord.reply(GetNodeResponse, "get", eve).node.properties) == {}


@pytest.mark.parametrize("command", ["update", "forget", "delete"])
def test_an_etag_guards_a_change(concord: CommandLine, unique: Unique, command: str) -> None:
    """W4 G1 With --etag only the version that was read is changed."""
    own = unique("guarded")
    if command == "delete":
        own = linked(concord, own, "KNOWS", unique("b")).id
    else:
        concord.done("add", own, "--id", own)
    option = ["--content", "other"] if command == "update" else []

    stale = concord(command, own, "--etag", "old", *option)

    assert stale.exit_code == 1
    assert stale.stderr.startswith("ERROR_REASON_ETAG_MISMATCH")
    assert own in stale.stderr


def test_delete_of_edges_and_nodes(concord: CommandLine, unique: Unique) -> None:
    """G1 G2 W4 A node's edges go only when that is asked for."""
    ada, bo = unique("Ada"), unique("Bo")
    first, second = linked(concord, ada, "KNOWS", bo), linked(concord, ada, "LIKES", bo)

    assert concord.done("delete", f"edge:{first.id}").startswith(f"Deleted {ada} —KNOWS→ {bo}\n")
    assert concord("get", first.id).exit_code == 1
    refused = concord("delete", ada)
    assert refused.exit_code == 1
    assert refused.stderr.startswith("ERROR_REASON_NODE_HAS_EDGES")
    assert "--cascade" in refused.stderr
    assert concord.done("delete", ada, "--cascade").startswith(f"Deleted {ada} and 1 edge\n")
    assert concord("get", second.id).exit_code == 1
    assert concord.reply(DeleteNodeResponse, "delete", bo).token
    edge = linked(concord, ada, "KNOWS", bo)
    assert concord.reply(DeleteEdgeResponse, "delete", edge.id).token


@pytest.mark.parametrize(
    ("arguments", "status", "complaint"),
    [
        (["forget", "nope"], 1, "LOOKUP_STATUS_NOT_FOUND: There is no memory 'nope'"),
        (["restore", "nope"], 1, "LOOKUP_STATUS_NOT_FOUND: There is no memory 'nope'"),
        (["update", "nope", "--tag", "x"], 1, "LOOKUP_STATUS_NOT_FOUND: There is no item 'nope'"),
        (["delete", "nope"], 1, "LOOKUP_STATUS_NOT_FOUND: There is no item 'nope'"),
        (["history", "nope"], 1, "LOOKUP_STATUS_NOT_FOUND: There is no memory 'nope'"),
        (["history", "nope", "--json"], 1, "LOOKUP_STATUS_NOT_FOUND: There is no memory 'nope'"),
        (
            ["link", "memory:nope", "KNOWS", "B"],
            1,
            "ERROR_REASON_ITEM_NOT_FOUND: no such item (nope)",
        ),
        (["update", "x"], 2, "say what changes"),
        (["update", "x", "--clear", "colour"], 2, "'colour' is none of content, kind"),
        (["update", "x", "--tag", "a", "--clear", "tag"], 2, "exclude each other"),
        (["list", "--nodes", "--edges"], 2, "exclude each other"),
        (["list", "--nodes", "--tag", "x"], 2, "--tag: no filter of nodes"),
        (["list", "--edges", "--all"], 2, "--all or --current: no filter of edges"),
        (["list", "--relation", "x"], 2, "--relation: no filter of memories"),
    ],
)
def test_what_cannot_be_done_is_told(
    concord: CommandLine, arguments: list[str], status: int, complaint: str
) -> None:
    """W4 S2 One line that names the item; a filter is never ignored."""
    result = concord(*arguments)

    assert result.exit_code == status
    assert complaint in " ".join(result.stderr.replace("│", " ").split())


def test_options_and_items_must_fit(concord: CommandLine, unique: Unique) -> None:
    """W4 What a memory has is not asked of an edge; a memory is forgotten, not deleted."""
    own = unique("own")
    concord.done("add", own, "--id", own)
    edge = linked(concord, unique("A"), "KNOWS", unique("B"))

    wrong = concord("update", edge.id, "--tag", "x")
    memory = concord("delete", own)
    edges = concord("delete", edge.id, "--cascade")

    assert (wrong.exit_code, "--tag: not for an edge" in wrong.stderr) == (2, True)
    assert (memory.exit_code, f"concord forget {own}" in memory.stderr) == (1, True)
    assert (edges.exit_code, "--cascade is for a node" in edges.stderr) == (2, True)


def test_an_erased_memory_is_told_as_such(concord: CommandLine, unique: Unique) -> None:
    """M4 W4 It cannot be changed any more, and the command says when it went."""
    own = unique("gone")
    concord.done("add", own, "--id", own)
    concord.done("erase", own, "--yes")

    result = concord("update", own, "--tag", "x")

    assert result.exit_code == 1
    assert result.stderr.startswith("ERROR_REASON_ITEM_ERASED")


def test_list_pages_and_filters(concord: CommandLine, unique: Unique) -> None:
    """W4 S2 Memories newest first, superseded ones marked, nodes by name, edges: page by page."""
    tag, label, relation = unique("t"), unique("L"), unique("R")
    ids = [unique(f"m{number}") for number in range(3)]
    for each in ids:
        concord.done("add", f"About {each}", "--id", each, "--tag", tag, "--kind", "plan")
    concord.done("add", unique("newer"), "--tag", tag, "--supersedes", ids[0], "--domain", "a.b")
    for name in ("B", "A"):
        edge = linked(concord, unique(name), relation, unique("C"), "--property", "x=1")
        concord.done("update", edge.source.name, "--label", label)

    def memories(*options: str) -> ListMemoriesResponse:
        return concord.reply(ListMemoriesResponse, "list", "--tag", tag, *options)

    assert [each.id for each in memories("--kind", "plan").memories] == ids[::-1]
    assert [each.id for each in memories("--kind", "plan", "--current").memories] == ids[:0:-1]
    assert len(memories().memories) == len(memories("--all").memories) == 4
    assert len(memories("--domain", "a").memories) == 1
    assert len(memories("--type", "constitutive").memories) == 0
    assert len(memories("--session", "nobody's").memories) == 0
    first = memories("--limit", "2")
    second = memories("--limit", "2", "--page-token", first.next_page_token)
    assert {each.id for each in (*first.memories, *second.memories)} >= set(ids[1:])
    nodes = concord.reply(ListNodesResponse, "list", "--nodes", "--label", label).nodes
    assert [each.name for each in nodes] == sorted(each.name for each in nodes)
    assert len(nodes) == 2
    edges = ("list", "--edges", "--relation", relation)
    assert len(concord.reply(ListEdgesResponse, *edges, "--property", "x=1").edges) == 2
    assert len(concord.reply(ListEdgesResponse, *edges, "--property", "x=2").edges) == 0
    assert len(concord.reply(ListEdgesResponse, *edges, "--importance", "high").edges) == 0
    assert len(concord.reply(ListEdgesResponse, *edges, "--participant", "x").edges) == 0
    result = concord.done("list", "--tag", tag, "--limit", "3")
    assert ids[2] in result
    assert "More: --page-token" in result
    assert f"{ids[0]}  (superseded)" in concord.done("list", "--tag", tag)
    assert relation in concord.done(*edges)
    assert label in concord.done("list", "--nodes", "--label", label)
    assert concord.done("list", "--tag", unique("none")) == "No memories.\n"
