"""What `concord audit verify` believes, and what it finds (A2)."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from concord_client.audit.log import Pinned, read_log
from concord_client.audit.replay import Findings, Replay
from concord_client.audit.store import Difference, differences, stored_digests
from concord_client.cli.desk import Desk
from concord_client.cli.failing import CommandError
from concord_client.cli.session import Session
from concord_client.keyfiles import decoded
from concord_client.pins import Kept
from concord_client.witness import Seen, Witness, state_file

FRESH = timedelta(hours=1)
"""What was pinned more lately is told as new: it has been compared with next to nothing."""


@dataclass(frozen=True)
class Known:
    """What a log is held against: what was given, else what this client saw before."""

    seen: Seen
    pinned: Pinned
    given: str | None = None
    """The checkpoint of `--checkpoint`."""

    @property
    def kept(self) -> tuple[Kept, ...]:
        """This client's own checkpoints, which are of the log that it knows, and of no other."""
        key = decoded(self.seen.log_key) if self.seen.log_key else None
        theirs = (self.pinned.log_key, self.pinned.genesis_digest)
        return self.seen.checkpoints if theirs == (key, self.seen.genesis_digest or None) else ()

    def notes(self) -> list[str]:
        """Checkpoints that the log must extend, each of them."""
        newest = [each["note"] for each in self.kept[-1:]]
        return [*([self.given] if self.given is not None else []), *newest]


def known(session: Session, checkpoint: Path | None, genesis: str, log_key: str) -> Known:
    """What is compared: what was given, else what this client saw before of the same system."""
    seen = Witness(state_file(os.environ), session.system_name, session.space_name).seen
    key = log_key or seen.log_key
    try:
        pinned = Pinned(
            log_key=(decoded(key) if key else None),
            genesis_digest=genesis or seen.genesis_digest or None,
        )
        given = checkpoint.read_text("utf-8") if checkpoint else None
    except (OSError, ValueError) as error:
        raise CommandError(f"Cannot use what the log is to be held against: {error}.") from None
    return Known(seen, pinned, given)


def verified(file: Path, held: Known) -> Findings:
    """Check the log against each note, and replay its rules. Raises `LogInvalid`."""
    try:
        lines = file.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise CommandError(f"Cannot read {file}: {error.strerror}.") from error
    pinned = held.pinned
    each_held = [Pinned(pinned.log_key, pinned.genesis_digest, note) for note in held.notes()] or [
        pinned
    ]
    log = [read_log(lines, each) for each in each_held][-1]
    return Replay(log, pinned).run()


def compared(at: Desk, findings: Findings) -> list[Difference]:
    """Hold the store as it stands against the log."""
    return differences(findings.constitutive, stored_digests(at.client.governed))


def trusted(held: Known, now: datetime | None = None) -> list[str]:
    """What the verdict rests on, in words: what was not pinned was believed from the file.

    A pin says when it was taken and where; one that is seconds old is not told as an old one.
    """
    at = now or datetime.now(UTC)
    return [_of_key(held, at), _of_genesis(held, at), *_of_checkpoints(held, at)]


def _of_key(held: Known, now: datetime) -> str:
    seen = held.seen
    if held.pinned.log_key is None:
        return "THE LOG'S KEY AS THE FILE STATES IT"
    if not seen.log_key or held.pinned.log_key != seen.public_key:
        return "the log's key as given"
    return f"the log's key as pinned {_since(seen.met_time, now)}, met as {seen.names[0]}"


def _of_genesis(held: Known, now: datetime) -> str:
    seen = held.seen
    if held.pinned.genesis_digest is None:
        return "THE GENESIS AS THE FILE STATES IT"
    if held.pinned.genesis_digest != seen.genesis_digest:
        return "the genesis as given"
    how = "signed or vouched for here" if seen.genesis_confirmed else "believed as first shown"
    return f"the genesis as pinned {_since(seen.genesis_time, now)}, {how}"


def _of_checkpoints(held: Known, now: datetime) -> list[str]:
    told = ["the checkpoint that was given"] if held.given is not None else []
    if held.kept:
        newest, first = held.kept[-1], held.kept[0]
        size = f"{held.seen.read(newest['note']).size:,} entries"
        told.append(
            f"a kept checkpoint over {size}, seen {_since(newest['time'], now)}, "
            f"the first of {len(held.kept):,} seen {_since(first['time'], now)}"
        )
    return told or ["NO CHECKPOINT KEPT BEFORE"]


def _since(time: str, now: datetime) -> str:
    """An instant and how long ago that is; "ONLY" for what is new."""
    at = datetime.fromisoformat(time)
    age = max(now - at, timedelta())
    seconds = int(age.total_seconds())
    amount, unit = next(
        (seconds // length, unit)
        for length, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
        if seconds >= length or length == 1
    )
    ago = f"{amount:,} {unit}{'' if amount == 1 else 's'} ago"
    return f"{'ONLY ' if age < FRESH else ''}{ago} ({at:%Y-%m-%d %H:%M:%SZ})"
