import base64
import os
from dataclasses import replace
from pathlib import Path

import pytest
from concord_chassis.call.failure import Failure
from concord_chassis.call.identity import TokenIssuer, TokenVerifier
from concord_gateway import issuer
from concord_gateway.admission import RENEW_BEFORE, Tokens, onward, presented
from concord_gateway.callers import ApiKey
from concord_gateway.credentials import digest_of, is_weak, new_key, presented_digest
from concord_gateway.errors import IssuerKeyError
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from gateway_echo import READER, WRITER, write_issuer_key


def test_a_key_is_256_random_bits() -> None:
    """W6: `ck_` and 43 characters of base64url; never the same one."""
    keys = {new_key() for _ in range(100)}

    assert len(keys) == 100
    for key in keys:
        assert len(base64.urlsafe_b64decode(key.removeprefix("ck_") + "=")) == 32
        assert not is_weak(key)


def test_what_has_not_the_form_of_a_key_is_none() -> None:
    """W6: malformed, another scheme, digest for key: governance is asked about none of them."""
    key = new_key()

    for wrong in (
        "",
        key,
        "Bearer",
        f"Bearer {digest_of(key)}",
        f"Bearer {key}A",
        f"Bearer {key[:-1]}",
        f"Bearer  {key}",
        f"Basic {key}",
        f"Bearer {key}\n",
    ):
        assert presented_digest(wrong) is None
    assert digest_of(key) == presented_digest(f"bearer {key}")


@pytest.mark.parametrize(
    "key",
    [
        "ck_" + "A" * 43,
        "ck_" + "-" * 43,
        "ck_" + "abc" * 14 + "a",
        "ck_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
        "ck_47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
    ],
)
def test_known_weak_keys_are_refused(key: str) -> None:
    """W6, W7: constants, counting bytes, the hash of nothing: governance is not asked."""
    assert is_weak(key)
    assert presented_digest(f"Bearer {key}") is None


def test_a_token_is_minted_once_and_anew_before_it_expires() -> None:
    """Design Identity: short-lived, cached until a minute before its end."""
    now = [1_000_000.0]
    signer = TokenIssuer(Ed25519PrivateKey.generate(), "gateway", now=lambda: now[0])
    tokens = Tokens(signer, 300, now=lambda: now[0])
    verifier = TokenVerifier({"gateway": signer.public_key}, now=lambda: now[0])
    key = ApiKey("w", WRITER)

    first = tokens.authorization(key)
    now[0] += 300 - RENEW_BEFORE - 1
    assert first == tokens.authorization(key)
    now[0] += 2
    second = tokens.authorization(key)

    assert first != second
    assert verifier.verify(second.removeprefix("Bearer ")) == WRITER
    assert second != tokens.authorization(ApiKey("r", READER))


def test_a_token_ends_no_later_than_its_key() -> None:
    """W7: nor is a token of a key that ends soon minted with each call."""
    now = [1_000_000.0]
    signer = TokenIssuer(Ed25519PrivateKey.generate(), "gateway", now=lambda: now[0])
    tokens = Tokens(signer, 300, now=lambda: now[0])
    verifier = TokenVerifier({"gateway": signer.public_key}, now=lambda: now[0])
    key = ApiKey("w", WRITER, expires_at=now[0] + 90)

    value = tokens.authorization(key)
    now[0] += 89
    assert value == tokens.authorization(key)
    assert verifier.verify(value.removeprefix("Bearer ")) == WRITER
    now[0] += 1
    with pytest.raises(Failure, match="expired"):
        verifier.verify(value.removeprefix("Bearer "))


@pytest.mark.parametrize(
    ("audience", "is_session", "named"),
    [
        (("governance",), False, "w"),
        (("governance",), True, ""),
        (("dissonance", "governance", "graph", "search"), False, ""),
        (("graph",), False, ""),
        ((), False, ""),
    ],
)
def test_governance_alone_learns_which_key_calls(
    audience: tuple[str, ...], is_session: bool, named: str
) -> None:
    """W5: with that it opens sessions of the key: no service that forwards a token may, and no
    session may open another one."""
    signer = TokenIssuer(Ed25519PrivateKey.generate(), "gateway")
    tokens, verifier = Tokens(signer, 300), TokenVerifier({"gateway": signer.public_key})
    of_key = tokens.authorization(ApiKey("w", WRITER), audience)

    value = tokens.authorization(ApiKey("w", WRITER, is_session=is_session), audience)

    assert verifier.verify(value.removeprefix("Bearer ")) == replace(WRITER, key_id=named)
    assert (value == of_key) != is_session


def test_tokens_of_many_keys_do_not_fill_the_memory() -> None:
    """W6: the cache is bounded, and an evicted key gets a new token."""
    tokens = Tokens(TokenIssuer(Ed25519PrivateKey.generate(), "gateway"), 300)
    for index in range(5000):
        tokens.authorization(ApiKey(str(index), WRITER))

    assert tokens.cached == 4096


def test_what_concerns_one_hop_stays_behind() -> None:
    """W1: authorization is replaced; hop-by-hop keys do not go on; the rest does, in order."""
    given: list[tuple[str, str | bytes]] = [
        ("authorization", "Bearer ck_x"),
        ("user-agent", "grpc-python"),
        ("grpc-timeout", "1S"),
        ("te", "trailers"),
        ("connection", "close"),
        ("proxy-authorization", "x"),
        ("b-bin", b"\x00"),
        ("a", "1"),
        ("a", "2"),
    ]

    assert onward(given, "new") == [
        ("b-bin", b"\x00"),
        ("a", "1"),
        ("a", "2"),
        ("authorization", "new"),
    ]
    assert presented(given) == "Bearer ck_x"
    assert presented([*given, given[0]]) is None
    assert presented([("authorization", b"x")]) is None


def test_the_issuers_key_is_read_from_a_private_file(tmp_path: Path) -> None:
    """Design Identity: what it signs verifies with its public key."""
    key, path = Ed25519PrivateKey.generate(), tmp_path / "issuer.pem"
    write_issuer_key(path, key)
    token = issuer.read(path, "gate").mint(WRITER)

    assert TokenVerifier({"gate": key.public_key()}).verify(token) == WRITER


@pytest.mark.parametrize("what", ["missing", "open", "text", "other", "zero", "counting"])
def test_an_issuers_key_that_cannot_be_trusted_is_refused(tmp_path: Path, what: str) -> None:
    """W6: missing, readable by others, no key, no Ed25519 key, a well-known one."""
    path = tmp_path / "issuer.pem"
    if what in ("open", "zero", "counting"):
        seed = {"zero": bytes(32), "counting": bytes(range(32))}.get(what, os.urandom(32))
        write_issuer_key(path, Ed25519PrivateKey.from_private_bytes(seed))
        path.chmod(0o644 if what == "open" else 0o600)
    elif what != "missing":
        text = "not a key"
        if what == "other":
            other = generate_private_key(SECP256R1())
            pem = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            text = pem.decode()
        path.write_text(text)
        path.chmod(0o600)

    with pytest.raises(IssuerKeyError, match=r"issuer\.pem"):
        issuer.read(path, "gateway")
