"""Ed25519 public keys: which ones may be a principal's, and whether a signature is by one."""

from functools import lru_cache
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P
_Y_OF_ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_LOW_ORDER_Y = frozenset([0, _Y_OF_ORDER_8, _P - _Y_OF_ORDER_8])
"""y of the points of order 4 and 8; those of order 1 and 2 have x = 0, which is never sound."""


def key_id(public_key: bytes) -> str:
    """Return the hex SHA-256 of a raw public key, by which signatures name their key."""
    return sha256(public_key).hexdigest()


@lru_cache(maxsize=1024)
def is_sound(public_key: bytes) -> bool:
    """Return whether the bytes are the canonical encoding of a point that only its owner signs for.

    Refused are other lengths, encodings with y >= p, bytes off the curve and the points of
    order 1, 2, 4 and 8, under which anybody can make signatures that verify (RFC 8032 5.1.3).
    """
    if len(public_key) != 32:
        return False
    y = int.from_bytes(public_key, "little") & ((1 << 255) - 1)
    if y >= _P or y in _LOW_ORDER_Y:
        return False
    x_squared = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    return pow(x_squared, (_P - 1) // 2, _P) == 1


def verifies(public_key: bytes, signature: bytes, signed: bytes) -> bool:
    """Return whether the key has signed these bytes; False if it is no key."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, signed)
    except (InvalidSignature, ValueError):
        return False
    return True
