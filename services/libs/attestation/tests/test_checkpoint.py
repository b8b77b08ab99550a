"""Checkpoints are notes that witnesses read, and only their log's signature counts."""

from __future__ import annotations

from base64 import b64decode, b64encode

import pytest
from concord_attestation.checkpoint import (
    Checkpoint,
    read_checkpoint,
    sign_checkpoint,
)
from concord_attestation.note import MAX_SIGNATURES, NoteInvalid, read_note, sign_note
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ORIGIN = "concord.example/space/one"
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key().public_bytes_raw()
CHECKPOINT = Checkpoint(ORIGIN, 42, bytes(range(32)))


def test_a_checkpoint_reads_back() -> None:
    """A2 The text form is origin, size and root, then a blank line and the signature."""
    note = sign_checkpoint(CHECKPOINT, KEY)

    assert note.startswith(f"{ORIGIN}\n42\n{b64encode(bytes(range(32))).decode()}\n\n— {ORIGIN} ")
    assert read_checkpoint(note, ORIGIN, PUBLIC) == CHECKPOINT


def test_the_published_vector() -> None:
    """A2 A note that another implementation signed verifies: the Go checksum database's example."""
    text = (
        "If you think cryptography is the answer to your problem,\n"
        "then you don't know what your problem is.\n"
    )
    signature = (
        "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZIn"
        "NIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
    )
    public = b64decode("ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")[1:]
    note = f"{text}\n— PeterNeumann {signature}\n"

    assert read_note(note, "PeterNeumann", public) == text
    with pytest.raises(NoteInvalid, match="signature"):
        read_note(note.replace("your problem is", "the problem is"), "PeterNeumann", public)


def test_a_witness_may_sign_too() -> None:
    """A2 Signatures of others may stand beside the log's own and never replace it."""
    witness = sign_checkpoint(CHECKPOINT, Ed25519PrivateKey.generate())
    own = sign_checkpoint(CHECKPOINT, KEY)
    both = own + witness.rpartition("\n\n")[2].replace(ORIGIN, "witness.example")

    assert read_checkpoint(both, ORIGIN, PUBLIC) == CHECKPOINT
    with pytest.raises(NoteInvalid, match="signature"):
        read_checkpoint(witness, ORIGIN, PUBLIC)


def test_every_flipped_character_is_noticed() -> None:
    """A2 No byte of a signed checkpoint can change."""
    note = sign_checkpoint(CHECKPOINT, KEY).encode()
    for place in range(len(note)):
        touched = bytearray(note)
        touched[place] ^= 1
        with pytest.raises((NoteInvalid, UnicodeDecodeError)):
            read_checkpoint(touched.decode(), ORIGIN, PUBLIC)


@pytest.mark.parametrize(
    "touched",
    [
        "",
        "\n\n",
        "no signature\n1\nAAAA\n",
        sign_checkpoint(CHECKPOINT, KEY).replace("\n42\n", "\n042\n"),
        sign_checkpoint(CHECKPOINT, KEY).replace("\n42\n", "\n42\nmore\n"),
        sign_checkpoint(CHECKPOINT, KEY).rstrip("\n"),
        sign_checkpoint(CHECKPOINT, KEY) + "\n",
        sign_checkpoint(CHECKPOINT, KEY) * 2,
        sign_checkpoint(CHECKPOINT, KEY).replace("— ", "- "),
        sign_checkpoint(Checkpoint(ORIGIN, 42, b"short"), KEY),
        "x" * 20_000,
    ],
)
def test_what_is_no_checkpoint(touched: str) -> None:
    """A2 Every other form is refused."""
    with pytest.raises(NoteInvalid):
        read_checkpoint(touched, ORIGIN, PUBLIC)


def test_more_signatures_than_are_read() -> None:
    """A2 As many as there may be are read, the log's own among them; with one more, none."""
    note = sign_checkpoint(CHECKPOINT, KEY)
    other = note.splitlines(keepends=True)[-1].replace(ORIGIN, "witness.example")

    assert read_checkpoint(note + other * (MAX_SIGNATURES - 1), ORIGIN, PUBLIC) == CHECKPOINT
    with pytest.raises(NoteInvalid, match="form"):
        read_checkpoint(note + other * MAX_SIGNATURES, ORIGIN, PUBLIC)


def test_another_log() -> None:
    """A2 A checkpoint of another log is refused, whoever signed it."""
    with pytest.raises(NoteInvalid, match="signature"):
        read_checkpoint(sign_checkpoint(CHECKPOINT, KEY), "another.example", PUBLIC)
    with pytest.raises(NoteInvalid, match="origin"):
        read_checkpoint(
            sign_note(CHECKPOINT.text(), "another.example", KEY), "another.example", PUBLIC
        )


@pytest.mark.parametrize("origin", ["", "two words", "a+b", "line\nbreak"])
def test_an_origin_that_names_no_key(origin: str) -> None:
    """A2 An origin is a key's name: no white space, no plus sign."""
    with pytest.raises(ValueError, match="name of a key"):
        sign_checkpoint(Checkpoint(origin, 1, bytes(32)), KEY)
