"""`concord hook`: hooks by which a client's agent recalls without asking."""

import difflib
import json
import shlex
import shutil
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from concord_attestation.visible import visible

from concord_client import private_files
from concord_client.cli.agents.client_settings import CLIENTS, PROGRAM, changed
from concord_client.cli.errors import CommandError
from concord_client.cli.render.page import show, text
from concord_client.cli.session import JsonOption, Session, SpaceOption, write_line
from concord_client.credentials import DATA_VARIABLE, KEY_VARIABLE

app = typer.Typer(no_args_is_help=True, help="Have a client's agent recall without asking.")


class Client(Enum):
    """A client whose settings are known."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI = "gemini"


@app.command("install")
def install(
    ctx: typer.Context,
    client: Annotated[Client, typer.Option(help="Whose settings.")],
    *,
    yes: Annotated[
        bool, typer.Option("--yes", help="Write it; without this it is only shown.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take Concord's hooks out.")] = False,
    file: Annotated[
        Path | None,
        typer.Option(help="Another settings file, such as .claude/settings.local.json."),
    ] = None,
    imported: Annotated[
        bool,
        typer.Option(
            "--imported", help="Let what was imported, or written by tools, come up unasked, too."
        ),
    ] = False,
    no_dialogue: Annotated[
        bool, typer.Option("--no-dialogue", help="Store no dialogue at a session's end.")
    ] = False,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what Concord's hooks change in a client's settings, and write it with --yes.

    Other hooks and settings stay as they are. Hooks present the agent's key.
    """
    session = Session.of(ctx, space, as_json)
    settings = CLIENTS[client.value]
    path = (file or settings.path(session.environ)).expanduser().resolve()
    old = _read(path)
    command = None if remove else _command(session, imported=imported)
    try:
        new = changed(old, settings, command, ["session-end"] if no_dialogue else [])
    except CommandError as error:
        raise CommandError(f"{path}: {error}") from None
    if yes and new != old:
        _write(path, old, new)
    lines = [*difflib.unified_diff(old.splitlines(), new.splitlines(), str(path), str(path), n=2)]
    if session.as_json:
        said = {"file": str(path), "change": lines, "written": yes and new != old}
        write_line(json.dumps(said, indent=2, ensure_ascii=False))
        return
    for line in lines:
        write_line(visible(line.rstrip("\n")))
    show(text(_outcome(path, is_changed=new != old, written=yes)))


def _outcome(path: Path, *, is_changed: bool, written: bool) -> str:
    if not is_changed:
        return f"Nothing to change in {path}."
    if written:
        return f"Changed {path}: it holds from the client's next session on."
    return "This is what would change. To write it: the same command with --yes."


def _command(session: Session, *, imported: bool) -> str:
    """The command of the hooks, but for the event: with what the client's environment may lack."""
    beside = Path(sys.executable).with_name(PROGRAM)
    program = str(beside) if beside.exists() else shutil.which(PROGRAM)
    if program is None:
        raise CommandError(f"There is no {PROGRAM} beside {sys.executable} or on the PATH.")
    words = [program]
    if (data := session.environ.get(DATA_VARIABLE)) and not session.environ.get(KEY_VARIABLE):
        words += ["--data", str(Path(data).expanduser().absolute())]
    if session.space:
        words += ["--space", session.space]
    return shlex.join([*words, *(["--imported"] if imported else [])])


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeError as error:
        raise CommandError(f"{path} is not UTF-8: nothing was changed.") from error


def _write(path: Path, old: str, new: str) -> None:
    """Replace the file by its new text, unless somebody changed it meanwhile."""
    if _read(path) != old:
        raise CommandError(f"{path} was changed meanwhile: nothing was written. Try again.")
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    private_files.replace(path, new.encode())
    path.chmod(mode)
