"""The report of a failed command: a machine-readable reason and a sentence, on one line."""

import errno
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import unquote

from concord_attestation.visible import visible

from concord_client.credentials import CredentialsError

if TYPE_CHECKING:
    from concord_client.refusal import Refused, Violation

BROKEN_PIPE = 141  # 128 and SIGPIPE, a shell's status for a tool that wrote to a closed pipe

BY_FILE = "concord propose --action FILE (its form: concord propose --help)"
"""The command to propose an action for which `concord propose` has no subcommand."""


class CommandError(Exception):
    """A command fails; the text says why and what to do."""

    def __init__(self, message: str, *, reason: str = "") -> None:
        """`reason`: a machine-readable reason; "" without one."""
        super().__init__(f"{reason}: {message}" if reason else message)


@contextmanager
def or_propose(command: str) -> Iterator[None]:
    """Adds the command that proposes the change to a refusal that demands both consents."""
    from concord_client.refusal import Refused

    try:
        yield
    except Refused as refused:
        if refused.reason != "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED":
            raise
        raise CommandError(
            f"{_with_item(refused)}\n  Propose it instead: {command}", reason=refused.reason
        ) from refused


_NEW_KEY = (
    "A key of this Concord, in CONCORD_API_KEY or with --data: concord key create\n"
    "  Where Concord runs, without a key that opens anything: concord doctor"
)
_HINTS = {
    "ERROR_REASON_CREDENTIAL_INVALID": _NEW_KEY,
    "ERROR_REASON_CREDENTIAL_EXPIRED": _NEW_KEY,
    "ERROR_REASON_NODE_HAS_EDGES": "They go with it: --cascade",
    "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED": "Propose it: concord propose --help",
}
"""Advice of the command line, by reason."""


_CLOSED_SLOT = (
    "Either this key was retired before, or a backup from before a change of key was restored, "
    "which closes that slot: until it has its newer key back, no other key is taken for any slot. "
    "`concord principal show --json` names the closed slot (successorDigests): concord principal "
    "rotate --slot SLOT --key FILE, with the file of the newer key."
)
"""Advice on the failed check "retired_key"."""


_UNREACHABLE = {
    "Failed parsing HTTP/2": "What answers there does not speak gRPC: set CONCORD_URL to Concord's "
    "gRPC address, as `concord up` prints it. HTTP has another.",
    "WRONG_VERSION_NUMBER": "What answers there does not speak TLS: set CONCORD_URL without "
    "https://.",
    "CERTIFICATE_VERIFY_FAILED": "Who issued the certificate there is not known: name the issuer's "
    "PEM file in CONCORD_CA.",
    "address lookup failed": "There is no host of the name in CONCORD_URL.",
    "Socket closed": "What answers there may speak TLS: then CONCORD_URL begins with https://, "
    "and it may ask for CONCORD_CERT and CONCORD_CERT_KEY.",
}
"""Advice on failed connections, by words of gRPC's message, which has no reason."""


def reported_errors() -> tuple[type[Exception], ...]:
    """The exceptions that are reported in a line; imported only after an error was raised."""
    from concord_client.refusal import Refused
    from concord_client.trust.audit.log import LogInvalid
    from concord_client.trust.keyfiles import KeyFileError
    from concord_client.trust.review import ReviewError
    from concord_client.trust.witness import WitnessError

    trust = (KeyFileError, LogInvalid, ReviewError, WitnessError)
    return (Refused, CredentialsError, CommandError, UnicodeEncodeError, *trust)


def error_report(error: Exception) -> str:
    """The report of `error` for standard error, with hidden characters written out."""
    return visible(_report(error))


def _report(error: Exception) -> str:
    from concord_client.refusal import Refused, Unreachable

    if isinstance(error, Unreachable):
        remedies = (said for sign, said in _UNREACHABLE.items() if sign in error.message)
        if remedy := next(remedies, ""):
            return f"{error.reason}: Concord does not answer. {remedy}"
        found = re.search(r"ipv[46]:(\S+): Failed to connect", error.message)
        where = f" at {unquote(found[1])}" if found else f" ({error.message})"
        remedy = "Start it with `concord up`, or set CONCORD_URL to where it runs."
        return f"{error.reason}: Concord does not answer{where}. {remedy}"
    if isinstance(error, UnicodeEncodeError):
        return _not_encoded(error)
    if not isinstance(error, Refused):
        return str(error)
    if error.reason == "ERROR_REASON_INTERNAL" and error.request_id:
        return f"{error.reason}: Concord failed; its log says why (request {error.request_id})."
    place, more = _violations(error)
    lines = [f"{error.reason}: {place}{_with_item(error)}"]
    lines += [f"  {each.field}: {each.description}" for each in more]
    lines += [f"  {_HINTS[error.reason]}"] if error.reason in _HINTS else []
    lines += [f"  {_CLOSED_SLOT}"] if error.metadata.get("check") == "retired_key" else []
    return "\n".join(lines)


def _not_encoded(error: UnicodeEncodeError) -> str:
    """The report of a text that is no UTF-8, or of one that the output's encoding lacks."""
    place = f"character {error.start + 1} of a text"
    if error.reason == "surrogates not allowed":
        return f"What was given is not UTF-8 ({place}): convert it to UTF-8 first."
    return (
        f"The output's encoding, {error.encoding}, has no {error.object[error.start]!a} "
        f"({place}): set PYTHONIOENCODING=utf-8."
    )


def _violations(refused: "Refused") -> "tuple[str, Sequence[Violation]]":
    """The words before the message, and the violations after it.

    A message may have the words of the first violation; then that one gives only its field, unless
    the message names that, too.
    """
    first, *others = refused.violations or (None,)
    if first is None or first.description not in refused.message:
        return "", refused.violations
    is_named = first.field.replace("_", " ") in refused.message.replace("_", " ")
    return "" if is_named or not first.field else f"{first.field}: ", others


def _with_item(refused: "Refused") -> str:
    """The message, with the id of its item at its end unless it has it already."""
    item = refused.metadata.get("item_id", "")
    return refused.message if item in refused.message else with_aside(refused.message, item)


def with_aside(message: str, aside: str) -> str:
    """The message with an aside in parentheses, before its full stop."""
    said = message.removesuffix(".")
    return f"{said} ({aside}){message[len(said) :]}"


def is_lost_output(error: OSError) -> bool:
    """Whether writing to standard output failed: the error names no file, and no room or device."""
    lost = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
    return error.filename is None and error.errno in lost


def discard_output() -> None:
    """Sends buffered output to the null device, so that the interpreter exits quietly."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
