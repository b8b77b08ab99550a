"""Credentials: drawn once, kept, and given to the services as digests."""

import hashlib
import json
import stat
from pathlib import Path

import pytest
from concord_client import credentials as client_side
from concord_embedded import credentials, service_keys
from concord_embedded.data_directory import DataDirectory, opened
from concord_embedded.errors import StartError
from concord_gateway.credentials import digest_of, new_key


@pytest.fixture
def data(tmp_path: Path) -> DataDirectory:
    """A new data directory."""
    with opened(tmp_path / "data") as made:
        return made


def secrets_of(known: credentials.Credentials) -> set[str]:
    """All API keys and enrolment secrets."""
    return {
        *known.keys.values(),
        *known.owner_keys.values(),
        *known.enrolment_secrets.values(),
    }


def test_they_are_drawn_once_and_kept(data: DataDirectory) -> None:
    """W6 A second start changes no key; each space and purpose has its own."""
    first, second = credentials.ensure(data), credentials.ensure(data)

    assert first == second
    assert set(first.keys) == {"default", "demo", "concord:system"}
    assert set(first.owner_keys) == set(first.enrolment_secrets) == {"default", "demo"}
    assert len(secrets_of(first)) == 7


def test_secrets_stand_in_one_file_only(data: DataDirectory) -> None:
    """W6 The services' files hold digests; every file is mode 0600."""
    known = credentials.ensure(data)
    service_keys.ensure(data.keys / "gateway.pem")

    files = [path for path in data.root.rglob("*") if path.is_file()]
    holding = {
        path.name
        for path in files
        for secret in secrets_of(known)
        if secret.encode() in path.read_bytes()
    }
    assert holding == {"credentials.json"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_the_services_know_what_was_drawn(data: DataDirectory) -> None:
    """V5 W7 W8 Governance gets each key's digest and principal, graph each secret's digest.

    The owner is a person who reads, writes, governs and administers.
    """
    known = credentials.ensure(data)

    told = json.loads(credentials.keys_file(data).read_bytes())
    digests = json.loads(credentials.enrolment_file(data).read_bytes())

    agent = told[digest_of(known.keys["default"])]
    owner = told[digest_of(known.owner_keys["demo"])]
    operator = told[digest_of(known.keys["concord:system"])]
    assert (agent["space"], agent["kind"]) == ("default", "AGENT")
    assert agent["scopes"] == ["govern", "read", "write"]
    assert (owner["space"], owner["kind"]) == ("demo", "HUMAN")
    assert owner["scopes"] == ["admin", "govern", "read", "write"]
    assert operator["scopes"] == ["operator", "read"]
    assert len(told) == 5
    assert digests == {
        space: hashlib.sha256(secret.encode()).hexdigest()
        for space, secret in known.enrolment_secrets.items()
    }


def test_what_an_older_version_wrote_stays_as_it_is(data: DataDirectory) -> None:
    """W7 Old keys keep their permissions; the operator's and the owner's are drawn in addition."""
    old = {space: new_key() for space in ("default", "demo")}
    entries = {
        digest_of(key): {"space": space, "principal": "agent", "kind": "AGENT", "scopes": ["a:b"]}
        for space, key in old.items()
    }
    content = {"url": "u", "http_url": "h", "keys": old, "enrolment_secrets": {"default": "s"}}
    data.credentials.write_text(json.dumps(content), "utf-8")
    credentials.keys_file(data).write_text(json.dumps(entries), "utf-8")

    known = credentials.ensure(data)

    told = json.loads(credentials.keys_file(data).read_bytes())
    assert {space: known.keys[space] for space in old} == old
    assert known.enrolment_secrets["default"] == "s"
    assert entries.items() <= told.items()
    assert {each["principal"] for digest, each in told.items() if digest not in entries} == {
        "owner"
    }


def test_an_administrators_key_of_before_stays_the_owners(data: DataDirectory) -> None:
    """W8 Where the owner has a key of before, a start draws none that would write instead."""
    old = {"default": new_key()}
    content = {"url": "u", "http_url": "h", "keys": {}, "enrolment_secrets": {}, "admin_keys": old}
    data.credentials.write_text(json.dumps(content), "utf-8")

    known = credentials.ensure(data)

    assert known.admin_keys == old
    assert set(known.owner_keys) == {"demo"}


def test_a_key_that_was_kept_here_later_is_not_made_wider(data: DataDirectory) -> None:
    """W7 A start does not send such a key again: governance alone decides its permissions."""
    known = credentials.ensure(data)
    content = json.loads(data.credentials.read_bytes())
    content["keys"] |= {"default": new_key(), "alpha": new_key()}
    content["enrolment_secrets"] |= {"alpha": "of alpha"}
    data.credentials.write_text(json.dumps(content), "utf-8")
    before = credentials.keys_file(data).read_bytes()

    again = credentials.ensure(data)

    assert again.keys == content["keys"]
    assert again.owner_keys == known.owner_keys
    assert credentials.keys_file(data).read_bytes() == before
    assert set(json.loads(credentials.enrolment_file(data).read_bytes())) == {"default", "demo"}


def test_none_are_drawn_for_a_deleted_space(data: DataDirectory) -> None:
    """W7 Governance takes no new key of such a space, and no key is left that it does not know."""
    known = credentials.ensure(data, frozenset({"default"}))

    assert set(known.keys) == {"demo", "concord:system"}
    assert set(known.owner_keys) == set(known.enrolment_secrets) == {"demo"}
    listed = json.loads(credentials.keys_file(data).read_bytes())
    assert {each["space"] for each in listed.values()} == {"demo", "concord:system"}
    assert set(json.loads(credentials.enrolment_file(data).read_bytes())) == {"demo"}


def test_the_client_reads_what_up_writes(data: DataDirectory) -> None:
    """W4 Both sides agree on the file without sharing code."""
    known = credentials.publish(
        data, credentials.ensure(data), url="127.0.0.1:7600", http_url="http://127.0.0.1:7601"
    )

    found = client_side.read(data.credentials)

    assert (found.url, found.http_url) == (known.url, known.http_url)
    assert (found.keys, found.owner_keys) == (known.keys, known.owner_keys)
    assert found.enrolment_secrets == known.enrolment_secrets


@pytest.mark.parametrize("content", ["", "[]", '{"url": 1}', '{"url":"","http_url":"","keys":[]}'])
def test_a_damaged_file_is_told_and_left_alone(data: DataDirectory, content: str) -> None:
    """Must hold: keys are not silently replaced when their file is damaged."""
    data.credentials.write_text(content, "utf-8")

    with pytest.raises(StartError, match="is damaged: move it away"):
        credentials.ensure(data)

    assert data.credentials.read_text("utf-8") == content


@pytest.mark.parametrize("held", ["keys", "owner_keys"])
def test_a_weak_key_is_told_and_left_alone(data: DataDirectory, held: str) -> None:
    """W6 W7 A key that was made by hand ends the start with a sentence that does not show it."""
    credentials.ensure(data)
    weak = "ck_" + "a1" * 21 + "b"
    content = json.loads(data.credentials.read_text())
    content[held]["demo"] = weak
    data.credentials.write_text(json.dumps(content))

    with pytest.raises(StartError, match=r"'demo'.*not drawn at random.* Take it") as told:
        credentials.ensure(data)

    assert weak not in str(told.value)
    assert weak in data.credentials.read_text()


def test_a_damaged_service_key_is_told(data: DataDirectory) -> None:
    """Must hold: for a file without an Ed25519 key the start fails and says what to do."""
    path = data.keys / "gateway.pem"
    path.write_text("nonsense", "utf-8")

    with pytest.raises(StartError, match="is no Ed25519 key: delete it"):
        service_keys.ensure(path)


def test_no_secret_shows_in_a_representation(data: DataDirectory) -> None:
    """W6 The representation of credentials in a traceback shows no key."""
    known = credentials.ensure(data)

    assert not any(secret in repr(known) for secret in secrets_of(known))
