"""Front matter that is not quite YAML, or not for us: the body always comes in."""

from pathlib import Path
from typing import Any

import pytest
from concord.type.v1 import type_pb2
from concord_client.importers.markdown import read_markdown
from concord_client.importers.outcome import Draft, LeftOut
from google.protobuf.json_format import MessageToDict


def read(folder: Path, front: str, mark: str = "---") -> tuple[type_pb2.Memory, list[LeftOut]]:
    """The memory of a note with this front matter, and what was left out."""
    (folder / "n.md").write_text(f"{mark}\n{front}\n{mark}\nThe rye is in.", "utf-8")
    *left, draft = read_markdown(folder)
    assert isinstance(draft, Draft), draft
    assert "The rye is in." in draft.memory.content
    return draft.memory, [each for each in left if isinstance(each, LeftOut)]


@pytest.mark.parametrize(
    ("front", "properties"),
    [
        ("source: Mill: the old one", {"source": "Mill: the old one"}),
        ("people: [[Mia]], [[Jon]]", {"people": "[[Mia]], [[Jon]]"}),
        ("mill: @mia", {"mill": "@mia"}),
        ("mill: *best", {"mill": "*best"}),
        ("mill: %5", {"mill": "%5"}),
        ("mill: `rye`", {"mill": "`rye`"}),
        ('mill: "half', {"mill": '"half'}),
        ("mill:\n  - @mia\n  - Jon: and: Ida", {"mill": ["@mia", "Jon: and: Ida"]}),
        ("mill: [@mia, #rye]", {"mill": ["@mia", "#rye"]}),
        ("mill: {{place}}", {"mill": "{{place}}"}),
        ("up: [[Mill]]", {"up": "[[Mill]]"}),
        ("mill: " + "[" * 5000, {"mill": "[" * 5000}),
        ("kind: recipe", {"kind": "recipe"}),
        ("kind: [fact]", {"kind": ["fact"]}),
        ("importance: 7", {"importance": 7}),
        ("importance: urgent", {"importance": "urgent"}),
        ("tags: {a: b}", {"tags": {"a": "b"}}),
        ("domain: two words", {"domain": "two words"}),
        ("id: 12:30", {"id": "12:30"}),
        ("id: My note!", {"id": "My note!"}),
        ("valid_from: soon", {"valid_from": "soon"}),
        ("valid_from: 5", {"valid_from": 5}),
        ("valid_from: 2026-02-30", {"valid_from": "2026-02-30"}),
        ('valid_until: "9999-12-31T23:00-14:00"', {"valid_until": "9999-12-31T23:00-14:00"}),
        ("created: 0001-01-01T00:00:00+14:00", {"created": "0001-01-01T00:00:00+14:00"}),
        (f"tags: [{', '.join(map(str, range(51)))}]", {"tags": list(range(51))}),
        ("a: !!python/name:os.system x", {"a": "!!python/name:os.system x"}),
        ("open: yes", {"open": "yes"}),
        ("good: 1\nbad: [\nlast: b", {"good": 1, "bad": "[", "last": "b"}),
    ],
)
def test_a_key_is_kept_as_it_is_written(
    tmp_path: Path, front: str, properties: dict[str, Any]
) -> None:
    """W8 What no field can hold, or YAML cannot read, is a property; others keep their place."""
    memory, left = read(tmp_path, front)

    assert MessageToDict(memory.properties) == properties
    assert left == []


@pytest.mark.parametrize(
    ("front", "title", "tags"),
    [
        ("title: Rye: what it costs\ntags: [mill]", "Rye: what it costs", ["mill"]),
        ("title: no\ntags: [yes, on, 2024]", "no", ["yes", "on", "2024"]),
        ("tags:\n  - mill\n  -\n  - rye", "n", ["mill", "rye"]),
        ("tags:\n- @mill\n- '#rye'", "n", ["@mill", "'#rye'"]),
    ],
)
def test_words_that_yaml_reads_otherwise(
    tmp_path: Path, front: str, title: str, tags: list[str]
) -> None:
    """W8 Titles with a colon, yes and no, and empty items of a template's list."""
    memory, left = read(tmp_path, front)

    assert memory.content.startswith(f"# {title}\n")
    assert list(memory.tags) == tags
    assert left == []


@pytest.mark.parametrize(
    ("front", "kinds"),
    [
        ("a line\nmill: @mia", ["line of front matter that is no key"]),
        ("mill: @mia\nmill: b", ["value of a key that stands twice"]),
        ("more: !!binary eA==", ["value that no property can hold"]),
        (f"a: &a {[1] * 200}\nb: [{'*a,' * 99}]", ["value that no property can hold"]),
        ('more: "\\ud800"', ["value that no property can hold"]),
        ("amends: two words", ["note that is not there, in amends"]),
        ("facts: [Mia|HAS|rye, Mia|HAS]", ['fact that is not "SUBJECT|RELATION|OBJECT"']),
        (
            "facts: [" + ", ".join(f"Mia|HAS|{n}" for n in range(12)) + "]",
            ["fact beyond the 10 of a memory"] * 2,
        ),
        ("a: " + "x" * 70_000, ["front matter that is too long"]),
    ],
)
def test_the_rest_is_said(tmp_path: Path, front: str, kinds: list[str]) -> None:
    """W8 What can be neither a field nor a property is listed; the body comes in all the same."""
    _, left = read(tmp_path, front)

    assert [each.kind for each in left] == kinds


def test_toml_and_a_second_block(tmp_path: Path) -> None:
    """W8 As other tools write front matter; a key of both blocks keeps its first value."""
    toml = 'title = "Rye"\ndate = 2024-03-05 # sown\n[mill]\nopen = true'
    memory, left = read(tmp_path, toml, "+++")
    assert memory.content == "# Rye\n\nThe rye is in."
    assert memory.valid_from.ToJsonString() == "2024-03-05T00:00:00Z"
    assert MessageToDict(memory.properties) == {"date": "2024-03-05", "mill": {"open": True}}
    assert [each.text for each in left] == ["# sown"]

    memory, left = read(tmp_path, "tags: rye\nmill: a\n---\n\n---\nmill: b\nkind: plan")
    assert list(memory.tags) == ["rye"]
    assert memory.kind == type_pb2.MEMORY_KIND_PLAN
    assert [each.text for each in left] == ["mill: b"]


@pytest.mark.parametrize(
    ("front", "day"),
    [
        ("date: 2024-01", "2024-01-01"),
        ('date: "2024-01"', "2024-01-01"),
        ("created: 2024/3", "2024-03-01"),
    ],
)
def test_a_month_is_a_time(tmp_path: Path, front: str, day: str) -> None:
    """W8 Its first day."""
    memory, _ = read(tmp_path, front)

    assert memory.valid_from.ToJsonString()[:10] == day


def test_links_in_front_matter_are_links(tmp_path: Path) -> None:
    """W8 M3 In any key, quoted or not; a status names what replaced the note, no more."""
    (tmp_path / "Mill.md").write_text("It turns.")
    listed = 'related:\n  - "[[Bakery|baker]]"\n  - [a](Mill.md)'
    front = f"up: [[Mill]]\n{listed}\nstatus: see [[Mill]]"
    notes = {}
    (tmp_path / "n.md").write_text(f"---\n{front}\n---\nThe rye is in.")
    for each in read_markdown(tmp_path):
        assert isinstance(each, Draft), each
        notes[each.file] = each.memory
    mill = notes["Mill.md"].id

    assert notes["n.md"].content == (
        "# n\n\nThe rye is in.\n\n"
        f"Related: [[memory:{mill}|Mill]], [[Bakery|baker]], [[memory:{mill}|a]]"
    )
    assert [(each.relation, each.object) for each in notes["n.md"].facts] == [
        ("RELATED_TO", "Mill"),
        ("RELATED_TO", "Bakery"),
    ]
    assert notes["n.md"].properties["up"] == "[[Mill]]"
