"""Makes a distributed system's secrets, once: `python -m` this FOLDER GRPC HTTP.

    FOLDER/credentials.json   for `concord` (CONCORD_DATA=FOLDER): GRPC and HTTP are the gateway's
                              addresses; the keys of the spaces, and the operator's
    FOLDER/keys               key pairs and certificates of the services, digests of the keys and
                              secrets, and the databases' passwords: each service is given its
                              own files alone

Existing files stay as they are, except certificates that expire within 60 days. If root runs this,
the files are given to the user of the containers.
"""

import os
import secrets
import sys
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from concord_embedded import credentials, secret_files, service_certificates, service_keys
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import StartError
from concord_embedded.service_keys import SIGNERS

SERVICES = (*SIGNERS, "graph")
"""The services that get a certificate, by the host names under which they are called."""
KEPT = ("grants", "audit-log")
"""Governance's other key pairs; it serves the public keys itself."""
CONTAINER_USER = 10_001
"""The default user id in the images; never root."""


def make(folder: Path, *, url: str, http_url: str) -> None:
    """Makes the missing files. Raises `StartError`."""
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
    """Writes each database's password twice: for the service that connects, and for its server."""
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
