"""How a command fails: one line with the machine's reason and a sentence for people."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from concord_client.cli.render.visible import visible
from concord_client.credentials import CredentialsError

if TYPE_CHECKING:
    from concord_client.refusal import Refused

OUTPUT_FORSAKEN = 141  # 128 and SIGPIPE: what a shell reports of any tool whose reader left

BY_FILE = "concord propose --action FILE (its form: concord propose --help)"
"""How to propose what no command of `concord propose` is for."""


class CommandError(Exception):
    """A command cannot do what was asked; the text says why and what to do."""

    def __init__(self, message: str, *, reason: str = "") -> None:
        """`reason` is a machine reason, where there is one."""
        super().__init__(f"{reason}: {message}" if reason else message)


@contextmanager
def or_propose(command: str) -> Iterator[None]:
    """Says how to propose what was refused because it takes both parties' consent."""
    from concord_client.refusal import Refused

    try:
        yield
    except Refused as refused:
        if refused.reason != "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED":
            raise
        raise CommandError(
            f"{_with_item(refused)}\n  Propose it instead: {command}", reason=refused.reason
        ) from refused


_HINTS = {
    "ERROR_REASON_NODE_HAS_EDGES": "They go with it: --cascade",
    "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED": "What both must agree to: concord propose --help",
}
"""What to do about a refusal, where the command line knows."""


def told() -> tuple[type[Exception], ...]:
    """The exceptions that are told in a line. Evaluated only when something was raised."""
    from concord_client.refusal import Refused
    from concord_client.trust.audit.log import LogInvalid
    from concord_client.trust.keyfiles import KeyFileError
    from concord_client.trust.review import ReviewError
    from concord_client.trust.witness import WitnessError

    papers = (KeyFileError, LogInvalid, ReviewError, WitnessError)
    return (Refused, CredentialsError, CommandError, *papers)


def complaint(error: Exception) -> str:
    """What standard error says about `error`, with nothing in it that does not show."""
    return visible(_complaint(error))


def _complaint(error: Exception) -> str:
    from concord_client.refusal import NotGrpc, Refused, Unreachable

    if isinstance(error, NotGrpc):
        return (
            f"{error.reason}: What answers there does not speak gRPC ({error.message}). Set "
            "CONCORD_URL to Concord's gRPC address, as `concord up` tells it: HTTP has another."
        )
    if isinstance(error, Unreachable):
        return (
            f"{error.reason}: Concord does not answer ({error.message}). "
            "Start it with `concord up`."
        )
    if not isinstance(error, Refused):
        return str(error)
    if error.reason == "ERROR_REASON_INTERNAL" and error.request_id:
        return f"{error.reason}: Concord failed; its log says why (request {error.request_id})."
    # The message may be the first violation in a sentence of its own.
    said = error.message.rstrip(".").replace(": ", " ", 1)
    more = [each for each in error.violations if f"{each.field} {each.description}" != said]
    lines = [f"{error.reason}: {_with_item(error)}"]
    lines += [f"  {each.field}: {each.description}" for each in more]
    lines += [f"  {_HINTS[error.reason]}"] if error.reason in _HINTS else []
    return "\n".join(lines)


def _with_item(refused: "Refused") -> str:
    """The message, and which item it is about where it does not say so itself."""
    item = refused.metadata.get("item_id", "")
    return refused.message if item in refused.message else f"{refused.message}: {item}"


def forsaken() -> None:
    """Lets what is still buffered go where nobody reads, so that the end is quiet."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
