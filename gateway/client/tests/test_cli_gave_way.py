"""What commands say of what gave way by them."""

import json
from pathlib import Path

from concord.graph.v1.memory_pb2 import (
    AddMemoryResponse,
    BatchAddMemoriesResponse,
    GetMemoryResponse,
)
from concord_testing.command_line import CommandLine, Unique


def test_each_write_says_what_gave_way(concord: CommandLine, unique: Unique) -> None:
    """W9 W4 `add`, `update` and `link`, in words and as JSON; nothing is said where nothing did."""
    ids = [unique(name) for name in "abcd"]
    for each in ids:
        assert "Gave way" not in concord.done("add", f"Note {each}", "--id", each)
    new = unique("new")

    added = concord.done(
        "add", f"Note {new}", "--id", new, "--supersedes", ids[0], "--amends", ids[1]
    )
    updated = concord.done("update", new, "--deprecates", ids[2])
    linked = concord.done("link", f"memory:{new}", "SUPERSEDES", f"memory:{ids[3]}")
    last = concord.reply(AddMemoryResponse, "add", unique("last"), "--supersedes", new)

    assert added.splitlines()[-1] == f"Gave way: {ids[0]}, {ids[1]} (amended)"
    assert updated.splitlines()[-1] == f"Gave way: {ids[2]} (deprecated)"
    assert linked.splitlines()[-1] == f"Gave way: {ids[3]}"
    assert [(each.id, each.by_id) for each in last.gave_way.items] == [(new, last.memory.id)]


def test_a_declaration_says_what_gave_way(concord: CommandLine, unique: Unique) -> None:
    """W9 T2 An edge by a later value, many of them as their number."""
    relation, who = unique("R").upper().replace("-", "_"), unique("who")
    for day in range(1, 24):
        concord.done("link", who, relation, f"{who}-{day}", "--valid-from", f"2024-01-{day:02}")

    declared = concord.done("relation", relation, "--functional")

    assert declared.splitlines()[-1].startswith("Gave way: ")
    assert declared.splitlines()[-1].endswith(" and 2 more")


def test_an_import_lists_what_gave_way(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M3 W9 A note's own line and a column are lineage; what it quotes or says in passing not."""
    ids = {name: unique(name) for name in ("line", "column", "quoted", "said")}
    for each in ids.values():
        concord.done("add", f"A person said {each}.", "--id", each)
    folder = tmp_path / "notes"
    folder.mkdir()
    own = unique("n")
    text = f"# {own}\n\n> Supersedes: [[memory:{ids['quoted']}]]\n\n"
    text += f"It supersedes [[memory:{ids['said']}]].\n\nSupersedes: [[memory:{ids['line']}]]\n"
    (folder / f"{own}.md").write_text(text, "utf-8")
    rows = tmp_path / "r.jsonl"
    rows.write_text(json.dumps({"content": unique("row"), "deprecates": ids["column"]}), "utf-8")

    notes = concord.done("import", str(folder), "--no-wait")
    again = concord.done("import", str(folder), "--no-wait")
    table = concord.reply(BatchAddMemoriesResponse, "import", str(rows), "--no-wait")

    assert notes.splitlines()[1:] == [f"Gave way: {ids['line']}"]
    assert len(again.splitlines()) == 1
    assert [each.id for each in table.gave_way.items] == [ids["column"]]
    assert table.gave_way.count == 1


def test_chats_and_other_memories_exports_hide_nothing(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M3 What people wrote to each other, and what a model drew from it, is no lineage."""
    old = unique("old")
    concord.done("add", f"A person said {old}.", "--id", old)
    line = f"Supersedes: [[memory:{old}]]"
    chat = tmp_path / f"{unique('talk')}.txt"
    chat.write_text(f"[2026-03-01 10:00] Bo: {line}\n{line}\n", "utf-8")
    csv = tmp_path / f"{unique('talk')}.csv"
    csv.write_text(f"Name,Message\nBo,{line}\n", "utf-8")
    other = tmp_path / "mem0.json"
    other.write_text(json.dumps([{"id": unique("m"), "memory": line}]), "utf-8")

    for told in (
        ("import", str(chat)),
        ("import", str(csv)),
        ("import", str(other), "--from", "mem0"),
    ):
        assert "Gave way" not in concord.done(*told, "--no-wait")

    assert not concord.reply(GetMemoryResponse, "get", old).memory.supersession.is_superseded
