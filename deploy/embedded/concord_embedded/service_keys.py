"""The key pairs for signing tokens: the gateway's for callers, services' for themselves."""

from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from concord_embedded import secret_files
from concord_embedded.errors import StartError

SIGNERS = ("gateway", "search", "governance", "dissonance")
"""The signers of tokens; the services check these with the public keys."""


def ensure(path: Path) -> Ed25519PrivateKey:
    """The private key in the PEM file `path`, made if it is missing. Raises `StartError`."""
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except FileNotFoundError:
        return _made(path)
    except OSError as error:
        raise StartError(f"Cannot read {path}: {error.strerror}.") from error
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise _damaged(path) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise _damaged(path)
    return key


def _made(path: Path) -> Ed25519PrivateKey:
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    secret_files.write(path, pem)
    return key


def _damaged(path: Path) -> StartError:
    return StartError(f"{path} is no Ed25519 key: delete it, and the next start makes a new one.")
