"""Somebody who holds both keys of a space, and what they do at a command line."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from concord.governance.v1 import proposal_pb2
from concord_testing.command_line import CommandLine
from concord_testing.up_process import COMMAND
from google.protobuf.json_format import ParseDict

PASSPHRASE = "correct horse battery"


class Found(Protocol):
    """A system that runs."""

    @property
    def environ(self) -> Mapping[str, str]:
        """The variables by which a command finds it."""
        ...


def environ_of(running: Found, home: Path) -> dict[str, str]:
    """What a user's commands run with, keys and memory of the system being in `home`."""
    return {
        **running.environ,
        "XDG_CONFIG_HOME": str(home / "config"),
        "CONCORD_STATE": str(home / "state.json"),
        "CONCORD_PASSPHRASE": PASSPHRASE,
    }


def enrolled(environ: dict[str, str]) -> CommandLine:
    """The command line of somebody who has made both keys and enrolled them."""
    return begun(CommandLine(environ))


def begun(concord: CommandLine, *space: str) -> CommandLine:
    """A command line that has met a system, made both keys and enrolled them. `space`: options."""
    met(concord, *space)
    concord.done("principal", "create", "--slot", "agent", "--name", "helper")
    concord.done("principal", "create", "--slot", "human", "--name", "ada")
    concord.done("principal", "enrol", *space)
    return concord


def met(concord: CommandLine, *arguments: str) -> CommandLine:
    """A command line that has met the system: the first contact is said aloud, and once."""
    first = concord("principal", "show", *arguments)
    assert first.exit_code == 0, first.output
    assert first.stderr.startswith("FIRST CONTACT"), first.stderr
    return concord


def proposal(concord: CommandLine, *arguments: str) -> proposal_pb2.Proposal:
    """What a `propose` command made."""
    return concord.reply(proposal_pb2.CreateProposalResponse, *arguments).proposal


def approved(concord: CommandLine, number: int, slot: str) -> proposal_pb2.Proposal:
    """A proposal after a slot read it and gave its consent."""
    concord.done("review", str(number), "--as", slot)
    result = concord("approve", str(number), "--as", slot, "--json")
    assert result.exit_code == 0, result.output
    assert "These bytes are signed:" in result.stderr
    return parsed(result.stdout)


def agreed(concord: CommandLine, number: int) -> proposal_pb2.Proposal:
    """A proposal after both principals read it and gave their consent."""
    approved(concord, number, "agent")
    return approved(concord, number, "human")


def parsed(text: str) -> proposal_pb2.Proposal:
    """The proposal in a reply's JSON."""
    return ParseDict(json.loads(text)["proposal"], proposal_pb2.Proposal())


def typed(
    environ: dict[str, str], words: list[str], *arguments: str, columns: int = 0
) -> tuple[int, str]:
    """Exit status and screen of a command on a terminal, on which `words` are typed in turn.

    0 `columns`: the terminal does not know its width.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        [*COMMAND, *arguments],
        env=environ,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,  # /dev/tty of whoever runs the tests is not its terminal
    ) as process:
        os.close(theirs)
        screen = b""
        try:
            while piece := os.read(ours, 65_536):
                screen += piece
                if words and screen.rstrip(b" ").endswith(b":"):  # not after the line was ended
                    os.write(ours, words.pop(0).encode() + b"\n")
        except OSError:  # how Linux says that the other side has closed
            pass
        os.close(ours)
        return process.wait(100), screen.decode()
