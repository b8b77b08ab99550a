"""The session of a command: its space, the form of its output, and a client."""

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from functools import update_wrapper
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from concord_attestation.visible import in_json
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from concord_client import credentials
from concord_client.cli.errors import CommandError
from concord_client.cli.render.page import show, text
from concord_client.credentials import Role

if TYPE_CHECKING:
    from concord_client.client import Client

M = TypeVar("M", bound=Message)

SpaceOption = Annotated[
    str | None,
    typer.Option("--space", help='The space to work in; else the one named "default".'),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print the reply as JSON (the protobuf mapping).")
]


STAND_IN = (
    "There is no key of the owner of {space!r}: this is done as its agent. For one: "
    "concord key create --space {space} --principal owner --kind human "
    "--scopes read,write,govern,admin --save"
)


class Party(Enum):
    """The party of a space whose key a command presents."""

    OWNER = "owner"
    AGENT = "agent"

    @property
    def role(self) -> Role:
        """The role in which it calls."""
        return Role[self.name]


@dataclass(frozen=True)
class Globals:
    """The options before the command's name."""

    space: str | None = None
    data: Path | None = None
    as_json: bool = False
    act_as: Party = Party.OWNER


@dataclass(frozen=True)
class Session:
    """The space, output form and environment of one run of a command."""

    space: str | None
    as_json: bool
    environ: Mapping[str, str]
    act_as: Party = Party.OWNER

    @classmethod
    def of(cls, ctx: typer.Context, space: str | None, as_json: bool) -> "Session":
        """The session from the command's own options, which win, and the global ones."""
        given = ctx.find_root().obj
        shared = given if isinstance(given, Globals) else Globals()
        environ: Mapping[str, str] = os.environ
        if shared.data is not None:
            environ = {credentials.DATA_VARIABLE: str(shared.data)}
        return cls(space or shared.space, as_json or shared.as_json, environ, shared.act_as)

    @property
    def space_name(self) -> str:
        """The name of the space in use; signed statements must name it."""
        return credentials.space_in_use(self.space, self.environ)

    @property
    def system_name(self) -> str:
        """The user's name for the system, under which the witness keeps its pins."""
        return credentials.system_name(self.environ)

    def in_space(self, name: str) -> "Session":
        """The same session in another space."""
        return replace(self, space=name)

    @contextmanager
    def client(self, role: Role | None = None) -> Iterator["Client"]:
        """A connected client, closed at the end; without a role, of the party in use."""
        from concord_client.client import Client

        role = role or self.act_as.role
        found = credentials.find(
            url=None, api_key=None, space=self.space, environ=self.environ, role=role
        )
        if found.is_stand_in and sys.stderr.isatty():
            typer.echo(STAND_IN.format(space=self.space_name), err=True)
        with Client(found) as client:
            yield client

    def answer(
        self, reply: M, page: str | Callable[[M], None], missing: CommandError | None = None
    ) -> None:
        """Prints a reply: as JSON, or for people as a sentence or with a function that shows it.

        `missing`: what was asked about does not exist; raised in the place of the page, and after
        the JSON, which is the reply that it is.
        """
        if self.as_json:
            self.reply(reply)
        if missing is not None:
            raise missing
        if self.as_json:
            return
        if isinstance(page, str):
            show(text(page))
        else:
            page(reply)

    def reply(self, message: Message, beside: Mapping[str, object] | None = None) -> None:
        """Prints a reply's protobuf JSON, and the fields `beside` that the command adds."""
        fields = {**MessageToDict(message), **(beside or {})}
        write_line(json.dumps(fields, indent=2, ensure_ascii=False))


SystemSession = Annotated[Session, "of no space of its own"]
"""The session of a command that has no --space."""


class SessionCommands(typer.Typer):
    """Registers commands. One whose first parameter is its session has the options that make it."""

    def command(self, *named: Any, **settings: Any) -> Callable[[Any], Any]:
        """As of `typer.Typer`; the function itself stays as it is written."""
        register = super().command(*named, **settings)

        def registered(command: Callable[..., None]) -> Callable[..., None]:
            register(_with_its_session(command))
            return command

        return registered


def _with_its_session(command: Callable[..., None]) -> Callable[..., None]:
    def in_space(
        ctx: typer.Context, *, space: SpaceOption = None, as_json: JsonOption = False, **given: Any
    ) -> None:
        command(Session.of(ctx, space, as_json), **given)

    def of_the_system(ctx: typer.Context, *, as_json: JsonOption = False, **given: Any) -> None:
        command(Session.of(ctx, None, as_json), **given)

    first, *options = inspect.signature(command).parameters.values()
    if first.annotation is Session:
        return with_options(in_space, command, options)
    if first.annotation == SystemSession:
        return with_options(of_the_system, command, options)
    return command


def with_options(
    run: Callable[..., None],
    command: Callable[..., object],
    options: Iterable[inspect.Parameter],
) -> Callable[..., None]:
    """`run` with the name and help of `command`, and with `options` before its own."""
    ctx, *own, _given = inspect.signature(run).parameters.values()
    parameters = [ctx, *options, *own]
    read: Any = update_wrapper(run, command)  # Typer reads attributes that its type does not know
    read.__signature__ = inspect.Signature(parameters)
    read.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def write_line(line: str) -> None:
    """Writes JSON, unwrapped and uncoloured, to standard output.

    Hidden characters are escaped: the JSON has the same value, and people see each character.
    """
    sys.stdout.write(f"{in_json(line)}\n")


def demand_embedded() -> None:
    """Raises `CommandError` if the package concord-embedded is not installed."""
    if find_spec("concord_embedded") is None:
        raise CommandError("This is the client alone: install concord-embedded for this command.")
