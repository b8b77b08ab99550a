"""CSV, and the exports of other memories."""

import json
import math
from pathlib import Path

import pytest
from concord.type.v1 import type_pb2
from concord_client.importers.form import Format, Origin
from concord_client.importers.formats import read
from concord_client.importers.outcome import Defect, Draft

SAMPLES = Path(__file__).parent / "samples"


def memories(path: Path, form: Format | Origin = Format.AUTO) -> list[type_pb2.Memory]:
    """The memories that a file gives, which has no defects."""
    found = list(read(path, form))
    assert not any(isinstance(each, Defect) for each in found), found
    return [each.memory for each in found if isinstance(each, Draft)]


def written(folder: Path, name: str, text: str) -> Path:
    """A file of this text."""
    path = folder / name
    path.write_text(text, newline="")
    return path


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_rows_of_memories(tmp_path: Path, mark: str) -> None:
    """W8 Columns find their fields in any spelling of their names; others are properties."""
    rows = [
        ["Content", "Tags", "Kind", "Date", "Valid until", "Colour", "ID"],
        ['"Tea, black"', '"#home; drinks"', "fact", "31.12.2023", "2024-02-01", "brown", "tea-1"],
        ['"Two\nlines"', "", "", "02.01.2024 09:30", "", "", ""],
    ]
    text = "\ufeff" + "\r\n".join(mark.join(row) for row in rows) + "\r\n\r\n"
    first, second = memories(written(tmp_path, "notes.csv", text))

    assert (first.id, first.content, list(first.tags)) == (
        "tea-1",
        "Tea, black",
        ["home", "drinks"],
    )
    assert first.kind == type_pb2.MEMORY_KIND_FACT
    assert first.properties["Colour"] == "brown"
    assert first.valid_from.ToJsonString() == "2023-12-31T00:00:00Z"
    assert first.valid_until.ToJsonString() == "2024-02-01T00:00:00Z"
    assert second.content == "Two\nlines"
    assert second.valid_from.ToJsonString() == "2024-01-02T09:30:00Z"
    assert second.external_id


def test_rows_without_a_text_are_kept_whole(tmp_path: Path) -> None:
    """W8 Such as a list of contacts."""
    (ada,) = memories(written(tmp_path, "people.csv", "Name,Phone\nAda,0170 1\n"))

    assert ada.content == "Name: Ada\nPhone: 0170 1"


def test_rows_of_turns(tmp_path: Path) -> None:
    """W8 With a speaker and a text they are a dialogue."""
    path = written(tmp_path, "talk.csv", "speaker,text,time\nAda,Hi.,1/2/2024 9:05 PM\nBo,Ho.,\n")
    first, second = memories(path)

    assert (first.session_id, first.sources[0].speaker, first.content) == ("talk", "Ada", "Hi.")
    assert first.kind == type_pb2.MEMORY_KIND_TURN
    assert first.valid_from.ToJsonString() == "2024-02-01T21:05:00Z"
    assert second.content == "Ho."


def test_a_bad_row_stops_no_other(tmp_path: Path) -> None:
    """W8 M6 Each with its line."""
    text = "content,kind\nGood,fact\nOne,two,three\nx,y,z\nGood too,\n"
    found = list(read(written(tmp_path, "x.csv", text), Format.AUTO))

    assert [type(each) for each in found] == [Draft, Defect, Defect, Draft]
    assert [each.line for each in found if isinstance(each, Draft | Defect)] == [2, 3, 4, 5]


def test_a_column_of_lineage(tmp_path: Path) -> None:
    """T2 W8 As front matter names other memories; a row without any replaces none."""
    rows = 'content,supersedes\nNew,"a, [[memory:b]]"\nOther,\n'
    new, other = memories(written(tmp_path, "x.csv", rows))

    assert new.content == "New\n\nSupersedes: [[memory:a]], [[memory:b]]"
    assert other.content == "Other"


def test_a_column_of_facts(tmp_path: Path) -> None:
    """W8 M6 As front matter states them; words in another form are a property."""
    rows = "content,facts\nOld,Ada|LIVES_IN|Bonn; Ada|HAS|Cat\nNew,Ada lives in Bremen\n"
    old, new = memories(written(tmp_path, "x.csv", rows))

    assert [(each.subject, each.relation, each.object) for each in old.facts] == [
        ("Ada", "LIVES_IN", "Bonn"),
        ("Ada", "HAS", "Cat"),
    ]
    assert new.properties["facts"] == "Ada lives in Bremen"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('content\nGood\n"Two\nlines"\n"no end', 5),
        ("content\n" + "x" * (1 << 21) + "\n", 2),
        ('"no end', 1),
    ],
)
def test_a_row_that_is_no_csv_is_named_by_its_first_line(
    tmp_path: Path, text: str, line: int
) -> None:
    """W8 M6 The lines before it are remembered."""
    found = read(written(tmp_path, "x.csv", text), Format.AUTO)
    (defect,) = (each for each in found if isinstance(each, Defect))

    assert defect.line == line
    assert defect.reason.startswith("the row that begins here is no CSV: ")


def test_an_export_of_mem0(tmp_path: Path) -> None:
    """W8 Memories with their times, tags, ids and metadata; relations as facts."""
    first, second, relation = memories(SAMPLES / "mem0.json", Origin.MEM0)

    assert first.content == "Ada prefers green tea"
    assert first.external_id == "mem0/6f1c2b1e-0b7e-4a53-9d5e-0a1b2c3d4e5f"
    assert first.valid_from.ToJsonString() == "2025-03-01T17:29:36.630547Z"
    assert list(first.tags) == ["food", "preferences"]
    assert first.properties["user_id"] == "ada"
    assert first.properties["mood"] == "calm"
    assert (second.session_id, second.sources[0].speaker) == ("talk-7", "bo")
    assert [(each.subject, each.relation, each.object) for each in relation.facts] == [
        ("ada", "WORKS_AT", "harbour office")
    ]
    assert relation.content == "ada works at harbour office"
    plain = written(tmp_path, "list.json", json.dumps([{"id": "1", "memory": "Plain."}]))
    assert [each.content for each in memories(plain, Origin.MEM0)] == ["Plain."]


def test_a_graph_of_graphiti(tmp_path: Path) -> None:
    """W8 T1 An edge states its fact while it held, and names its episodes; entities keep theirs."""
    episode, ada, old, new = memories(SAMPLES / "graphiti.json", Origin.GRAPHITI)

    assert episode.content.startswith("Ada: I moved")
    assert ada.content == "Ada: An engineer at the harbour."
    assert old.content == "Ada lives in Bonn"
    assert [(each.subject, each.relation, each.object) for each in old.facts] == [
        ("Ada", "LIVES_IN", "Bonn")
    ]
    assert old.valid_until.ToJsonString() == "2024-05-01T00:00:00Z"
    assert list(new.sources[0].memory_ids) == [episode.id]
    whole = json.loads((SAMPLES / "graphiti.json").read_text())
    lines = "\n".join(json.dumps(each) for each in [*whole["nodes"], *whole["edges"]])
    found = memories(written(tmp_path, "g.jsonl", lines), Origin.GRAPHITI)
    assert [each.content for each in found] == [ada.content, old.content, new.content]


@pytest.mark.parametrize("origin", list(Origin))
@pytest.mark.parametrize("text", ["", "[", "[1, null]", '{"results": [{}]}', '"x"', '{"uuid": 1}'])
def test_what_is_no_export_is_told(tmp_path: Path, origin: Origin, text: str) -> None:
    """W8 M6 Nothing is raised, and nothing is made of it."""
    found = list(read(written(tmp_path, "x.json", text), origin))

    assert not [each for each in found if isinstance(each, Draft)]


@pytest.mark.parametrize(
    ("origin", "export", "reason"),
    [
        (Origin.MEM0, {"results": 5}, "results: a list is expected"),
        (Origin.MEM0, {"results": [], "relations": "x"}, "relations: a list is expected"),
        (Origin.MEM0, [{"memory": "m", "categories": 5}], "categories: a list is expected"),
        (Origin.MEM0, [{"memory": "m", "categories": "abc"}], "categories: a list is expected"),
        (Origin.MEM0, [{"memory": "m", "metadata": "x"}], "metadata: an object is expected"),
        (Origin.MEM0, [{"memory": "m", "created_at": "noon"}], "created_at: no date or time such"),
        (Origin.MEM0, [{"memory": "m", "user_id": math.nan}], "properties: a finite number is"),
        (Origin.GRAPHITI, {"nodes": 5}, "nodes: a list is expected"),
        (
            Origin.GRAPHITI,
            {"edges": [{"uuid": "1", "fact": "f", "episodes": 5}]},
            "episodes: a list is expected",
        ),
        (
            Origin.GRAPHITI,
            {"nodes": [{"uuid": "1", "name": "a", "summary": "b", "attributes": "c"}]},
            "attributes: an object is expected",
        ),
        (
            Origin.GRAPHITI,
            {"edges": [{"uuid": "1", "fact": "f", "valid_at": "noon"}]},
            "valid_at: no date or time such as 2026-03-01T10:00:00Z: 'noon'",
        ),
    ],
)
def test_an_item_of_another_shape_is_told_by_field(
    tmp_path: Path, origin: Origin, export: object, reason: str
) -> None:
    """W8 M6 The field and what is expected there; nothing is raised."""
    (defect,) = read(written(tmp_path, "x.json", json.dumps(export)), origin)

    assert isinstance(defect, Defect)
    assert defect.reason.startswith(reason)
