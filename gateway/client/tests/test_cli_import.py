"""`concord import` against a running system."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from concord.graph.v1.graph_pb2 import QueryNeighborsResponse
from concord.graph.v1.lineage_pb2 import GetLineageResponse
from concord.graph.v1.memory_pb2 import (
    BATCH_OUTCOME_CREATED,
    BATCH_OUTCOME_UNCHANGED,
    BATCH_OUTCOME_UPDATED,
    BatchAddMemoriesResponse,
    GetMemoryResponse,
)
from concord.search.v1.search_pb2 import GetIndexStatusResponse, SearchResponse
from concord_client import freshness
from concord_client.importers import formats
from concord_client.importers import upload as uploading
from concord_client.importers.formats import read
from concord_client.importers.outcome import Defect, Draft
from concord_testing.command_line import CommandLine, Unique
from google.protobuf.json_format import ParseDict


def jsonl(path: Path, *items: Mapping[str, object] | str) -> str:
    """A JSON Lines file; a text stands for a line as it is."""
    lines = [item if isinstance(item, str) else json.dumps(item) for item in items]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return str(path)


def test_what_was_imported_is_found_at_once(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """W4 M6 The command ends when search has seen all; importing again adds nothing."""
    word = unique("quokka").replace("-", "")
    ids = [unique(f"n{number}") for number in range(450)]
    path = jsonl(
        tmp_path / "notes.jsonl",
        *({"id": each, "content": f"Note {each} about the {word}."} for each in ids),
    )

    first = concord.done("import", path)
    found = concord.reply(SearchResponse, "search", f"{word} {ids[-1]}", "--limit", "1")
    second = concord.done("import", path)

    assert first == "450 memories: 450 created, 0 unchanged, 0 updated; 0 errors\n"
    assert word in found.results[0].memory.content
    assert second == "450 memories: 0 created, 450 unchanged, 0 updated; 0 errors\n"


def test_memories_without_ids_are_known_again_too(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M5 Equal content of a current memory is the same memory."""
    path = jsonl(tmp_path / "n.jsonl", {"content": unique("a")}, {"content": unique("b")})

    concord.done("import", path, "--no-wait")
    again = concord.done("import", path, "--no-wait")

    assert again == "2 memories: 0 created, 2 unchanged, 0 updated; 0 errors\n"


def test_what_later_lines_replaced_is_known_again(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M5 M6 Lines without ids, one value at a time: a file, and files in turn, add nothing more."""
    relation = unique("LIVES_IN").upper().replace("-", "_")
    concord.done("relation", relation, "--functional")

    def line(who: str, town: str) -> Mapping[str, object]:
        fact = {"subject": who, "relation": relation, "object": town}
        return {"content": f"{who} lives in {town}.", "facts": [fact]}

    def values(who: str) -> list[str]:
        found = concord.reply(QueryNeighborsResponse, "neighbors", who, "--relation", relation)
        return [each.neighbor.name for each in found.neighbors]

    ada, zed = unique("Ada"), unique("Zed")
    towns = [unique(town) for town in ("Bremen", "Hamburg")]
    there_and_back = [line(ada, town) for town in (*towns, towns[0], towns[0])]
    one = jsonl(tmp_path / "one.jsonl", *there_and_back)
    two = [jsonl(tmp_path / f"{town}.jsonl", line(zed, town)) for town in towns]

    result = [concord.done("import", path) for _ in range(3) for path in (one, *two)]

    assert [each.split(", 0 updated")[0] for each in result] == [
        "4 memories: 3 created, 1 unchanged",
        *["1 memory: 1 created, 0 unchanged"] * 2,
        *[
            "4 memories: 0 created, 4 unchanged",
            *["1 memory: 0 created, 1 unchanged"] * 2,
        ]
        * 2,
    ]
    assert (values(ada), values(zed)) == ([towns[0]], [towns[1]])


def test_bad_items_are_listed_and_stop_nothing_else(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M6 Each error names file, line, machine reason and what is wrong; exit status 1."""
    good = [unique("g0"), unique("g1")]
    path = jsonl(
        tmp_path / "mixed.jsonl",
        {"id": good[0], "content": f"First {good[0]}"},
        "not json",
        {"content": " "},
        {"id": "not an id", "content": "x"},
        {"id": unique("self"), "content": f"Supersedes: [[memory:{unique('self')}]]"},
        {"content": "x", "sources": [{"weight": 3}]},
        {"id": good[1], "content": f"Second {good[1]}"},
    )

    result = concord("import", path)
    told = result.stderr.splitlines()

    assert result.exit_code == 1
    assert result.stdout == "2 memories: 2 created, 0 unchanged, 0 updated; 5 errors\n"
    assert [line.removeprefix(f"{path}:").split(":")[0] for line in told] == list("23456")
    assert all("ERROR_REASON_" in line for line in told)
    for each in good:
        assert concord("get", each).exit_code == 0


def test_a_stuck_index_hides_no_outcome(
    concord: CommandLine, unique: Unique, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M6 W4 The summary and the errors come, also when search lags: nothing else tells them."""
    monkeypatch.setattr(freshness, "LOOK", 0.0)  # too short to see that it is there
    monkeypatch.setattr(freshness, "STUCK_AFTER", 0.0)
    path = jsonl(tmp_path / "n.jsonl", {"content": unique("a")}, "not json")

    result = concord("import", path)

    assert result.exit_code == 1
    assert result.stdout == "1 memory: 1 created, 0 unchanged, 0 updated; 1 error\n"
    first, second = result.stderr.splitlines()
    assert first.startswith(f"{path}:2: ERROR_REASON_FIELD_INVALID: ")
    assert second.startswith("ERROR_REASON_INDEX_STALE: The index has not moved for 0 s: ")


def test_an_import_that_is_stopped_says_how_far_it_came(
    concord: CommandLine, unique: Unique, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M6 W4 After Ctrl-C the summary and the errors come; run again, it goes on."""
    lines = [{"content": unique(f"a{number}")} for number in range(3)]
    path = jsonl(tmp_path / "n.jsonl", lines[0], "not json", lines[1], lines[2])

    def interrupted(*arguments: Any) -> Iterator[Draft | Defect]:
        yield from islice(read(*arguments), 3)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(uploading, "BATCH_SIZE", 3)
        patched.setattr(formats, "read", interrupted)
        stopped = concord("import", path)

    assert stopped.exit_code == 130
    assert stopped.stdout == "2 memories: 2 created, 0 unchanged, 0 updated; 1 error\n"
    assert stopped.stderr.splitlines()[0].startswith(f"{path}:2: ERROR_REASON_FIELD_INVALID: ")
    assert stopped.stderr.splitlines()[1] == "2 of 4 remembered; run it again."
    assert "1 created, 2 unchanged" in concord("import", path).stdout


def test_an_import_that_is_stopped_while_it_is_indexed_says_what_goes_on(
    concord: CommandLine, unique: Unique, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M6 W4 After Ctrl-C: all of it is remembered, how much search may not find yet, and that
    nothing needs to be run again."""
    path = jsonl(tmp_path / "n.jsonl", {"content": unique("a")}, {"content": unique("b")})
    behind = GetIndexStatusResponse(applied_seq=3, head_seq=1_240)

    def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(freshness, "_status", lambda _: behind)
    monkeypatch.setattr(freshness, "_has_seen", interrupted)
    stopped = concord("import", path)

    assert stopped.exit_code == 130
    assert stopped.stdout == "2 memories: 2 created, 0 unchanged, 0 updated; 0 errors\n"
    (said, *_) = stopped.stderr.splitlines()
    assert "search does not find all of it yet (1,237 changes of the space)" in said
    assert "the index goes on by itself" in said
    assert "concord status" in said
    assert "run it again" not in stopped.stderr


def test_the_reply_as_json_numbers_errors_by_their_place(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """W4 One reply stands for all batches, results in the order of the file."""
    ids = [unique(f"n{number}") for number in range(250)]
    items: list[Mapping[str, object] | str] = [{"id": each, "content": each} for each in ids]
    items.insert(230, "not json")
    path = jsonl(tmp_path / "n.jsonl", *items)

    refused = concord("import", path, "--json")
    said = json.loads(refused.stdout)
    texts = [each["text"] for each in said.pop("notRemembered")]
    reply = ParseDict(said, BatchAddMemoriesResponse())

    assert (refused.exit_code, texts) == (1, ["not json\n"])
    assert [result.memory_id for result in reply.results] == ids
    assert {result.outcome for result in reply.results} == {BATCH_OUTCOME_CREATED}
    assert [error.index for error in reply.errors] == [230]
    assert reply.token


def test_changed_content_is_an_error_unless_updating(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M5 M6 Without --update the stored text stays; with it there is a new version."""
    own = unique("note")
    before = jsonl(tmp_path / "v1.jsonl", {"id": own, "content": f"One {own}"})
    after = jsonl(tmp_path / "v2.jsonl", {"id": own, "content": f"Two {own}"})
    concord.done("import", before)

    refused = concord("import", after)
    updated = concord.reply(BatchAddMemoriesResponse, "import", after, "--update")
    back = concord.reply(BatchAddMemoriesResponse, "import", before, "--update")
    same = concord.reply(BatchAddMemoriesResponse, "import", before, "--update")

    outcomes = [reply.results[0].outcome for reply in (updated, back, same)]
    assert refused.exit_code == 1
    assert "ERROR_REASON_ITEM_EXISTS" in refused.stderr
    assert outcomes == [BATCH_OUTCOME_UPDATED, BATCH_OUTCOME_UPDATED, BATCH_OUTCOME_UNCHANGED]
    assert concord.reply(GetMemoryResponse, "get", own).memory.content == f"One {own}"


def test_a_markdown_folder_with_lineage(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M3 M6 Front matter and links make memories and lineage, whatever the order of the files."""
    old, new = unique("old"), unique("new")
    (tmp_path / "a.md").write_text(
        f"---\nid: {new}\nkind: plan\n---\n# New plan\n\nSupersedes: [[memory:{old}]]\n", "utf-8"
    )
    (tmp_path / "b.md").write_text(f"---\nid: {old}\n---\nOld plan {old}\n", "utf-8")

    concord.done("import", str(tmp_path))

    reply = concord.reply(GetLineageResponse, "lineage", old)
    assert {item.id: item.is_head for item in reply.items} == {old: False, new: True}


def test_the_memories_of_a_state_export_into_another_space(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M6 G15 W8 What a memory says, whole, and that it was imported; again it is known."""
    own, space = unique("carried"), "demo"
    concord.done(
        *("add", f"The {own} is red.", "--id", own, "--kind", "plan", "--importance", "high"),
        *(
            "--fact",
            f"{own}|HAS|red",
            "--tag",
            "x",
            "--source",
            "Ada",
            "--valid-from",
            "2020-01-01",
        ),
        *("--domain", "a.b", "--external-id", f"x:{own}", "--category", "c", "--session", "s"),
    )
    lines = [line for line in concord.done("export").splitlines() if f'"id":"{own}"' in line]
    path = jsonl(tmp_path / "state.jsonl", *lines)

    first = concord.done("import", path, "--space", space)
    copied = concord.done("export", "--space", space).splitlines()

    assert first == "1 memory: 1 created, 0 unchanged, 0 updated; 0 errors\n"
    (line,), (copy,) = lines, [each for each in copied if f'"id":"{own}"' in each]
    assert json.loads(copy) == json.loads(line) | {"origin": "IMPORT"}
    assert "1 unchanged" in concord.done("import", path)


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_file_is_an_error(concord: CommandLine, tmp_path: Path, content: str) -> None:
    """W8 Whoever named it meant another one."""
    path = tmp_path / "empty.jsonl"
    path.write_text(content, "utf-8")

    result = concord("import", str(path))

    assert result.exit_code == 1
    assert f"Found nothing to read in {path}" in result.stderr


def test_a_path_that_is_not_there_is_wrong_use(concord: CommandLine, tmp_path: Path) -> None:
    """W4 Exit status 2."""
    result = concord("import", str(tmp_path / "nothing"))

    assert result.exit_code == 2
    assert "does not exist" in " ".join(result.stderr.replace("│", " ").split())


def test_errors_of_one_kind_are_one_line(concord: CommandLine, tmp_path: Path) -> None:
    """W8 The first in full, how many there are, and where the next ones stand."""
    lines = [{"content": "x" * (20_001 + number)} for number in range(8)]
    path = jsonl(tmp_path / "long.jsonl", *lines, "no json")
    told = concord("import", path).stderr.splitlines()

    assert len(told) == 2
    assert told[0].startswith(f"{path}:1: ERROR_REASON_FIELD_INVALID: the content has 20001 char")
    assert f"(8 of this kind; also {path}:2, " in told[0]
    assert told[0].endswith(f"{path}:6, …)")


def test_out_to_mem0_and_in_again(concord: CommandLine, unique: Unique, tmp_path: Path) -> None:
    """W8 What is exported in that form is what that form's importer reads."""
    who = unique("Ada")
    text = f"{who} lives in Bonn."
    concord.done("add", text, "--fact", f"{who}|LIVES_IN|Bonn", "--tag", "home")
    whole, path = tmp_path / "whole.json", tmp_path / "mem0.json"
    concord("export", str(whole), "--form", "mem0")
    told = json.loads(whole.read_text("utf-8"))
    ours = {
        "results": [each for each in told["results"] if each["memory"] == text],
        "relations": [each for each in told["relations"] if each["source"] == who],
    }
    path.write_text(json.dumps(ours), "utf-8")
    result = concord.done("import", str(path), "--from", "mem0", "--space", "demo")

    assert [each["categories"] for each in ours["results"]] == [["home"]]
    assert ours["relations"] == [{"source": who, "relationship": "LIVES_IN", "target": "Bonn"}]
    assert result.startswith("2 memories: 2 created")
    assert text in concord.done("search", f"{who} Bonn", "--space", "demo")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_vault_of_notes_full_of_links(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """W8 Edges between them, found by their titles; ten times is as once."""
    name = unique("Harbour")
    for number in range(250):
        links = " ".join(f"[[{name} {(number * step) % 250}]]" for step in (2, 3, 5))
        text = f"A note of pier {number}, near {links}.\n"
        (tmp_path / f"{name} {number}.md").write_text(text, "utf-8")

    told = [concord.done("import", str(tmp_path)) for _ in range(10)]
    edges = json.loads(concord.done("neighbors", f"{name} 7", "--json"))
    found = concord.done("search", f"{name} 137", "--limit", "3")

    assert told[0].startswith("250 memories: 250 created")
    assert all(each.startswith("250 memories: 0 created, 250 unchanged") for each in told[1:])
    assert {f"{name} {number}" for number in (14, 21, 35)} <= {
        each["neighbor"]["name"] for each in edges["neighbors"]
    }
    assert f"{name} 137" in found
