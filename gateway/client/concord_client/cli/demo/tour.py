"""The tour: runs its steps on a temporary system, and prints commands to try next."""

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf.json_format import MessageToDict

from concord_client.cli.demo import dissonance, governance, recall
from concord_client.cli.demo.stage import DoesNotHold, Stage, Step
from concord_client.cli.errors import CommandError
from concord_client.cli.render.page import show, text
from concord_client.cli.session import write_line
from concord_client.client import Client
from concord_client.credentials import Target

if TYPE_CHECKING:
    from concord_embedded.system import Running

SPACE = "demo"


def run(keep: Path | None, *, as_json: bool) -> int:
    """Runs the tour; returns the exit status, 1 if a claim does not hold.

    The data stays in `keep`, a new or empty directory; without it the data is deleted. With
    `as_json` each step is a line: `step`, `holds`, and the reply's JSON or the failed claim.
    """
    from concord_embedded.errors import StartError
    from concord_embedded.system import running

    try:
        with _directory(keep) as folder:
            if not as_json:
                show(text("Concord, in a minute", "bold"), "A system of its own is starting …")
            holds = asyncio.run(_run(running(folder), as_json))
    except StartError as error:
        raise CommandError(str(error)) from error
    if holds and not as_json:
        _say_what_next(keep)
    return 0 if holds else 1


@contextmanager
def _directory(keep: Path | None) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="concord-demo-") as folder:
            yield Path(folder)
    elif keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise CommandError(f"{keep} is not empty: the demo wants a directory of its own.")
    else:
        yield keep


async def _run(started: "AbstractAsyncContextManager[Running]", as_json: bool) -> bool:
    async with started as system:
        # The steps block, so they run in a thread: the event loop must serve the system.
        return await asyncio.to_thread(walk, system, as_json)


def walk(system: "Running", as_json: bool) -> bool:
    """Runs the steps; returns False at the first with a claim that does not hold."""
    with (
        Client(Target(system.url, system.keys[SPACE])) as client,
        Client(Target(system.url, system.owner_keys[SPACE])) as admin,
    ):
        stage = Stage(client, admin, SPACE, system.enrolment_secrets[SPACE], shown=not as_json)
        steps = [*recall.steps(), *dissonance.steps(), *governance.steps()]
        return all(_take(stage, step, number) for number, step in enumerate(steps, 1))


def _take(stage: Stage, step: Step, number: int) -> bool:
    if stage.shown:
        show("", text(f"{number}. {step.title}", "bold cyan"))
    try:
        reply = step.act(stage)
    except DoesNotHold as error:
        if not stage.shown:
            write_line(json.dumps({"step": step.name, "holds": False, "claim": str(error)}))
        sys.stderr.write(f"This does not hold: {error}.\n")
        return False
    if not stage.shown:
        line = {"step": step.name, "holds": True, "reply": MessageToDict(reply)}
        write_line(json.dumps(line, ensure_ascii=False))
    return True


def _say_what_next(keep: Path | None) -> None:
    show("", text("That was it. Try it yourself:", "bold"))
    if keep is None:
        show("  concord up", '  concord add "Our office is in Hamburg." --id office-1')
    else:
        show(f"  concord up --data {keep}", f"  concord --data {keep} --space {SPACE} status")
    show('  concord search "where is the office"')
