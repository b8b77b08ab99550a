"""Ed25519 keys in PEM files."""

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from cryptography.hazmat.primitives.serialization import (
    load_pem_private_key,
    load_pem_public_key,
)

from concord_chassis.config import ConfigError


def read_public_key(path: Path) -> Ed25519PublicKey:
    """Returns the Ed25519 public key in a PEM file.

    Raises `ConfigError`, which names the file, if it is not readable or holds no such key.
    """
    try:
        key = load_pem_public_key(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} is not readable as a public key") from error
    if not isinstance(key, Ed25519PublicKey):
        raise ConfigError(f"{path} is not an Ed25519 public key")
    return key


def read_private_key(path: Path) -> Ed25519PrivateKey:
    """Returns the Ed25519 private key in an unencrypted PEM file.

    Raises `ConfigError`, which names the file, if it is not readable or holds no such key.
    """
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"{path} is not readable as a private key") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise ConfigError(f"{path} is not an Ed25519 private key")
    return key
