"""`concord up`: runs the system until a signal stops it."""

import asyncio
import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvloop
from concord_chassis.server.server import tune_collector

from concord_embedded.credentials import SPACES
from concord_embedded.errors import StartError
from concord_embedded.system import Running, running

SIGNALS = (signal.SIGTERM, signal.SIGINT)

NEXT_STEPS = """
Try, in another terminal:
  {concord} add "Our office is in Hamburg." --id office-1
  {concord} add "Our office is in Bremen now." --id office-2 --supersedes office-1
  {concord} search "where is the office"
  {concord} lineage office-1
  {concord} demo

Ctrl-C stops it; nothing is lost.
"""


def up(
    data_dir: Path,
    port: int,
    *,
    as_json: bool = False,
    began: float | None = None,
    command: str = "concord",
) -> int:
    """Runs the system on `data_dir` until SIGTERM or SIGINT; returns the exit status.

    The status is 0 after a signal, and 1 if it cannot start, with the reason on standard error.
    `began`: the command's start by `time.monotonic`, for the seconds that it prints. `command`:
    how to call the command line for this system, for the printed examples.
    """
    began = time.monotonic() if began is None else began
    try:
        next_steps = "" if as_json else NEXT_STEPS.format(concord=command)
        uvloop.run(_serve(data_dir, port, began, next_steps))
    except StartError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


async def _serve(data_dir: Path, port: int, began: float, next_steps: str) -> None:
    with _stoppable():
        try:
            async with running(data_dir, port, on_parts=_report) as system:
                link = await _page_link(system) if next_steps else ""
                _announce(system, time.monotonic() - began, next_steps, link)
                tune_collector()
                await asyncio.get_running_loop().create_future()  # until a signal cancels this
        except asyncio.CancelledError:
            if next_steps:
                sys.stdout.write("Stopped.\n")


def _report(ready: int, of: int) -> None:
    """Say how far the index is; on standard error, as standard output may be read as JSON."""
    sys.stderr.write(f"Opening the index: {ready:,} of {of:,} spaces.\n")
    sys.stderr.flush()


@contextmanager
def _stoppable() -> Iterator[None]:
    """The first signal cancels the current task, which then drains; a second kills the process."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def on_signal() -> None:
        for each in SIGNALS:
            loop.remove_signal_handler(each)
        if task is not None:
            task.cancel()

    for each in SIGNALS:
        loop.add_signal_handler(each, on_signal)
    try:
        yield
    finally:
        for each in SIGNALS:
            loop.remove_signal_handler(each)


def _rolled_back(system: Running) -> str:
    """The warning about rolled back spaces; empty without any."""
    return "".join(
        f"\nSpace {space}: the graph is older than its audit log. Nothing is proposed or decided"
        f" there. Stop Concord, restore the newer copy of {system.data.graph_store}, and start it"
        " again: what any space writes until then is not in that copy.\n"
        for space in sorted(system.rolled_back)
    )


def _disk_full(system: Running) -> str:
    """The warning that search waits for room on the disk; empty if it does not wait."""
    if not system.disk_full:
        return ""
    return f"\nSearch does not know everything: {system.disk_full}. Then it goes on by itself.\n"


async def _page_link(system: Running) -> str:
    """The line of a link that signs the owner of the first space in; empty if there is none."""
    key = system.owner_keys.get(SPACES[0])
    code = await system.sign_in_code(key) if key and system.sign_in_code else ""
    opens = "opens once, within a minute; then: concord page"
    return f"  page  {system.http_url}/#code={code} ({opens})\n" if code else ""


def _announce(system: Running, seconds: float, next_steps: str, link: str) -> None:
    """Print the addresses: for people if there are next steps to try, else as JSON."""
    data = system.data.root
    if not next_steps:
        reply: dict[str, object] = {
            "url": system.url,
            "httpUrl": system.http_url,
            "data": str(data),
        }
        if system.rolled_back:
            reply |= {"graphRolledBack": sorted(system.rolled_back)}
        if system.disk_full:
            reply |= {"diskFull": system.disk_full}
        sys.stdout.write(json.dumps(reply) + "\n")
    else:
        sys.stdout.write(
            f"Concord is ready ({seconds:.1f} s).\n"
            f"  gRPC  {system.url}\n"
            f"  HTTP  {system.http_url}\n"
            f"{link}"
            f"  data  {data} (keys in credentials.json, log in log/)\n"
            f"{_rolled_back(system)}"
            f"{_disk_full(system)}"
            f"{next_steps}"
        )
    sys.stdout.flush()
