"""`concord import` of chats, and imports that stop or are cut off, against a running system."""

import json
import os
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from concord.graph.v1.memory_pb2 import BatchAddMemoriesResponse, GetMemoryResponse
from concord.graph.v1.space_pb2 import CountByTypeRequest
from concord.search.v1.search_pb2 import SearchResponse
from concord.type.v1.type_pb2 import MEMORY_KIND_TURN
from concord_client.client import Client
from concord_client.credentials import find
from concord_testing.command_line import CommandLine, Unique
from concord_testing.up_process import COMMAND, Spawned, spawned

DATA = Path(
    os.environ.get("CONCORD_EVALUATION_DATA") or Path(__file__).parents[4] / "shared" / "data"
)


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """The command line before a system of its own, whose index nobody here waits for."""
    with spawned(tmp_path_factory.mktemp("apart") / "data") as running:
        yield CommandLine(running.environ)
        running.kill()


def lines(path: Path, items: Iterable[Mapping[str, object] | str]) -> str:
    """A file of JSON Lines; a text stands for a line as it is."""
    texts = [each if isinstance(each, str) else json.dumps(each) for each in items]
    path.write_text("\n".join(texts) + "\n", "utf-8")
    return str(path)


def records(name: str) -> list[dict[str, Any]]:
    """The lines of a file of the evaluation data; skips the test where there is none."""
    path = next(
        (each for each in (DATA / name, Path("/work/shared/data") / name) if each.exists()), None
    )
    if path is None:
        pytest.skip(f"SKIPPED: no data at {DATA / name}")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_chat_is_remembered_turn_by_turn(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M2 M6 A transcript becomes turns that search finds with who said it and when."""
    word = unique("capybara").replace("-", "")
    path = tmp_path / f"{unique('talk')}.txt"
    path.write_text(f"[2026-03-01 10:00] Ada: The {word} sleeps.\n[2026-03-01 10:01] Bo: OK.\n")

    first = concord.done("import", str(path))
    found = concord.reply(SearchResponse, "search", word, "--limit", "1").results[0].memory
    memory = concord.reply(GetMemoryResponse, "get", found.id).memory

    assert first == "2 memories: 2 created, 0 unchanged, 0 updated; 0 errors\n"
    assert (memory.kind, memory.session_id) == (MEMORY_KIND_TURN, path.stem)
    assert memory.sources[0].speaker == "Ada"
    assert memory.valid_from.ToJsonString() == "2026-03-01T10:00:00Z"


def test_equal_words_in_a_chat_are_turns_of_their_own(
    apart: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M5 M6 "OK" said twice was said twice; importing again adds nothing, more adds the rest."""
    session = unique("s")
    turns = [{"session": session, "role": "user", "content": "OK"} for _ in range(3)]
    path = lines(tmp_path / "talk.jsonl", turns)

    first = apart.done("import", path, "--no-wait")
    again = apart.done("import", path, "--no-wait")
    grown = lines(tmp_path / "later.jsonl", [*turns, turns[0]])
    more = apart.done("import", grown, "--format", "chat", "--no-wait")

    assert first.startswith("3 memories: 3 created, 0 unchanged")
    assert again.startswith("3 memories: 0 created, 3 unchanged")
    assert more.startswith("4 memories: 1 created, 3 unchanged")


def test_a_format_named_is_the_one_that_is_read(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M6 What another format cannot read is told item by item, with exit status 1."""
    path = lines(tmp_path / "n.jsonl", [{"content": unique("x")}])

    wrong = concord("import", path, "--format", "chat")
    right = concord("import", path, "--format", "jsonl", "--no-wait")
    unknown = concord("import", path, "--format", "sql")

    assert (wrong.exit_code, right.exit_code, unknown.exit_code) == (1, 0, 2)
    assert wrong.stderr == (
        f"{path}:1: ERROR_REASON_FIELD_INVALID: "
        "no speaker: none of speaker, name, role, author, sender, from, user\n"
    )


def test_a_damaged_chat_gives_its_turns_and_a_list(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M6 Errors name the place; what is whole is remembered."""
    session = unique("s")
    talk = [
        {"role": "user", "content": "One."},
        {"role": "user", "content": "Two.", "time": "tomorrow"},
        {"role": "user", "content": "x" * 20_001},
        {"role": "user", "content": "Four."},
    ]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"id": session, "messages": talk}), "utf-8")

    result = concord("import", str(path), "--no-wait")

    assert result.exit_code == 1
    assert result.stdout == "2 memories: 2 created, 0 unchanged, 0 updated; 2 errors\n"
    assert [line.split(": ")[0] for line in result.stderr.splitlines()] == [
        f"{path}, conversation 1, message 2",
        f"{path}, conversation 1, message 3",
    ]


BAD = {
    "unreadable": "not json",
    "against the contract": {"id": "not an id", "content": "x"},
    "against graph's rules": {"content": "Supersedes: [[memory:self]]", "id": "self"},
}


@pytest.mark.parametrize("bad", BAD)
def test_stopping_on_an_error_keeps_what_came_before(
    apart: CommandLine, unique: Unique, tmp_path: Path, bad: str
) -> None:
    """M6 `--stop-on-error`: the first wrong item is told alone, and nothing after it is written."""
    ids = [unique(f"n{number}") for number in range(300)]
    items: list[Mapping[str, object] | str] = [{"id": each, "content": each} for each in ids]
    wrong = BAD[bad]
    items[230:230] = [wrong]  # type: ignore[list-item] # a mapping or a text, as its neighbours
    items += ["not json either"]
    path = lines(tmp_path / "n.jsonl", items)

    stopped = apart("import", path, "--no-wait", "--stop-on-error")
    mended = lines(
        tmp_path / "n.jsonl",
        [each for each in items if isinstance(each, dict) and each is not wrong],
    )
    rest = apart.done("import", mended, "--no-wait", "--stop-on-error")

    assert stopped.exit_code == 1
    assert stopped.stdout == "230 memories: 230 created, 0 unchanged, 0 updated; 1 error\n"
    assert [line.split(": ")[0] for line in stopped.stderr.splitlines()] == [f"{path}:231"]
    assert rest == "300 memories: 70 created, 230 unchanged, 0 updated; 0 errors\n"


def test_an_import_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    """M6 kill -9 in the middle: the same command finishes, without duplicates, and says so."""
    with spawned(tmp_path / "data") as system:
        for total in (800, 3_200, 12_800):  # a busy machine may kill after the end of the first
            path = _notes(tmp_path, total)
            already = _count(system)
            _kill_an_import(system, path, already + 200)
            before = _count(system) - already
            if before < total:
                break
        result = CommandLine(system.environ).done("import", path, "--no-wait")

        assert 200 <= before < total
        assert result == (
            f"{total:,} memories: {total - before:,} created, {before:,} unchanged, 0 updated; "
            "0 errors\n"
        )
        assert _count(system) == already + total


def _notes(folder: Path, total: int) -> str:
    items: Sequence[Mapping[str, object]] = [
        {"content": f"Note {at} of {total}."}
        | ({"external_id": f"k{at} of {total}"} if at % 2 else {})
        for at in range(total)
    ]
    return lines(folder / f"{total}.jsonl", items)


def _kill_an_import(system: Spawned, path: str, count: int) -> None:
    """Kills an import once so many memories are there."""
    command = [*COMMAND, "import", path, "--no-wait"]
    with subprocess.Popen(command, env=system.environ, stdout=subprocess.PIPE) as process:
        while _count(system) < count and process.poll() is None:
            time.sleep(0.01)
        process.kill()


def _count(system: Spawned) -> int:
    target = find(url=None, api_key=None, space=None, environ=system.environ)
    with Client(target) as client:
        return client.space.CountByType(CountByTypeRequest()).memories


def test_real_dialogues_are_imported_and_found(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M6 Long dialogues in sessions, as JSON Lines and as text; a second import adds nothing."""
    turns = [each for each in records("locomo/turns.jsonl") if each["conv"] == "conv-30"]
    run = unique("c")
    path = lines(
        tmp_path / "dialogues.jsonl",
        [
            {"conversation": run, "session": t["session"], "speaker": t["speaker"]}
            | {"time": t["time"], "text": t["text"]}
            for t in turns
        ],
    )
    text = tmp_path / f"{run}-text.txt"
    text.write_text("".join(f"[{t['time']}] {t['speaker']}: {t['text']}\n" for t in turns), "utf-8")

    reply = concord.reply(BatchAddMemoriesResponse, "import", path)
    again = concord.reply(BatchAddMemoriesResponse, "import", path)
    longest = max(turns, key=lambda turn: len(turn["text"]))
    found = concord.reply(SearchResponse, "search", longest["text"], "--limit", "3")
    as_text = concord.reply(BatchAddMemoriesResponse, "import", str(text), "--no-wait")

    assert len(turns) > 300
    assert [len(each.results) for each in (reply, again, as_text)] == [len(turns)] * 3
    assert {each.memory_id for each in again.results} == {each.memory_id for each in reply.results}
    assert longest["text"].strip() in {each.memory.content for each in found.results}


def test_real_chats_with_an_assistant_are_imported(
    apart: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """M6 A list of conversations of messages with roles."""
    run = unique("c")
    chats: dict[str, list[dict[str, str]]] = {}
    for turn in records("beam/turns.jsonl")[:60]:
        message = {"role": turn["role"], "content": turn["text"]}
        chats.setdefault(f"{run}/{turn['chat']}", []).append(message)
    path = tmp_path / "chats.json"
    path.write_text(json.dumps([{"id": k, "messages": v} for k, v in chats.items()]), "utf-8")

    reply = apart.reply(BatchAddMemoriesResponse, "import", str(path), "--no-wait")

    assert len(reply.results) == sum(map(len, chats.values())) == 60
    assert len({each.memory_id for each in reply.results}) == len(reply.results)
