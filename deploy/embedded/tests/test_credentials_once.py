"""Credentials: drawn once, kept, and given to the services as digests."""

import hashlib
import json
import stat
from pathlib import Path

import pytest
from concord_client import credentials as client_side
from concord_embedded import credentials, service_keys
from concord_embedded.data_directory import DataDirectory, opened
from concord_embedded.failures import StartError
from concord_gateway.credentials import Keyring


@pytest.fixture
def data(tmp_path: Path) -> DataDirectory:
    """A new data directory."""
    with opened(tmp_path / "data") as made:
        return made


def test_they_are_drawn_once_and_kept(data: DataDirectory) -> None:
    """W6 A second start changes no key; each space and purpose has its own."""
    first, second = credentials.ensure(data), credentials.ensure(data)

    assert first == second
    assert set(first.keys) == set(first.enrolment_secrets) == {"default", "demo"}
    assert len({*first.keys.values(), *first.enrolment_secrets.values()}) == 4


def test_secrets_stand_in_one_file_only(data: DataDirectory) -> None:
    """W6 The services' files hold digests; every file is mode 0600."""
    known = credentials.ensure(data)
    service_keys.ensure(data.keys / "gateway.pem")

    files = [path for path in data.root.rglob("*") if path.is_file()]
    holding = {
        path.name
        for path in files
        for secret in (*known.keys.values(), *known.enrolment_secrets.values())
        if secret.encode() in path.read_bytes()
    }
    assert holding == {"credentials.json"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_the_services_know_what_was_drawn(data: DataDirectory) -> None:
    """V5 The gateway knows each key's space, graph each secret's digest."""
    known = credentials.ensure(data)

    ring = Keyring(credentials.keys_file(data))
    digests = json.loads(credentials.enrolment_file(data).read_bytes())

    for space, key in known.keys.items():
        caller = ring.authenticate(f"Bearer {key}")
        assert caller is not None
        assert caller.space == space
        assert "feed:all" not in caller.scopes
    assert digests == {
        space: hashlib.sha256(secret.encode()).hexdigest()
        for space, secret in known.enrolment_secrets.items()
    }


def test_the_client_reads_what_up_writes(data: DataDirectory) -> None:
    """W4 Both sides agree on the file without sharing code."""
    known = credentials.publish(
        data, credentials.ensure(data), url="127.0.0.1:7600", http_url="http://127.0.0.1:7601"
    )

    found = client_side.read(data.credentials)

    assert (found.url, found.http_url) == (known.url, known.http_url)
    assert (found.keys, found.enrolment_secrets) == (known.keys, known.enrolment_secrets)


@pytest.mark.parametrize("content", ["", "[]", '{"url": 1}', '{"url":"","http_url":"","keys":[]}'])
def test_a_damaged_file_is_told_and_left_alone(data: DataDirectory, content: str) -> None:
    """Must hold: keys are not silently replaced when their file is damaged."""
    data.credentials.write_text(content, "utf-8")

    with pytest.raises(StartError, match="is damaged: move it away"):
        credentials.ensure(data)

    assert data.credentials.read_text("utf-8") == content


def test_a_damaged_service_key_is_told(data: DataDirectory) -> None:
    """Must hold: a file that holds no Ed25519 key is a sentence that says what to do."""
    path = data.keys / "gateway.pem"
    path.write_text("nonsense", "utf-8")

    with pytest.raises(StartError, match="is no Ed25519 key: delete it"):
        service_keys.ensure(path)


def test_no_secret_shows_in_a_representation(data: DataDirectory) -> None:
    """W6 Credentials in a traceback tell no key."""
    known = credentials.ensure(data)

    assert not any(key in repr(known) for key in known.keys.values())
