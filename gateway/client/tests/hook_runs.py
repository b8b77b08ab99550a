"""`concord-hook` as a client runs it: a process, an event on standard input, what it prints."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from concord_testing.command_line import CommandLine
from concord_testing.up_process import Spawned

COMMAND = (sys.executable, "-W", "error", "-m", "concord_hook")
PATIENT = ("--within", "30")
"""A busy machine takes many times as long as a quiet one."""


class Hook:
    """The hooks of one client on one system, with a state folder of their own."""

    def __init__(self, environ: Mapping[str, str], home: Path, *options: str) -> None:
        self.environ = {**environ, "XDG_STATE_HOME": str(home), "HOME": str(home)}
        self.folder = home / "concord" / "hooks"
        self.options = options

    def raw(self, event: str, said: bytes, *options: str) -> str:
        """What it prints: it must end well, with nothing on standard error."""
        ended = subprocess.run(
            (*COMMAND, *PATIENT, *self.options, *options, event),
            input=said,
            env=self.environ,
            capture_output=True,
            timeout=60,
            check=True,
        )
        assert not ended.stderr, ended.stderr
        return ended.stdout.decode()

    def __call__(self, event: str, name: str = "Event", session: str = "s1", **more: object) -> str:
        """The text for the model; "" for none."""
        said = {"session_id": session, "hook_event_name": name, **more}
        printed = self.raw(event, json.dumps(said).encode())
        if not printed:
            return ""
        specific = json.loads(printed)["hookSpecificOutput"]
        assert specific["hookEventName"] == name
        return str(specific["additionalContext"])

    def prompt(self, prompt: str, session: str = "s1") -> str:
        """The text for a prompt."""
        return self("prompt", "UserPromptSubmit", session, prompt=prompt)

    @property
    def log(self) -> str:
        """The log's text."""
        path = self.folder / "hook.log"
        return path.read_text("utf-8") if path.exists() else ""


def in_space(system: Spawned, concord: CommandLine, name: str, home: Path) -> tuple[Hook, "Say"]:
    """The hooks and the command line in a new space of a system."""
    say = Say(concord, name)
    concord.done("space", "create", name, "--save")
    for principal, kind, scopes in (
        ("agent", "agent", "read,write,govern"),
        ("owner", "human", "read,write,govern,admin"),
    ):
        say("key", "create", "--principal", principal, "--kind", kind, "--scopes", scopes, "--save")
    return Hook(system.environ, home, "--space", name), say


class Say:
    """The command line in one space."""

    def __init__(self, concord: CommandLine, space: str) -> None:
        self.concord, self.space = concord, space

    def __call__(self, *arguments: str) -> str:
        """What a command prints; it must succeed."""
        return self.concord.done("--space", self.space, *arguments)


def dead_port() -> dict[str, str]:
    """The environment of an address where nobody listens."""
    return {"CONCORD_HTTP_URL": "http://127.0.0.1:9", "CONCORD_API_KEY": "k", **path()}


def path() -> dict[str, str]:
    """Of the environment the path alone."""
    return {"PATH": os.environ["PATH"]}
