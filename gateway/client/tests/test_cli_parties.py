"""Who writes: a person on the terminal, the space's agent, and what either imports (W8)."""

import json
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import concord_client
import pytest
from concord.graph.v1 import memory_pb2, space_pb2
from concord.type.v1 import type_pb2
from concord_client import credentials
from concord_testing.command_line import CommandLine, Unique
from concord_testing.up_process import Spawned
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client


def origin(concord: CommandLine, memory_id: str) -> str:
    """A memory's origin class."""
    read = concord.reply(memory_pb2.GetMemoryResponse, "get", memory_id)
    return type_pb2.Origin.Name(read.memory.origin).removeprefix("ORIGIN_")


def writers(concord: CommandLine, memory_id: str) -> set[str]:
    """The principals of all operations on a memory."""
    reply = concord.reply(space_pb2.ListOperationsResponse, "operations", memory_id)
    return {each.principal for each in reply.operations}


def test_who_adds_on_the_terminal_is_a_person(concord: CommandLine, unique: Unique) -> None:
    """W8 The first `concord add` of a fresh system is its owner's, and shown as a person's."""
    own = unique("bakery")

    added = concord.reply(
        memory_pb2.AddMemoryResponse, "add", f"The bakery {own} opens at six.", "--id", own
    )

    assert added.memory.origin == type_pb2.ORIGIN_HUMAN
    assert writers(concord, own) == {"owner"}
    assert "written by a person" in concord.done("search", f"bakery {own}")


def test_the_agents_key_is_taken_where_it_is_asked_for(
    system: Spawned, concord: CommandLine, unique: Unique
) -> None:
    """W8 By an option before the command, or for all commands of an agent's environment."""
    option, variable = unique("option"), unique("variable")
    concord.done("--act-as", "agent", "add", f"Said with {option}.", "--id", option)
    agent = CommandLine(system.environ | {"CONCORD_ACT_AS": "agent"})
    agent.done("add", f"Said with {variable}.", "--id", variable)

    assert origin(concord, option) == origin(concord, variable) == "AGENT"
    assert writers(concord, option) == writers(concord, variable) == {"agent"}


async def test_what_the_printed_settings_of_mcp_start_writes_as_the_agent(
    system: Spawned, concord: CommandLine, unique: Unique
) -> None:
    """W3 W8 `concord mcp config` prints a command that presents the agent's key."""
    printed = json.loads(concord.done("mcp", "config"))["mcpServers"]["concord"]
    # The variables of whoever starts it do not make the agent a person.
    environ = system.environ | printed.get("env", {}) | {"CONCORD_ACT_AS": "owner"}
    arguments = ["-m", "concord_client", *printed["args"]]
    started = StdioServerParameters(command=sys.executable, args=arguments, env=environ)

    async with Client(stdio_client(started)) as client:
        said = f"Kept over MCP, {unique('kept')}."
        made: Any = await client.call_tool("add_memory", {"content": said})

    assert origin(concord, made.structured_content["id"]) == "AGENT"


def test_a_program_writes_as_the_agent(
    system: Spawned, concord: CommandLine, unique: Unique, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W4 W8 `Concord.connect()` finds the agent's key."""
    own = unique("program")
    monkeypatch.setenv("CONCORD_DATA", str(system.data))

    with concord_client.Concord.connect() as program:
        program.add(f"Kept by {own}.", id=own)

    assert origin(concord, own) == "AGENT"


def test_what_a_person_imports_is_imported_and_theirs(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """W8 Origin IMPORT, whoever imports; the principal is the person."""
    own = unique("note")
    (tmp_path / f"{own}.md").write_text(f"# {own}\n\nThe ferry {own} goes at noon.\n")

    concord.done("import", str(tmp_path / f"{own}.md"))

    (found,) = [
        each
        for each in concord.reply(memory_pb2.ListMemoriesResponse, "list", "--limit", "5").memories
        if own in each.content
    ]
    assert found.origin == type_pb2.ORIGIN_IMPORT
    assert writers(concord, found.id) == {"owner"}


@pytest.fixture
def before(system: Spawned, tmp_path: Path) -> CommandLine:
    """The command line over a `credentials.json` without an owner's key."""
    content = json.loads((system.data / credentials.FILE_NAME).read_text())
    content.pop("owner_keys")
    path = tmp_path / credentials.FILE_NAME
    path.write_text(json.dumps(content), "utf-8")
    return CommandLine(system.environ | {"CONCORD_DATA": str(tmp_path)})


def on_a_terminal(data: Path, *arguments: str) -> str:
    """What a command that succeeds says on a terminal's standard error."""
    master, slave = pty.openpty()
    environ = os.environ | {"CONCORD_DATA": str(data), "COLUMNS": "500"}
    try:
        subprocess.run(
            [sys.executable, "-m", "concord_client", *arguments],
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=slave,
            check=True,
        )
        os.set_blocking(master, False)
        try:
            return os.read(master, 4096).decode()
        except BlockingIOError:
            return ""
    finally:
        os.close(slave)
        os.close(master)


def test_without_an_owners_key_the_agents_is_used_and_a_person_told(
    before: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """W7 W8 Systems of before keep working; the command that a person is told makes the key."""
    first, second = unique("first"), unique("second")
    before.done("add", f"Said {first}.", "--id", first)
    told = on_a_terminal(tmp_path, "get", first)
    assert "There is no key of the owner of 'default'" in told

    command = told.strip().partition("For one: concord ")[2]
    before.done(*shlex.split(command))
    before.done("add", f"Said {second}.", "--id", second)

    assert (origin(before, first), origin(before, second)) == ("AGENT", "HUMAN")
    assert on_a_terminal(tmp_path, "get", second) == ""


def test_a_kept_key_is_found_by_whom_it_is_of(before: CommandLine, tmp_path: Path) -> None:
    """W7 W8 `--save`: a person's is the owner's, unless it only administers; others are the
    programs'."""
    kept: dict[str, set[str]] = {}
    for name, kind, scopes in (
        ("owner_keys", "human", "read,write"),
        ("owner_keys", "human", "read"),
        ("admin_keys", "human", "read,admin"),
        ("keys", "agent", "read,write"),
        ("keys", "system", "read"),
    ):
        former = json.loads((tmp_path / credentials.FILE_NAME).read_text())
        before.done(
            *("key", "create", "--principal", "x", "--kind", kind, "--scopes", scopes, "--save")
        )
        now = json.loads((tmp_path / credentials.FILE_NAME).read_text())
        changed = {field for field in now if now[field] != former.get(field)}
        kept.setdefault(name, set()).update(changed)

    assert kept == {name: {name} for name in ("owner_keys", "admin_keys", "keys")}


def test_whose_words_stand_is_shown_and_filtered(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """W8 What an import reworded of an agent's is the import's words, for good."""
    own = unique("gate")
    concord.done("--act-as", "agent", "add", f"The {own} opens at six.", "--id", own)
    plain = concord.done("get", own)
    notes = tmp_path / "gates.jsonl"
    notes.write_text(json.dumps({"id": own, "content": f"The {own} opens at seven."}) + "\n")
    concord.done("--act-as", "agent", "import", str(notes), "--update")

    assert "words of" not in plain
    assert "words of" in concord.done("get", own)
    assert own in concord.done("list", "--words-of", "import")
    assert own not in concord.done("list", "--words-of", "agent")
    found = concord.done("search", f"when does the {own} open", "--words-of", "import")
    assert "written by an agent; reworded by an import" in found
    concord.done("--act-as", "agent", "update", own, "--content", f"The {own} opens at eight.")
    assert "words of" in concord.done("get", own)
