"""Spreadsheets as people save them, and what who comes from another memory brings."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from concord.type.v1 import type_pb2
from concord_client.importers.form import Format, Origin
from concord_client.importers.formats import detected, read
from concord_client.importers.outcome import Defect, Draft, LeftOut, Remark
from concord_testing.command_line import CommandLine
from google.protobuf.json_format import MessageToDict

SAMPLES = Path(__file__).parent / "samples"


def memories(path: Path) -> list[type_pb2.Memory]:
    """The memories of a file without defects."""
    found = list(read(path, Format.AUTO))
    assert not any(isinstance(each, Defect) for each in found), found
    return [each.memory for each in found if isinstance(each, Draft)]


def left_out(path: Path) -> list[str]:
    """The kinds of what is left out."""
    return [each.kind for each in read(path, Format.AUTO) if isinstance(each, LeftOut)]


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("Role", "Miller"),
        ("Kind", "bread"),
        ("Importance", "very"),
        ("Origin", "Rhine"),
        ("Access", "by boat"),
        ("Sources", "the miller"),
        ("Facts", "it is dark"),
        ("ID", "No. 7!"),
        ("Domain", "bread and such"),
        ("Valid from", "soon"),
        ("Supersedes", "the old one"),
        ("Health", "good"),
        ("Etag", "x"),
        ("Tags", "t" * 129),
    ],
)
def test_a_cell_that_is_none_of_our_words_is_a_property(
    tmp_path: Path, column: str, cell: str
) -> None:
    """W8 Under the column's name; the row comes in."""
    path = tmp_path / "t.csv"
    path.write_text(f"note,{column}\nRye.,{cell}\n")
    (memory,) = memories(path)

    assert memory.content == "Rye."
    assert dict(memory.properties.items()) == {column: cell}


@pytest.mark.parametrize("column", ["Kind", "Importance"])
def test_a_cell_in_our_words_fills_its_field(tmp_path: Path, column: str) -> None:
    """W8 A row in our words beside one that is not."""
    path = tmp_path / "t.csv"
    path.write_text(f"note,{column}\nRye.,{'Plan' if column == 'Kind' else 'HIGH'}\nOats.,x\n")
    rye, oats = memories(path)

    assert rye.kind == (type_pb2.MEMORY_KIND_PLAN if column == "Kind" else 0)
    assert rye.importance == (type_pb2.IMPORTANCE_HIGH if column == "Importance" else 0)
    assert oats.properties[column] == "x"


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("cp1252", "Windows-1252"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16-LE"),
        ("utf-16-be", "UTF-16-BE"),
        ("utf-8-sig", ""),
    ],
)
def test_other_encodings_are_read_and_said(tmp_path: Path, encoding: str, said: str) -> None:
    """W8 As spreadsheets save a table: with a mark, with zero bytes, or in Windows' letters."""
    path = tmp_path / "t.csv"
    path.write_bytes("note;tags\nDie Mühle – zu;brot\n".encode(encoding))
    found = list(read(path, Format.AUTO))

    assert [each.memory.content for each in found if isinstance(each, Draft)] == ["Die Mühle – zu"]
    remarks = [each.text for each in found if isinstance(each, Remark)]
    assert remarks == ([f"read as {said}: it is not UTF-8"] if said else [])


def test_bytes_of_no_encoding_are_an_error(tmp_path: Path) -> None:
    """W8 Windows-1252 has no such letters."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"note\nok\n\x81\x8d\n")

    assert [type(each) for each in read(path, Format.AUTO)] == [Defect]


def test_a_line_that_names_the_delimiter(tmp_path: Path) -> None:
    """W8 `sep=;` is Excel's and no row; errors name the file's line."""
    path = tmp_path / "t.csv"
    path.write_text("sep=;\nnote, or so;tags\nRye, oats;a\nx;y;z\n")
    found = list(read(path, Format.AUTO))

    assert [each.memory.content for each in found if isinstance(each, Draft)] == [
        "note, or so: Rye, oats\ntags: a"
    ]
    assert [each.line for each in found if isinstance(each, Defect)] == [4]


@pytest.mark.parametrize(
    "value",
    [
        [{"content": "Rye.", "tags": ["a"]}, {"content": "Oats.", "mill": "x"}],
        [{"text": "Rye."}, {"memory": "Oats."}],
        ["Rye.", "Oats."],
    ],
)
def test_a_json_list_of_memories(tmp_path: Path, value: object) -> None:
    """W8 Objects with a text and no speaker, or texts; imported again, they are the same."""
    path = tmp_path / "m.json"
    path.write_text(json.dumps(value, indent=1))
    found = memories(path)

    assert [each.content for each in found] == ["Rye.", "Oats."]
    assert len({each.external_id for each in found}) == 2
    assert detected(path) is Format.JSONL


def test_the_file_of_the_mcp_memory_server(tmp_path: Path) -> None:
    """W8 A memory an observation, a fact a relation; as lines or as one object."""
    lines: list[Mapping[str, Any]] = [
        {
            "type": "entity",
            "name": "Mia",
            "entityType": "baker",
            "observations": ["Up at four", "x"],
        },
        {"type": "entity", "name": "Mill", "entityType": "place", "observations": []},
        {"type": "relation", "from": "Mia", "to": "Mill", "relationType": "buys from"},
    ]
    path, whole = tmp_path / "memory.jsonl", tmp_path / "graph.json"
    path.write_text("\n".join(map(json.dumps, lines)))
    whole.write_text(json.dumps({"entities": lines[:2], "relations": lines[2:]}, indent=1))
    found = memories(path)

    assert [each.content for each in found] == [
        *("Mia: Up at four", "Mia: x", "Mill: place", "Mia buys from Mill"),
    ]
    assert MessageToDict(found[0].properties) == {"entity": "Mia", "entity_type": "baker"}
    fact = found[3].facts[0]
    assert (fact.subject, fact.relation, fact.object) == ("Mia", "BUYS_FROM", "Mill")
    assert [each.content for each in memories(whole)] == [each.content for each in found]
    assert detected(path) is Origin.MCP_MEMORY


def test_an_agent_file_of_letta() -> None:
    """W8 Blocks are memories, messages turns; tools and prompts are listed."""
    path = SAMPLES / "letta.af"
    found = memories(path)

    assert [(each.kind, each.content) for each in found] == [
        (0, "Mia bakes rye bread."),
        (type_pb2.MEMORY_KIND_TURN, "Which flour?"),
        (type_pb2.MEMORY_KIND_TURN, "Rye."),
    ]
    assert found[0].external_id == "letta/block-0"
    assert found[0].properties["label"] == "human"
    assert (found[1].session_id, found[1].role) == ("Baker", type_pb2.TURN_ROLE_USER)
    kinds = left_out(path)
    assert kinds.count("message of a system") == 1
    assert "field beside the items" in kinds
    assert detected(path) is Origin.LETTA


def test_a_list_of_hindsights_memories() -> None:
    """W8 Facts with their times, tags and entities."""
    path = SAMPLES / "hindsight.json"
    first, second = memories(path)

    assert first.content == "Mia bought the mill."
    assert first.external_id == "hindsight/f-1"
    assert first.valid_from.ToJsonString() == "2024-03-05T00:00:00Z"
    assert first.valid_until.ToJsonString() == "2024-06-01T00:00:00Z"
    assert list(first.tags) == ["mill"]
    assert first.properties["fact_type"] == "world"
    assert second.valid_from.ToJsonString() == "2024-03-06T10:00:00Z"
    assert detected(path) is Origin.HINDSIGHT


@pytest.mark.parametrize("name", ["MEMORY.md", "CLAUDE.md", "agents.md"])
def test_a_file_of_an_agents_memory(tmp_path: Path, name: str) -> None:
    """W8 An item is a memory under its heading; the rest is the note that they derive from."""
    (tmp_path / name).write_text(
        "# Bakery\n\nHow we work.\n\n## Bread\n\n- Rye only.\n  - From the old mill.\n"
        "- [x] No oats.\n\n```\n- no item\n```\n\n## People\n\n1. Mia bakes.\n"
    )
    whole, *items = memories(tmp_path)

    assert whole.content == (
        "# Bakery\n\nHow we work.\n\n## Bread\n\n## People\n\nParts: Bread; People"
    )
    assert [each.content for each in items] == [
        "# Bakery › Bread\n\nRye only.\n  - From the old mill.",
        "# Bakery › Bread\n\nNo oats.\n\n```\n- no item\n```",
        "# Bakery › People\n\nMia bakes.",
    ]
    assert all(each.sources[0].memory_ids == [whole.id] for each in items)


def test_a_dry_run_says_what_would_come_in(concord: CommandLine, tmp_path: Path) -> None:
    """W8 W4 For every form, by kind and count; nothing is written, and no server is asked."""
    path = tmp_path / "t.txt"
    day = "02/04/2024, 09:1"
    path.write_text(
        f"{day}1 - Mia: Hi.\n{day}2 - Mia joined\n{day}3 - Jon: Yes.\n32/13/2024, 09:14 - Jon: x\n"
    )
    told = concord("import", str(path), "--dry-run", "--session", "dry")
    whole = json.loads(concord("import", str(path), "--dry-run", "--json").stdout)

    assert told.exit_code == 1
    assert told.stdout == (
        "Would import 2 memories (2 turn); 1 error\n"
        f"Left out: 1 × notice of the messenger ({path}:2): {day}2 - Mia joined\n"
    )
    assert told.stderr.startswith(f"{path}:4: no date or time such as ")
    assert whole["memories"] == {"turn": 2}
    assert [each["text"] for each in whole["errors"]] == ["[32/13/2024 09:14] Jon: x\n"]
    assert [each["kind"] for each in whole["leftOut"]] == ["notice of the messenger"]
    assert concord("list", "--session", "dry").stdout.count("Hi.") == 0
