import pytest
from concord_attestation.keys import is_sound
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

P = 2**255 - 19
LOW_ORDER = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]


@pytest.mark.parametrize("encoded", LOW_ORDER)
@pytest.mark.parametrize("sign", [0, 0x80])
def test_points_of_low_order_are_no_keys(encoded: str, sign: int) -> None:
    """V6 The small subgroup's encodings, canonical or not, with either sign bit."""
    key = bytearray.fromhex(encoded)
    key[31] |= sign

    assert not is_sound(bytes(key))


def public(key: Ed25519PrivateKey) -> bytes:
    """Return the raw public key."""
    return key.public_key().public_bytes_raw()


def test_only_points_of_the_curve_are_keys() -> None:
    """V6 Real keys are sound; y = 2 is on no point, and other lengths are no keys."""
    assert all(is_sound(public(Ed25519PrivateKey.generate())) for _ in range(50))
    assert not is_sound((2).to_bytes(32, "little"))
    assert not is_sound((P + 3).to_bytes(32, "little"))
    assert not is_sound(public(Ed25519PrivateKey.generate()) + b"\x00")
