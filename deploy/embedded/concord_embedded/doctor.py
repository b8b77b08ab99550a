"""Finds what is wrong with an installation, running or not, from its data directory."""

import fcntl
import json
import os
import shutil
import socket
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from concord_chassis.config import ConfigError, load
from concord_dissonance import config as dissonance_config
from concord_gateway import config as gateway_config
from concord_gateway.credentials import digest_of
from concord_governance import backup as ledger_backup
from concord_governance import config as governance_config
from concord_governance.backup import SYSTEM_SPACE, ApiKey, KeyStatus
from concord_graph import backup as graph_backup
from concord_graph.config import Limits, read_store
from concord_search import config as search_config
from concord_stores.sqlite_copy import read_live
from concord_stores.sqlite_file import FileUnusable

from concord_embedded import assembly, backup
from concord_embedded.assembly import LOOPBACK
from concord_embedded.backup_stores import Copy
from concord_embedded.data_directory import LOCK_NAME, OTHERS_MAY_WRITE, DataDirectory

LEAST_FREE = 256 << 20
"""Free bytes below which a disk counts as full: erasures and the index need as much."""
CLOCK_SLACK = 300_000_000
_CHECKED_BYTES = 64 << 20
_DAY = 86_400_000_000
_EXPIRES_SOON = 14 * _DAY
_BACKUP_OLD = 7 * _DAY
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_MOST_NAMED = 5


@dataclass(frozen=True)
class Finding:
    """A problem, or, without `is_wrong`, one that will arise; and what to do about it."""

    about: str
    problem: str
    advice: str
    is_wrong: bool = True


def is_running(root: Path) -> bool:
    """Return whether a running Concord has locked a data directory."""
    try:
        descriptor = os.open(root / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def examine(root: Path, port: int, environ: Mapping[str, str], now: int) -> Sequence[Finding]:
    """Return the problems of a data directory, the settings and this machine. `now` in µs.

    If a store is on Neo4j, stores, keys and backups are left out: the running system reports them.
    """
    data = DataDirectory(root)
    if not root.is_dir():
        start = "start Concord there with `concord up`, or name another with --data"
        return [Finding("data directory", f"{root} is not there", start), *_versions()]
    found = [
        *_directory(data),
        *_disk(data),
        *_settings(data, environ),
        *_versions(),
        *_ports(data, port),
    ]
    if "neo4j" not in (environ.get("GRAPH_STORE"), environ.get("GOVERNANCE_STORE")):
        found += [*_stores(data, now), *_keys(data, now), *_backups(data, now)]
    return found


def _directory(data: DataDirectory) -> Iterator[Finding]:
    about = "permissions"
    known = list(_known(data.root))
    foreign = [each for each, found in known if found.st_uid != os.geteuid()]
    if foreign:
        yield Finding(about, f"{_named(foreign)} belong to another user", "change their owner")
    if known[0][1].st_mode & OTHERS_MAY_WRITE:
        advice = f"run `chmod 700 {data.root}`"
        yield Finding(about, f"others may write in {data.root}", advice)
    reachable = known[0][1].st_mode & _OTHERS
    open_ = [
        each for each, found in known[1:] if found.st_mode & _OTHERS and stat.S_ISREG(found.st_mode)
    ]
    if reachable and open_:
        advice = f"run `chmod -R go= {data.root}`"
        yield Finding(about, f"others may read {_named(open_)}", advice)
    if data.restoring.exists():
        advice = "restore the same backup again, with --replace"
        yield Finding("restore", "a restore was stopped before its end", advice)


def _known(root: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield a directory and all in it, with the status; what is gone meanwhile is left out."""
    for folder, _, files in os.walk(root):
        for each in (Path(folder, name) for name in ("", *files)):
            with suppress(FileNotFoundError):
                yield each, each.lstat()


def _disk(data: DataDirectory) -> Iterator[Finding]:
    free = shutil.disk_usage(data.root).free
    store = data.graph_store.stat().st_size if data.graph_store.exists() else 0
    need = max(LEAST_FREE, store)
    if free < need:
        problem = f"the disk of {data.root} has {free >> 20:,} MiB left"
        advice = f"make room for {need >> 20:,} MiB: an erasure writes the graph's file anew"
        yield Finding("disk", problem, advice)


def _settings(data: DataDirectory, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Check the settings in this shell, from which those of a running system may differ."""
    given = {**environ, **assembly.settings(data, lambda name: f"unix:{name}", 0)}
    loads: Sequence[Callable[[], object]] = (
        lambda: read_store(given),
        lambda: load(Limits, given, "GRAPH_"),
        lambda: load(search_config.IndexConfig, given, search_config.PREFIX),
        lambda: search_config.read_qdrant(given),
        lambda: governance_config.read_store(given),
        lambda: governance_config.read_settings(
            load(governance_config.LedgerConfig, given, governance_config.PREFIX).settings_file
        ),
        lambda: load(dissonance_config.Addresses, given, dissonance_config.PREFIX),
        lambda: gateway_config.read(given),
    )
    for each in loads:
        try:
            each()
        except ConfigError as error:
            advice = "correct it, or unset it; services/LIMITS.md and deploy/env say what it may be"
            yield Finding("settings", str(error), advice)


def _versions() -> Iterator[Finding]:
    found = {
        each.name: each.version
        for each in metadata.distributions()
        if each.name and each.name.startswith("concord-")
    }
    own = found["concord-embedded"]
    other = [f"{name} {version}" for name, version in sorted(found.items()) if version != own]
    if other:
        problem = f"of version {own} are not: {', '.join(other)}"
        yield Finding("versions", problem, "install all parts of one version")


def _ports(data: DataDirectory, port: int) -> Iterator[Finding]:
    if is_running(data.root):
        return
    for each in (port, port + 1):
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind((LOOPBACK, each))
            except OSError:
                problem = f"port {each} is in use, and no Concord runs on {data.root}"
                advice = f"`ss -ltnp 'sport = :{each}'` names who has it; or start with --port"
                yield Finding("ports", problem, advice)


def _stores(data: DataDirectory, now: int) -> Iterator[Finding]:
    sound = True
    for path, newest in (
        (data.graph_store, graph_backup.SqliteCopy.NEWEST),
        (data.ledger, ledger_backup.SqliteCopy.NEWEST),
    ):
        try:
            with read_live(path) as db:
                found = list(_store(path, db, newest))
        except (FileUnusable, sqlite3.DatabaseError) as error:
            found = [Finding("stores", str(error), "restore a backup: `concord backup restore`")]
        sound = sound and not found
        yield from found
    if not sound:
        return
    with read_live(data.graph_store) as graph, read_live(data.ledger) as ledger:
        copied = graph_backup.SqliteCopy(graph)
        for space in backup.rolled_back(Copy(copied, ledger_backup.SqliteCopy(ledger))):
            advice = "stop Concord and restore the newer copy of the graph's store, or a backup"
            yield Finding("stores", f"the graph is older than the audit log of {space}", advice)
        latest = copied.last_time()
    if latest > now + CLOCK_SLACK:
        problem = f"this machine's clock is behind what was recorded at {_when(latest)}"
        advice = "set the clock; what is written until then is recorded right after that"
        yield Finding("clock", problem, advice)


def _store(path: Path, db: sqlite3.Connection, newest: int) -> Iterator[Finding]:
    (schema,) = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    if int(schema) > newest:
        problem = f"{path} is of a newer Concord (schema {schema}, this one knows {newest})"
        yield Finding("versions", problem, "run the version that wrote it, or a newer one")
    elif path.stat().st_size <= _CHECKED_BYTES:
        (state,) = db.execute("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            advice = "restore a backup: `concord backup restore`"
            yield Finding("stores", f"{path} is damaged ({state})", advice)


def _keys(data: DataDirectory, now: int) -> Iterator[Finding]:
    try:
        said = json.loads(data.credentials.read_bytes())
        held = {
            key: f"{name} of {space}"
            for name in ("keys", "owner_keys", "admin_keys")
            for space, key in said.get(name, {}).items()
        }
    except (OSError, ValueError, AttributeError):
        advice = "move it away, if it is there: the next start makes new keys"
        yield Finding("keys", f"{data.credentials} cannot be read", advice)
        return
    try:
        with read_live(data.ledger) as db:
            ledger = ledger_backup.SqliteCopy(db)
            known = {key: ledger.key_of(digest_of(key)) for key in held}
            ending = list(ledger.ended_keys())
    except (FileUnusable, sqlite3.DatabaseError):
        return  # `_stores` says so
    for key, where in held.items():
        state = _state(known[key], now)
        if state:
            problem = f"the key in credentials.json ({where}) {state}"
            advice = (
                "take it out of the file: the next start draws a new one, if it is the operator's "
                f"(of {SYSTEM_SPACE}) or of `up`'s own spaces"
            )
            yield Finding("keys", problem, advice)
    for each in ending:
        expires = each.expire_time or 0
        if each.revoke_time is None and now < expires < now + _EXPIRES_SOON:
            problem = f"the key {each.id} of {each.space} expires at {_when(expires)}"
            advice = f"`concord key create --space {each.space} --rotate {each.id}`"
            yield Finding("keys", problem, advice, is_wrong=False)


def _state(key: ApiKey | None, now: int) -> str:
    if key is None:
        return "is not known"
    status = key.status(now)
    return "" if status is KeyStatus.ACTIVE else f"is {status.name.lower()}"


def _backups(data: DataDirectory, now: int) -> Iterator[Finding]:
    advice = "`concord backup create FOLDER --every 24h --keep 7`, on another disk"
    try:
        last = json.loads(data.last_backup.read_bytes())
        path, time = Path(last["path"]), int(last["time"])
    except (OSError, ValueError, LookupError, TypeError):
        yield Finding("backups", "no backup was ever made", advice, is_wrong=False)
        return
    if not path.is_dir():
        yield Finding("backups", f"the last one, {path}, is gone", advice, is_wrong=False)
    elif now - time > _BACKUP_OLD:
        problem = f"the last one is of {_when(time)}: {path}"
        yield Finding("backups", problem, advice, is_wrong=False)


def _named(paths: Sequence[Path]) -> str:
    first = ", ".join(map(str, paths[:_MOST_NAMED]))
    more = len(paths) - _MOST_NAMED
    return f"{first} and {more:,} more" if more > 0 else first


def _when(micros: int) -> str:
    return f"{datetime.fromtimestamp(micros // 1_000_000, UTC):%Y-%m-%d %H:%M:%SZ}"
