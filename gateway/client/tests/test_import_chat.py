"""Transcripts in the forms that people have, whole and damaged."""

import json
from pathlib import Path

import pytest
from concord.type.v1 import type_pb2
from concord_client.importers.chat import read_chat
from concord_client.importers.form import Format
from concord_client.importers.formats import detected
from concord_client.importers.outcome import Defect, Draft
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Told = tuple[str, str, str]


def written(folder: Path, content: object, name: str = "talk.txt") -> Path:
    """A file of text, or of a value as JSON."""
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def memories(path: Path) -> list[type_pb2.Memory]:
    """What a transcript becomes; nothing in it may be defective."""
    outcomes = list(read_chat(path))
    assert [each for each in outcomes if isinstance(each, Defect)] == []
    return [each.memory for each in outcomes if isinstance(each, Draft)]


def turns_read(path: Path) -> list[Told]:
    """Session, speaker and text of every turn."""
    return [(each.session_id, each.sources[0].speaker, each.content) for each in memories(path)]


def defects(path: Path) -> list[Defect]:
    """What could not be read."""
    return [each for each in read_chat(path) if isinstance(each, Defect)]


def test_a_turn_becomes_a_memory_of_its_session_speaker_and_time(tmp_path: Path) -> None:
    """M2 M6 Kind TURN; the time it was said is when it began to hold."""
    line = {"session": "s1", "speaker": "Ada", "text": " Hi. ", "time": "2026-03-01T12:00:00+02:00"}

    (memory,) = memories(written(tmp_path, line, "a.jsonl"))

    assert memory.external_id.startswith("chat/s1/")
    assert memory == type_pb2.Memory(
        content="Hi.",
        kind=type_pb2.MEMORY_KIND_TURN,
        session_id="s1",
        sources=[type_pb2.Source(speaker="Ada")],
        valid_from=memory.valid_from,
        external_id=memory.external_id,
        role=type_pb2.TURN_ROLE_PERSON,
    )
    assert memory.valid_from.ToJsonString() == "2026-03-01T10:00:00Z"


@pytest.mark.parametrize(
    ("line", "turn"),
    [
        ({"role": "user", "content": "x"}, ("talk", "user", "x")),
        ({"from": "Ada", "body": "x", "thread_id": 7}, ("7", "Ada", "x")),
        (
            {"conversation": "c", "session": "s", "speaker": "A", "text": "x"},
            ("c/s", "A", "x"),
        ),
        (
            {"author": {"role": "user"}, "content": {"parts": ["x", "y"]}},
            ("talk", "user", "x\n\ny"),
        ),
        (
            {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image"}]},
            ("talk", "user", "x"),
        ),
        (
            {"type": "user", "message": {"role": "user", "content": "x"}, "sessionId": "s"},
            ("s", "user", "x"),
        ),
        ({"role": "user", "name": "Ada", "content": "x"}, ("talk", "Ada", "x")),
    ],
)
def test_json_lines_of_turns_in_the_words_of_many_tools(
    tmp_path: Path, line: dict[str, object], turn: Told
) -> None:
    """M6 Chat transcripts: the names that tools give to session, speaker and text."""
    assert turns_read(written(tmp_path, line, "talk.jsonl")) == [turn]


@pytest.mark.parametrize(
    ("line", "role"),
    [
        ({"role": "user", "name": "Ada", "content": "x"}, "USER"),
        ({"author": {"role": "assistant"}, "content": {"parts": ["x"]}}, "ASSISTANT"),
        ({"sender": "human", "text": "x"}, "USER"),
        ({"from": "Ada", "body": "x"}, "PERSON"),
        ("Assistant: x", "ASSISTANT"),
        ("Ada: x", "PERSON"),
    ],
)
def test_a_turn_has_the_role_that_the_transcript_names(
    tmp_path: Path, line: object, role: str
) -> None:
    """M2 M6 Chats with an assistant are told from dialogues between people."""
    (memory,) = memories(written(tmp_path, line, "talk.txt"))

    assert type_pb2.TurnRole.Name(memory.role) == f"TURN_ROLE_{role}"


@pytest.mark.parametrize(
    ("time", "instant"),
    [
        ("2026-03-01", "2026-03-01T00:00:00Z"),
        ("2026-03-01 09:30", "2026-03-01T09:30:00Z"),
        (1_772_359_200, "2026-03-01T10:00:00Z"),
        (1_772_359_200.5, "2026-03-01T10:00:00.500Z"),
        (1_772_359_200_000, "2026-03-01T10:00:00Z"),
    ],
)
def test_times_are_iso_or_since_1970(tmp_path: Path, time: object, instant: str) -> None:
    """M6 A time without a zone is UTC; large numbers are milliseconds."""
    (memory,) = memories(written(tmp_path, {"role": "u", "text": "x", "ts": time}, "a.jsonl"))

    assert memory.valid_from.ToJsonString() == instant


U, A = {"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}
SILENT = [
    {"role": "system", "content": "Be kind."},
    {"role": "tool", "content": "42"},
    {"role": "assistant", "content": None, "tool_calls": []},
]
TREE = {
    "title": "Trees",
    "current_node": "3",
    "mapping": {
        "0": {"message": None, "parent": None},
        "1": {"message": U, "parent": "0"},
        "2": {"message": {"role": "assistant", "content": "a dropped answer"}, "parent": "1"},
        "3": {"message": A, "parent": "1"},
    },
}


@pytest.mark.parametrize(
    ("document", "sessions"),
    [
        ([U, A], ["chat"]),
        ([*SILENT, U, A], ["chat"]),
        ({"messages": [U, A]}, ["chat"]),
        ({"id": "c-1", "messages": [U, A]}, ["c-1"]),
        ([{"messages": [U, A]}, {"title": "Two", "messages": [U, A]}], ["chat/1", "Two"]),
        ([[U, A], [U, A]], ["chat/1", "chat/2"]),
        ({"conversations": [{"messages": [U, A]}]}, ["chat/1"]),
        ([TREE], ["Trees"]),
        ([{"uuid": "u1", "chat_messages": [U, A]}], ["u1"]),
    ],
)
def test_messages_arrays_and_lists_of_conversations(
    tmp_path: Path, document: object, sessions: list[str]
) -> None:
    """M6 What chats export; instructions and machinery are no dialogue."""
    expected = [(s, *turn) for s in sessions for turn in (("user", "q"), ("assistant", "a"))]

    assert turns_read(written(tmp_path, document, "chat.json")) == expected
    assert turns_read(written(tmp_path, json.dumps(document, indent=1), "chat.txt")) == expected


def test_a_line_may_hold_a_conversation(tmp_path: Path) -> None:
    """M6 JSON Lines of {"messages": [...]}, as people keep them for training."""
    lines = "\n".join(json.dumps({"messages": [U, A]}) for _ in range(2))

    assert [turn[0] for turn in turns_read(written(tmp_path, lines, "t.jsonl"))] == [
        *("t/1", "t/1"),
        *("t/2", "t/2"),
    ]


def test_plain_text_with_and_without_times(tmp_path: Path) -> None:
    """M6 "[time] Speaker: text"; other lines go on with the turn above them."""
    plain = "Ada: Hi Bo.\nhow are you?\n\nSee http://x.y: good.\nBo Li: Fine.\r\nAda:\nBye.\n"
    timed = "[2026-03-01 10:00] Ada: Hi.\nNote: this is still hers.\n[2026-03-01 10:01] Bo: Yes.\n"

    assert turns_read(written(tmp_path, plain)) == [
        ("talk", "Ada", "Hi Bo.\nhow are you?\n\nSee http://x.y: good."),
        ("talk", "Bo Li", "Fine."),
        ("talk", "Ada", "Bye."),
    ]
    first, second = memories(written(tmp_path, timed))
    assert first.content == "Hi.\nNote: this is still hers."
    assert second.valid_from.ToJsonString() == "2026-03-01T10:01:00Z"


TIMED = (
    "[2024-01-01 10:00] Ada: Can you start?\n[2024-01-01 10:01] Bo: Yes.\n{}\n"
    "[2024-01-01 10:03] Bo: Done.\n"
)


@pytest.mark.parametrize(
    "line",
    [
        "Ada: Thanks, and please cancel my subscription.",
        "ada: Thanks.",
        "Bo: And you?",
        "[2024-01-01 10:02 Ada: Half a bracket.",
        "2024-01-01 10:02] Ada: The other half.",
        "2024-01-01 10:02 Ada: None.",
        "10:02 Ada: None.",
        "[2024-01-01 10:02] Ada joined the call",
        "[soon] Ada: Yes.",
    ],
)
def test_no_line_of_one_is_put_into_the_mouth_of_another(tmp_path: Path, line: str) -> None:
    """M2 M6 In a transcript with times a line that may be another's is an error with its place."""
    path = written(tmp_path, TIMED.format(line))

    outcomes = list(read_chat(path))

    assert [each.memory.content for each in outcomes if isinstance(each, Draft)] == [
        *("Can you start?", "Yes.", "Done."),
    ]
    assert [each.line for each in defects(path)] == [3]


@pytest.mark.parametrize(
    "line",
    [
        "Note: bring milk",
        " Ada: is who I quote",
        "Ask Ada: she knows",
        "[1] see 10:20",
        "[laughs]",
        "at 10:02 we left",
        "1. Ada: milk",
    ],
)
def test_what_goes_on_with_the_turn_above(tmp_path: Path, line: str) -> None:
    """M6 Nobody in the transcript has that name, or the line is indented: one turn, two lines."""
    turns = turns_read(written(tmp_path, TIMED.format(line)))

    assert turns[1] == ("talk", "Bo", f"Yes.\n{line}")


def test_lines_whose_time_stands_before_a_dash(tmp_path: Path) -> None:
    """M6 As messengers export them; a date that is none is an error with its place."""
    iso = "2024-01-02, 10:00 - Ada: hi\nthere\n2024-01-02, 10:01 - Bo Li: ho\n"
    local = written(
        tmp_path, "31.01.2024, 10:00 - Ada: hi\n31.02.2024, 10:01 - Bo: ho\nmore\n", "local.txt"
    )

    first, second = memories(written(tmp_path, iso))
    assert (first.content, first.sources[0].speaker) == ("hi\nthere", "Ada")
    assert second.valid_from.ToJsonString() == "2024-01-02T10:01:00Z"
    assert [(each.line, each.reason) for each in defects(local)] == [
        (2, "no date or time such as 2026-03-01T10:00:00Z: '31.02.2024 10:01'"),
    ]


WHATSAPP = {
    "31.12.23, 21:15 - {}": ("2023-12-31T21:15:00Z", "2024-01-02T21:15:00Z"),
    "[31.12.2023, 21:15:03] {}": ("2023-12-31T21:15:03Z", "2024-01-02T21:15:03Z"),
    "31/12/2023, 21:15 - {}": ("2023-12-31T21:15:00Z", "2024-01-02T21:15:00Z"),
    "12/31/23, 9:15\u202fPM - {}": ("2023-12-31T21:15:00Z", "2024-01-02T21:15:00Z"),
    "\u200e[12/31/23, 9:15:03 PM] {}": ("2023-12-31T21:15:03Z", "2024-01-02T21:15:03Z"),
    "2023/12/31, 21:15 - {}": ("2023-12-31T21:15:00Z", "2024-01-02T21:15:00Z"),
}


@pytest.mark.parametrize("form", WHATSAPP)
def test_chats_as_a_messenger_exports_them(tmp_path: Path, form: str) -> None:
    """W8 Dates of any country, names with emoji and numbers; what it says itself is left out."""
    later = form.replace("31.12.2023", "02.01.2024").replace("31.12.23", "02.01.24")
    later = later.replace("31/12/2023", "02/01/2024").replace("12/31/23", "1/2/24")
    later = later.replace("2023/12/31", "2024/01/02")
    lines = [
        *([form.format("Messages are end-to-end encrypted.")] if " - " in form else []),
        form.format("Ada 🌸: Hello: you\nthere"),
        form.format("+49 170 1234567: <Media omitted>"),
        *([later.format("Ada added Bo")] if " - " in form else []),
        later.format("~ Bo Li: Hi."),
    ]
    first, second = memories(written(tmp_path, "\n".join(lines)))

    assert (first.content, first.sources[0].speaker) == ("Hello: you\nthere", "Ada 🌸")
    assert (second.content, second.sources[0].speaker) == ("Hi.", "~ Bo Li")
    times = (first.valid_from.ToJsonString(), second.valid_from.ToJsonString())
    assert times == WHATSAPP[form]


@pytest.mark.parametrize(
    ("dates", "days"),
    [
        (("03/04/2024", "05/04/2024"), ("2024-04-03", "2024-04-05")),
        (("11/03/2024", "02/04/2024"), ("2024-03-11", "2024-04-02")),
        (("03/11/2024", "04/02/2024"), ("2024-03-11", "2024-04-02")),
        (("3/4/24", "3/4/24"), ("2024-03-04", "2024-03-04")),
        (("3/4/24", "4/13/24"), ("2024-03-04", "2024-04-13")),
    ],
)
def test_a_day_that_may_be_a_month(
    tmp_path: Path, dates: tuple[str, str], days: tuple[str, str]
) -> None:
    """W8 The file's other lines decide: numbers over 12, else that time goes forward."""
    text = "\n".join(f"{date}, 10:00 - Ada: {date}" for date in dates)

    times = [each.valid_from.ToJsonString()[:10] for each in memories(written(tmp_path, text))]
    assert tuple(times) == days


def test_each_line_before_the_first_turn_has_its_place(tmp_path: Path) -> None:
    """M6 One error a line, and none takes another's."""
    path = written(tmp_path, "A heading\n\nanother one\nAda: Hi.\nyes\n")

    assert [each.line for each in defects(path)] == [1, 3]


def test_what_a_messenger_notes_in_json_is_nobodys_word(tmp_path: Path) -> None:
    """W8 Calls, stickers and pictures of its export are left out; an empty text is told."""
    said = {"type": "message", "date": "2024-02-27T21:50:00", "from": "Ada"}
    messages = [
        {**said, "text": "Hi."},
        {**said, "text": "", "media_type": "sticker", "file": "a.webp"},
        {**said, "text": [{"type": "link", "text": "http://x.y"}], "photo": "b.jpg"},
        {**said, "type": "service", "action": "phone_call", "text": ""},
        {**said, "text": ""},
    ]
    path = written(tmp_path, {"name": "Bo", "messages": messages}, "result.json")
    turns = [each.memory for each in read_chat(path) if isinstance(each, Draft)]

    assert [each.content for each in turns] == ["Hi.", "http://x.y"]
    assert [each.reason for each in defects(path)] == ["the content is empty"]


def test_external_ids_stay_when_a_transcript_grows_or_moves(tmp_path: Path) -> None:
    """M5 M6 Every turn has an id of its own, and the same one in the file's next version."""
    turns = [{"session": "s", "role": "u", "text": text} for text in ("ok", "no", "ok", "ok")]
    before = memories(written(tmp_path, "\n".join(map(json.dumps, turns)), "a.jsonl"))
    turns.insert(1, {"session": "s", "role": "u", "text": "well"})
    turns.append({"session": "s", "role": "u", "text": "new"})
    after = memories(written(tmp_path, "\n".join(map(json.dumps, turns)), "moved.jsonl"))

    ids = [memory.external_id for memory in after]
    assert len(set(ids)) == 6
    assert [memory.external_id for memory in before] == [ids[0], ids[2], ids[3], ids[4]]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"role": "user"', "not JSON: Expecting ',' delimiter, at column 16"),
        ("5", "neither a list of messages nor an object"),
        ('{"role": "user"}', "no text"),
        ('{"text": "x"}', "no speaker"),
        ('{"role": "user", "text": 5}', "text: a text is expected"),
        ('{"role": "user", "text": "  "}', "the content is empty"),
        ('{"role": ["user"], "text": "x"}', "speaker: a text is expected"),
        ('{"role": "user", "text": "x", "time": "8 May"}', "time: no date or time such as "),
        ('{"role": "user", "text": "x", "time": true}', "no date or time"),
        ('{"role": "user", "text": "x", "time": 1e300}', "no date or time"),
        ('{"role": "user", "text": "\\ud800"}', "half of a character"),
        ('{"role": "user", "text": "a\\u0000b"}', "NUL"),
        (json.dumps({"role": "u" * 257, "text": "x"}), "the speaker has 257 characters"),
        (json.dumps({"role": "u", "session": "s\n", "text": "x", "chat": 1}), ""),
        (json.dumps({"role": "u", "text": "x" * 20_001}), "the content has 20001 characters"),
        ("[" * 5000, "nested too deeply"),
        ('{"role": "u", "text": ' + "[" * 600 + "]" * 600 + "}", "nested too deeply"),
    ],
)
def test_a_bad_turn_is_told_and_the_others_are_read(tmp_path: Path, line: str, reason: str) -> None:
    """M6 One defect with its line; the lines around it are turns."""
    good = json.dumps({"role": "user", "text": "good"})
    outcomes = list(read_chat(written(tmp_path, f"{good}\n{line}\n{good}\n", "t.jsonl")))

    bad = [each for each in outcomes if isinstance(each, Defect)]
    if not reason:  # white space around a name is no part of it
        assert bad == []
        return
    assert [(each.place, reason in each.reason) for each in bad] == [
        (f"{tmp_path}/t.jsonl:2", True)
    ], bad
    assert len(outcomes) == 3


def test_damage_in_documents_and_text_is_told_with_its_place(tmp_path: Path) -> None:
    """M6 What lines cannot tell is told by conversation and message."""
    document = written(
        tmp_path, [{"messages": [U, {"role": "user"}, 7]}, {"messages": [A]}], "d.json"
    )
    broken = written(tmp_path, '[{"role": "user",\n', "b.json")
    plain = written(tmp_path, "a heading\nAda: Hi.\n[noon] Bo: Hm.\n", "p.txt")
    latin = tmp_path / "l.txt"
    latin.write_bytes(b"Ada: Hi.\nBo: caf\xe9\n")

    assert [(each.place, each.reason.partition(":")[0]) for each in defects(document)] == [
        (f"{document}, conversation 1, message 2", "no text"),
        (f"{document}, conversation 1, message 3", "no message"),
    ]
    assert [each.place for each in defects(broken)] == [f"{broken}:2"]
    assert [(each.line, each.reason) for each in defects(plain)] == [
        (1, 'no "Speaker: text"'),
        (3, "no date or time such as 2026-03-01T10:00:00Z: 'noon'"),
    ]
    assert defects(latin) == [Defect(str(latin), 2, "not UTF-8: save the file as UTF-8")]
    assert [each.line for each in defects(tmp_path / "none.txt")] == [0]


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60
)
@given(
    content=st.one_of(
        st.text(),
        st.lists(
            st.dictionaries(
                st.sampled_from(["role", "text", "time", "messages", "mapping", "session"]),
                st.recursive(
                    st.none() | st.integers() | st.floats() | st.text(),
                    lambda inner: (
                        st.lists(inner, max_size=3)
                        | st.dictionaries(st.sampled_from(["role", "text", "parts"]), inner)
                    ),
                    max_leaves=6,
                ),
            ),
            max_size=3,
        ),
    ),
    suffix=st.sampled_from([".txt", ".json", ".jsonl"]),
)
def test_any_file_gives_turns_or_defects(tmp_path: Path, content: object, suffix: str) -> None:
    """M6 Whatever a file holds, reading it raises nothing."""
    text = content if isinstance(content, str) else json.dumps(content)
    path = tmp_path / f"any{suffix}"
    path.write_text(text, "utf-8", "surrogatepass")

    for outcome in read_chat(path):
        assert not isinstance(outcome, Draft) or outcome.memory.content


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("a.jsonl", '{"content": "x"}\n', Format.JSONL),
        ("a.jsonl", '\n{"role": "user", "content": "x"}\n', Format.CHAT),
        ("a.jsonl", '{"messages": []}', Format.CHAT),
        ("a.jsonl", "broken", Format.JSONL),
        ("a.json", '[\n{"role": "user"}]', Format.CHAT),
        ("a.txt", "Ada: Hi.", Format.CHAT),
        ("a", '{"content": "x", "sources": [{"speaker": "Ada"}]}', Format.JSONL),
    ],
)
def test_the_form_of_a_file_is_found(tmp_path: Path, name: str, content: str, form: Format) -> None:
    """M6 `--format auto` tells memories from turns, and notes from both."""
    assert detected(written(tmp_path, content, name)) is form
    assert detected(tmp_path) is Format.MARKDOWN
