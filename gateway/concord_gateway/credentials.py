"""API keys: what a caller from outside holds, and the caller that a key stands for.

A key is `ck_` and 43 base64url characters: 256 random bits. The keys file holds only SHA-256
digests of keys. A fast hash is right here: slow ones (scrypt, Argon2) make guessing a *password*
dear, but 2^256 random keys cannot be guessed at any price, and a slow hash would be paid by each
call. A lookup by digest is also the constant-time comparison: what the lookup compares is the
digest, of which a stranger who varies keys controls no prefix.

The keys file is JSON: {digest: {"space", "principal", "kind", "scopes"}}.
"""

import base64
import hashlib
import json
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from concord_chassis.identity import Caller
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from concord_gateway import private_file

KEY_PREFIX = "ck_"
KEY_BYTES = 32
INTERNAL_SCOPES = frozenset({"feed:all", "confirm:write"})
"""Scopes of service principals alone: they cross spaces, so no key from outside may carry one."""

# 43 random characters of 64 have 31 different ones on average; 11 or fewer is no accident
# (probability below 1e-17).
FEWEST_DIFFERENT_CHARACTERS = 12

_KEY = re.compile(r"ck_[A-Za-z0-9_-]{43}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


class KeysFileError(Exception):
    """The keys file cannot be trusted or read; the text says what to do."""


class KeyEntry(BaseModel):
    """Whom a key stands for. A key acts in one space, as one principal."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    space: str = Field(min_length=1, max_length=128)
    principal: str = Field(min_length=1, max_length=128)
    kind: Literal["AGENT", "HUMAN", "SYSTEM"]
    scopes: frozenset[str]

    def caller(self) -> Caller:
        """The caller that tokens are minted for."""
        return Caller(self.space, self.principal, self.scopes, self.kind)


_ENTRIES = TypeAdapter(dict[str, KeyEntry])


def new_key() -> str:
    """A new random key. Show it once: only its digest is kept."""
    return KEY_PREFIX + secrets.token_urlsafe(KEY_BYTES)


def digest_of(key: str) -> str:
    """The key's SHA-256 in lower-case hexadecimal, as the keys file names it."""
    return hashlib.sha256(key.encode()).hexdigest()


def is_weak(key: str) -> bool:
    """Whether a well-formed key was plainly not drawn at random, or stands in documentation."""
    different = len(set(key.removeprefix(KEY_PREFIX)))
    return different < FEWEST_DIFFERENT_CHARACTERS or key in _EXAMPLE_KEYS


def write_keys(path: Path, entries: Mapping[str, KeyEntry]) -> None:
    """Replaces the keys file at once, with mode 0600. Readers see the old file or the new one."""
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(_ENTRIES.dump_json(dict(entries), indent=2))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def read_keys(path: Path) -> dict[str, KeyEntry]:
    """The entries of the keys file by digest. Raises `KeysFileError`."""
    try:
        data = private_file.read(path)
    except private_file.PrivateFileError as error:
        raise KeysFileError(str(error)) from error
    return _checked(path, _parsed(path, data))


class Keyring:
    """Knows the caller behind a key, and reads the keys file again when it changed.

    A key that was taken out of the file stops working with the next call. A file that can no
    longer be trusted lets nobody in, rather than whoever was let in before.
    """

    def __init__(self, path: Path) -> None:
        """Raises `KeysFileError`."""
        self._path = path
        self._seen = _fingerprint(path)
        self._callers = {digest: entry.caller() for digest, entry in read_keys(path).items()}

    def authenticate(self, authorization: str | None) -> Caller | None:
        """The caller of an `authorization` value `Bearer ck_...`; None when no key of ours.

        Raises `KeysFileError` when the file changed into one that cannot be used.
        """
        self._follow()
        if authorization is None:
            return None
        scheme, _, key = authorization.partition(" ")
        if scheme.lower() != "bearer" or not _KEY.fullmatch(key) or is_weak(key):
            return None
        return self._callers.get(digest_of(key))

    def usable(self) -> bool:
        """Whether the file, as it now is, can be used."""
        try:
            self._follow()
        except KeysFileError:
            return False
        return True

    def _follow(self) -> None:
        """One `stat` a call (a microsecond) buys that revoking a key needs no restart."""
        seen = _fingerprint(self._path)
        if seen != self._seen:
            self._callers = {d: e.caller() for d, e in read_keys(self._path).items()}
            self._seen = seen


def _fingerprint(path: Path) -> tuple[int, int, int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise KeysFileError(f"Cannot read the keys file {path}: {error.strerror}.") from error
    return (found.st_mtime_ns, found.st_ino, found.st_size, found.st_mode)


def _parsed(path: Path, data: bytes) -> dict[str, KeyEntry]:
    """Tells what is wrong by place alone: a value may be a secret that stands in the wrong one."""
    try:
        return _ENTRIES.validate_python(json.loads(data))
    except ValidationError as error:
        places = sorted({".".join(str(at) for at in e["loc"][1:]) for e in error.errors()})
        raise KeysFileError(
            f"The keys file {path} is malformed; wrong in its entries: {', '.join(places)}. "
            'Each is "<sha256 of the key>": {"space", "principal", "kind", "scopes"}.'
        ) from None
    except (ValueError, RecursionError):
        raise KeysFileError(
            f"The keys file {path} is not JSON: restore it, or make new keys."
        ) from None


def _checked(path: Path, entries: dict[str, KeyEntry]) -> dict[str, KeyEntry]:
    for digest, entry in entries.items():
        who = f"the key of {entry.principal!r} in space {entry.space!r}"
        if not _DIGEST.fullmatch(digest):
            raise KeysFileError(
                f"The keys file {path} must name {who} by its SHA-256 in hexadecimal; "
                "if that is the key itself, replace it: it was stored in the clear."
            )
        if digest in _WEAK_DIGESTS:
            raise KeysFileError(f"In {path}, {who} is a well-known one: make a new one.")
        if entry.scopes & INTERNAL_SCOPES:
            raise KeysFileError(
                f"In {path}, {who} asks for {', '.join(sorted(entry.scopes & INTERNAL_SCOPES))}, "
                "which only services hold: take the scope out."
            )
    return entries


def _key_of(data: bytes) -> str:
    return KEY_PREFIX + base64.urlsafe_b64encode(data).rstrip(b"=").decode()


_EXAMPLE_KEYS = frozenset(
    [
        _key_of(bytes(range(KEY_BYTES))),
        _key_of(bytes(range(1, KEY_BYTES + 1))),
        _key_of(bytes(reversed(range(KEY_BYTES)))),
        _key_of(hashlib.sha256(b"").digest()),
        KEY_PREFIX + _BASE64URL[:43],
        *(_key_of(hashlib.sha256(word).digest()) for word in (b"secret", b"password", b"concord")),
    ]
)
_WEAK_DIGESTS = frozenset(
    digest_of(key) for key in [*_EXAMPLE_KEYS, *(KEY_PREFIX + c * 43 for c in _BASE64URL)]
)
