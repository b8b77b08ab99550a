"""Backups of graph and the ledger on a real Neo4j, and what a restore does to it and to the index
(W7, A2, M4, V6)."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from concord.search.v1.search_pb2 import SearchRequest
from concord.type.v1.type_pb2 import Consistency
from concord_client import credentials
from concord_testing import neo4j_server, qdrant_server
from concord_testing.neo4j_server import Address
from concord_testing.up_process import spawned
from neo4j import GraphDatabase

from tests.chaos.backing_up import (
    SECRET,
    add,
    command,
    connected,
    demand_as_at_its_token,
    demand_ended_since,
    erase,
    gone_on_since_its_backup,
    made_under_load,
    succeeded,
)
from tests.chaos.governing import governed

pytestmark = [pytest.mark.neo4j, pytest.mark.timeout(600)]
EVERYTHING = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"


@pytest.fixture(scope="module", autouse=True)
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """A Neo4j that every `concord` of these tests keeps graph and the ledger on, and the index
    where INDEX_STORE says."""
    folder = tmp_path_factory.mktemp("servers")
    with (
        qdrant_server.chosen(folder / "qdrant"),
        neo4j_server.running(folder / "neo4j", os.environ) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name in ("GRAPH_STORE", "GOVERNANCE_STORE"):
            patch.setenv(name, "neo4j")
        patch.setenv("NEO4J_URI", server.uri)
        patch.setenv("NEO4J_USER", server.user)
        patch.setenv("NEO4J_PASSWORD", server.password)
        yield server


@pytest.fixture(autouse=True)
def _empty(database: Address) -> None:
    ran(database, EVERYTHING)


def ran(database: Address, text: str) -> list[list[Any]]:
    """The rows of a statement; its connection is closed before a restore looks for others."""
    who = (database.user, database.password)
    with GraphDatabase.driver(database.uri, auth=who) as driver, driver.session() as session:
        return session.run(text).values()


def counted(database: Address, text: str) -> int:
    """What a statement that counts finds."""
    return int(ran(database, text)[0][0])


def test_a_backup_under_load_restores_what_stood_at_its_token(tmp_path: Path) -> None:
    """W7 A2 G15 As with files: of one instant while facts are agreed on and memories written; the
    full export and the audit log are those of the running system through its token."""
    under_load = made_under_load(tmp_path)
    for place, each in enumerate(under_load.made[::3]):
        restored = tmp_path / f"restored {place}"
        demand_as_at_its_token(under_load, each, restored, "--replace", "--ignore-target")


@pytest.mark.parametrize("knows", ["the target", "a file"])
def test_what_ended_since_the_backup_stays_ended(
    database: Address, tmp_path: Path, knows: str
) -> None:
    """W7 M4 V6 V7 What was erased, burnt, revoked or deleted since stays so, known from the target
    or from a file; pending proposals have ended, former tokens are refused, the index is made anew,
    and what both agree to from then on keeps every rule."""
    file = tmp_path / "receipts.jsonl"
    with gone_on_since_its_backup(tmp_path) as (server, made):
        data, backup = made.data, str(made.backup)
        assert succeeded(data, "backup", "verify", backup)["spaces"]
        succeeded(data, "backup", "receipts", str(file))
        refused = command(data, "backup", "restore", backup, "--replace")
        assert "others are connected to the Neo4j" in refused[2]
    burnt = counted(database, "MATCH (n:Nonce) RETURN count(n)")
    no_operator = command(data, "backup", "restore", backup, "--replace", key="nobody")
    assert no_operator[2].startswith("ERROR_REASON_PERMISSION_MISSING")
    options = ["--replace"]
    if knows == "a file":
        shutil.rmtree(data)
        ran(database, EVERYTHING)
        options = ["--receipts", str(file)]
    else:
        in_use = command(data, "backup", "restore", backup)
        assert in_use[2].startswith("BACKUP_TARGET_IN_USE")
    said = succeeded(data, "backup", "restore", backup, *options)

    assert (said["erased"], said["endedKeys"], said["deletedSpaces"]) == (1, 1, 1)
    assert counted(database, "MATCH (n:Nonce) RETURN count(n)") == burnt
    assert said["endedProposals"] == 1
    assert said["ageSeconds"] >= 0
    assert (
        credentials.read(data / credentials.FILE_NAME).keys["concord:system"] == made.operator_key
    )
    with spawned(data) as server, governed(server) as asked:
        demand_ended_since(made, server, asked)
        with connected(server) as client:
            demand = Consistency(at_least_as_fresh=add(client, "again", "A new memory.").token)
            for query, found in (("harbour", {"kept"}), (SECRET, set())):
                reply = client.search.Search(SearchRequest(query=query, consistency=demand))
                ids = {each.memory.id for each in reply.results}
                assert found <= ids <= {"kept", "promise", "again"}
    assert not counted(
        database,
        "MATCH (n) WHERE any(k IN keys(n) WHERE toStringOrNull(n[k]) CONTAINS 'zanzibarquartz')"
        " RETURN count(n)",
    )


def test_a_half_restored_database_serves_nobody_and_the_same_restore_completes_it(
    database: Address, tmp_path: Path
) -> None:
    """W7 M4 A stop in the middle leaves nothing that serves; repeated, the restore still knows what
    the stores knew that it had replaced."""
    data = tmp_path / "data"
    with spawned(data) as server, connected(server) as client:
        add(client, "secret", "The word is zanzibarquartz.")
        made = succeeded(server.data, "backup", "create", str(tmp_path / "kept"))
        erase(client, "secret")
    copy = Path(made["path"]) / "neo4j.jsonl.gz"
    whole = copy.read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        stopped_half_way(patch, data, Path(made["path"]))
    assert "a restore is under way, or was not finished" in command(data, "up")[2]

    assert copy.read_bytes() == whole
    said = succeeded(data, "backup", "restore", made["path"], "--replace")
    assert said["erased"] == 1
    assert counted(database, "MATCH (s:Store) RETURN count(s)") == 2


def test_a_torn_copy_is_no_backup(tmp_path: Path) -> None:
    """W7 What is cut off or changed is found when it is read, and nothing is changed."""
    data = tmp_path / "data"
    with spawned(data) as server:
        made = succeeded(server.data, "backup", "create", str(tmp_path / "kept"))
    copy = Path(made["path"]) / "neo4j.jsonl.gz"
    whole = copy.read_bytes()
    copy.write_bytes(whole[:-8])
    assert command(data, "backup", "verify", made["path"])[2].startswith("BACKUP_TORN")
    copy.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert command(data, "backup", "verify", made["path"])[2].startswith("BACKUP_EDITED")


def test_a_database_without_the_ledger_is_not_backed_up(tmp_path: Path) -> None:
    """W7 A2 Two databases cannot be read at one instant: where the ledger is elsewhere, which
    services as processes of their own allow, a backup is refused and nothing is written."""
    data, folder = tmp_path / "data", tmp_path / "kept"
    with spawned(data, settings={"GOVERNANCE_STORE": "sqlite"}) as server:
        status, _, said = command(server.data, "backup", "create", str(folder))

    assert (status, said.partition(":")[0]) == (1, "BACKUP_NO_SYSTEM")
    assert "does not hold both graph and the ledger" in said
    assert not list(folder.glob("*"))


def stopped_half_way(patch: pytest.MonkeyPatch, data: Path, backup: Path) -> None:
    """Restore until the copy is there, and no further."""
    import asyncio

    from concord_embedded import backup_stores, restore

    class Stopped(Exception):
        pass

    async def stop(*_: object) -> None:
        raise Stopped

    patch.setattr(restore, "applied", stop)
    key = credentials.read(data / credentials.FILE_NAME).keys[credentials.SYSTEM_SPACE]
    stores = backup_stores.of(os.environ)
    with pytest.raises(Stopped):
        asyncio.run(
            restore.restore(
                *(backup, data, lambda: 2**60, key, stores),
                confirmers=restore.confirmers(os.environ),
                replace=True,
            )
        )
