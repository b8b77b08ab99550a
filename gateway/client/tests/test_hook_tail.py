"""`concord-hook session-end`: the dialogue's tail is stored once, and its facts are offered."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from concord.graph.v1 import dialogue_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_hook import target
from concord_hook.door import Door
from concord_hook.event import Event
from concord_hook.page import tokens
from concord_hook.state import State
from concord_hook.tail import MOST_SENT, MOST_TURNS, keep, read
from concord_testing.command_line import CommandLine, Unique
from concord_testing.up_process import Spawned
from hook_runs import Hook, Say, in_space

FACT = "Ada Lovelace works for the harbour office."
ANSWER = "Good to know."
AT = "2026-11-20T10:00:00.000Z"


def claude(path: Path) -> None:
    """A transcript of Claude Code, with what nobody said."""
    lines = [
        {"type": "summary", "summary": "Harbour"},
        {"type": "user", "isMeta": True, "message": {"content": "caveat"}, "uuid": "m"},
        {"type": "user", "message": {"content": "<command-name>/clear</command-name>"}},
        {"type": "user", "message": {"content": FACT}, "uuid": "a", "timestamp": AT},
        {"type": "assistant", "message": {"content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": ANSWER},
            {"type": "tool_use", "name": "Read", "input": {}}]}, "uuid": "b", "timestamp": AT},
        {"type": "user", "message": {"content": [
            {"type": "tool_result", "content": "secret of a tool"}]}, "uuid": "c"},
        {"type": "assistant", "isSidechain": True, "message": {"content": "a subagent"}},
        {"type": "user", "isCompactSummary": True, "message": {"content": "what was before"}},
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)) + '\n{"type": "user", "mess')


def codex(path: Path) -> None:
    """A rollout of Codex."""

    def said(**payload: str) -> object:
        return {"type": "event_msg", "timestamp": AT, "payload": payload}

    meta = {"type": "session_meta", "timestamp": AT, "payload": {"id": "x"}}
    around = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "env"}]}
    lines = [
        meta,
        {"type": "response_item", "timestamp": AT, "payload": around},
        {
            "type": "event_msg",
            "timestamp": AT,
            "payload": {"type": "user_message", "message": FACT},
        },
        said(type="token_count"),
        said(type="agent_message", message=ANSWER),
    ]
    path.write_text("\n".join(map(json.dumps, lines)))


def gemini(path: Path) -> None:
    """A session of Gemini."""
    messages = [
        {"type": "info", "content": "updated"},
        {"id": "1", "type": "user", "content": [{"text": FACT}], "timestamp": AT},
        {"id": "2", "type": "gemini", "content": ANSWER, "timestamp": AT},
    ]
    path.write_text(json.dumps({"sessionId": "x", "messages": messages}, indent=2))


def stored(say: Say, session: str, count: int) -> list[type_pb2.Memory]:
    """The session's turns, once there are so many: nobody waits for the hook that stores them."""
    until = time.monotonic() + 60
    while True:
        reply = say.concord.reply(
            dialogue_pb2.ListDialogueResponse, "--space", say.space, "dialogue", session
        )
        if len(reply.turns) >= count or time.monotonic() > until:
            return [*reply.turns]
        time.sleep(0.2)


@pytest.mark.parametrize("write", [claude, codex, gemini])
def test_the_tail_is_stored_once_and_its_facts_are_offered(
    write: Callable[[Path], None],
    system: Spawned,
    concord: CommandLine,
    unique: Unique,
    tmp_path: Path,
) -> None:
    """S9 M7 D13 Turns of both speakers with their roles and times; what is offered is not taken."""
    hook, say = in_space(system, concord, unique("tail"), tmp_path)
    write(tmp_path / "dialogue")

    for _ in range(2):  # a session that is resumed ends twice
        assert hook("session-end", "SessionEnd", transcript_path=str(tmp_path / "dialogue")) == ""
        turns = stored(say, "s1", 2)
    assert [each.content for each in turns] == [FACT, ANSWER]
    assert [each.role for each in turns] == [
        type_pb2.TURN_ROLE_USER,
        type_pb2.TURN_ROLE_ASSISTANT,
    ]
    assert turns[0].valid_from.ToJsonString() == "2026-11-20T10:00:00Z"

    until = time.monotonic() + 60
    text = ""
    while not text and time.monotonic() < until:
        text = hook("session-start", "SessionStart", "next")
        time.sleep(0.2)
    assert "stored as no fact" in text
    assert f'Ada Lovelace EMPLOYER harbour office: "{FACT[:-1]}' in text
    assert f"[memory:{turns[0].id}]" in text
    assert not hook("session-start", "SessionStart", "after that")
    listed = concord.reply(memory_pb2.ListMemoriesResponse, "--space", say.space, "list")
    assert not [each for each in listed.memories if each.facts]
    assert not hook.log


def test_a_fact_is_offered_once_however_often_its_session_ends(
    system: Spawned, concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """S9 Sessions are resumed; what is new in one is offered then."""
    hook, say = in_space(system, concord, unique("again"), tmp_path)
    found = target.find(system.environ, say.space, "")
    mine = State(str(hook.folder), "key")
    event = Event(
        json.dumps({"session_id": "s1", "transcript_path": str(tmp_path / "dialogue")}).encode()
    )

    def ended() -> list[str]:
        keep(Door(found, time.monotonic() + 120), mine, event)
        return mine.offered()

    claude(tmp_path / "dialogue")
    assert len(ended()) == 1
    assert ended() == []
    with (tmp_path / "dialogue").open("a") as file:
        more = {"content": "Grace Hopper works for the navy."}
        file.write("\n" + json.dumps({"type": "user", "message": more, "uuid": "z"}) + "\n")
    (line,) = ended()
    assert line.startswith("Grace Hopper EMPLOYER navy")


def test_a_session_that_nobody_spoke_in_is_not_stored(
    system: Spawned, concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """S9 Nothing that an assistant alone said, and no file that is of no form."""
    hook, say = in_space(system, concord, unique("mute"), tmp_path)
    for at, content in enumerate(
        [
            "",
            "[]",
            "{}",
            "no JSON\n{",
            json.dumps({"type": "assistant", "message": {"content": "x"}}),
        ]
    ):
        (tmp_path / f"{at}").write_text(content)
        assert read(str(tmp_path / f"{at}")) == [] or at == 4
        hook("session-end", "SessionEnd", transcript_path=str(tmp_path / f"{at}"))
    hook("session-end", "SessionEnd", transcript_path=str(tmp_path / "none"))

    until = time.monotonic() + 30
    while "FileNotFoundError" not in hook.log and time.monotonic() < until:
        time.sleep(0.1)
    assert not stored(say, "s1", 0)


def test_what_is_offered_and_has_no_room_comes_later(
    system: Spawned, concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """S9 A page holds some lines; none is lost, and none comes twice."""
    hook, say = in_space(system, concord, unique("room"), tmp_path)
    found = target.find(system.environ, say.space, "")
    mine = State(str(hook.folder), f"{found.url} {found.key}")
    lines = [f'Ada LIKES thing {at}: "{"word " * 60}"' for at in range(8)]
    mine.offer(lines)

    shown = []
    for _ in range(4):
        text = hook("session-start", "SessionStart")
        assert tokens(text) <= 400
        shown += [line.strip() for line in text.splitlines() if line.startswith("  Ada")]
    assert shown == [line.strip() for line in lines]


def test_control_characters_are_no_obstacle(
    system: Spawned, concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """S9 A terminal's colours, and halves of characters, in what was typed."""
    hook, say = in_space(system, concord, unique("signs"), tmp_path)
    content = {"content": "red \x1b[31m and \x00 nothing \ud83d \u00fc"}
    (tmp_path / "dialogue").write_text(json.dumps({"type": "user", "message": content}))

    hook("session-end", "SessionEnd", transcript_path=str(tmp_path / "dialogue"))
    (turn,) = stored(say, "s1", 1)
    assert turn.content == "red  [31m and   nothing ? \u00fc"


def test_only_the_end_of_a_long_dialogue_is_read(tmp_path: Path) -> None:
    """S9 Forty turns of at most 20,000 characters, 400 KiB in all, from the last two megabytes."""
    file = tmp_path / "long.jsonl"
    with file.open("w") as writing:
        for at in range(200):
            content = {"content": f"{at} {'x' * (30_000 if at > 180 else 5_000)}"}
            writing.write(json.dumps({"type": "user", "message": content}) + "\n")

    turns = read(str(file))
    assert sum(len(each.content) for each in turns) <= MOST_SENT
    assert 20 < len(turns) < MOST_TURNS
    assert turns[-1].content.startswith("199 ")
    assert max(len(each.content) for each in turns) == 20_000
    file.write_text("\n".join([json.dumps({"type": "user", "message": {"content": "x"}})] * 90))
    assert len(read(str(file))) == MOST_TURNS


def test_the_hook_of_a_sessions_end_holds_nobody(system: Spawned, tmp_path: Path) -> None:
    """S9 Its process ends before anything is asked: clients wait a second at most."""
    hook = Hook(system.environ | {"CONCORD_HTTP_URL": "http://10.255.255.1:9"}, tmp_path)
    claude(tmp_path / "dialogue")

    begin = time.monotonic()
    hook("session-end", "SessionEnd", transcript_path=str(tmp_path / "dialogue"))
    assert time.monotonic() - begin < 10
