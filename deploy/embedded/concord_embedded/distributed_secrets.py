"""What the services of a distributed system read, made once: `python -m` this FOLDER GRPC HTTP.

    FOLDER/credentials.json   for `concord` (CONCORD_DATA=FOLDER): GRPC and HTTP are the gateway's
                              addresses; the keys of the spaces, and the operator's
    FOLDER/keys               key pairs and certificates of the services, digests of the keys and
                              secrets, and the databases' passwords: each service is given its
                              own files alone

What is there stays as it is, but for certificates that end within 60 days. Who starts containers as
root makes them for the user that runs there.
"""

import os
import secrets
import sys
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from concord_embedded import credentials, secret_files, service_certificates, service_keys
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import StartError

SIGNERS = ("gateway", "search", "governance", "dissonance")
"""Who signs tokens, which the others check with the public key."""
SERVICES = (*SIGNERS, "graph")
"""Who has a certificate, by the name under which the others address it."""
KEPT = ("grants", "audit-log")
"""Governance's other keys, whose public halves it hands out itself."""
CONTAINER_USER = 10_001
"""Who runs in the images, where nobody else is named; never root."""


def make(folder: Path, *, url: str, http_url: str) -> None:
    """Makes what is not there yet. Raises `StartError`."""
    data = DataDirectory(folder)
    data.keys.mkdir(mode=0o700, parents=True, exist_ok=True)
    credentials.publish(data, credentials.ensure(data), url=url, http_url=http_url)
    for name in SIGNERS:
        key = service_keys.ensure(data.keys / f"{name}.pem").public_key()
        public = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        secret_files.write(data.keys / f"{name}.pub", public)
    for name in KEPT:
        service_keys.ensure(data.keys / f"{name}.pem")
    _databases(data.keys)
    service_certificates.ensure(data.keys, SERVICES)
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, CONTAINER_USER, CONTAINER_USER)


def _databases(keys: Path) -> None:
    """The password of each database, for the service that asks, and as its server reads it."""
    neo4j = _password(keys / "neo4j_password")
    secret_files.write(keys / "neo4j_auth", f"neo4j/{neo4j}".encode())
    qdrant = _password(keys / "qdrant_api_key")
    secret_files.write(keys / "qdrant.yaml", f"service:\n  api_key: {qdrant}\n".encode())


def _password(path: Path) -> str:
    if not path.exists():
        secret_files.write(path, secrets.token_hex(24).encode())
    return path.read_text("utf-8")


if __name__ == "__main__":
    _folder, _url, _http_url = sys.argv[1:]
    try:
        make(Path(_folder), url=_url, http_url=_http_url)
    except StartError as error:
        sys.exit(str(error))
