"""`concord mcp`: the tools for agents over standard input and output, and their settings."""

import json
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from enum import Enum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from google.protobuf.message import Message

from concord_client.cli.dialectic import LONG_RUN
from concord_client.cli.errors import CommandError
from concord_client.cli.session import Session, SpaceOption, write_line

if TYPE_CHECKING:
    from concord_client.client import AsyncClient

R = TypeVar("R", bound="Message")

app = typer.Typer(invoke_without_command=True, help="Serve the tools for agents (MCP) over stdio.")


class Profile(Enum):
    """The name of a set of tools."""

    DEFAULT = "default"
    GRAPH = "graph"
    GOVERNANCE = "governance"
    DIALECTIC = "dialectic"
    ALL = "all"


ProfileOption = Annotated[Profile, typer.Option(help="Which tools.")]


@app.callback()
def serve(
    ctx: typer.Context, profile: ProfileOption = Profile.DEFAULT, space: SpaceOption = None
) -> None:
    """Serve the tools for agents over standard input and output.

    A client starts it: `concord mcp config` prints what its settings need.
    """
    if ctx.invoked_subcommand is not None:
        return
    if find_spec("concord_mcp") is None:
        raise CommandError("This is the client alone: install concord-mcp for this command.")
    import asyncio

    asyncio.run(_serve(Session.of(ctx, space, False), profile.value))


@app.command("config")
def config(
    ctx: typer.Context, profile: ProfileOption = Profile.GOVERNANCE, space: SpaceOption = None
) -> None:
    """Print what an MCP client's settings need, as JSON: with all the tools of the skill.

    `--profile default` has ten tools, which cost the least tokens.
    """
    session = Session.of(ctx, space, True)
    arguments = ["--space", session.space] if session.space else []
    more = [] if profile is Profile.DEFAULT else ["--profile", profile.value]
    command = shutil.which("concord") or sys.argv[0]
    server: dict[str, object] = {"command": command, "args": [*arguments, "mcp", *more]}
    if data := session.environ.get("CONCORD_DATA"):
        server["env"] = {"CONCORD_DATA": data}
    write_line(json.dumps({"mcpServers": {"concord": server}}, indent=2))


async def _serve(session: Session, profile: str) -> None:
    from concord_mcp import briefing
    from concord_mcp.calls import Refusal
    from concord_mcp.server import INSTRUCTIONS, Context, Tools
    from concord_mcp.tools import PROFILES
    from mcp.server.stdio import stdio_server

    from concord_client import credentials
    from concord_client.cli.agents.signing_tools import signing_tools
    from concord_client.client import AsyncClient

    found = credentials.find(url=None, api_key=None, space=session.space, environ=session.environ)
    async with AsyncClient(found) as client:
        calls = ClientCalls(client)

        async def caller(_context: Context) -> ClientCalls:
            return calls

        try:
            waiting = await briefing.text_of(calls)
        except Refusal as refusal:
            waiting = f"The briefing is not to be had: {refusal.message}"
        own = signing_tools(session) if "smf_approve" in {t.name for t in PROFILES[profile]} else ()
        server = Tools(PROFILES[profile], caller, own).server(f"{INSTRUCTIONS}\n\n{waiting}")
        lines: Any = _lines()  # of the file that the SDK wants it only iterates over the lines
        async with stdio_server(stdin=lines) as (read, write):
            await server.run(read, write, server.create_initialization_options())


async def _lines() -> AsyncIterator[str]:
    """The lines of standard input, each half of a surrogate pair marked."""
    from io import TextIOWrapper

    import anyio
    from concord_mcp.halves import marked

    async for line in anyio.wrap_file(
        TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
    ):
        yield marked(line.encode()).decode()


class ClientCalls:
    """`concord_mcp.calls.Calls` through the client."""

    def __init__(self, client: "AsyncClient") -> None:
        self._client = client

    async def call(self, path: str, request: Message, reply: type[R]) -> R:
        """As `concord_mcp.calls.Calls`."""
        with _refusing():
            return await self._client.call(path, request, reply)

    async def last(self, path: str, request: Message, reply: type[R]) -> R:
        """As `concord_mcp.calls.Calls`."""
        answered = reply()
        replies = self._client.stream(path, request, reply, timeout=LONG_RUN)
        with _refusing():
            async for answered in replies:  # noqa: B007 - the last one is the result
                pass
        return answered


@contextmanager
def _refusing() -> Iterator[None]:
    from concord_mcp.calls import Refusal

    from concord_client.refusal import Refused

    try:
        yield
    except Refused as refused:
        fields = [(each.field, each.description) for each in refused.violations]
        raise Refusal(refused.reason, refused.message, fields) from None
