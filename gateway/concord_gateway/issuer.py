"""The key that signs the tokens by which services trust a caller."""

import os
import stat
from pathlib import Path

from concord_chassis.call.identity import TokenIssuer
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from concord_gateway.errors import IssuerKeyError

MAX_BYTES = 4 << 20
FEWEST_DIFFERENT_BYTES = 12
"""A key with fewer is refused: 32 random bytes have 30 different values on average."""


def read(path: Path, name: str) -> TokenIssuer:
    """The issuer `name` with the Ed25519 key in a PEM file of mode 0600.

    Raises `IssuerKeyError`, also for keys that were plainly not drawn at random.
    """
    try:
        key = load_pem_private_key(_content(path), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise IssuerKeyError(f"{path} is not an unencrypted private key in PEM.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise IssuerKeyError(f"{path} must hold an Ed25519 key: make a new one.")
    seed = key.private_bytes_raw()
    if len(set(seed)) < FEWEST_DIFFERENT_BYTES or seed == bytes(range(32)):
        raise IssuerKeyError(f"The key in {path} is a well-known one: make a new one.")
    return TokenIssuer(key, name)


def _content(path: Path) -> bytes:
    """The file's bytes. Raises `IssuerKeyError` unless it is a file of mode 0600 or stricter."""
    try:
        # O_NONBLOCK: opening a named pipe without a writer would wait for ever.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise IssuerKeyError(f"{path} is not a file.")
            if mode & 0o077:
                raise IssuerKeyError(
                    f"Others can read or change {path}: run `chmod 600 {path}`, "
                    "and replace the keys in it if others use this machine."
                )
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise IssuerKeyError(f"Cannot read {path}: {error.strerror}.") from error
    if len(data) > MAX_BYTES:
        raise IssuerKeyError(f"{path} is larger than {MAX_BYTES} bytes.")
    return data
