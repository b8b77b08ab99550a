"""`concord doctor` finds what is wrong with an installation, running or not (W7)."""

import json
import shutil
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path

import pytest
from concord.governance.v1 import access_pb2
from concord_client import Client, credentials
from concord_client.credentials import Target
from concord_embedded import doctor
from concord_search.adapters.edge import shard
from concord_testing.index_files import every_state
from concord_testing.scraping import two_free_ports
from concord_testing.up_process import Spawned, clean_environ, ran, spawned

STORE = Path("graph", "graph.db")
LEDGER = Path("governance", "ledger.db")
DAY = 86_400_000_000

Finding = tuple[str, bool, str, str]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of a system that was used and stopped."""
    data = tmp_path_factory.mktemp("doctor") / "data"
    with spawned(data) as server:
        environ = server.environ
        assert ran("add", "The harbour opens at seven.", environ=environ).returncode == 0
    return data


def examined(
    data: Path, port: int | None = None, settings: Mapping[str, str] | None = None
) -> tuple[int, bool, list[Finding]]:
    """Run the doctor; return its status, whether a system runs, and what it found."""
    environ = clean_environ() | {"CONCORD_DATA": str(data)} | dict(settings or {})
    done = ran("doctor", "--json", "--port", str(port or two_free_ports()), environ=environ)
    assert done.stdout, done.stderr
    said = json.loads(done.stdout)
    found = [
        (each["about"], each["is_wrong"], each["problem"], each["advice"])
        for each in said["findings"]
    ]
    return done.returncode, said["running"], found


def test_of_a_sound_system_nothing_is_wrong(sound: Path, tmp_path: Path) -> None:
    """W7 Stopped and running: nothing that must be put right, and how to begin with backups."""
    data = tmp_path / "data"
    shutil.copytree(sound, data)
    stopped = examined(data)
    with spawned(data) as server:
        running = examined(server.data)
        kept = ("backup", "create", str(tmp_path / "kept"))
        assert ran(*kept, environ=server.environ).returncode == 0
        backed_up = examined(server.data)

    assert [each[:2] for each in stopped[2]] == [("backups", False)]
    assert (stopped[:2], running[:2]) == ((0, False), (0, True))
    assert running[2] == stopped[2]
    assert backed_up == (0, True, [])


def readable_by_others(data: Path) -> None:
    """Let others read a store."""
    data.chmod(0o755)
    (data / STORE).chmod(0o644)


def writable_by_others(data: Path) -> None:
    """Let others write in the directory."""
    data.chmod(0o777)


def damaged(data: Path) -> None:
    """Damage the graph's store."""
    (data / STORE).write_bytes(b"damaged" * 1000)


def gone(data: Path) -> None:
    """Lose the ledger."""
    (data / LEDGER).unlink()


def from_a_newer_program(data: Path) -> None:
    """Have a newer program write the store."""
    _change(data / STORE, "UPDATE meta SET value = '999' WHERE key = 'schema'")


def rolled_back(data: Path) -> None:
    """Put a graph there that lacks the last change that the ledger has."""
    _change(data / LEDGER, "UPDATE space SET feed_seq = 1000 WHERE name = 'default'")


def behind_what_was_recorded(data: Path) -> None:
    """Have recorded something tomorrow."""
    _change(data / STORE, f"UPDATE space SET last_time = last_time + {DAY}")


def a_revoked_key(data: Path) -> None:
    """Revoke every key."""
    _change(data / LEDGER, "UPDATE access_key SET revoke_time = 1")


def an_unknown_key(data: Path) -> None:
    """Keep a key that the ledger does not know."""
    file = data / "credentials.json"
    said = json.loads(file.read_text())
    said["keys"]["default"] = "ck_" + "x" * 43
    file.write_text(json.dumps(said))


def a_key_that_expires(data: Path) -> None:
    """Let the keys expire in a day."""
    soon = time.time_ns() // 1_000 + DAY
    _change(data / LEDGER, f"UPDATE access_key SET expire_time = {soon} WHERE space = 'demo'")


def no_credentials(data: Path) -> None:
    """Damage the credentials."""
    (data / "credentials.json").write_text("{")


def half_restored(data: Path) -> None:
    """Stop a restore."""
    (data / "restoring").mkdir()


def _change(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(sql)


@pytest.mark.parametrize(
    ("harm", "about", "is_wrong", "problem", "advice"),
    [
        (readable_by_others, "permissions", True, "graph.db", "chmod -R go="),
        (writable_by_others, "permissions", True, "others may write in", "chmod 700"),
        (damaged, "stores", True, "graph.db", "concord backup restore"),
        (gone, "stores", True, "ledger.db", "concord backup restore"),
        (from_a_newer_program, "versions", True, "schema 999", "run the version that wrote it"),
        (rolled_back, "stores", True, "older than the audit log of default", "newer copy"),
        (behind_what_was_recorded, "clock", True, "behind what was recorded", "set the clock"),
        (a_revoked_key, "keys", True, "(keys of default) is revoked", "take it out"),
        (a_revoked_key, "keys", True, "(keys of concord:system) is revoked", "the operator's"),
        (an_unknown_key, "keys", True, "(keys of default) is not known", "take it out"),
        (a_key_that_expires, "keys", False, "of demo expires at", "key create --space demo"),
        (no_credentials, "keys", True, "credentials.json cannot be read", "move it away"),
        (half_restored, "restore", True, "was stopped", "restore the same backup again"),
    ],
)
def test_each_thing_that_is_wrong_is_found(
    sound: Path,
    tmp_path: Path,
    *,
    harm: Callable[[Path], None],
    about: str,
    is_wrong: bool,
    problem: str,
    advice: str,
) -> None:
    """W7 It is named, with what to do, and the command ends with 1 if it is wrong already."""
    data = tmp_path / "data"
    shutil.copytree(sound, data)
    harm(data)
    status, _, found = examined(data)

    assert (status, {each[0] for each in found}) == (int(is_wrong), {about, "backups"})
    named = [each for each in found if each[0] == about]
    assert all(each[1] == is_wrong for each in named)
    assert any(problem in each[2] and advice in each[3] for each in named), named


@contextmanager
def taken(port: int) -> Iterator[None]:
    """Have another program listen on a port."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        yield


@pytest.mark.parametrize(
    ("settings", "is_taken", "about", "problem"),
    [
        ({"GRAPH_EXPORTERS": "many"}, False, "settings", "GRAPH_EXPORTERS is not valid"),
        ({"SEARCH_EMBEDDER": "openai"}, False, "settings", "SEARCH_"),
        ({"GOVERNANCE_SETTINGS_FILE": "/nowhere"}, False, "settings", "/nowhere"),
        ({"GATEWAY_GRACE": "-1"}, False, "settings", "GATEWAY_GRACE is not valid"),
        ({}, True, "ports", "is in use, and no Concord runs"),
    ],
)
def test_what_would_keep_it_from_starting_is_found(
    sound: Path, *, settings: Mapping[str, str], is_taken: bool, about: str, problem: str
) -> None:
    """W7 Settings that are not valid and a port that another program has, before a start fails."""
    port = two_free_ports()
    held: AbstractContextManager[None] = taken(port) if is_taken else nullcontext()
    with held:
        status, _, found = examined(sound, port, settings)

    assert status == 1
    assert [problem in each[2] for each in found if each[0] == about] == [True], found


def test_stores_on_a_neo4j_are_not_missed_in_the_directory(sound: Path, tmp_path: Path) -> None:
    """W7 Where the settings say that the stores are on a Neo4j, their files need not be there."""
    data = tmp_path / "data"
    shutil.copytree(sound, data)
    gone(data)
    (data / STORE).unlink()
    settings = {
        **dict.fromkeys(("GRAPH_STORE", "GOVERNANCE_STORE"), "neo4j"),
        "NEO4J_URI": "bolt://127.0.0.1:1",
        "NEO4J_PASSWORD": "none",
    }

    assert examined(data, settings=settings) == (0, False, [])


def test_a_disk_without_room_and_no_directory_are_found(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W7 Less room than an erasure needs, and a directory that is not there."""
    monkeypatch.setattr(doctor, "LEAST_FREE", 1 << 62)
    found = doctor.examine(sound, two_free_ports(), {}, time.time_ns() // 1_000)
    assert [each.about for each in found if each.is_wrong] == ["disk"]
    missing = doctor.examine(tmp_path / "none", two_free_ports(), {}, 0)
    assert [each.about for each in missing] == ["data directory"]


def test_what_is_wrong_with_a_running_system_is_found(sound: Path, tmp_path: Path) -> None:
    """W7 A graph older than its log, a key that was revoked since, and a system that runs and does
    not answer."""
    data = tmp_path / "data"
    shutil.copytree(sound, data)
    rolled_back(data)
    with spawned(data) as server:
        known = credentials.read(data / credentials.FILE_NAME)
        revoke(server, known.keys[credentials.SYSTEM_SPACE], "demo")
        status, runs, found = examined(data)
    assert (status, runs) == (1, True)
    wrong = [each for each in found if each[1]]
    assert any("older than the audit log of default" in each[2] for each in wrong)
    assert any(each[0] == "keys" and "of demo" in each[2] for each in wrong)
    said = json.loads((data / "credentials.json").read_text())
    (data / "credentials.json").write_text(json.dumps(said | {"url": "127.0.0.1:1"}))
    with doctor_holding(data):
        _, runs, found = examined(data)
    assert runs
    assert any(each[0] == "address" for each in found)


def revoke(server: Spawned, operator_key: str, space: str) -> None:
    """Revoke every key of a space."""
    with Client(Target(server.url, operator_key)) as operator:
        listed = operator.access.ListKeys(access_pb2.ListKeysRequest(space=space))
        for key in listed.keys:
            operator.access.RevokeKey(access_pb2.RevokeKeyRequest(request_id=key.id, key_id=key.id))


@contextmanager
def doctor_holding(data: Path) -> Iterator[None]:
    """Hold a directory's lock, as a system does that answers nobody."""
    from concord_embedded import data_directory

    with data_directory.opened(data):
        yield


def test_a_key_that_may_not_look_is_not_wrong(sound: Path, tmp_path: Path) -> None:
    """W7 Of a space whose saved key reads alone, the doctor names what it did not see; nor is
    a key wrong that writes alone."""
    data = tmp_path / "data"
    shutil.copytree(sound, data)
    with spawned(data) as server:
        for space, scope in (("reads", "read"), ("writes", "write")):
            assert ran("space", "create", space, environ=server.environ).returncode == 0
            made = (
                *("key", "create", "--space", space, "--principal", "a", "--kind", "human"),
                *("--scopes", scope, "--save"),
            )
            assert ran(*made, environ=server.environ).returncode == 0
        status, _, found = examined(data)

    compared = "whether its index holds what the graph remembers"
    assert (status, [each[:3] for each in found if each[0] == "keys"]) == (
        0,
        [
            ("keys", False, f"the key of reads lacks search:admin: unseen is {compared}"),
            ("keys", False, "the key of writes lacks graph:read: unseen is how far its index is"),
            ("keys", False, f"the key of writes lacks search:admin: unseen is {compared}"),
        ],
    )


def delete(space: str, environ: Mapping[str, str], home: Path) -> None:
    """Delete a space without a genesis; what the witness remembers is kept in `home`."""
    remembered = {**environ, "CONCORD_STATE": str(home / "state.json")}
    done = ran("space", "delete", space, "--typed", space, environ=remembered)
    assert done.returncode == 0, done.stderr


def test_of_a_deleted_space_no_key_is_kept_or_drawn(sound: Path, tmp_path: Path) -> None:
    """W7 Its keys leave credentials.json with it, the next start draws no others, and the doctor
    finds nothing wrong; the other spaces keep theirs. Where all are deleted, the doctor sees by the
    operator's key that the services serve, or that nothing answers."""
    data = tmp_path / "data"
    shutil.copytree(sound, data)
    before = credentials.read(data / credentials.FILE_NAME)
    with spawned(data) as server:
        delete("default", server.environ, tmp_path)
        deleted = examined(data)
    with spawned(data) as server:
        again = examined(data)
        after = credentials.read(data / credentials.FILE_NAME)
        delete("demo", server.environ, tmp_path)
        without = examined(data)
    stopped = examined(data)
    with doctor_holding(data):
        _, _, found = examined(data)

    assert [each[0] for each in found if each[1]] == ["address"]
    assert [each[0] for each in without[2]] == ["backups"]
    for status, _, found in (deleted, again, without, stopped):
        assert (status, [each for each in found if each[1]]) == (0, [])
    for name in ("keys", "owner_keys", "enrolment_secrets"):
        held = {space: key for space, key in getattr(before, name).items() if space != "default"}
        assert getattr(after, name) == held


def test_what_is_taken_away_while_it_looks_is_passed_over(tmp_path: Path) -> None:
    """W7 A running system deletes an index's folders under the doctor's hands."""
    (tmp_path / "index" / "space" / "shard").mkdir(parents=True)
    looked_at = []
    for path, _ in doctor._known(tmp_path):  # between two of its steps, or luck would decide
        looked_at.append(path.name)
        if path.name == "index":
            shutil.rmtree(path)

    assert looked_at == [tmp_path.name, "index"]


def without_a_state(data: Path) -> None:
    """Take what is indexed out of the index."""
    taken_out = 0
    for path in (data / "index").glob("*/shard*"):
        with closing(shard.load(path)) as index:
            points = [point for point, _ in every_state(index)]
            index.delete(points)
            index.flush()
            taken_out += len(points)
    assert taken_out


def test_an_index_that_differs_and_a_dead_judge_are_found(sound: Path, tmp_path: Path) -> None:
    """S10 D1 W7 What the index lacks is found by digests, and counted by `status`; a model that
    gave no answer when it was asked is named."""
    data = tmp_path / "data"
    shutil.copytree(sound, data)
    without_a_state(data)
    settings = {
        "DISSONANCE_LLM_URL": f"http://127.0.0.1:{two_free_ports()}/v1",
        "DISSONANCE_LLM_MODEL": "none",
        "DISSONANCE_LLM_SPACES": "default",
        "DISSONANCE_LLM_ATTEMPTS": "1",
    }
    with spawned(data, settings=settings) as server:
        for text in ("The meeting is at nine.", "The meeting takes place at noon."):
            assert ran("add", text, environ=server.environ).returncode == 0
        ran("check", environ=server.environ)
        shown = ran("status", environ=server.environ).stdout
        counted = json.loads(ran("status", "--json", environ=server.environ).stdout)
        status, _, found = examined(data)

    assert status == 1
    assert [(each[0], each[2]) for each in found if each[1]] == [
        (
            "judges",
            "dead: llm: The judging endpoint did not answer usably: no connection.",
        ),
        ("index", "of default: not up to date, 2 memories, 1 not indexed yet"),
        ("index", "the index of default does not hold what the graph remembers"),
    ]
    assert "2 memories, 1 not indexed yet" in shown
    assert "up to date" not in shown.replace("not up to date", "")
    assert counted["notIndexed"] == 1
    assert found[-1][3] == "`concord reconcile --repair --space default`"
