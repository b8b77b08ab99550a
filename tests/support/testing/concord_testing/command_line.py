"""The command line in the test's own process, against a running system."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeVar

import typer.testing
from concord_client.cli.app import app
from google.protobuf.json_format import Parse
from google.protobuf.message import Message
from typer.main import get_command
from typer.testing import CliRunner, Result

M = TypeVar("M", bound=Message)
Unique = Callable[[str], str]
"""What makes an id of a name that no other test uses."""
# The runner builds each command's parser anew for each call, which is most of a command's time.
typer.testing._get_command = cache(get_command)  # type: ignore[attr-defined]


class CommandLine:
    """Runs `concord ...` with the variables of `environ` in place of Concord's own."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ: dict[str, str | None] = dict.fromkeys(
            ("CONCORD_DATA", "CONCORD_URL", "CONCORD_API_KEY", "CONCORD_ACT_AS"), None
        )
        self._environ |= environ

    def __call__(self, *arguments: str, stdin: str | None = None) -> Result:
        """The outcome of a command, whatever its exit status."""
        return CliRunner().invoke(app, list(arguments), env=self._environ, input=stdin)

    def done(self, *arguments: str, stdin: str | None = None) -> str:
        """The output of a command that must succeed and print nothing on standard error.

        Raises `AssertionError`.
        """
        result = self(*arguments, stdin=stdin)
        if result.exit_code or result.stderr:
            raise AssertionError(f"exit status {result.exit_code}: {result.output}")
        return result.stdout

    def reply(self, kind: type[M], *arguments: str, exit_code: int = 0) -> M:
        """The reply that `--json` printed, read back. Raises `AssertionError`."""
        result = self(*arguments, "--json")
        if result.exit_code != exit_code:
            raise AssertionError(f"exit status {result.exit_code}: {result.output}")
        return Parse(result.stdout, kind())
