"""Moving a space: a full export sent into an unused one, and what its parties sign for that."""

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from concord.graph.v1 import transfer_pb2
from concord.graph.v1.graph_pb2_grpc import GraphServiceStub

from concord_client import signing

PIECE = 256 * 1024
TIMEOUT = 3600.0

Told = Callable[[int], None]
"""Is told how many bytes are sent."""


class NotAnExport(ValueError):
    """The file is no full export; the text says what it is."""


@dataclass(frozen=True)
class Export:
    """A full export in a file."""

    path: Path
    space: str
    """Where it comes from."""
    digest: str
    """Hex SHA-256 of the whole file."""
    genesis_digest: str
    """Of the genesis in it, which then must be restored by its parties; empty without one."""

    def payload(self, expire_time: datetime, *, nonce: bytes | None = None) -> bytes:
        """The bytes that both slots sign, with `signing.sign_envelope` under RESTORE_TYPE."""
        return signing.restore_payload(
            space=self.space,
            genesis_digest=self.genesis_digest,
            export_digest=self.digest,
            expire_time=expire_time,
            nonce=nonce,
        )


def read_export(path: Path) -> Export:
    """Looks at the first lines of a file and digests all of it.

    Raises `NotAnExport` for another kind of file, `OSError` when it cannot be read.
    """
    with path.open("rb") as file:
        header, second = _record(file.readline()), _record(file.readline())
        if header.get("kind") != "export":
            raise NotAnExport(
                f"{path} is no full export: make one with `concord export --form full`."
            )
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    envelope = second.get("envelope") if second.get("kind") == "genesis" else None
    genesis = signing.genesis_digest(str(envelope).encode()) if envelope else ""
    return Export(path, str(header.get("space", "")), digest, genesis)


def import_space(
    graph: GraphServiceStub,
    path: Path,
    *,
    restore_grant: bytes = b"",
    enrolment_secret: str = "",
    told: Told = lambda _: None,
) -> transfer_pb2.ImportSpaceResponse:
    """Sends a full export into the caller's space, in which nothing was ever recorded.

    Raises `Refused`; then nothing was written.
    """
    header = transfer_pb2.ImportHeader(
        request_id=f"import-{secrets.token_hex(8)}",
        restore_grant=restore_grant,
        enrolment_secret=enrolment_secret,
    )
    return graph.ImportSpace(_messages(header, path, told), timeout=TIMEOUT)


def _messages(
    header: transfer_pb2.ImportHeader, path: Path, told: Told
) -> Iterator[transfer_pb2.ImportSpaceRequest]:
    yield transfer_pb2.ImportSpaceRequest(header=header)
    sent = 0
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield transfer_pb2.ImportSpaceRequest(piece=piece)
            sent += len(piece)
            told(sent)


def _record(line: bytes) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
