import base64
import json
import os
from pathlib import Path

import pytest
from concord_chassis.identity import Caller, TokenIssuer, TokenVerifier
from concord_gateway import issuer
from concord_gateway.admission import RENEW_BEFORE, Tokens, onward, presented
from concord_gateway.credentials import (
    Keyring,
    KeysFileError,
    digest_of,
    is_weak,
    new_key,
    read_keys,
    write_keys,
)
from concord_gateway.issuer import IssuerKeyError
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from gateway_echo import READER, WRITER, write_issuer_key

ENTRY = {"space": "s", "principal": "p", "kind": "AGENT", "scopes": ["echo:read"]}


def put(path: Path, value: object, mode: int = 0o600) -> Path:
    """Writes a keys file by hand."""
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    path.chmod(mode)
    return path


def bearer(key: str) -> str:
    """The `authorization` value with `key`."""
    return f"Bearer {key}"


def test_a_key_is_256_random_bits() -> None:
    """W6: `ck_` and 43 characters of base64url; never the same one."""
    keys = {new_key() for _ in range(100)}

    assert len(keys) == 100
    for key in keys:
        assert len(base64.urlsafe_b64decode(key.removeprefix("ck_") + "=")) == 32
        assert not is_weak(key)


def test_a_key_names_its_caller_and_is_nowhere_in_the_file(tmp_path: Path) -> None:
    """W6, issue 3: hashed at rest, mode 0600, and nothing else left behind."""
    key, path = new_key(), tmp_path / "keys.json"
    write_keys(path, {digest_of(key): WRITER})

    assert WRITER.caller() == Keyring(path).authenticate(bearer(key))
    assert key not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert [path] == list(tmp_path.iterdir())
    assert {digest_of(key): WRITER} == read_keys(path)


def test_anything_but_a_key_of_ours_is_nobody(tmp_path: Path) -> None:
    """W6: no, another, malformed, digest for key: none is anybody."""
    key = new_key()
    write_keys(tmp_path / "k", {digest_of(key): WRITER})
    ring = Keyring(tmp_path / "k")

    for wrong in (
        None,
        "",
        key,
        "Bearer",
        bearer(new_key()),
        bearer(digest_of(key)),
        bearer(key + "A"),
        bearer(key[:-1]),
        bearer(f" {key}"),
        f"Basic {key}",
        bearer(key + "\n"),
    ):
        assert ring.authenticate(wrong) is None
    assert WRITER.caller() == ring.authenticate(f"bearer {key}")


def test_a_key_taken_out_stops_working_with_the_next_call(tmp_path: Path) -> None:
    """W6: the file is followed; no restart revokes or adds."""
    first, second, path = new_key(), new_key(), tmp_path / "keys.json"
    write_keys(path, {digest_of(first): WRITER})
    ring = Keyring(path)
    assert WRITER.caller() == ring.authenticate(bearer(first))

    write_keys(path, {digest_of(second): READER})

    assert ring.authenticate(bearer(first)) is None
    assert READER.caller() == ring.authenticate(bearer(second))


def test_a_file_that_went_bad_lets_nobody_in_until_it_is_good_again(tmp_path: Path) -> None:
    """W6: rather nobody than whoever was let in before."""
    key, path = new_key(), tmp_path / "keys.json"
    write_keys(path, {digest_of(key): WRITER})
    ring = Keyring(path)

    for spoil in (
        lambda: path.chmod(0o644),
        lambda: put(path, "{"),
        path.unlink,
    ):
        spoil()
        for _ in range(2):
            with pytest.raises(KeysFileError):
                ring.authenticate(bearer(key))
        assert not ring.usable()
        write_keys(path, {digest_of(key): WRITER})
        assert WRITER.caller() == ring.authenticate(bearer(key))
        assert ring.usable()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o601, 0o777])
def test_a_file_that_others_reach_is_refused(tmp_path: Path, mode: int) -> None:
    """W6, issue 3 "mode 0600": the sentence says what to do."""
    path = put(tmp_path / "keys.json", {}, mode)

    with pytest.raises(KeysFileError, match="chmod 600"):
        Keyring(path)


@pytest.mark.parametrize("what", ["missing", "folder", "pipe", "huge"])
def test_what_is_not_a_small_file_is_refused(tmp_path: Path, what: str) -> None:
    """W6: a sentence, no traceback, and no waiting for a pipe's other end."""
    path = tmp_path / "keys.json"
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path, 0o600)
    elif what == "huge":
        put(path, " " * (5 << 20))

    with pytest.raises(KeysFileError, match=r"keys\.json"):
        Keyring(path)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "[]",
        "[" * 100_000,
        {"x": 1},
        {"0" * 64: {}},
        {"0" * 64: {**ENTRY, "space": ""}},
        {"0" * 64: {**ENTRY, "kind": "ROOT"}},
        {"0" * 64: {**ENTRY, "scopes": "echo:read"}},
        {"0" * 64: {**ENTRY, "admin": True}},
        {"0" * 63: ENTRY},
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, value: object) -> None:
    """W6: at start, with a sentence."""
    with pytest.raises(KeysFileError):
        Keyring(put(tmp_path / "keys.json", value))


def test_a_key_stored_in_the_clear_is_refused_and_not_repeated(tmp_path: Path) -> None:
    """W6: the sentence says that it must be replaced, and does not show it."""
    key = new_key()

    with pytest.raises(KeysFileError, match="in the clear") as refused:
        Keyring(put(tmp_path / "keys.json", {key: ENTRY}))
    assert key not in str(refused.value)


@pytest.mark.parametrize("scopes", [["feed:all"], ["echo:read", "feed:all"]])
def test_no_key_may_carry_what_only_services_hold(tmp_path: Path, scopes: list[str]) -> None:
    """Design 3: `feed:all` crosses spaces; the file is refused, not the scope ignored."""
    path = put(tmp_path / "k", {digest_of(new_key()): {**ENTRY, "scopes": scopes}})

    with pytest.raises(KeysFileError, match="feed:all"):
        Keyring(path)


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
def test_known_weak_keys_are_refused(tmp_path: Path, key: str) -> None:
    """W6: constants, counting bytes, the hash of nothing: neither at load nor at the door."""
    assert is_weak(key)
    path = put(tmp_path / "k", {digest_of(key): ENTRY})
    try:
        ring = Keyring(path)
    except KeysFileError as refused:
        assert "well-known" in str(refused)  # noqa: PT017 - either way of refusing will do
    else:
        assert ring.authenticate(bearer(key)) is None


def test_a_token_is_minted_once_and_anew_before_it_expires() -> None:
    """Design Identity: short-lived, cached until a minute before its end."""
    now = [1_000_000.0]
    signer = TokenIssuer(Ed25519PrivateKey.generate(), "gateway", now=lambda: now[0])
    tokens = Tokens(signer, 300, now=lambda: now[0])
    verifier = TokenVerifier({"gateway": signer.public_key}, now=lambda: now[0])
    caller = WRITER.caller()

    first = tokens.authorization(caller)
    now[0] += 300 - RENEW_BEFORE - 1
    assert first == tokens.authorization(caller)
    now[0] += 2
    second = tokens.authorization(caller)

    assert first != second
    assert caller == verifier.verify(second.removeprefix("Bearer "))
    assert second != tokens.authorization(READER.caller())


def test_tokens_of_many_callers_do_not_fill_the_memory() -> None:
    """W6: the cache is bounded, and an evicted caller gets a new token."""
    tokens = Tokens(TokenIssuer(Ed25519PrivateKey.generate(), "gateway"), 300)
    for index in range(5000):
        tokens.authorization(Caller("s", str(index), frozenset(), "AGENT"))

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
    token = issuer.read(path, "gate").mint(WRITER.caller())

    assert WRITER.caller() == TokenVerifier({"gate": key.public_key()}).verify(token)


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
        put(path, text)

    with pytest.raises(IssuerKeyError, match=r"issuer\.pem"):
        issuer.read(path, "gateway")
