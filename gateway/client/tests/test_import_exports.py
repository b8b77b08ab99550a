"""Chats as Claude, ChatGPT, Slack, Telegram and messengers of several languages export them."""

import json
from pathlib import Path
from typing import Any

import pytest
from concord.type.v1 import type_pb2
from concord_client.importers.chat import read_chat
from concord_client.importers.chat.records import NOTICE
from concord_client.importers.form import Format
from concord_client.importers.formats import detected
from concord_client.importers.outcome import Defect, Draft, LeftOut, Outcome
from google.protobuf.json_format import MessageToDict


def read(folder: Path, content: Any, name: str = "talk.json") -> list[Outcome]:
    """The outcomes of a transcript."""
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return list(read_chat(path))


def turns(outcomes: list[Outcome]) -> list[type_pb2.Memory]:
    """The turns among outcomes without defects."""
    assert not any(isinstance(each, Defect) for each in outcomes), outcomes
    return [each.memory for each in outcomes if isinstance(each, Draft)]


def left_out(outcomes: list[Outcome]) -> list[str]:
    """The kinds of what was left out."""
    return [each.kind for each in outcomes if isinstance(each, LeftOut)]


U, A = {"role": "user", "content": "Is it done?"}, {"role": "assistant", "content": "Yes."}


@pytest.mark.parametrize(
    "broken",
    [
        {"title": "No messages"},
        {"mapping": {"1": {"message": U}}, "current_node": "9"},
        {"messages": "none"},
        7,
        None,
    ],
)
def test_a_broken_conversation_costs_itself_alone(tmp_path: Path, broken: object) -> None:
    """W8 M6 One error with its place; those around it come in."""
    found = read(tmp_path, [{"messages": [U]}, broken, {"messages": [A]}])

    assert [each.memory.content for each in found if isinstance(each, Draft)] == [
        *("Is it done?", "Yes."),
    ]
    (defect,) = (each for each in found if isinstance(each, Defect))
    assert defect.place == f"{tmp_path}/talk.json, conversation 2"
    assert defect.text == json.dumps(broken)


def test_claudes_blocks_are_its_words(tmp_path: Path) -> None:
    """W8 `content` where `text` is empty, once where both say the same; calls are listed."""
    block: dict[str, Any] = {
        "type": "text",
        "text": "Rye, sir.",
        "citations": [],
        "start_timestamp": None,
    }
    call = {"type": "tool_use", "name": "scales", "input": {"grams": 500}}
    messages = [
        {
            "uuid": "1",
            "sender": "human",
            "text": "",
            "content": [{"type": "text", "text": "What?"}],
        },
        {"uuid": "2", "sender": "assistant", "text": "Rye, sir.", "content": [block, call]},
        {"uuid": "3", "sender": "human", "text": "Hm.", "attachments": [{"file_name": "a.pdf"}]},
    ]
    found = read(tmp_path, [{"uuid": "c", "name": "Bread", "chat_messages": messages}])
    first, second, third = turns(found)

    assert [each.content for each in (first, second, third)] == ["What?", "Rye, sir.", "Hm."]
    assert "content" not in second.properties
    assert MessageToDict(third.properties)["attachments"][0]["file_name"] == "a.pdf"
    assert left_out(found) == ["part of type tool_use"]


def test_slacks_times_and_notices(tmp_path: Path) -> None:
    """W8 `ts` is seconds as a text; who joined is nobody's word; reactions are kept."""
    said = {"type": "message", "user": "U7", "ts": "1709640000.000100"}
    joined = {**said, "subtype": "channel_join", "text": "<@U7> has joined the channel"}
    reactions = [{"name": "bread", "users": ["U8"], "count": 1}]
    found = read(tmp_path, [joined, {**said, "text": "It is out.", "reactions": reactions}])
    (turn,) = turns(found)

    assert (turn.sources[0].speaker, turn.content) == ("U7", "It is out.")
    assert turn.valid_from.ToJsonString() == "2024-03-05T12:00:00.000100Z"
    assert MessageToDict(turn.properties)["reactions"][0]["name"] == "bread"
    assert left_out(found) == [NOTICE]


def test_telegrams_export_of_all_chats(tmp_path: Path) -> None:
    """W8 Each chat a session; entities stand within their sentence, links with their address."""
    said = {"type": "message", "date": "2024-03-05T10:00:00", "from": "Mia"}
    sentence = [
        "Take the ",
        {"type": "italic", "text": "old"},
        " one, see ",
        {"type": "text_link", "text": "here", "href": "https://x.org"},
    ]
    picture = {**said, "text": "", "photo": "photos/1.jpg", "width": 3}
    whole = {
        "about": "Here is the data.",
        "personal_information": {"first_name": "Mia"},
        "chats": {
            "about": "Chats.",
            "list": [
                {
                    "name": "Jon",
                    "type": "personal_chat",
                    "id": 7,
                    "messages": [{**said, "text": sentence}],
                },
                {
                    "type": "saved_messages",
                    "id": 8,
                    "messages": [{**said, "text": "Mine."}, picture],
                },
            ],
        },
        "left_chats": {
            "about": "",
            "list": [{"name": "Old", "id": 9, "messages": [{**said, "text": "x"}]}],
        },
    }
    found = read(tmp_path, whole)
    spoken = turns(found)

    assert [(each.session_id, each.content) for each in spoken] == [
        ("7", "Take the old one, see here (https://x.org)"),
        ("8", "Mine."),
        ("9", "x"),
    ]
    assert MessageToDict(spoken[0].properties)["conversation"]["name"] == "Jon"
    assert left_out(found) == [
        *["field beside the items"] * 4,
        "message with only a photo",
    ]
    assert detected(tmp_path / "talk.json") is Format.CHAT


STAMPS = [
    ("5/3/2024, 2:22 p. m. - {}", "14:22"),
    ("5/3/2024, 2:22\u00a0p.\u00a0m. - {}", "14:22"),
    ("5/3/2024, 2:22 a. m. - {}", "02:22"),
    ("\u200f٥\u200f/٣\u200f/٢٠٢٤، ٢:٢٢ م - {}", "14:22"),
    (
        "[\u0665/\u0663/\u0662\u0660\u0662\u0664\u060c \u0662:\u0662\u0662:\u0661\u0660 \u0635] {}",
        "02:22",
    ),
    ("2024/3/5 下午2:22 - {}", "14:22"),
    ("[2024/3/5 上午2:22:10] {}", "02:22"),
    ("2024. 3. 5. 오후 2:22 - {}", "14:22"),
    ("5/3/2024, 2:22 μ.μ. - {}", "14:22"),
    ("05.03.24, 14.22 - {}", "14:22"),
]


@pytest.mark.parametrize(("stamp", "clock"), STAMPS)
def test_times_of_other_languages(tmp_path: Path, stamp: str, clock: str) -> None:
    """W8 Their digits, commas, halves of the day before or after the clock, and marks."""
    text = f"{stamp.format('Mia: Is it out?')}\n{stamp.format('שרה, the baker: Yes: now.')}\n"
    first, second = turns(read(tmp_path, text, "t.txt"))

    assert first.valid_from.ToJsonString()[:16] == f"2024-03-05T{clock}"
    assert (second.sources[0].speaker, second.content) == ("שרה, the baker", "Yes: now.")


@pytest.mark.parametrize(
    "said",
    [
        "This message was deleted",
        "You deleted this message.",
        "Diese Nachricht wurde gelöscht.",
        "Du hast diese Nachricht gelöscht",
        "Eliminaste este mensaje",
        "\u200eMessages and calls are end-to-end encrypted. Only people in it can read them.",
        "\u200eLos mensajes y las llamadas están cifrados de extremo a extremo.",
        "\u200eMissed voice call",
    ],
)
def test_what_a_messenger_says_in_someones_name(tmp_path: Path, said: str) -> None:
    """W8 Nobody's words, by the mark before them or, where there is none, by their wording."""
    text = f"[05.03.24, 10:00:00] Mia: Hi.\n[05.03.24, 10:01:00] Jon: {said}\n"
    found = read(tmp_path, text, "t.txt")

    assert [each.content for each in turns(found)] == ["Hi."]
    assert left_out(found) == [NOTICE]


@pytest.mark.parametrize(
    "said",
    [
        "\u200ePOLL:\nWhich bread?\n\u200eOPTION: Rye (2 votes)",
        "\u200eLocation: https://x.org",
        "I deleted this message",
        "\u200fשלום",
    ],
)
def test_what_looks_like_it_is_kept(tmp_path: Path, said: str) -> None:
    """W8 Polls and places are somebody's words, though they begin with the mark."""
    text = f"[05.03.24, 10:00:00] Mia: Hi.\n[05.03.24, 10:01:00] Jon: {said}\n"

    assert len(turns(read(tmp_path, text, "t.txt"))) == 2
