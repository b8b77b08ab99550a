"""Signed checkpoints of a log, in the text form that witnesses read.

https://c2sp.org/tlog-checkpoint
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from concord_attestation.note import NoteInvalid, from_base64, read_note, sign_note
from concord_attestation.tree import HASH_BYTES

_SIZE = re.compile(r"0|[1-9][0-9]{0,15}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A log's claim about its content: `size` leaves under the root hash `root` (32 bytes)."""

    origin: str
    """The log's name, which is the name of its key."""
    size: int
    root: bytes

    def text(self) -> str:
        """Return the signed text."""
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n"


def sign_checkpoint(checkpoint: Checkpoint, key: Ed25519PrivateKey) -> str:
    """Return the checkpoint as a note that the log's key has signed under its origin.

    Raises ValueError for an origin that cannot name a key: empty, or with white space or a plus.
    """
    return sign_note(checkpoint.text(), checkpoint.origin, key)


def read_checkpoint(note: str, origin: str, public_key: bytes) -> Checkpoint:
    """Return a note's checkpoint if the log of this origin and key has signed it.

    Raises:
        NoteInvalid: "form", "signature", or "origin" for another log's checkpoint.
    """
    lines = read_note(note, origin, public_key).removesuffix("\n").split("\n")
    if len(lines) != 3 or not _SIZE.fullmatch(lines[1]):
        raise NoteInvalid("form")
    root = from_base64(lines[2])
    if len(root) != HASH_BYTES:
        raise NoteInvalid("form")
    if lines[0] != origin:
        raise NoteInvalid("origin")
    return Checkpoint(origin, int(lines[1]), root)
