"""Receipts: ids and digests of what no restore may bring back, even if the backup still has it.

They name erased memories, burnt nonces, ended API keys and deleted spaces. Their file is JSON
Lines with a header line and a last line that has the SHA-256 of the others.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from concord_governance.backup import EndedKey, Space

from concord_embedded import secret_files
from concord_embedded.backup_stores import Known
from concord_embedded.errors import BackupError

FORMAT = 1


@dataclass(frozen=True)
class Receipts:
    """The receipts of a system at a time (µs); its audit log's public key identifies it."""

    log_key: str
    time: int
    erased: tuple[tuple[str, str], ...]
    """(space, memory id)"""
    burnt: tuple[tuple[str, str], ...]
    """(space, nonce)"""
    ended: tuple[EndedKey, ...]
    deleted: tuple[Space, ...]


def known(stores: Known, log_key: str, time: int) -> Receipts:
    """Return the receipts in stores."""
    graph, ledger = stores.graph, stores.ledger
    return Receipts(
        log_key=log_key,
        time=time,
        erased=tuple(graph.erasures()) if graph else (),
        burnt=tuple(graph.nonces()) if graph else (),
        ended=tuple(ledger.ended_keys()) if ledger else (),
        deleted=tuple(ledger.deleted_spaces()) if ledger else (),
    )


def write(file: Path, receipts: Receipts) -> None:
    """Write receipts into a file that only its owner may read."""
    body = "".join(f"{json.dumps(line, sort_keys=True)}\n" for line in _lines(receipts))
    end = {"kind": "end", "sha256": sha256(body.encode()).hexdigest()}
    secret_files.write(file, f"{body}{json.dumps(end)}\n".encode())


def read(file: Path) -> Receipts:
    """Read receipts. Raises `BackupError` if the file is damaged or holds none."""
    try:
        body, _, end = file.read_text("utf-8").removesuffix("\n").rpartition("\n")
        if json.loads(end) != {"kind": "end", "sha256": sha256(f"{body}\n".encode()).hexdigest()}:
            raise BackupError("RECEIPTS_DAMAGED", f"{file} is cut off or was changed.")
        return _read(map(json.loads, body.splitlines()))
    except OSError as error:
        raise BackupError("RECEIPTS_DAMAGED", f"Cannot read {file}: {error.strerror}.") from error
    except (ValueError, LookupError, TypeError, AttributeError):
        raise BackupError("RECEIPTS_DAMAGED", f"{file} holds no receipts.") from None


def _lines(receipts: Receipts) -> Iterator[dict[str, Any]]:
    header = {"format": FORMAT, "time": receipts.time, "log_key": receipts.log_key}
    yield {"kind": "receipts", **header}
    for space, memory_id in receipts.erased:
        yield {"kind": "erased", "space": space, "id": memory_id}
    for space, nonce in receipts.burnt:
        yield {"kind": "burnt", "space": space, "nonce": nonce}
    for key in receipts.ended:
        yield {"kind": "key", **asdict(key)}
    for each in receipts.deleted:
        statement = base64.b64encode(each.statement).decode()
        times = {"create_time": each.create_time, "delete_time": each.delete_time}
        yield {"kind": "deleted", "name": each.name, **times, "statement": statement}


def _read(lines: Iterator[dict[str, Any]]) -> Receipts:
    header = next(lines)
    if (header["kind"], header["format"]) != ("receipts", FORMAT):
        raise ValueError
    found: dict[str, list[dict[str, Any]]] = {"erased": [], "burnt": [], "key": [], "deleted": []}
    for line in lines:
        found[line.pop("kind")].append(line)
    return Receipts(
        log_key=header["log_key"],
        time=header["time"],
        erased=tuple((each["space"], each["id"]) for each in found["erased"]),
        burnt=tuple((each["space"], each["nonce"]) for each in found["burnt"]),
        ended=tuple(EndedKey(**each) for each in found["key"]),
        deleted=tuple(
            Space(**each | {"statement": base64.b64decode(each["statement"])})
            for each in found["deleted"]
        ),
    )
