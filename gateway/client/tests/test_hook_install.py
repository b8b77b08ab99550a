"""`concord hook install`: what it would change in a client's settings, and what it does."""

import json
import os
import shlex
import subprocess
from difflib import unified_diff
from pathlib import Path

import pytest
from concord_client.cli.agents.client_settings import CLIENTS
from concord_client.cli.commands.agents.hook import _write
from concord_client.cli.errors import CommandError
from concord_hook.__main__ import EVENTS
from concord_testing.command_line import CommandLine

OTHERS = {
    "model": "opus",
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "check 'concord-hook"}]},
        ],
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "Mine": [],
    },
    "näme": 1e3,
}


@pytest.fixture
def typed(tmp_path: Path) -> CommandLine:
    """The command line of somebody whose home is empty."""
    return CommandLine({"HOME": str(tmp_path), "CODEX_HOME": None, "CLAUDE_CONFIG_DIR": None})  # type: ignore[dict-item]


@pytest.mark.parametrize("client", CLIENTS)
def test_it_is_shown_first_then_written_then_taken_out(
    client: str, typed: CommandLine, tmp_path: Path
) -> None:
    """S9 W4 The exact change; idempotent; other hooks and settings stay, to the byte at the end."""
    settings = CLIENTS[client]
    path = tmp_path / settings.folder / settings.file
    path.parent.mkdir()
    before = json.dumps(OTHERS, indent="\t", ensure_ascii=False) + "\n"
    path.write_text(before)
    path.chmod(0o640)
    install = ("hook", "install", "--client", client)

    shown = typed.done(*install)
    assert "To write it: the same command with --yes." in shown
    assert path.read_text() == before
    written = typed.done(*install, "--yes")
    after = path.read_text()
    change = [*unified_diff(before.splitlines(), after.splitlines(), n=2, lineterm="")]
    assert shown.splitlines()[2:-1] == written.splitlines()[2:-1] == change[2:]
    found = json.loads(after)
    for event, groups in OTHERS["hooks"].items():  # type: ignore[attr-defined]
        assert found["hooks"][event][: len(groups)] == groups
    for hook in settings.hooks:
        (run,) = found["hooks"][hook.event][-1]["hooks"]
        assert shlex.split(run["command"])[-1] == hook.argument
        assert hook.argument in EVENTS
        assert run["timeout"] == hook.seconds * settings.in_seconds
    assert path.stat().st_mode & 0o777 == 0o640

    assert "Nothing to change" in typed.done(*install, "--yes")
    assert path.read_text() == after
    typed.done(*install, "--yes", "--space", "work")
    assert path.read_text().count("--space work") == len(settings.hooks)
    assert path.read_text().count(" prompt") == 1
    typed.done(*install, "--yes", "--remove")
    assert path.read_text() == before
    assert "Nothing to change" in typed.done(*install, "--yes", "--remove")


def test_a_client_without_settings_gets_some(typed: CommandLine, tmp_path: Path) -> None:
    """S9 Its owner's alone; and none are left when they are taken out."""
    install = ("hook", "install", "--client", "codex", "--yes")
    typed.done(*install, "--no-dialogue", "--imported")

    path = tmp_path / ".codex" / "hooks.json"
    found = json.loads(path.read_text())["hooks"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert "SessionEnd" not in found
    assert " --imported prompt" in found["UserPromptSubmit"][0]["hooks"][0]["command"]
    typed.done(*install, "--remove")
    assert json.loads(path.read_text()) == {}


@pytest.mark.parametrize(
    "content",
    [
        "// mine\n{}",
        "[]",
        '{"hooks": []}',
        '{"hooks": {"SessionStart": {}}}',
        '{"a": 1, "a": 2}',
        "\x00",
    ],
)
def test_what_is_of_no_known_form_is_left_alone(
    content: str, typed: CommandLine, tmp_path: Path
) -> None:
    """S9 Nothing of it is lost, such as one of two names that are the same."""
    path = tmp_path / "settings.json"
    path.write_text(content)

    refused = typed("hook", "install", "--client", "gemini", "--yes", "--file", str(path))
    assert refused.exit_code == 1
    assert "nothing was changed" in refused.stderr
    assert path.read_text() == content


def test_what_changed_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    """S9 A client writes its settings, too."""
    path = tmp_path / "settings.json"
    path.write_text('{"new": 1}')

    with pytest.raises(CommandError, match="changed meanwhile"):
        _write(path, "{}", '{"hooks": {}}')
    assert path.read_text() == '{"new": 1}'


def test_a_linked_file_stays_linked(typed: CommandLine, tmp_path: Path) -> None:
    """S9 Many keep their settings elsewhere, and link them; `--json` says what was done."""
    kept = tmp_path / "dotfiles.json"
    kept.write_text("{}")
    link = tmp_path / "settings.json"
    link.symlink_to(kept)

    said = json.loads(
        typed.done(
            "hook", "install", "--client", "claude-code", "--yes", "--file", str(link), "--json"
        )
    )
    assert link.is_symlink()
    assert "SubagentStart" in kept.read_text()
    assert said["written"] is True
    assert said["file"] == str(kept)
    assert any("SubagentStart" in line for line in said["change"])


def test_what_is_installed_runs_as_a_shell_runs_it(concord: CommandLine, tmp_path: Path) -> None:
    """S9 W4 With the data directory, which a client's environment does not have."""
    concord.done("add", "The lamp of the pier is green.", "--id", f"pier-{tmp_path.name}")
    file = tmp_path / "settings.json"
    concord.done("hook", "install", "--client", "claude-code", "--yes", "--file", str(file))
    command = json.loads(file.read_text())["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
    said = {"session_id": "s", "hook_event_name": "UserPromptSubmit"}
    environ = {"PATH": os.environ["PATH"], "XDG_STATE_HOME": str(tmp_path)}

    for _ in range(5):  # a busy machine may take longer than the hook does
        ended = subprocess.run(
            command,
            shell=True,  # as clients do
            input=json.dumps({**said, "prompt": "Which colour has the lamp of the pier?"}),
            env=environ,
            capture_output=True,
            text=True,
            check=True,
        )
        if ended.stdout:
            break
    assert "The lamp of the pier is green." in ended.stdout
    assert not ended.stderr
