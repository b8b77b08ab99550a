"""The secrets that a distributed system's services are given."""

import json
import os
import stat
from hashlib import sha256
from pathlib import Path

import pytest
from concord_chassis.channel import services_tls
from concord_client import credentials as client_side
from concord_embedded import distributed_secrets, service_certificates


def contents(folder: Path) -> dict[str, bytes]:
    """Every file's bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_secrets_are_made_once_for_their_owner_alone(tmp_path: Path) -> None:
    """W6 W7 Later starts keep the secrets; only their owner can read them; governance and graph
    are given digests, not keys."""
    folder = tmp_path / "secrets"
    distributed_secrets.make(folder, url="127.0.0.1:7600", http_url="http://127.0.0.1:7601")
    first = contents(folder)
    distributed_secrets.make(folder, url="127.0.0.1:7600", http_url="http://127.0.0.1:7601")

    assert first == contents(folder)
    for path in (folder / "keys", *(each for each in folder.rglob("*") if each.is_file())):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
        assert path.stat().st_uid == (os.geteuid() or distributed_secrets.CONTAINER_USER)
    known = json.loads(first["credentials.json"])
    digests = {sha256(key.encode()).hexdigest() for key in known["keys"].values()}
    assert digests <= json.loads(first["keys/api_keys.json"]).keys()
    assert first["keys/neo4j_auth"] == b"neo4j/" + first["keys/neo4j_password"]
    assert first["keys/qdrant_api_key"] in first["keys/qdrant.yaml"]


def test_none_are_drawn_for_a_space_that_was_deleted(tmp_path: Path) -> None:
    """W7 What `concord space delete` took out of the credentials stays out at every later start,
    of graph's file, too; the operator's key is drawn anew where it was taken out."""
    places = {"url": "127.0.0.1:7600", "http_url": "http://127.0.0.1:7601"}
    distributed_secrets.make(tmp_path, **places)
    file, lists = tmp_path / "credentials.json", tmp_path / "keys"
    before, listed = json.loads(file.read_text()), json.loads((lists / "api_keys.json").read_text())
    client_side.forget({"CONCORD_DATA": str(tmp_path)}, "default")
    held = json.loads(file.read_text())
    del held["keys"]["concord:system"]
    file.write_text(json.dumps(held))

    for _ in range(2):
        distributed_secrets.make(tmp_path, **places)

    after = json.loads(file.read_text())
    assert set(after["keys"]) == {"demo", "concord:system"}
    assert set(after["owner_keys"]) == set(after["enrolment_secrets"]) == {"demo"}
    assert after["keys"]["demo"] == before["keys"]["demo"]
    assert json.loads((lists / "enrolment.json").read_text()).keys() == {"demo"}
    drawn = json.loads((lists / "api_keys.json").read_text())
    assert {each["space"] for digest, each in drawn.items() if digest not in listed} == {
        "concord:system"
    }


def test_a_certificate_that_ends_soon_is_made_anew_by_the_same_authority(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W6 Issue 17: certificates are made with the other secrets, and renewed by a later start."""
    names = ("graph", "gateway")
    monkeypatch.setattr(service_certificates, "DAYS", service_certificates.RENEW_DAYS - 1)
    service_certificates.ensure(tmp_path, names[:1])
    short = contents(tmp_path)
    monkeypatch.undo()
    service_certificates.ensure(tmp_path, names)
    renewed = contents(tmp_path)
    service_certificates.ensure(tmp_path, names)

    assert contents(tmp_path) == renewed
    assert renewed["services-ca.crt"] == short["services-ca.crt"]
    assert renewed["graph.crt"] != short["graph.crt"]
    for name in names:
        pair = {"CERT": tmp_path / f"{name}.crt", "KEY": tmp_path / f"{name}.key"}
        files = {"CA": tmp_path / "services-ca.crt", **pair}
        tls = services_tls.read({f"SERVICES_TLS_{key}": str(file) for key, file in files.items()})
        assert tls is not None
        assert tls.name == name
