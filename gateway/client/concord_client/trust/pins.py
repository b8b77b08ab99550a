"""The pinned values of each system that this client met, and their file (V5, A2).

The file (`CONCORD_STATE`, else `concord/witness.json` in the user's state home) holds a list of
systems. A system is found by its space and by the *client owner's* name for it: a data directory's
path, or the address in `CONCORD_URL`. An address that a server wrote is never used as a name: the
server could otherwise make the client forget its pins by writing another one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict

from concord_attestation.checkpoint import Checkpoint, read_checkpoint
from concord_attestation.note import NoteInvalid

from concord_client import private_files
from concord_client.credentials import STATE_VARIABLE
from concord_client.trust.keyfiles import decoded

MOST_CHECKPOINTS = 200
"""Checkpoints kept of one system, the first and the newest, to compare older exports with."""


class WitnessError(Exception):
    """An answer contradicts a pin; the text names both, and what to do."""


class Kept(TypedDict):
    """A checkpoint that the log's key signed, and the time when this client saw it (RFC 3339)."""

    note: str
    time: str


@dataclass(frozen=True)
class Seen:
    """The pins of one space of one system; "" = none yet. Times are RFC 3339, UTC."""

    space: str = ""
    names: tuple[str, ...] = ()
    """The names that this client's owner gave it, the first name first."""
    met_time: str = ""
    """When the log's key and origin were pinned."""
    genesis_digest: str = ""
    genesis_time: str = ""
    genesis_confirmed: bool = False
    """Signed here or named with `--trust`, and not merely believed because a server showed it."""
    log_key: str = ""
    log_origin: str = ""
    checkpoints: tuple[Kept, ...] = ()
    """Oldest first; a proof showed that each extends the one before it."""
    consents: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The envelopes of consents given here, by proposal id and slot."""
    reviewed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The digests of the bytes last shown, by principal and proposal id, oldest first."""

    @property
    def public_key(self) -> bytes:
        """The log's raw key."""
        return decoded(self.log_key)

    @property
    def checkpoint(self) -> str:
        """The newest checkpoint's note."""
        return self.checkpoints[-1]["note"] if self.checkpoints else ""

    def read(self, note: str) -> Checkpoint:
        """Return a note's checkpoint. Raises `WitnessError` unless this log signed it."""
        try:
            return read_checkpoint(note, self.log_origin, self.public_key)
        except NoteInvalid as error:
            raise WitnessError(
                f"The checkpoint is not signed by the log's key: it failed the check {error}."
            ) from None

    def with_checkpoint(self, note: str) -> Seen:
        """Add a newer checkpoint; if it is the last one already, its time stays."""
        if note == self.checkpoint:
            return self
        first, rest = self.checkpoints[:1], self.checkpoints[1:]
        newest = (*rest, Kept(note=note, time=now()))[-(MOST_CHECKPOINTS - 1) :]
        return replace(self, checkpoints=(*first, *newest))


def now() -> str:
    """The current time as the file has it: RFC 3339, UTC, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def state_file(environ: Mapping[str, str]) -> Path:
    """Return the path of the pins' file."""
    if given := environ.get(STATE_VARIABLE):
        return Path(given).expanduser()
    home = environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(home).expanduser() / "concord" / "witness.json"


class PinFile:
    """The file: readable by its owner alone, replaced atomically, changed under a lock."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> tuple[Seen, ...]:
        """Every system met. Raises `WitnessError` for a damaged file."""
        try:
            found = json.loads(self.path.read_bytes())
            return tuple(_seen(each) for each in found["systems"])
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise WitnessError(f"Cannot read {self.path}: {error.strerror}.") from error
        except (ValueError, LookupError, TypeError):
            raise WitnessError(
                f"{self.path} is damaged: later answers are compared with it, so look at it before "
                "you move it away."
            ) from None

    def change(self, find: Callable[[Seen], bool], change: Callable[[Seen], Seen]) -> Seen:
        """Replace the system that `find` finds by its `change`, or add a new, changed one."""
        try:
            with private_files.locked(self.path):
                systems = self.read()
                before = next(filter(find, systems), None)
                after = change(before or Seen())
                if after != before:
                    kept = [each for each in systems if each is not before]
                    content = {"systems": [asdict(each) for each in (*kept, after)]}
                    private_files.replace(self.path, json.dumps(content, indent=2).encode() + b"\n")
                return after
        except OSError as error:
            raise WitnessError(f"Cannot write {self.path}: {error.strerror}.") from error


def _seen(kept: Mapping[str, Any]) -> Seen:
    if set(kept) != {each.name for each in fields(Seen)}:
        raise TypeError
    lists = {name: tuple(kept[name]) for name in ("names", "checkpoints")}
    return Seen(**{**kept, **lists})
