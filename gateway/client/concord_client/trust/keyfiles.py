"""Key files: a principal's private key with its name and slot, readable by its owner alone.

A file is JSON: `version`, `slot`, `principal`, `public_key` (base64url) and `private_key`, a
PKCS8 PEM that for the HUMAN slot is always encrypted under a passphrase. Only `open_key` decrypts
the private key; the other fields can be read without a passphrase.
"""

from __future__ import annotations

import json
import os
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from concord_client.credentials import FILE_NAME, data_directory
from concord_client.private_files import create
from concord_client.trust.signing import HUMAN, Signer, generate_key, public_bytes

FEWEST_PASSPHRASE_CHARACTERS = 12
FEWEST_DIFFERENT_CHARACTERS = 5
SUFFIX = ".key"

AskPassphrase = Callable[[], str]


class KeyFileError(Exception):
    """A key file cannot be made, found or opened; the text says why and what to do."""


@dataclass(frozen=True)
class KeyFile:
    """The content of a key file, with its private key still encoded (PEM)."""

    path: Path
    slot: str
    principal: str
    public_key: bytes
    pem: bytes

    @property
    def is_locked(self) -> bool:
        """Whether its private key is encrypted under a passphrase."""
        return b"ENCRYPTED" in self.pem.splitlines()[0]

    def __repr__(self) -> str:
        return f"KeyFile({str(self.path)!r}, {self.slot}, {self.principal!r})"


def key_directory(environ: Mapping[str, str]) -> Path:
    """`concord` in the user's configuration home (`~/.config`), which no server reads."""
    home = environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(home).expanduser() / "concord"


def fresh_path(slot: str, environ: Mapping[str, str]) -> Path:
    """Return an unused path for a new key of a slot: `human.key`, else `human-2.key` and so on."""
    folder, number = key_directory(environ), 1
    while True:
        path = folder / f"{slot.lower()}{'' if number == 1 else f'-{number}'}{SUFFIX}"
        if not path.exists():
            return path
        number += 1


def make(
    path: Path, slot: str, principal: str, passphrase: str, environ: Mapping[str, str]
) -> KeyFile:
    """Make a key pair and write it to the new file `path` (0600).

    Raises:
        KeyFileError: the path exists or is in a data directory of Concord's, which servers read;
            the passphrase is too weak (or missing, for HUMAN); or no genesis takes the name.
    """
    demand_outside(path, environ)
    demand_name(principal)
    if slot == HUMAN or passphrase:
        _demand_passphrase(passphrase)
    key = generate_key()
    lock: KeySerializationEncryption = (
        BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
    )
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock)
    content = {
        "version": 1,
        "slot": slot,
        "principal": principal,
        "public_key": encoded(public_bytes(key)),
        "private_key": pem.decode(),
    }
    try:
        create(path, json.dumps(content, indent=2).encode() + b"\n")
    except FileExistsError:
        raise KeyFileError(f"{path} is there already: a key is never overwritten.") from None
    except OSError as error:
        raise KeyFileError(f"Cannot write {path}: {error.strerror}.") from error
    return KeyFile(path, slot, principal, public_bytes(key), pem)


def demand_name(principal: str) -> None:
    """Refuse (`KeyFileError`) a name that no genesis would take: its key could not be enrolled."""
    from concord_attestation.parties import PRINCIPAL_PATTERN

    if not re.fullmatch(PRINCIPAL_PATTERN, principal):
        raise KeyFileError(
            f"{principal!r} cannot name a principal: ASCII letters, digits and ._@:+/- between "
            "them, 1 to 128 characters that begin and end with a letter or digit."
        )


def _demand_passphrase(words: str) -> None:
    if len(words) < FEWEST_PASSPHRASE_CHARACTERS:
        raise KeyFileError(f"A passphrase has {FEWEST_PASSPHRASE_CHARACTERS} characters or more.")
    if len(set(words) - set(" \t")) < FEWEST_DIFFERENT_CHARACTERS:
        raise KeyFileError(
            f"A passphrase has {FEWEST_DIFFERENT_CHARACTERS} different characters or more, "
            "spaces not counted."
        )


def read(path: Path) -> KeyFile:
    """Read a key file. Raises `KeyFileError`, also if others may read the file."""
    try:
        found = json.loads(path.read_bytes())
        mode = path.stat().st_mode
        key = KeyFile(
            path,
            str(found["slot"]),
            str(found["principal"]),
            decoded(found["public_key"]),
            str(found["private_key"]).encode(),
        )
    except OSError as error:
        raise KeyFileError(f"Cannot read {path}: {error.strerror}.") from error
    except (ValueError, LookupError, TypeError):
        raise KeyFileError(f"{path} is no key file of `concord principal create`.") from None
    if mode & 0o077:
        raise KeyFileError(f"Others may read {path}: `chmod 600 {path}`, or make a new key.")
    if key.slot == HUMAN and not key.is_locked:
        raise KeyFileError(f"{path} holds a HUMAN key without a passphrase: make another one.")
    return key


def open_key(file: KeyFile, ask: AskPassphrase) -> Signer:
    """Return the signer; `ask` is called for the passphrase if the key has one.

    Raises `KeyFileError`, also if the private key does not belong to the file's public key.
    """
    passphrase = ask().encode() if file.is_locked else None
    try:
        key = load_pem_private_key(file.pem, passphrase)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyFileError(f"This passphrase does not open {file.path}.") from None
    if not isinstance(key, Ed25519PrivateKey) or public_bytes(key) != file.public_key:
        raise KeyFileError(f"{file.path} is damaged: its two keys are not a pair.")
    return Signer(file.principal, key)


def read_signer(path: Path | str, passphrase: str = "") -> Signer:
    """Return the signer of a key file of `concord principal create`. Raises `KeyFileError`."""
    return open_key(read(Path(path).expanduser()), lambda: passphrase)


def known(environ: Mapping[str, str]) -> Iterator[KeyFile]:
    """Yield the key files in the key directory. Raises `KeyFileError`."""
    for path in sorted(key_directory(environ).glob(f"*{SUFFIX}")):
        yield read(path)


def demand_outside(path: Path, environ: Mapping[str, str]) -> None:
    """Refuse (`KeyFileError`) a path in a data directory, where servers could read the key."""
    place = Path(os.path.realpath(path))
    data = Path(os.path.realpath(data_directory(environ)))
    for folder in place.parents:
        if folder == data or (folder / FILE_NAME).exists():
            raise KeyFileError(
                f"{path} is inside the data directory {folder}, where Concord's servers read: "
                "keep keys elsewhere."
            )


def encoded(key: bytes) -> str:
    """Write a public key as base64url without padding."""
    return urlsafe_b64encode(key).decode().rstrip("=")


def decoded(text: str) -> bytes:
    """Read an encoded public key. Raises ValueError unless it is the encoding of 32 bytes."""
    key = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if len(key) != 32 or encoded(key) != text:
        raise ValueError("this is no public key")
    return key
