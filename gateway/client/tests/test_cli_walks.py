"""`concord neighbors`, `path`, `export` and `status` against a running system."""

import json
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from concord.graph.v1.graph_pb2 import FindPathResponse, QueryNeighborsResponse
from concord.graph.v1.relation_pb2 import FollowRelationsResponse
from concord.graph.v1.space_pb2 import CountByTypeResponse, ExportSpaceResponse
from concord.search.v1.search_pb2 import GetIndexStatusResponse
from concord_client.cli import services
from concord_client.refusal import Refused
from concord_testing.command_line import CommandLine, Unique
from concord_testing.up_process import Spawned
from google.protobuf.json_format import Parse, ParseDict


def test_neighbors_walks_as_far_and_where_told(concord: CommandLine, unique: Unique) -> None:
    """G9 Depth, direction and relation choose the edges."""
    ada, acme, town = unique("Ada"), unique("Acme"), unique("Hamburg")
    concord.done("link", ada, "WORKS_AT", acme)
    concord.done("link", acme, "BASED_IN", town)

    def names(*options: str) -> list[str]:
        reply = concord.reply(QueryNeighborsResponse, "neighbors", *options)
        return sorted(each.neighbor.name for each in reply.neighbors)

    assert names(acme) == sorted([ada, town])
    assert names(acme, "--direction", "outgoing") == [town]
    assert names(acme, "--relation", "WORKS_AT") == [ada]
    assert names(ada, "--depth", "2") == sorted([acme, town])
    assert names(acme, "--as-of", "2001-01-01") == []
    assert f"{ada} —WORKS_AT→ {acme}" in concord.done("neighbors", ada)


def test_neighbors_leaves_out_what_was_replaced(concord: CommandLine, unique: Unique) -> None:
    """T4 A superseded edge's memory shows with --all only."""
    old, new, topic = unique("old"), unique("new"), unique("topic")
    concord.done("add", f"Old {old}", "--id", old)
    concord.done("add", f"New {new}", "--id", new, "--supersedes", old)
    concord.done("link", topic, "ABOUT", f"memory:{new}")

    reply = concord.reply(QueryNeighborsResponse, "neighbors", f"memory:{new}", "--all")

    assert {each.neighbor.id for each in reply.neighbors} >= {old}


def test_a_node_without_edges_says_so(concord: CommandLine, unique: Unique) -> None:
    """G9 Nothing found is told in words."""
    note = unique("note")
    concord.done("add", f"Alone {note}", "--id", note)

    assert concord.done("neighbors", f"memory:{note}") == "No edges.\n"


def test_path_tells_how_two_things_hang_together(concord: CommandLine, unique: Unique) -> None:
    """G10 The shortest path comes first, each edge as it points."""
    a, b, c = unique("A"), unique("B"), unique("C")
    concord.done("link", a, "KNOWS", b)
    concord.done("link", c, "KNOWS", b, "--weight", "0.5")

    reply = concord.reply(FindPathResponse, "path", a, c)
    shown = concord.done("path", a, c)

    assert [len(path.edges) for path in reply.paths] == [2]
    assert reply.paths[0].weight == 0.5
    assert f"{a} —KNOWS→ {b}" in shown
    assert f"{c} —KNOWS→ {b}" in shown
    assert concord.done("path", a, c, "--direction", "outgoing") == "No path.\n"


def test_follow_leads_along_relations(concord: CommandLine, unique: Unique) -> None:
    """G9 T3 To what holds at an instant; a relation that nothing holds is named with its hop."""
    ada, acme, town = unique("Ada"), unique("Acme"), unique("Hamburg")
    concord.done("link", ada, "WORKS_FOR", acme, "--valid-from", "2020-01-01")
    concord.done("link", acme, "LOCATED_IN", town, "--valid-from", "2022-01-01")
    asked = ("follow", ada, "WORKS_FOR", "LOCATED_IN")

    shown = concord.done(*asked)
    before = concord.done(*asked, "--as-of", "2021-01-01")

    assert f"{acme} —LOCATED_IN→ {town}" in shown
    assert shown.endswith(f"{town}\n")
    assert "Nothing holds LOCATED_IN at hop 2." in before
    assert "What does: LOCATED_IN." in concord.done("follow", ada, "WORKS_FOR", "BASED_IN")
    assert concord.reply(FollowRelationsResponse, *asked).ends[0].name == town
    assert concord("follow", unique("Nobody"), "KNOWS").exit_code == 1


def test_export_writes_json_lines(concord: CommandLine, unique: Unique, tmp_path: Path) -> None:
    """G15 The same lines on standard output and in a file that is its owner's alone."""
    note = unique("note")
    concord.done("add", f"To be exported {note}", "--id", note)
    out = tmp_path / "space.jsonl"

    streamed = concord.done("export")
    result = concord("export", "--out", str(out))
    as_json = [
        line
        for reply in concord.done("export", "--json").splitlines()
        for line in Parse(reply, ExportSpaceResponse()).lines
    ]

    records = [json.loads(line) for line in streamed.splitlines()]
    assert result.exit_code == 0
    assert result.stderr == f"Wrote {len(records):,} records to {out}.\n"
    assert out.read_text("utf-8") == streamed
    assert as_json == streamed.splitlines()
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert [r["content"] for r in records if r.get("id") == note] == [f"To be exported {note}"]


def test_export_to_nowhere_leaves_nothing(concord: CommandLine, tmp_path: Path) -> None:
    """W4 A file that cannot be written is a sentence and exit status 1."""
    result = concord("export", "--out", str(tmp_path / "no" / "such" / "file"))

    assert result.exit_code == 1
    assert result.stderr.startswith("Cannot write ")
    assert list(tmp_path.iterdir()) == []


def test_status_tells_health_counts_and_lag(concord: CommandLine, system: Spawned) -> None:
    """W4 S10 Both forms tell where Concord is, what it holds and how far the index is."""
    shown = concord.done("status")
    result = json.loads(concord.done("status", "--json"))

    counts = ParseDict(result["counts"], CountByTypeResponse())
    index = ParseDict(result["index"], GetIndexStatusResponse())
    assert shown.startswith(f"Concord at {system.url}: serving\n")
    assert result["url"] == system.url
    assert set(result["serving"].values()) == {True}
    assert counts.memories >= 0
    assert index.model.dimension == 384
    assert index.following
    unread = GetIndexStatusResponse(following=True, indexed_memories=40, unread_texts=12)
    assert services.index_state(unread, 0) == "up to date, 40 memories, 12 texts not read yet"


def test_status_for_who_may_not_ask_governance() -> None:
    """W4 A key without that scope sees the rest; what else is refused is told."""

    def refusing(reason: str) -> Any:
        def briefing(_: object) -> None:
            raise Refused(grpc.StatusCode.PERMISSION_DENIED, reason, "no")

        return SimpleNamespace(proposals=SimpleNamespace(GetBriefing=briefing))

    unseen = services.briefing(refusing("ERROR_REASON_PERMISSION_MISSING"))
    assert not unseen.graph_rolled_back
    with pytest.raises(Refused):
        services.briefing(refusing("ERROR_REASON_INTERNAL"))


def test_a_memorys_plain_id_is_no_nodes_name(concord: CommandLine, unique: Unique) -> None:
    """G13 W4 What is there is not denied: the miss says that it looked for a node, and how else."""
    own = unique("walked")
    concord.done("add", f"Wombats of {own}", "--id", own)

    for command in (["neighbors", own], ["path", own, f"memory:{own}"]):
        missed = concord(*command)
        assert missed.exit_code == 1
        assert f"There is no node {own!r} " in missed.stderr
        assert missed.stderr.rstrip().endswith("A memory is named memory:ID.")
    missed = concord("neighbors", "memory:nope")
    assert missed.stderr.rstrip().endswith("There is no 'memory:nope' in the space 'default'.")
