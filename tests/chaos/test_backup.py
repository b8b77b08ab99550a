"""Backups of a system at work, and what a restore brings back and what not (W7, A2, M4, V6)."""

import json
import re
import shutil
import sqlite3
import stat
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from subprocess import PIPE

import pytest
from concord.governance.v1 import access_pb2
from concord_client import credentials
from concord_embedded import receipts
from concord_testing.up_process import COMMAND, clean_environ, ran, spawned

from tests.chaos.backing_up import (
    SECRET,
    Scene,
    command,
    connected,
    demand_as_at_its_token,
    demand_ended_since,
    gone_on_since_its_backup,
    made_under_load,
    succeeded,
)
from tests.chaos.governing import (
    governed,
)

STORE = Path("graph", "graph.db")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_backup_under_load_restores_what_stood_at_its_token(tmp_path: Path) -> None:
    """W7 A2 G15 While facts are agreed on and memories written, a backup is taken of one instant:
    restored, the full export and the audit log are those of the running system through its token,
    the log keeps every rule, and the store holds what the log says."""
    under_load = made_under_load(tmp_path)
    for place, each in enumerate(under_load.made):
        demand_as_at_its_token(under_load, each, tmp_path / f"restored {place}")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A backup, and a system that went on: it erased, revoked, deleted and decided since."""
    folder = tmp_path_factory.mktemp("backup")
    with gone_on_since_its_backup(folder) as (server, scene):
        assert command(server.data, "audit", "log")[0] == 0  # which its client remembers
        succeeded(server.data, "backup", "receipts", str(folder / "receipts.jsonl"))
    return scene


def nonces(store: Path) -> set[tuple[object, ...]]:
    """Return the burnt nonces in graph's store."""
    with closing(sqlite3.connect(store)) as db:
        return set(db.execute("SELECT space, nonce FROM nonce"))


@pytest.mark.parametrize("place", ["over it", "beside it, with receipts"])
def test_what_ended_since_the_backup_stays_ended(made: Scene, tmp_path: Path, place: str) -> None:
    """W7 M4 V6 V7 What was erased, burnt, revoked or deleted since stays so, known from the stores
    that are replaced or from a file; the pending proposal has ended, former tokens are refused by
    name, and what both agree to from then on is carried out under a log that keeps every rule."""
    data = tmp_path / "data"
    options = ["--receipts", str(made.backup.parent / "receipts.jsonl")]
    if place == "over it":
        shutil.copytree(made.data, data)
        options = ["--replace"]
    before = nonces(made.data / STORE)
    since = before - nonces(made.backup / "graph.db")
    assert since
    said = succeeded(data, "backup", "restore", str(made.backup), *options)
    assert (said["erased"], said["endedKeys"], said["deletedSpaces"]) == (1, 1, 1)
    assert (said["burntNonces"], nonces(data / STORE)) == (len(since), before)
    assert said["endedProposals"] == 1
    with spawned(data) as server, governed(server) as asked:
        demand_ended_since(made, server, asked)
        shutil.copy(f"{made.data}.pins", f"{data}.pins")
        assert "THE AUDIT LOG WAS REWRITTEN" in command(data, "audit", "log")[2]
        with connected(server, "concord:system") as operator:
            listed = operator.access.ListSpaces(access_pb2.ListSpacesRequest(include_deleted=True))
            assert {each.name for each in listed.spaces if each.HasField("delete_time")} == {"team"}
    left = b"".join(each.read_bytes() for each in data.rglob("*") if each.is_file())
    assert SECRET.encode() not in left


def cut_off(backup: Path) -> str:
    """Tear the graph's copy."""
    file = backup / "graph.db"
    file.write_bytes(file.read_bytes()[:-4096])
    return "BACKUP_TORN: .*graph.db is cut off"


def lost(backup: Path) -> str:
    """Lose the ledger's copy."""
    (backup / "ledger.db").unlink()
    return "BACKUP_TORN: .* lacks ledger.db"


def unfinished(backup: Path) -> str:
    """Stop before the manifest."""
    (backup / "manifest.json").unlink()
    return "BACKUP_TORN: .* has no manifest.json"


def a_flipped_byte(backup: Path) -> str:
    """Change a byte of a key."""
    file = backup / "keys" / "grants.pem"
    file.write_bytes(file.read_bytes().replace(b"A", b"B", 1))
    return "BACKUP_EDITED: .*keys/grants.pem was changed"


def a_log_beside(backup: Path) -> str:
    """Put a write-ahead log beside a copy, which SQLite would apply."""
    (backup / "graph.db-wal").write_bytes(b"x")
    return "BACKUP_EDITED: .*graph.db-wal is not of it"


def a_changed_manifest(backup: Path) -> str:
    """Say that it was made later."""
    file = backup / "manifest.json"
    said = json.loads(file.read_text())
    file.write_text(json.dumps(said | {"time": said["time"] + 1}))
    return "BACKUP_EDITED: .*manifest.json was changed"


def other_words(backup: Path) -> str:
    """Change the store and write a manifest with its digests, but not what it holds."""
    sealed(backup, "graph.db", "UPDATE space SET seq = seq + 1 WHERE name = 'default'")
    return "BACKUP_EDITED: .*not those that its manifest describes"


def another_instant(backup: Path) -> str:
    """Put a ledger there that has changes which graph has not, with its digests."""
    sealed(backup, "ledger.db", "UPDATE space SET feed_seq = 1000 WHERE name = 'default'")
    return "GRAPH_ROLLED_BACK: .*older than the audit log of default"


def of_a_later_program(backup: Path) -> str:
    """Say that a later program wrote it."""
    file = backup / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": 2}))
    return "BACKUP_NEWER"


def sealed(backup: Path, name: str, sql: str) -> None:
    """Change a copied store, and the digests of the manifest with it."""
    with closing(sqlite3.connect(backup / name)) as db, db:
        db.execute(sql)
    file = backup / "manifest.json"
    said = json.loads(file.read_text())
    content = (backup / name).read_bytes()
    said["files"][name] = {"bytes": len(content), "sha256": sha256(content).hexdigest()}
    del said["digest"]
    said["digest"] = sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    file.write_text(json.dumps(said))


@pytest.mark.parametrize(
    "harm",
    [
        *(cut_off, lost, unfinished, a_flipped_byte, a_log_beside, a_changed_manifest),
        *(other_words, another_instant, of_a_later_program),
    ],
)
def test_a_torn_or_edited_backup_is_refused_by_name(
    made: Scene, tmp_path: Path, harm: Callable[[Path], str]
) -> None:
    """W7 What is not whole or not as it was made is named, and nothing is restored of it."""
    backup = tmp_path / "backup"
    shutil.copytree(made.backup, backup)
    expected = harm(backup)
    for arguments in (("verify", str(backup)), ("restore", str(backup))):
        status, _, err = command(tmp_path / "data", "backup", *arguments)
        assert status == 1
        assert re.search(expected, err), err
    assert not (tmp_path / "data").exists()


def test_only_an_operator_backs_up_and_restores(made: Scene, tmp_path: Path) -> None:
    """W7 A key without the scope operator, and one that is revoked, makes no backup, no receipts
    and no restore."""
    agent = credentials.read(made.data / credentials.FILE_NAME).keys["default"]
    for key in (agent, made.revoked_key, "ck_" + "x" * 43):
        for data, arguments in (
            (made.data, ("create", str(tmp_path / "kept"))),
            (made.data, ("receipts", str(tmp_path / "receipts"))),
            (tmp_path / "data", ("restore", str(made.backup))),
        ):
            status, _, err = command(data, "backup", *arguments, key=key)
            assert (status, err.split(":")[0]) == (1, "ERROR_REASON_PERMISSION_MISSING")
    assert list(tmp_path.iterdir()) == []


def test_no_backup_is_kept_in_the_data_directory(made: Scene) -> None:
    """M4 What is erased later would stand there, in the very directory that is said to hold it no
    more."""
    status, _, err = command(made.data, "backup", "create", str(made.data / "kept"))

    assert (status, err.split(":")[0]) == (1, "BACKUP_INSIDE")
    assert not (made.data / "kept").exists()


def test_stores_of_two_kinds_are_not_backed_up_unnoticed(made: Scene, tmp_path: Path) -> None:
    """W7 A file and a Neo4j have no instant in common: it says what to set."""
    environ = clean_environ() | {"CONCORD_DATA": str(made.data), "GOVERNANCE_STORE": "neo4j"}
    done = ran("backup", "create", str(tmp_path / "kept"), environ=environ)

    assert (done.returncode, done.stderr.split(":")[0]) == (1, "BACKUP_UNSUPPORTED")
    assert "GRAPH_STORE and GOVERNANCE_STORE to be the same" in done.stderr
    assert not (tmp_path / "kept").exists()


def test_nothing_is_replaced_unasked(made: Scene, tmp_path: Path) -> None:
    """W7 A directory with a Concord takes --replace, one on which it runs is refused, and so is
    another installation's: its receipts are of other memories."""
    path = str(made.backup)
    status, _, err = command(made.data, "backup", "restore", path)
    assert (status, err.split(":")[0]) == (1, "BACKUP_TARGET_IN_USE")
    with spawned(tmp_path / "other") as server:
        status, _, err = command(server.data, "backup", "restore", path, "--replace")
        assert (status, "is running on" in err) == (1, True)
    status, _, err = command(
        tmp_path / "other", "backup", "restore", path, "--replace", key=made.operator_key
    )
    assert (status, err.split(":")[0]) == (1, "BACKUP_OF_ANOTHER")


def test_what_both_erased_stays_erased(made: Scene, tmp_path: Path) -> None:
    """M4 G4 Both principals erased a constitutive memory since: no restore erases it again without
    them, or brings it back. It is refused, naming the memory."""
    known = receipts.read(made.backup.parent / "receipts.jsonl")
    file = tmp_path / "receipts.jsonl"
    receipts.write(file, replace(known, erased=(*known.erased, ("default", "promise"))))
    arguments = ("restore", str(made.backup), "--receipts", str(file))
    status, _, err = command(tmp_path / "data", "backup", *arguments)

    assert (status, err.split(":")[0]) == (1, "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED")
    assert "erased promise since" in err
    assert not (tmp_path / "data" / STORE).exists()


def test_a_restore_that_was_stopped_is_completed(made: Scene, tmp_path: Path) -> None:
    """W7 A stop after the ledger was put in its place and before the graph was: nothing is decided
    there, and the same restore again completes it, with all that the former stores knew."""
    data = tmp_path / "data"
    shutil.copytree(made.data, data)
    succeeded(data, "backup", "restore", str(made.backup), "--replace")
    shutil.copy(made.data / STORE, data / STORE)
    with spawned(data) as server:
        status, _, err = command(server.data, "status")
        assert (status, err.split(":")[0]) == (1, "ERROR_REASON_GRAPH_ROLLED_BACK")
    said = succeeded(data, "backup", "restore", str(made.backup), "--replace")
    assert (said["erased"], said["endedKeys"], said["deletedSpaces"]) == (1, 1, 1)
    with spawned(data) as server:
        assert command(server.data, "status")[0] == 0


def test_a_target_that_cannot_be_read_is_left_out_only_when_asked(
    made: Scene, tmp_path: Path
) -> None:
    """M4 W7 A damaged store may know what was erased since: it is not passed over unasked."""
    data = tmp_path / "data"
    shutil.copytree(made.data, data)
    (data / STORE).write_bytes(b"damaged" * 1000)
    path = str(made.backup)
    status, _, err = command(data, "backup", "restore", path, "--replace")
    assert (status, err.split(":")[0]) == (1, "BACKUP_TARGET_UNREADABLE")
    known = ("--ignore-target", "--receipts", str(made.backup.parent / "receipts.jsonl"))
    said = succeeded(data, "backup", "restore", path, "--replace", *known)

    assert said["erased"] == 1


def test_backups_are_made_every_while_and_the_newest_kept(made: Scene, tmp_path: Path) -> None:
    """W7 --every goes on until it is told to stop, --keep removes the oldest, and a backup is its
    owner's alone."""
    kept = tmp_path / "kept"
    arguments = ["backup", "create", str(kept), "--every", "1s", "--keep", "2"]
    environ = clean_environ() | {"CONCORD_DATA": str(made.data)}
    with subprocess.Popen([*COMMAND, *arguments], env=environ, text=True, stdout=PIPE) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(4)]
        process.terminate()
    paths = [Path(line.split()[1].rstrip(",")) for line in lines if line.startswith("Made")]

    assert process.returncode == 0
    assert len(set(paths)) == 3
    assert lines[3] == "Removed 1 older ones.\n"
    assert len(list(kept.iterdir())) <= 2
    assert not paths[0].exists()
    modes = {stat.S_IMODE(each.stat().st_mode) for each in kept.rglob("*")}
    assert modes == {0o600, 0o700}
