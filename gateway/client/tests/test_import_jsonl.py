import json
import re
from pathlib import Path
from typing import Any

import pytest
from concord.type.v1 import type_pb2
from concord_client.importers.form import Format
from concord_client.importers.formats import detected
from concord_client.importers.jsonl import read_jsonl, with_keys
from concord_client.importers.outcome import MAX_CONTENT, MAX_ITEM_BYTES, Defect, Draft
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file to import."""
    return tmp_path / "memories.jsonl"


def test_each_line_is_a_memory(file: Path) -> None:
    """M6 JSON Lines in the protobuf JSON mapping, in either spelling of the field names."""
    file.write_text(
        '\ufeff{"id": "a", "content": "One.", "kind": "MEMORY_KIND_PLAN", "external_id": "x:1"}\n'
        "\n  \r\n"
        '{"externalId": "x:2", "content": "Zwei \\u00fc", "validFrom": "2014-09-29T00:00:00Z"}',
        encoding="utf-8",
    )
    first, second = read_jsonl(file)

    assert isinstance(first, Draft)
    assert isinstance(second, Draft)
    assert (first.line, second.line) == (1, 4)
    assert first.memory == type_pb2.Memory(
        id="a", content="One.", kind=type_pb2.MEMORY_KIND_PLAN, external_id="x:1"
    )
    assert second.memory.external_id == "x:2"
    assert second.memory.valid_from.ToJsonString() == "2014-09-29T00:00:00Z"


@pytest.mark.parametrize(
    "word", ["plan", "PLAN", "Plan", "MEMORY_KIND_PLAN", "memory_kind_plan", 2]
)
def test_enum_values_are_spelt_as_people_spell_them(file: Path, word: object) -> None:
    """M6 The words of the command line and of exports, in any case, for every enum of a memory."""
    line = {
        "content": "x",
        "kind": word,
        "importance": "High",
        "edgeType": "descriptive",
        "sources": [{"speaker": "Ada", "trust": "VERIFIED"}],
    }
    file.write_text(json.dumps(line))

    (draft,) = read_jsonl(file)

    assert draft == Draft(
        type_pb2.Memory(
            content="x",
            kind=type_pb2.MEMORY_KIND_PLAN,
            importance=type_pb2.IMPORTANCE_HIGH,
            edge_type=type_pb2.EDGE_TYPE_DESCRIPTIVE,
            sources=[type_pb2.Source(speaker="Ada", trust=type_pb2.TRUST_LEVEL_VERIFIED)],
        ),
        str(file),
        1,
    )


def test_other_fields_are_properties(file: Path) -> None:
    """M1 M6 What a line says beside a memory's fields is kept; of numbers every digit."""
    own: dict[str, Any] = {"colour": "red", "n": {"x": [1.5, None, True]}, "big": 2**60 + 1}
    file.write_text(json.dumps({"content": "x", "properties": {"a": "b"}, **own}))

    (draft,) = read_jsonl(file)

    assert isinstance(draft, Draft)
    expected = type_pb2.Memory(content="x")
    expected.properties.update({"a": "b", **own, "big": str(2**60 + 1)})
    assert draft.memory == expected


def test_lineage_of_a_line_becomes_links(file: Path) -> None:
    """T2 M6 A line says what it replaces as front matter does, and graph makes lineage of it."""
    file.write_text(
        '{"content": "In Bremen.", "supersedes": "office-1", "amends": ["a", "[[memory:b]]"]}\n'
        '{"content": "x", "supersedes": {"id": "a"}}\n'
        '{"content": "x", "contradicts": "two words"}\n'
    )

    first, *others = read_jsonl(file)

    assert isinstance(first, Draft)
    assert first.memory.content == (
        "In Bremen.\n\nSupersedes: [[memory:office-1]]\nAmends: [[memory:a]], [[memory:b]]"
    )
    assert not first.memory.properties.fields
    assert [each.reason for each in others if isinstance(each, Defect)] == [
        "supersedes: a text is expected",
        "contradicts: a memory's id, or a list of ids, is expected",
    ]


def test_the_memories_of_a_state_export(file: Path) -> None:
    """M6 G15 A memory's line is one; of what is none the reader says what it is."""
    memory = {"kind": "memory", "memory_kind": "FACT", "id": "a", "content": "x", "among": "1"}
    others = [
        {"kind": "node", "name": "Ada"},
        {"kind": "lineage"},
        {"kind": "relation", "name": "LIKES", "functional": False},
        {"kind": "memory", "erased": "b"},
    ]
    file.write_text("\n".join(map(json.dumps, [memory, *others])))

    first, *defects = read_jsonl(file)

    assert isinstance(first, Draft)
    assert first.memory == type_pb2.Memory(id="a", content="x", kind=type_pb2.MEMORY_KIND_FACT)
    assert [each.reason.partition(":")[0] for each in defects if isinstance(each, Defect)] == [
        *("a node, no memory", "lineage, no memory", "a declared relation, no memory"),
        "erased, no memory",
    ]
    assert detected(file) is Format.JSONL
    file.write_text(json.dumps(others[0]))
    assert detected(file) is Format.JSONL


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "not JSON: Expecting property name enclosed in double quotes, at column 2"),
        (b"[]", 'not a JSON object, such as {"content": "..."}'),
        (b"5", "not a JSON object"),
        (
            b'{"content": "x", "sources": [{}, {"who": 1}]}',
            "sources[1].who: no such field; there are speaker, file, ",
        ),
        (
            b'{"content": "x", "facts": ["Ada|LIVES_IN|Bremen"]}',
            "facts[0]: an object with subject, relation, object, weight, properties, extracted is "
            "expected",
        ),
        (
            b'{"content": "x", "facts": [{"subject": "A", "predicate": "B"}]}',
            "facts[0].predicate: no such field; there are subject, relation, object, ",
        ),
        (
            b'{"content": "x", "facts": [{"subject": "A"}, {"subject": 5}]}',
            "facts[1].subject: a text is expected",
        ),
        (b'{"content": "x", "kind": "plan", "facts": [{"weight": "a"}]}', "facts[0].weight: a num"),
        (
            b'{"content": "x", "facts": [{"subject": "\\ud800"}]}',
            "facts[0].subject: half of a char",
        ),
        (b'{"content": "x", "facts": [null]}', "facts[0]: an object with subject, "),
        (b'{"content": "x", "measured": NaN}', "measured: a finite number is expected"),
        (
            b'{"content": "x", "properties": {"a": 1e999}}',
            "properties: a finite number is expected",
        ),
        (
            b'{"content": "x", "facts": [{"properties": {"a": NaN}}]}',
            "facts[0].properties: a finite number is expected",
        ),
        (b'{"content": "x", "a": 1, "properties": {"a": 2}}', "a: stands in the properties, too"),
        (b'{"content": "x", "content": "y"}', "the key 'content' stands twice"),
        (b'{"content": "x", "kind": "plan", "kind": "fact"}', "the key 'kind' stands twice"),
        (b'{"content": "x", "kind": "song"}', "kind: one of MEMORY_KIND_FACT, "),
        (b'{"content": "x", "kind": "plan", "tags": [1]}', "tags[0]: a text is expected"),
        (b'{"content": 5}', "content: a text is expected"),
        (b'{"content": "x", "kind": "MEMORY_KIND_SONG"}', "kind: one of MEMORY_KIND_FACT, "),
        (
            b'{"content": "x", "validFrom": "yesterday"}',
            "validFrom: a time with its zone is expected",
        ),
        (b'{"content": "x", "validFrom": 5}', "validFrom"),
        (b'{"content": "x", "tags": {"a": 1}}', "tags: a list is expected"),
        (b'{"content": "x", "tags": [1]}', "tags[0]: a text is expected"),
        (b'{"content": "x", "sources": ' + b"[" * 5000, ""),
        (b'{"content": "\xff"}', "not UTF-8 at byte 14: save the file as UTF-8"),
        (b'{"content": "\\ud800"}', ""),
        (b'{"text": "a"}', "content: a text is expected"),
        (b'{"content": " \\n"}', "the content is empty"),
        (
            json.dumps({"content": "x" * (MAX_CONTENT + 1)}).encode(),
            "the content has 20001 characters, at most 20000",
        ),
        (b'{"content": "' + b"x" * MAX_ITEM_BYTES, "the line has more than 1048576 bytes"),
    ],
)
def test_a_bad_line_is_told_and_the_others_are_read(file: Path, line: bytes, reason: str) -> None:
    """M6 One defect with file, line and reason; the lines around it are drafts."""
    good = b'{"content": "good"}'
    file.write_bytes(b"\n".join([good, line, good]) + b"\n")
    before, defect, after = read_jsonl(file)

    assert isinstance(before, Draft)
    assert isinstance(after, Draft)
    assert isinstance(defect, Defect)
    assert (defect.file, defect.line, after.line) == (str(file), 2, 3)
    assert reason in defect.reason
    assert 0 < len(defect.reason) <= 200
    assert "\n" not in defect.reason
    assert not re.search(r"concord\.type|Message type|Failed to|Error|Descriptor", defect.reason)


def test_content_is_counted_in_composed_characters(file: Path) -> None:
    """M1 20,000 characters after NFC, however they are spelt."""
    file.write_text(json.dumps({"content": "u\u0308" * MAX_CONTENT}))

    assert [type(item) for item in read_jsonl(file)] == [Draft]


def test_an_unreadable_file_is_one_defect(tmp_path: Path) -> None:
    """M6 A file that is missing or a folder is told, not raised."""
    missing = list(read_jsonl(tmp_path / "none.jsonl"))
    folder = list(read_jsonl(tmp_path))

    assert missing == [Defect(str(tmp_path / "none.jsonl"), 0, "No such file or directory")]
    assert folder == [Defect(str(tmp_path), 0, "Is a directory")]


NAMES = st.sampled_from([field.json_name for field in type_pb2.Memory.DESCRIPTOR.fields])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(), inner),
    max_leaves=8,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(), st.dictionaries(NAMES, JSON).map(json.dumps)))
def test_any_line_is_a_draft_or_a_defect(file: Path, line: bytes | str) -> None:
    """M6 Whatever a file holds, reading it raises nothing."""
    file.write_bytes(line if isinstance(line, bytes) else line.encode())

    for item in with_keys(read_jsonl(file)):
        assert not isinstance(item, Draft) or item.memory.content
