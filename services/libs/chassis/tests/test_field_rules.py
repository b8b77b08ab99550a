"""Every rule of `rules.proto`, a case a line: values that break it, and that just keep it."""

import unicodedata
from datetime import UTC, datetime

import pytest
from chassis_probe import Dynamic, Part, Thing, message_class
from concord_chassis.call.rules import MAX_VIOLATIONS, Rulebook
from google.protobuf.descriptor import Descriptor

NOW = datetime(2026, 11, 21, tzinfo=UTC).timestamp()
BOOK = Rulebook(now=lambda: NOW)

# The fields that a Thing needs to break no rule.
SOUND = {
    "nickname": "n",
    "rank": 0,
    "chosen_color": 1,
    "key": b"k",
    "part": {"title": "t"},
    "parts": [{"title": "t"}],
    "id": "i",
    "given_id": "g",
}


def _found(message: Dynamic) -> list[tuple[str, str]]:
    descriptor: Descriptor = message.DESCRIPTOR
    breaches = BOOK.check_for(descriptor).breaches(message)
    return [(found.field, found.description) for found in breaches]


def _thing(**changes: object) -> Dynamic:
    return Thing(**{**SOUND, **changes})


def _nested(depth: int) -> dict[str, object]:
    """Returns a structure of `depth` levels."""
    return {"a": _nested(depth - 1)} if depth > 1 else {"a": 1}


def _second(year: int) -> dict[str, int]:
    return {"seconds": int(datetime(year, 1, 1, tzinfo=UTC).timestamp())}


BROKEN = [
    ({"text": "a"}, "text", "must have at least 2 characters, has 1"),
    ({"text": "a" * 9}, "text", "must have at most 8 characters, has 9"),
    ({"text": "a\0b"}, "text", "must not contain NUL characters"),
    ({"code": "a1\n"}, "code", "must match [a-z]+\\d?"),
    ({"code": "xa1"[1:] + "!"}, "code", "must match [a-z]+\\d?"),
    ({"code": "a٣"}, "code", "must match [a-z]+\\d?"),  # RE2 counts ASCII digits only
    ({"sentence": " \t\u3000"}, "sentence", "must not be blank"),
    ({"sentence": "a\x1b[31m"}, "sentence", "must not contain control characters"),
    ({"sentence": "a\x85"}, "sentence", "must not contain control characters"),
    ({"nickname": ""}, "nickname", "must not be empty"),
    ({"nickname": None}, "nickname", "must be set"),
    ({"free": "a\0"}, "free", "must not contain NUL characters"),
    ({"free": "a" * 65_537}, "free", "must have at most 65536 characters, has 65537"),
    ({"tags": ["a", ""]}, "tags[1]", "must have at least 1 characters, has 0"),
    ({"tags": ["a", "b", "c", "d", "eeeee"]}, "tags[4]", "must have at most 4 characters, has 5"),
    ({"tags": list("abcdef")}, "tags", "must have at most 5 items, has 6"),
    ({"tags": ["a", "b", "a"]}, "tags", "must not repeat an item"),
    ({"weight": 1.0000001}, "weight", "must be at most 1"),
    ({"weight": -1e-300}, "weight", "must be at least 0"),
    ({"weight": float("nan")}, "weight", "must be a finite number"),
    ({"ratio": 0.2}, "ratio", "must be at most 0.10000000149011612"),
    ({"count": 11}, "count", "must be at most 10"),
    ({"count": -4}, "count", "must be at least -3"),
    ({"rank": None}, "rank", "must be set"),
    ({"loose": float("nan")}, "loose", "must be a finite number"),
    ({"loose": float("-inf")}, "loose", "must be a finite number"),
    ({"color": 7}, "color", "must be a value of concord_chassis_probe.v1.Color"),
    ({"chosen_color": 0}, "chosen_color", "must be set"),
    ({"chosen_color": 9}, "chosen_color", "must be a value of concord_chassis_probe.v1.Color"),
    ({"colors": [1, 1, 3]}, "colors[2]", "must be a value of concord_chassis_probe.v1.Color"),
    ({"colors": [1, 0]}, "colors[1]", "must be set"),
    ({"blob": b"a"}, "blob", "must have at least 2 bytes, has 1"),
    ({"blob": b"abcde"}, "blob", "must have at most 4 bytes, has 5"),
    ({"key": b""}, "key", "must be set"),
    ({"properties": {"a": "x" * 33}}, "properties", "must have at most 40 bytes as JSON, has 41"),
    ({"properties": {"a": "ß" * 17}}, "properties", "must have at most 40 bytes as JSON, has 42"),
    ({"properties": _nested(4)}, "properties", "must not nest deeper than its limit"),
    ({"properties": {"a": [[[1]]]}}, "properties", "must not nest deeper than its limit"),
    ({"properties": {"a": float("nan")}}, "properties", "must hold finite numbers only"),
    ({"properties": {"a": [float("inf")]}}, "properties", "must hold finite numbers only"),
    ({"properties": {"a\0": 1}}, "properties", "must not contain NUL characters"),
    ({"properties": {"a": ["b\0"]}}, "properties", "must not contain NUL characters"),
    ({"extra": _nested(17)}, "extra", "must not nest deeper than its limit"),
    ({"extra": {"a": "x" * 65_529}}, "extra", "must have at most 65536 bytes as JSON, has 65537"),
    ({"when": {"seconds": -62135596801}}, "when", "must be within the years 0001 to 9999"),
    ({"when": {"seconds": 253402300800}}, "when", "must be within the years 0001 to 9999"),
    ({"when": {"nanos": -1000}}, "when", "must be within the years 0001 to 9999"),
    ({"when": {"nanos": 1_000_000_000}}, "when", "must be within the years 0001 to 9999"),
    ({"when": {"nanos": 1500}}, "when", "must be in whole microseconds"),
    ({"seen": {"seconds": int(NOW) + 301}}, "seen", "must not be in the future"),
    ({"mask": {"paths": ["name", "createTime"]}}, "mask", 'must hold paths such as "name" or '),
    ({"mask": {"paths": ["a..b"]}}, "mask", 'must hold paths such as "name" or "source.location"'),
    ({"mask": {"paths": ["a"] * 101}}, "mask", "must have at most 100 paths, has 101"),
    ({"length": {"seconds": 1, "nanos": -1000}}, "length", "must have seconds and nanos of one "),
    ({"length": {"seconds": 315_576_000_001}}, "length", "must be within 10,000 years"),
    ({"length": {"nanos": 1}}, "length", "must be in whole microseconds"),
    ({"part": None}, "part", "must be set"),
    ({"part": {}}, "part.title", "must be set"),
    ({"part": {"title": "toolong"}}, "part.title", "must have at most 5 characters, has 7"),
    (
        {"part": {"title": "t", "parts": [{"title": "u"}, {"title": "v", "parts": [{}]}]}},
        "part.parts[1].parts[0].title",
        "must be set",
    ),
    ({"parts": []}, "parts", "must have at least 1 items, has 0"),
    ({"other_id": "x" * 129}, "other_id", "must have at most 128 characters, has 129"),
    ({"given_id": "x" * 129}, "given_id", "must have at most 128 characters, has 129"),
    ({"given_id": ""}, "given_id", "must be set"),
    ({"parts": [{"title": "a"}, {"title": "a"}]}, "parts", "must not repeat an item"),
    ({"by_name": {"x": {"title": ""}}}, 'by_name["x"].title', "must be set"),
    (
        {"by_name": {name: {"title": "t"} for name in "abc"}},
        "by_name",
        "must have at most 2 items, has 3",
    ),
    ({"labels": {"k": "four"}}, 'labels["k"]', "must have at most 3 characters, has 4"),
    ({"labels": {"k\0": "v"}}, 'labels["k\0"]', "must not contain NUL characters"),
    ({"id": ""}, "id", "must not be empty"),
    ({"id": None}, "reference", "must have one of its members set"),
    ({"numbers": [0] * 10_001}, "numbers", "must have at most 10000 items, has 10001"),
]


@pytest.mark.parametrize(("changes", "field", "description"), BROKEN)
def test_a_broken_rule_is_found_with_its_path(
    changes: dict[str, object], field: str, description: str
) -> None:
    """W1: field rules are options in the contract; a violation names the field and the rule."""
    found = _found(_thing(**changes))

    assert [where for where, _ in found] == [field]
    assert found[0][1].startswith(description)


SOUND_CASES: list[dict[str, object]] = [
    {},
    {"text": ""},  # an empty string passes unless the field is required
    {"text": "ab"},
    {"text": "e\u0301" * 8},  # 16 code points, 8 after NFC
    {"text": "\U0001f600" * 8},
    {"code": ""},
    {"code": "a1"},
    {"sentence": "a\tb\nc\u200d"},
    {"free": "a" * 65_536},
    {"tags": ["aaaa", "b", "c", "d", "e"]},
    {"weight": 1.0},
    {"weight": -0.0},
    {"ratio": 0.1},  # as a 32-bit number it is a little more than 0.1
    {"count": -3},
    {"count": 10},
    {"loose": 1e300},
    {"color": 0},
    {"colors": [1, 1]},
    {"blob": b""},
    {"blob": b"abcd"},
    {"properties": {}},
    {"properties": {"a": "x" * 32}},
    {"properties": {"a": {"b": [None, True, 1.5]}}},
    {"properties": _nested(3)},
    {"extra": _nested(16)},
    {"extra": {"a": "x" * 65_528}},
    {"when": {}},
    {"when": _second(1)},
    {"when": {"seconds": 253402300799, "nanos": 999_999_000}},
    {"seen": {"seconds": int(NOW) + 300}},
    {"mask": {"paths": ["name", "source.location", "*"]}},
    {"length": {"seconds": -1, "nanos": -1000}},
    {"by_name": {"a": {"title": "t"}, "b": {"title": "t"}}},
    {"labels": {"k": "abc"}},
    {"id": None, "name": ""},  # chosen, and not required
    {"numbers": [0] * 10_000},
]


@pytest.mark.parametrize("changes", SOUND_CASES)
def test_what_just_keeps_the_rules_passes(changes: dict[str, object]) -> None:
    """W1: limits are inclusive; a length is the number of code points after NFC."""
    assert _found(_thing(**changes)) == []


def test_length_is_that_of_the_normal_form() -> None:
    """G1: names are in Unicode NFC, so a text and its decomposition have one length."""
    composed = "\u1e69" * 8
    decomposed = unicodedata.normalize("NFD", composed)
    assert len(decomposed) == 24

    assert _found(_thing(text=decomposed)) == []
    assert _found(_thing(text=decomposed + "a")) == [
        ("text", "must have at most 8 characters, has 9")
    ]


def test_a_struct_value_without_a_kind_is_refused() -> None:
    """W1: a Struct must have a JSON form, and a value without a kind has none."""
    thing = _thing()
    thing.properties.fields["a"].SetInParent()

    assert _found(thing) == [("properties", "must not hold a value without a kind")]


def test_up_to_twenty_breaches_are_listed_together() -> None:
    """W1: one refusal lists up to 20 violations of a message."""
    few = _found(_thing(text="a", weight=2, tags=["", "aaaaa"]))
    many = _found(_thing(part={"title": "t", "parts": [{} for _ in range(500)]}))

    mixed = _found(Thing(parts=[{} for _ in range(18)]))

    assert len(mixed) == MAX_VIOLATIONS
    assert [field for field, _ in few] == ["text", "tags[0]", "tags[1]", "weight"]
    assert len(many) == MAX_VIOLATIONS == 20
    assert many[-1] == ("part.parts[19].title", "must be set")


def test_deep_nesting_ends_in_an_answer() -> None:
    """Style: a deeply nested message ends no process. Protobuf itself parses at most 100 levels."""
    part = Part(title="t")
    for _ in range(90):
        part = Part(title="t", parts=[part])

    assert _found(Part.FromString(part.SerializeToString())) == []


def test_an_unset_message_is_not_looked_into() -> None:
    """W1: a message's rules apply only if the message is set."""
    assert _found(message_class("Request")()) == []
