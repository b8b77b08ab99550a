"""The pins that `concord audit verify` compares a log with, and its findings (A2)."""

import json
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from concord_client.cli.errors import CommandError
from concord_client.cli.governance.session import GovernanceSession
from concord_client.cli.session import Session
from concord_client.trust.audit.log import LogInvalid, Pinned, read_log
from concord_client.trust.audit.replay import Findings, Replay, UndecidedWrites
from concord_client.trust.audit.store import Difference, differences, stored_digests
from concord_client.trust.keyfiles import decoded
from concord_client.trust.pins import Kept
from concord_client.trust.witness import Seen, Witness, state_file

FRESH = timedelta(hours=1)
"""A younger pin is reported as new, since few answers have been compared with it yet."""


@dataclass(frozen=True)
class Known:
    """The pins that a log is compared with: given ones, else those that this client stored."""

    seen: Seen
    pinned: Pinned
    given: str | None = None
    """The checkpoint of `--checkpoint`."""

    @property
    def kept(self) -> tuple[Kept, ...]:
        """This client's own checkpoints; none if another log key or genesis is given."""
        key = decoded(self.seen.log_key) if self.seen.log_key else None
        theirs = (self.pinned.log_key, self.pinned.genesis_digest)
        return self.seen.checkpoints if theirs == (key, self.seen.genesis_digest or None) else ()

    @property
    def size(self) -> int:
        """The size of the newest stored checkpoint; 0 without one."""
        return self.seen.read(self.kept[-1]["note"]).size if self.kept else 0

    def older(self, size: int) -> "Known":
        """The pins for an export of `size` entries: without checkpoints of a longer log."""
        fitting = [each for each in self.kept if self.seen.read(each["note"]).size <= size]
        return replace(self, seen=replace(self.seen, checkpoints=tuple(fitting)))

    def notes(self) -> list[str]:
        """The notes of all checkpoints that the log must extend."""
        newest = [each["note"] for each in self.kept[-1:]]
        return [*([self.given] if self.given is not None else []), *newest]


def known(session: Session, checkpoint: Path | None, genesis: str, log_key: str) -> Known:
    """The pins to compare with: given ones, else those that this client stored of the system."""
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


def lines_of(file: Path) -> list[bytes]:
    """The lines of an export: the header and the entries. Raises `CommandError`."""
    try:
        return file.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise CommandError(f"Cannot read {file}: {error.strerror}.") from error


def verified(lines: list[bytes], held: Known) -> Findings:
    """Check the log against each note, and replay its rules.

    Raises `LogInvalid`, or `CommandError` if a note is of a longer log: the file lacks entries.
    """
    pinned = held.pinned
    notes = [replace(pinned, checkpoint=note) for note in held.notes()]
    try:
        log = [read_log(lines, each) for each in notes or [pinned]][-1]
    except LogInvalid as invalid:
        if invalid.check != "shorter_than_witnessed":
            raise
        raise CommandError(
            f"The file ends after {invalid.index:,} entries, and a checkpoint that it is held "
            "against signs more: it is not the log as it stands. Entries were cut off, or it is an "
            "older export: --older checks it by itself, and says what part it covers.",
            reason="AUDIT_LOG_SHORTER",
        ) from invalid
    return Replay(log, pinned).run()


def found(lines: list[bytes], held: Known) -> Findings:
    """As `verified`; also the findings of a log whose only fault is undecided writes."""
    try:
        return verified(lines, held)
    except UndecidedWrites as broken:
        return broken.findings


def covered(entries: int, held: Known, older: Known) -> str:
    """A sentence: the part of the log in an older export, and how far it was compared."""
    if not held.size:
        return f"It covers {entries:,} entries; this client has kept nothing to compare them with."
    if entries >= held.size:
        return f"It covers all {entries:,} entries, no less than this client saw signed."
    part = f"It covers the first {entries:,} of the {held.size:,} entries that this client saw"
    if not older.kept:
        return (
            f"{part}, and none of them was kept before: whether the log of today begins with "
            "these was not compared. Export that one, and check it."
        )
    kept = older.size
    behind = f", the last {entries - kept:,} as this file alone says" if kept < entries else ""
    return f"{part}, {kept:,} of them proved to be part of those{behind}; later ones are not in it."


def compared(governance: GovernanceSession, findings: Findings) -> list[Difference]:
    """Compare the store's present items with the log."""
    return differences(findings.constitutive, stored_digests(governance.client.governed))


def trusted(held: Known, now: datetime | None = None) -> list[str]:
    """Sentences about the pins that a verdict depends on, each with its time and origin.

    Without a pin they say that the file itself was believed.
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
    lines = ["the checkpoint that was given"] if held.given is not None else []
    if held.kept:
        newest, first = held.kept[-1], held.kept[0]
        size = f"{held.seen.read(newest['note']).size:,} entries"
        lines.append(
            f"a kept checkpoint over {size}, seen {_since(newest['time'], now)}, "
            f"the first of {len(held.kept):,} seen {_since(first['time'], now)}"
        )
    return lines or ["NO CHECKPOINT KEPT BEFORE"]


def _since(time: str, now: datetime) -> str:
    """A time and how long ago it is; with "ONLY" if that is less than `FRESH`."""
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


def erasure_in(findings: Findings, receipt: Path) -> str:
    """The id of the erasure whose receipt a file holds. Raises `CommandError` unless the log has
    an entry of exactly this receipt."""
    try:
        data = receipt.read_bytes()
        erase_id = str(json.loads(data)["erase_id"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CommandError(f"{receipt} holds no receipt.", reason="AUDIT_RECEIPT") from error
    if findings.selections.get(erase_id) != sha256(data).hexdigest():
        raise CommandError(
            f"The log has no entry of this receipt: {receipt} was changed, or is of another log.",
            reason="AUDIT_RECEIPT",
        )
    return erase_id
