"""API keys: their form, their digest, and a check that refuses keys not drawn at random.

A key is `ck_` and 43 base64url characters: 256 random bits. Governance keeps SHA-256 digests of
keys. A fast hash is right here: slow ones (scrypt, Argon2) make guessing a *password* dear, but
2^256 random keys cannot be guessed at any price, and each call would pay for a slow hash. A
lookup by digest leaks nothing by its time, either: a stranger who varies keys controls no prefix
of the digest that is compared.
"""

import base64
import hashlib
import re
import secrets

KEY_PREFIX = "ck_"
KEY_BYTES = 32

# 43 random characters of 64 have 31 different ones on average; 11 or fewer have a probability
# below 1e-17.
FEWEST_DIFFERENT_CHARACTERS = 12

_KEY = re.compile(r"ck_[A-Za-z0-9_-]{43}")
_BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def new_key() -> str:
    """A new random key. Show it once: only its digest is kept."""
    return KEY_PREFIX + secrets.token_urlsafe(KEY_BYTES)


def digest_of(key: str) -> str:
    """The key's SHA-256 in lower-case hexadecimal, as governance knows it."""
    return hashlib.sha256(key.encode()).hexdigest()


def is_weak(key: str) -> bool:
    """Whether a well-formed key has too few different characters, or is a published example."""
    different = len(set(key.removeprefix(KEY_PREFIX)))
    return different < FEWEST_DIFFERENT_CHARACTERS or key in _EXAMPLE_KEYS


def presented_digest(authorization: str) -> str | None:
    """The digest of the key in an `authorization` value `Bearer ck_...`.

    None for any other value, and for weak keys, about which governance is not asked.
    """
    scheme, _, key = authorization.partition(" ")
    if scheme.lower() != "bearer" or not _KEY.fullmatch(key) or is_weak(key):
        return None
    return digest_of(key)


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
