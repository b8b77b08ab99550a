"""What `concord audit verify` believes, and what it finds (A2)."""

import os
from pathlib import Path

from concord_client.audit.log import Pinned, read_log
from concord_client.audit.replay import Findings, Replay
from concord_client.audit.store import Difference, differences, stored_digests
from concord_client.cli.desk import Desk
from concord_client.cli.failing import CommandError
from concord_client.cli.session import Session
from concord_client.keyfiles import decoded
from concord_client.witness import Seen, Witness, state_file

Notes = list[str]
"""Checkpoints that the log must extend, each of them."""


def known(
    session: Session, checkpoint: Path | None, genesis: str, log_key: str
) -> tuple[Pinned, Notes]:
    """What is compared: what was given, else what this client saw before of the same system."""
    seen = _seen(session)
    key = log_key or seen.log_key
    try:
        pinned = Pinned(
            log_key=(decoded(key) if key else None),
            genesis_digest=genesis or seen.genesis_digest or None,
        )
        given = [checkpoint.read_text("utf-8")] if checkpoint else []
    except (OSError, ValueError) as error:
        raise CommandError(f"Cannot use what the log is to be held against: {error}.") from None
    # the witness's own checkpoint is of the log that it knows, and of no other
    same = (key, pinned.genesis_digest) == (seen.log_key, seen.genesis_digest or None)
    return pinned, [*given, *([seen.checkpoint] if seen.checkpoint and same else [])]


def verified(file: Path, pinned: Pinned, notes: Notes) -> Findings:
    """Check the log against each note, and replay its rules. Raises `LogInvalid`."""
    try:
        lines = file.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise CommandError(f"Cannot read {file}: {error.strerror}.") from error
    held = [Pinned(pinned.log_key, pinned.genesis_digest, note) for note in notes] or [pinned]
    log = [read_log(lines, each) for each in held][-1]
    return Replay(log, pinned).run()


def compared(at: Desk, findings: Findings) -> list[Difference]:
    """Hold the store as it stands against the log."""
    return differences(findings.constitutive, stored_digests(at.client.governed))


def trusted(pinned: Pinned, notes: Notes) -> str:
    """What the verdict rests on, in words: what was not pinned was believed from the file."""
    parts = [
        "the log's key as pinned" if pinned.log_key else "THE LOG'S KEY AS THE FILE STATES IT",
        "the genesis as pinned" if pinned.genesis_digest else "THE GENESIS AS THE FILE STATES IT",
        f"{len(notes)} kept checkpoint(s)" if notes else "NO CHECKPOINT KEPT BEFORE",
    ]
    return ", ".join(parts)


def _seen(session: Session) -> Seen:
    """What this client saw of the system that it would talk to; nothing when it cannot tell."""
    from concord_client import credentials

    try:
        target = credentials.find(
            url=None, api_key=None, space=session.space, environ=session.environ
        )
    except credentials.CredentialsError:
        return Seen()
    return Witness(state_file(os.environ), target.url, session.space_name).seen
