"""A backup: graph's store and the ledger as both stood at one instant, and what serves them.

It is a folder of its owner's alone: `graph.db`, `ledger.db`, `keys/`, `credentials.json`,
`receipts.jsonl` (what no restore may bring back, see `receipts`), and `manifest.json`, which is
written last. The index is not in it: it is made anew from graph.
"""

import base64
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from importlib import metadata
from pathlib import Path
from typing import Any

from concord_gateway.credentials import digest_of
from concord_governance.adapters.sqlite import copies as ledger_copies
from concord_governance.adapters.sqlite.ledger import SCHEMA as LEDGER_SCHEMA
from concord_governance.domain.access import KeyStatus, is_operator
from concord_graph.adapters.sqlite import copies as graph_copies
from concord_graph.adapters.sqlite.schema import SCHEMA as GRAPH_SCHEMA
from concord_graph.servicer.outgoing import token
from concord_stores.sqlite_copy import copy_at_one_instant, demand_sound, read_live, read_only
from concord_stores.sqlite_file import FileFailure, FileUnusable

from concord_embedded import receipts, secret_files
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import BackupError

FORMAT = 1
PREFIX = "concord-"
GRAPH, LEDGER, KEYS = "graph.db", "ledger.db", "keys"
CREDENTIALS, RECEIPTS, MANIFEST = "credentials.json", "receipts.jsonl", "manifest.json"
LOG_KEY = f"{KEYS}/audit-log.pem"
_SCHEMAS = {"graph": GRAPH_SCHEMA.version, "ledger": LEDGER_SCHEMA.version}
_STALE_SECONDS = 86_400
"""After how long the folder of a backup that was killed is removed."""


@dataclass(frozen=True)
class Backup:
    """A whole backup. `time`: of its instant, µs; `spaces`: name to what it holds of it."""

    path: Path
    time: int
    version: str
    epoch: str
    spaces: Mapping[str, Mapping[str, Any]]
    size: int
    """Bytes of all its files."""

    @property
    def ledger(self) -> Path:
        """The copy of the ledger."""
        return self.path / LEDGER


def demand_embedded_stores(environ: Mapping[str, str]) -> None:
    """Refuse stores that a backup would not hold. Raises `BackupError`."""
    if "neo4j" in (environ.get("GRAPH_STORE"), environ.get("GOVERNANCE_STORE")):
        raise BackupError(
            "BACKUP_UNSUPPORTED",
            "A backup holds stores in the data directory. Of a Neo4j, stop Concord and use "
            "`neo4j-admin database dump`; `concord export --form full` takes a space with you.",
        )


def demand_operator(ledger: Path, api_key: str, now: int, *, live: bool = False) -> None:
    """Demand an active key with the scope `operator`. Raises `BackupError`."""
    with _explained(), (read_live if live else read_only)(ledger) as db:
        key = ledger_copies.key_of(db, digest_of(api_key))
    active = key is not None and key.status(now) is KeyStatus.ACTIVE
    if key is None or not active or not is_operator(key.space, key.permissions):
        raise BackupError(
            "ERROR_REASON_PERMISSION_MISSING",
            "This takes a key with the scope operator, in CONCORD_API_KEY or as concord:system's "
            "in credentials.json.",
        )


def create(root: Path, folder: Path, now: int, api_key: str) -> Backup:
    """Back up the system on a data directory, running or not, into a new folder in `folder`.

    It appears there whole, after it was read back and verified. Raises `BackupError`.
    """
    data = DataDirectory(root)
    if not (data.graph_store.exists() and data.ledger.exists()):
        raise BackupError("BACKUP_NO_SYSTEM", f"{root} holds no Concord: name another with --data.")
    if folder.absolute().is_relative_to(root.absolute()):
        raise BackupError(
            "BACKUP_INSIDE",
            f"{folder} is in the data directory, of which no byte may hold what is erased: name a "
            "folder elsewhere, on another disk.",
        )
    demand_operator(data.ledger, api_key, now, live=True)
    name = f"{PREFIX}{datetime.fromtimestamp(now / 1e6, UTC):%Y%m%dT%H%M%S.%fZ}"
    part, whole = folder / f".{name}.part", folder / name
    with _explained():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_stale(folder, now)
        part.mkdir(mode=0o700)
        try:
            _fill(data, part, now)
            made = verify(part)
            part.rename(whole)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        synced(folder)
        secret_files.write(data.last_backup, json.dumps({"path": str(whole), "time": now}).encode())
    return replace(made, path=whole)


def write_receipts(root: Path, file: Path, now: int, api_key: str) -> None:
    """Write what no restore may bring back, as it is known now. Raises `BackupError`."""
    data = DataDirectory(root)
    demand_operator(data.ledger, api_key, now, live=True)
    with _explained(), read_live(data.graph_store) as graph, read_live(data.ledger) as ledger:
        receipts.write(file, receipts.known(graph, ledger, log_key_of(data.keys), now))


def complete(folder: Path) -> Sequence[Path]:
    """Return the backups in a folder that were finished, the oldest first."""
    return sorted(each for each in folder.glob(f"{PREFIX}*") if (each / MANIFEST).is_file())


def prune(folder: Path, keep: int) -> Sequence[Path]:
    """Remove all but the newest `keep` backups; return those that are gone."""
    gone = complete(folder)[:-keep]
    for each in gone:
        (each / MANIFEST).unlink()  # first: what is left of it is no backup
        shutil.rmtree(each)
    return gone


def verify(path: Path) -> Backup:
    """Read a backup from end to end and demand that it is whole, as it was made, and consistent.

    Raises `BackupError`, which names what is not.
    """
    manifest = _read_manifest(path)
    _demand_files(path, manifest["files"])
    with _explained(BackupError("BACKUP_EDITED", f"{path} does not hold what it says")):
        for name in (GRAPH, LEDGER):
            demand_sound(path / name)
        if _described(path) != {each: manifest[each] for each in ("epoch", "spaces", "schemas")}:
            raise _edited(path, "its stores are not those that its manifest describes")
        receipts.read(path / RECEIPTS)
    return Backup(
        path=path,
        time=manifest["time"],
        version=manifest["version"],
        epoch=manifest["epoch"],
        spaces=manifest["spaces"],
        size=sum(each["bytes"] for each in manifest["files"].values()),
    )


def log_key_of(keys: Path) -> str:
    """Return the public key of the audit log, which names the installation; empty without one."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    from concord_embedded import service_keys

    path = keys / Path(LOG_KEY).name
    if not path.exists():
        return ""
    public = service_keys.ensure(path).public_key()
    return base64.b64encode(public.public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()


def rolled_back(graph: sqlite3.Connection, ledger: sqlite3.Connection) -> Sequence[str]:
    """Return the spaces of which the ledger has changes that this very graph does not."""
    epoch, heads = graph_copies.epoch_of(graph), graph_copies.heads(graph)
    return [
        space
        for space, log in ledger_copies.log_heads(ledger).items()
        if log.cursor.seq
        and (
            log.cursor.epoch != epoch
            or log.cursor.seq > heads.get(space, 0)
            or log.cursor.mark
            not in ("", graph_copies.digest_at(graph, space, log.cursor.seq, epoch))
        )
    ]


def synced(folder: Path) -> None:
    """Have what a folder lists on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _fill(data: DataDirectory, part: Path, now: int) -> None:
    # The keys first: one that was made later is not in the ledger, and opens nothing.
    shutil.copytree(data.keys, part / KEYS, ignore=shutil.ignore_patterns(".*"))
    shutil.copy(data.credentials, part / CREDENTIALS)
    copy_at_one_instant({data.graph_store: part / GRAPH, data.ledger: part / LEDGER})
    with read_only(part / GRAPH) as graph, read_only(part / LEDGER) as ledger:
        receipts.write(part / RECEIPTS, receipts.known(graph, ledger, log_key_of(part / KEYS), now))
    (part / KEYS).chmod(0o700)
    for each in _files(part):
        each.chmod(0o600)
    manifest = {
        "format": FORMAT,
        "time": now,
        "version": metadata.version("concord-embedded"),
        **_described(part),
        "files": {
            str(each.relative_to(part)): {"bytes": each.stat().st_size, "sha256": _digest(each)}
            for each in _files(part)
        },
    }
    manifest["digest"] = _digest_of_manifest(manifest)
    secret_files.write(part / MANIFEST, json.dumps(manifest, indent=2).encode() + b"\n")


def _described(path: Path) -> dict[str, Any]:
    """Return what the copied stores hold. Raises `BackupError` when they are not of one instant."""
    with read_only(path / GRAPH) as graph, read_only(path / LEDGER) as ledger:
        if behind := rolled_back(graph, ledger):
            raise BackupError(
                "ERROR_REASON_GRAPH_ROLLED_BACK",
                f"The graph is older than the audit log of {', '.join(behind)}: restore the newer "
                "copy of the graph's store, or another backup.",
            )
        epoch, heads = graph_copies.epoch_of(graph), graph_copies.heads(graph)
        logs = ledger_copies.log_heads(ledger)
        return {
            "epoch": epoch,
            "schemas": {"graph": _schema_of(graph), "ledger": _schema_of(ledger)},
            "spaces": {
                space: {
                    "seq": heads.get(space, 0),
                    "change_digest": graph_copies.digest_at(
                        graph, space, heads.get(space, 0), epoch
                    ),
                    "token": token(space, epoch, heads.get(space, 0)),
                    "log_size": logs[space].size if space in logs else 0,
                    "log_root": logs[space].root.hex() if space in logs else "",
                }
                for space in sorted(heads.keys() | logs.keys())
            },
        }


def _schema_of(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()[0])


def _read_manifest(path: Path) -> dict[str, Any]:
    file = path / MANIFEST
    try:
        manifest = json.loads(file.read_bytes())
        said = manifest.pop("digest")
        known = manifest["format"] == FORMAT
        schemas = {name: int(manifest["schemas"][name]) for name in _SCHEMAS}
    except FileNotFoundError:
        raise BackupError(
            "BACKUP_TORN",
            f"{path} has no {MANIFEST}: it is no backup, or one that was not finished.",
        ) from None
    except OSError as error:
        raise BackupError("BACKUP_TORN", f"Cannot read {file}: {error.strerror}.") from error
    except (ValueError, LookupError, TypeError, AttributeError):
        raise _edited(path, f"{MANIFEST} is no manifest") from None
    if not known or any(schemas[name] > _SCHEMAS[name] for name in _SCHEMAS):
        raise BackupError(
            "BACKUP_NEWER", f"{path} is of a newer Concord: restore it with that version."
        )
    if said != _digest_of_manifest(manifest):
        raise _edited(path, f"{MANIFEST} was changed")
    return dict(manifest)


def _demand_files(path: Path, listed: Mapping[str, Mapping[str, Any]]) -> None:
    found = {str(each.relative_to(path)) for each in _files(path)} - {MANIFEST}
    if surplus := sorted(found - listed.keys()):
        raise _edited(path, f"{surplus[0]} is not of it")
    for name, said in listed.items():
        if name not in found:
            raise BackupError("BACKUP_TORN", f"{path} lacks {name}.")
        if (path / name).stat().st_size != said["bytes"]:
            raise BackupError("BACKUP_TORN", f"{path / name} is cut off or has grown.")
        if _digest(path / name) != said["sha256"]:
            raise _edited(path, f"{name} was changed")


def _files(path: Path) -> Sequence[Path]:
    return sorted(each for each in path.rglob("*") if not each.is_dir())


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _digest_of_manifest(manifest: Mapping[str, Any]) -> str:
    return sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def _edited(path: Path, what: str) -> BackupError:
    return BackupError("BACKUP_EDITED", f"{path}: {what}. Take another backup.")


def _remove_stale(folder: Path, now: int) -> None:
    for each in folder.glob(f".{PREFIX}*.part"):
        if now / 1e6 - each.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(each, ignore_errors=True)


@contextmanager
def _explained(damaged: BackupError | None = None) -> Iterator[None]:
    """Turn what keeps files from being read or written into a `BackupError`."""
    try:
        yield
    except FileUnusable as error:
        raise damaged or BackupError("BACKUP_STORE_UNUSABLE", f"{error}.") from error
    except FileFailure as error:
        raise BackupError("BACKUP_STORE_UNUSABLE", f"{error}: try again.") from error
    except (sqlite3.DatabaseError, LookupError) as error:  # a log without its hashes has gaps
        raise damaged or BackupError("BACKUP_STORE_UNUSABLE", f"{error}.") from error
    except OSError as error:
        why = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
        raise BackupError("BACKUP_UNWRITABLE", f"Cannot read or write {why}.") from error
