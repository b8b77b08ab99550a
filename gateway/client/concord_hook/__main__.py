"""`concord-hook EVENT`: reads a client's event and prints what the model should know, or nothing.

Whatever fails, it prints nothing and ends with status 0: a memory that is not there must not keep
anybody from work. A line in the log says why.
"""

import _thread
import json
import os
import sys
import time
from collections.abc import Callable, Sequence

LIMIT, LEAST_LIMIT, MOST_LIMIT = 1.0, 0.05, 60.0
"""Seconds for an event that somebody waits for, from the start of the process's own code; the least
and the most that `--within` may say."""
LIMIT_AFTERWARDS = 20.0
"""Seconds for what is stored after a session; nobody waits."""
EVENTS = ("session-start", "prompt", "tool", "subagent-start", "session-end")
USAGE = (
    "usage: concord-hook [--data FOLDER] [--space NAME] [--imported] [--within SECONDS]\n"
    f"                    {{{','.join(EVENTS)}}}\n\n"
    "Reads a client's event as JSON; `concord hook install` sets it up.\n"
)
_BEGIN = time.monotonic()


class UsageError(Exception):
    """The arguments are none that there are."""


class Options:
    """What the command line says."""

    def __init__(self, arguments: Sequence[str]) -> None:
        """Raises `UsageError`."""
        self.data = self.space = self.event = ""
        self.imported = False
        self.within = LIMIT
        given = iter(arguments)
        for each in given:
            if each == "--imported":
                self.imported = True
            elif each in ("--data", "--space"):
                setattr(self, each[2:], next(given, ""))
            elif each == "--within":
                self.within = _seconds(next(given, ""))
            elif each in EVENTS and not self.event:
                self.event = each
            else:
                raise UsageError(each)
        if not self.event:
            raise UsageError("no event")


def _seconds(given: str) -> float:
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not LEAST_LIMIT <= seconds <= MOST_LIMIT:
        raise UsageError(f"--within takes {LEAST_LIMIT:g} to {MOST_LIMIT:g} seconds")
    return seconds


def main() -> int:
    """Answer an event. Always 0."""
    if "--help" in sys.argv[1:] or "-h" in sys.argv[1:]:
        sys.stdout.write(USAGE)
        return 0
    from concord_hook import state, target

    folder = target.state_directory(os.environ)
    event = "?"
    try:
        options = Options(sys.argv[1:])
        event = options.event
        limit = options.within
        if event == "session-end":
            if os.fork():
                return 0  # a client waits a second or so at its end, or not at all
            _detach()
            limit = LIMIT_AFTERWARDS
        until = _BEGIN + limit
        _end_at(until, lambda: state.log(folder, f"{event}: the time of {limit:g} s was over"))
        _answer(options, folder, until)
    except BaseException as error:  # noqa: BLE001 - the promise of the module: silence and status 0
        state.log(folder, f"{event}: {type(error).__name__}: {error}")
    if event == "session-end":
        os._exit(0)  # the fork must not run what its parent registered
    return 0


def _answer(options: Options, folder: str, until: float) -> None:
    from concord_hook import event as events
    from concord_hook import target
    from concord_hook.door import Door
    from concord_hook.state import State

    said = events.Event(sys.stdin.buffer.read(events.MOST_BYTES + 1))
    found = target.find(os.environ, options.space, options.data)
    door, state = Door(found, until), State(folder, f"{found.url} {found.key}")
    if options.event == "session-end":
        from concord_hook import tail

        tail.keep(door, state, said)
        return
    from concord_hook.recall import Recall

    recall = Recall(door, state, imported=options.imported)
    text = getattr(recall, options.event.replace("-", "_"))(said)
    if text:
        specific = {"hookEventName": said.name, "additionalContext": text}
        line = json.dumps({"hookSpecificOutput": specific}) if said.name else text
        os.write(1, f"{line}\n".encode())  # at once: whoever is killed has said all or nothing


def _end_at(until: float, report: Callable[[], None]) -> None:
    """End the process at a time, whatever it does: no name server and no pipe holds it longer."""

    def end() -> None:
        time.sleep(max(until - time.monotonic(), 0))
        report()
        os._exit(0)

    _thread.start_new_thread(end, ())


def _detach() -> None:
    """Let nobody wait for this process: it has a session of its own, and prints nowhere."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


if __name__ == "__main__":
    sys.exit(main())
