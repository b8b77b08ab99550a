"""A backup: graph's store and the ledger as both stood at one instant, with keys and credentials.

It is a folder that only its owner may read: `graph.db` and `ledger.db`, or `neo4j.jsonl.gz`;
`keys/`, `credentials.json`, `receipts.jsonl` (see `receipts`), and `manifest.json`, which is
written last. It has no index, which is rebuilt from graph.
"""

import base64
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from importlib import metadata
from pathlib import Path
from typing import Any

from concord_gateway.credentials import digest_of
from concord_governance.backup import KeyStatus, is_operator
from concord_graph.backup import token

from concord_embedded import backup_stores, receipts, secret_files
from concord_embedded.backup_stores import CREDENTIALS, KEYS, Copy, Known, Stores, explained
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import BackupError

FORMAT = 1
PREFIX = "concord-"
RECEIPTS, MANIFEST = "receipts.jsonl", "manifest.json"
LOG_KEY = f"{KEYS}/audit-log.pem"
_OF_THE_MACHINE = ("neo4j_*", "qdrant*", "*.crt", "*.key")
"""Files of `keys/` that each system makes for itself: databases' passwords and certificates."""
_STALE_SECONDS = 86_400
"""The age at which the folder of a killed backup is removed."""


@dataclass(frozen=True)
class Backup:
    """A verified backup. `time`: its instant, µs; `spaces`: the heads of graph and log by space."""

    path: Path
    time: int
    version: str
    epoch: str
    spaces: Mapping[str, Mapping[str, Any]]
    size: int
    """Bytes of all its files."""


def demand_operator(stores: Known, api_key: str, now: int) -> None:
    """Demand an active key with the scope `operator`. Raises `BackupError`."""
    key = stores.ledger.key_of(digest_of(api_key)) if stores.ledger else None
    active = key is not None and key.status(now) is KeyStatus.ACTIVE
    if key is None or not active or not is_operator(key.space, key.permissions):
        raise BackupError(
            "ERROR_REASON_PERMISSION_MISSING",
            "This takes a key with the scope operator, in CONCORD_API_KEY or as concord:system's "
            "in credentials.json.",
        )


async def create(root: Path, folder: Path, now: int, api_key: str, stores: Stores) -> Backup:
    """Back up the system of a data directory, running or not, into a new folder in `folder`.

    The new folder appears once it was read back and verified. Raises `BackupError`.
    """
    data = DataDirectory(root)
    _demand_outside(folder, root)
    with explained():
        await stores.demand_there(data)
        async with stores.known(data) as known:
            demand_operator(known, api_key, now)
    part, whole = _new_folders(folder, now)
    with explained():
        try:
            await _fill(data, part, now, stores)
            made = verify(part)
            part.rename(whole)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        secret_files.sync(folder)
        made_before = _still_there(data.last_backup, folder)
        listed = {"path": str(whole), "time": now, "made": made_before | {str(now): str(whole)}}
        secret_files.write(data.last_backup, json.dumps(listed).encode())
    return replace(made, path=whole)


def _still_there(file: Path, folder: Path) -> dict[str, str]:
    """Return the paths of earlier backups by their times (µs), but for those that were in this
    folder and are gone: of another folder nobody knows whether its disk is only away."""
    try:
        made = json.loads(file.read_bytes())["made"]
        return {
            time: path
            for time, path in made.items()
            if Path(path).parent != folder or Path(path).exists()
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


def _demand_outside(folder: Path, root: Path) -> None:
    if folder.absolute().is_relative_to(root.absolute()):
        raise BackupError(
            "BACKUP_INSIDE",
            f"{folder} is in the data directory, of which no byte may hold what is erased: name a "
            "folder elsewhere, on another disk.",
        )


def _new_folders(folder: Path, now: int) -> tuple[Path, Path]:
    """Make the folder of an unfinished backup; return its path and that of the finished one."""
    name = f"{PREFIX}{datetime.fromtimestamp(now / 1e6, UTC):%Y%m%dT%H%M%S.%fZ}"
    part, whole = folder / f".{name}.part", folder / name
    with explained():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_stale(folder, now)
        part.mkdir(mode=0o700)
    return part, whole


async def write_receipts(root: Path, file: Path, now: int, api_key: str, stores: Stores) -> None:
    """Write the receipts as of now into a file. Raises `BackupError`."""
    data = DataDirectory(root)
    with explained():
        await stores.demand_there(data)
        async with stores.known(data) as known:
            demand_operator(known, api_key, now)
            receipts.write(file, receipts.known(known, log_key_of(data.keys), now))


def complete(folder: Path) -> Sequence[Path]:
    """Return the backups in a folder that were finished, the oldest first."""
    return sorted(each for each in folder.glob(f"{PREFIX}*") if (each / MANIFEST).is_file())


def prune(folder: Path, keep: int) -> Sequence[Path]:
    """Remove all but the newest `keep` backups; return those that are gone."""
    gone = complete(folder)[:-keep]
    for each in gone:
        (each / MANIFEST).unlink()  # first: a folder without it is no backup
        shutil.rmtree(each)
    return gone


def verify(path: Path) -> Backup:
    """Read a backup from end to end and demand that it is complete, unchanged and consistent.

    Raises `BackupError`, which names the first fault.
    """
    manifest = _read_manifest(path)
    _demand_files(path, manifest["files"])
    with explained(BackupError("BACKUP_EDITED", f"{path} does not hold what it says")):
        backup_stores.demand_whole(path)
        with backup_stores.copied(path) as copy:
            if _described(copy) != {
                each: manifest[each] for each in ("epoch", "spaces", "schemas")
            }:
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
    """Return the audit log's public key (base64), which names the system; empty without one."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    from concord_embedded import service_keys

    path = keys / Path(LOG_KEY).name
    if not path.exists():
        return ""
    public = service_keys.ensure(path).public_key()
    return base64.b64encode(public.public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()


def rolled_back(stores: Copy) -> Sequence[str]:
    """Return the spaces for which the ledger knows changes that this graph does not have."""
    graph = stores.graph
    epoch, heads = graph.epoch, graph.heads()
    return [
        space
        for space, log in stores.ledger.log_heads().items()
        if log.cursor.seq
        and (
            log.cursor.epoch != epoch
            or log.cursor.seq > heads.get(space, 0)
            or log.cursor.change_digest not in ("", graph.digest_at(space, log.cursor.seq, epoch))
        )
    ]


async def _fill(data: DataDirectory, part: Path, now: int, stores: Stores) -> None:
    # The keys before the stores: an API key made after the ledger's copy would open nothing.
    shutil.copytree(data.keys, part / KEYS, ignore=shutil.ignore_patterns(".*", *_OF_THE_MACHINE))
    shutil.copy(data.credentials, part / CREDENTIALS)
    await stores.copy(data, part)
    with backup_stores.copied(part) as copy:
        receipts.write(part / RECEIPTS, receipts.known(copy, log_key_of(part / KEYS), now))
        described = _described(copy)
    (part / KEYS).chmod(0o700)
    for each in _files(part):
        each.chmod(0o600)
    manifest = {
        "format": FORMAT,
        "time": now,
        "version": metadata.version("concord-embedded"),
        **described,
        "files": {
            str(each.relative_to(part)): {"bytes": each.stat().st_size, "sha256": _digest(each)}
            for each in _files(part)
        },
    }
    manifest["digest"] = _digest_of_manifest(manifest)
    secret_files.write(part / MANIFEST, json.dumps(manifest, indent=2).encode() + b"\n")


def _described(stores: Copy) -> dict[str, Any]:
    """Return the manifest's description of copied stores.

    Raises `BackupError` if the graph is older than the ledger.
    """
    if behind := rolled_back(stores):
        raise BackupError(
            "ERROR_REASON_GRAPH_ROLLED_BACK",
            f"The graph is older than the audit log of {', '.join(behind)}: restore the newer "
            "copy of the graph's store, or another backup.",
        )
    graph, logs = stores.graph, stores.ledger.log_heads()
    epoch, heads = graph.epoch, graph.heads()
    return {
        "epoch": epoch,
        "schemas": {"graph": graph.schema, "ledger": stores.ledger.schema},
        "spaces": {
            space: {
                "seq": heads.get(space, 0),
                "change_digest": graph.digest_at(space, heads.get(space, 0), epoch),
                "token": token(space, epoch, heads.get(space, 0)),
                "log_size": logs[space].size if space in logs else 0,
                "log_root": logs[space].root.hex() if space in logs else "",
            }
            for space in sorted(heads.keys() | logs.keys())
        },
    }


def _read_manifest(path: Path) -> dict[str, Any]:
    file = path / MANIFEST
    try:
        manifest = json.loads(file.read_bytes())
        said = manifest.pop("digest")
        known = manifest["format"] == FORMAT
        newest = backup_stores.newest_schemas(path)
        schemas = {name: int(manifest["schemas"][name]) for name in newest}
    except FileNotFoundError:
        raise BackupError(
            "BACKUP_TORN",
            f"{path} has no {MANIFEST}: it is no backup, or one that was not finished.",
        ) from None
    except OSError as error:
        raise BackupError("BACKUP_TORN", f"Cannot read {file}: {error.strerror}.") from error
    except (ValueError, LookupError, TypeError, AttributeError):
        raise _edited(path, f"{MANIFEST} is no manifest") from None
    if not known or any(schemas[name] > newest[name] for name in newest):
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
