"""The hooks of Concord in the settings file of a client: which there are, added and taken out.

Claude Code, Codex and Gemini have one form: for each event a list of groups, each with a matcher
and commands. A group whose command is `concord-hook` is ours; everything else stays as it is.
"""

import copy
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from concord_client.cli.errors import CommandError

PROGRAM = "concord-hook"
_SECONDS = 5
"""A client's own limit, far above the hook's."""

Json = dict[str, object]


@dataclass(frozen=True)
class Hook:
    """A client's event, and what `concord-hook` is called with at it."""

    event: str
    argument: str
    matcher: str = ""
    """The tools that it is for, as a regular expression; "" = all."""
    seconds: int = _SECONDS


@dataclass(frozen=True)
class Settings:
    """Where a client keeps its hooks, and which of its events matter."""

    folder: str
    """Below the user's home."""
    file: str
    hooks: Sequence[Hook]
    home_variable: str = ""
    """The variable that names another folder, if there is one."""
    in_seconds: int = 1
    """What a second is in its timeouts."""

    def path(self, environ: Mapping[str, str]) -> Path:
        """The path of the file."""
        given = environ.get(self.home_variable)
        return (Path(given).expanduser() if given else Path.home() / self.folder) / self.file


CLIENTS = {
    "claude-code": Settings(
        ".claude",
        "settings.json",
        (
            Hook("SessionStart", "session-start"),
            Hook("UserPromptSubmit", "prompt"),
            Hook("PreToolUse", "tool", "Read|Edit|MultiEdit|Write|NotebookEdit"),
            Hook("PostToolUseFailure", "tool"),
            Hook("SubagentStart", "subagent-start"),
            Hook("SessionEnd", "session-end"),
        ),
        "CLAUDE_CONFIG_DIR",
    ),
    "codex": Settings(
        ".codex",
        "hooks.json",
        (
            Hook("SessionStart", "session-start"),
            Hook("UserPromptSubmit", "prompt"),
            Hook("PreToolUse", "tool", "apply_patch|Edit|Write"),
            Hook("PostToolUse", "tool", "Bash"),
            Hook("SubagentStart", "subagent-start"),
            Hook("SessionEnd", "session-end", seconds=3),
        ),
        "CODEX_HOME",
    ),
    "gemini": Settings(
        ".gemini",
        "settings.json",
        (
            Hook("SessionStart", "session-start"),
            Hook("BeforeAgent", "prompt"),
            Hook("AfterTool", "tool"),
            Hook("SessionEnd", "session-end"),
        ),
        in_seconds=1000,
    ),
}


def changed(old: str, settings: Settings, command: str | None, without: Sequence[str] = ()) -> str:
    """The file's text with our hooks in it, or without any if there is no command.

    `command`: of `concord-hook`, without the event. `without`: arguments that get no hook. What
    need not change does not: the text itself if our hooks are there already. Raises `CommandError`
    for a text that is of no known form.
    """
    found = _read(old)
    made = copy.deepcopy(found)
    hooks = made.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise CommandError("Its `hooks` are no object: nothing was changed.")
    wanted = {} if command is None else {
        hook.event: _group(hook, settings, command)
        for hook in settings.hooks
        if hook.argument not in without
    }  # fmt: skip
    for event in dict.fromkeys((*hooks, *wanted)):
        _settle(hooks, event, wanted.get(event))
    if not hooks and found.get("hooks") != {}:
        del made["hooks"]
    return old if made == found else _written(made, old)


def _settle(hooks: Json, event: str, wanted: Json | None) -> None:
    """Have the wanted group among an event's groups, once, and nothing else of ours."""
    groups = hooks.get(event, [])
    if not isinstance(groups, list):
        raise CommandError(f"Its hooks of {event} are no list: nothing was changed.")
    kept: list[object] = []
    is_there = False
    for group in groups:
        if group == wanted and not is_there:
            kept.append(group)
            is_there = True
        elif (rest := _without_ours(group)) is not None:
            kept.append(rest)
    if wanted is not None and not is_there:
        kept.append(wanted)
    if kept or (event in hooks and not groups):
        hooks[event] = kept
    else:
        hooks.pop(event, None)


def _without_ours(group: object) -> object | None:
    """A group without our commands; None if it had no other."""
    commands = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(group, dict) or not isinstance(commands, list):
        return group
    rest = [each for each in commands if not _is_ours(each)]
    if len(rest) == len(commands):
        return group
    return {**group, "hooks": rest} if rest else None


def _is_ours(hook: object) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    if not isinstance(command, str):
        return False
    try:
        return any(Path(word).name == PROGRAM for word in shlex.split(command))
    except ValueError:  # a quotation that does not end: nothing that we wrote
        return False


def _group(hook: Hook, settings: Settings, command: str) -> Json:
    run: Json = {
        "type": "command",
        "command": f"{command} {hook.argument}",
        "timeout": hook.seconds * settings.in_seconds,
    }
    return {"matcher": hook.matcher, "hooks": [run]} if hook.matcher else {"hooks": [run]}


def _read(text: str) -> Json:
    if not text.strip():
        return {}
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except ValueError as error:
        raise CommandError(f"It is no JSON ({error}): nothing was changed.") from None
    if not isinstance(found, dict):
        raise CommandError("It is no JSON object: nothing was changed.")
    return found


def _once(pairs: list[tuple[str, object]]) -> Json:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return made


def _written(made: Json, old: str) -> str:
    """JSON, indented as the file was."""
    match = re.search(r"\n([ \t]+)\S", old)
    indent = match[1] if match else "  "
    return json.dumps(made, indent=indent, ensure_ascii=False) + "\n"
