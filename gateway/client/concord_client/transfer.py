"""Import of a full export into an unused space, and the restore grant that both slots sign."""

import hashlib
import json
import secrets
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from concord.graph.v1 import space_pb2
from concord.graph.v1.space_pb2_grpc import SpaceServiceStub
from concord.type.v1 import type_pb2
from concord_attestation.agreed import Agreed, constitutive_digest

from concord_client.trust import signing

PIECE = 256 * 1024
TIMEOUT = 3600.0
PRINCIPAL_RELATION = "concord:principal"
_CONSENTED = b'"needs_consent":true'
_PRINCIPAL = PRINCIPAL_RELATION.encode()

OnSent = Callable[[int], None]
"""Called with the number of bytes sent so far."""


class NotAnExport(ValueError):
    """The file is no full export, or was changed; the text says so."""


@dataclass(frozen=True)
class Export:
    """A full export in a file."""

    path: Path
    space: str
    """The space that was exported."""
    digest: str
    """Hex SHA-256 of the whole file."""
    genesis_digest: str
    """The digest of its genesis, whose slots must sign for the import; empty without one."""
    constitutive_digest: str = ""
    """The digest of its constitutive items."""
    keys: Mapping[str, bytes | Sequence[bytes]] = field(default_factory=dict)
    """The present public key of each slot in it; a list of them where a slot has several."""

    def payload(
        self, expire_time: datetime, *, governance_key: bytes, nonce: bytes | None = None
    ) -> bytes:
        """The bytes that both slots sign, with `signing.sign_envelope` under RESTORE_TYPE.

        `governance_key`: that of the system that imports, as `concord principal show` prints it
        there. A slot that has the genesis' key no more signs with two keys, that one and one of its
        present ones.
        """
        return signing.restore_payload(
            space=self.space,
            genesis_digest=self.genesis_digest,
            export_digest=self.digest,
            constitutive_digest=self.constitutive_digest,
            keys=self.keys,
            governance_key=governance_key,
            expire_time=expire_time,
            nonce=nonce,
        )


def read_export(path: Path) -> Export:
    """Reads the header and digest of an export; with a genesis also its keys and the digest of
    its constitutive items.

    Raises `NotAnExport` for another kind of file, `OSError` if it cannot be read.
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
        space = str(header.get("space", ""))
        if not envelope:
            return Export(path, space, digest, "")
        file.seek(0)
        try:
            agreed, keys = agreed_in(file)
        except (KeyError, TypeError, ValueError):
            raise NotAnExport(f"{path} is no full export: a line of it was changed.") from None
    genesis = signing.genesis_digest(str(envelope).encode())
    return Export(path, space, digest, genesis, agreed, keys)


def agreed_in(lines: Iterable[bytes]) -> tuple[str, Mapping[str, bytes | Sequence[bytes]]]:
    """The digest of the constitutive items in an export's lines, and each slot's present keys.

    Where each slot has one key, that alone; otherwise a list of them a slot.
    """
    agreed, keys = Agreed(), dict[str, list[bytes]]()
    for line in lines:
        if _CONSENTED in line and (record := _record(line)).get("kind") == "change":
            _take(agreed, record)
        elif _PRINCIPAL in line and (record := _record(line)).get("kind") == "edge":
            said = record.get("properties")
            if isinstance(said, dict) and record.get("relation") == PRINCIPAL_RELATION:
                named = [said, *said.get("further_keys", [])]
                keys[str(said.get("slot", ""))] = [
                    _key(str(dict(each).get("key", ""))) for each in named
                ]
    digest = constitutive_digest(agreed.items())
    if all(len(named) == 1 for named in keys.values()):
        return digest, {slot: named[0] for slot, named in keys.items()}
    return digest, keys


def _key(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _take(agreed: Agreed, record: dict[str, Any]) -> None:
    if record["type"] == "REFUSED":
        return
    agreed.take(
        record["item_id"],
        type_pb2.ItemKind.Value(f"ITEM_KIND_{record['item_kind']}"),
        record["revision"],
        record.get("digest", ""),
        record.get("ends"),
        method=record.get("author", {}).get("method", ""),
    )


def governance_named(grant: bytes) -> bytes:
    """The governance key that a restore grant names, unverified; empty without one."""
    try:
        payload = json.loads(signing.payload_of(grant))
        return _key(str(payload["governance_key"]))
    except (ValueError, KeyError, TypeError):
        return b""


def import_space(
    space: SpaceServiceStub,
    path: Path,
    *,
    restore_grant: bytes = b"",
    enrolment_secret: str = "",
    on_sent: OnSent = lambda _: None,
) -> space_pb2.ImportSpaceResponse:
    """Sends a full export into the caller's space, which must never have been written.

    Raises `Refused`; then nothing was written.
    """
    header = space_pb2.ImportHeader(
        request_id=f"import-{secrets.token_hex(8)}",
        restore_grant=restore_grant,
        enrolment_secret=enrolment_secret,
    )
    return space.ImportSpace(_messages(header, path, on_sent), timeout=TIMEOUT)


def _messages(
    header: space_pb2.ImportHeader, path: Path, on_sent: OnSent
) -> Iterator[space_pb2.ImportSpaceRequest]:
    yield space_pb2.ImportSpaceRequest(header=header)
    sent = 0
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield space_pb2.ImportSpaceRequest(piece=piece)
            sent += len(piece)
            on_sent(sent)


def _record(line: bytes) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
