"""The audit log from the user's side: taken along, checked offline, and never forgotten."""

import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from concord.governance.v1 import audit_pb2, proposal_pb2
from concord.governance.v1.principal_pb2 import GetPrincipalsResponse
from concord_client.trust.audit.store import CHANGED, MISSING, UNLOGGED
from concord_testing.command_line import CommandLine
from concord_testing.up_process import Spawned, spawned
from two_signers import PASSPHRASE, agreed, begun


@dataclass
class User:
    """Somebody with both keys and a memory of what was seen, and a way to start the system."""

    home: Path
    data: Path
    port: int = 0

    @contextmanager
    def system(self, data: Path | None = None) -> Iterator[Spawned]:
        """The system, always at the same address."""
        with spawned(data or self.data, self.port) as running:
            self.port = int(running.url.rpartition(":")[2])
            yield running

    def commands(self, running: Spawned, state: str = "state.json", url: str = "") -> CommandLine:
        """The user's command line; with `url` they name the system by its address."""
        return CommandLine(
            running.environ
            | ({"CONCORD_URL": url} if url else {})
            | {
                "XDG_CONFIG_HOME": str(self.home),
                "CONCORD_STATE": str(self.home / state),
                "CONCORD_PASSPHRASE": PASSPHRASE,
            }
        )

    def begin(self, running: Spawned) -> CommandLine:
        """Makes keys and the genesis."""
        return begun(self.commands(running))


def executed(concord: CommandLine, *action: str) -> None:
    """Proposes and has both sign; then waits for graph's own entry in the log."""
    before = written(concord)
    made = concord.reply(proposal_pb2.CreateProposalResponse, "propose", *action).proposal
    agreed(concord, made.number)
    until(lambda: written(concord) == before + 1)


def written(concord: CommandLine) -> int:
    """How many governed writes the log tells of."""
    return concord.done("audit", "log", "--action", "write-success").count("write success")


def until(holds: Callable[[], bool]) -> None:
    """Waits for what graph's feed brings."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)


@pytest.fixture
def user(tmp_path: Path) -> User:
    """A user of a system that is not started yet."""
    return User(tmp_path / "home", tmp_path / "data")


def test_the_log_is_read_filtered_proved_and_taken_along(user: User, tmp_path: Path) -> None:
    """A2 A3 Offline, and without the system: the export verifies, one changed byte does not."""
    with user.system() as running:
        concord = user.begin(running)
        executed(concord, "set", "helper", "VALUES", "honesty", "--constitutive")
        found = concord.reply(
            *(audit_pb2.ListAuditEntriesResponse, "audit", "log"),
            *("--action", "smf-approve", "--actor", "human"),
        )
        proof = concord.done("audit", "proof", "3")
        log = tmp_path / "log.jsonl"
        concord.done("audit", "export", str(log))
        fits = concord.done("audit", "verify", str(log), "--store")
    offline = json.loads(concord.done("audit", "verify", str(log), "--json"))
    log.write_bytes(log.read_bytes().replace(b'"actor":"HUMAN"', b'"actor":"AGENT"', 1))
    changed = concord("audit", "verify", str(log))

    assert [each.principal for each in found.entries] == ["ada"]
    assert "is in the log of" in proof
    assert "The store holds what the log says" in fits
    assert (offline["executed"], offline["refused"]) == (1, 0)
    relied = " ".join(offline["reliesOn"])
    assert "key as pinned ONLY" in relied, "what is seconds old is told as that"
    assert "signed or vouched for here" in relied
    assert "a kept checkpoint over 11 entries" in relied
    assert changed.exit_code == 1
    assert "failed the check" in changed.stderr


def test_an_older_export_is_checked_for_what_it_covers(user: User, tmp_path: Path) -> None:
    """A2 An archive verifies as the part that it is; as the log as it stands it is refused."""
    old, cut = tmp_path / "old.jsonl", tmp_path / "cut.jsonl"
    with user.system() as running:
        concord = user.begin(running)
        concord.done("propose", "set", "helper", "LIKES", "tea")
        concord.done("audit", "export", str(old))
        concord.done("propose", "set", "helper", "LIKES", "jazz")
        concord.done(*LOG)
    cut.write_bytes(b"".join(old.read_bytes().splitlines(keepends=True)[:-1]))

    refused = concord("audit", "verify", str(old))
    covers = concord.done("audit", "verify", str(old), "--older")
    result = json.loads(concord.done("audit", "verify", str(old), "--older", "--json"))
    shortened = concord("audit", "verify", str(cut), "--older")
    both = concord("audit", "verify", str(old), "--older", "--store")

    assert refused.exit_code == 1
    assert refused.stderr.startswith("AUDIT_LOG_SHORTER: The file ends after 6 entries")
    assert "This part of the log holds" in covers
    assert "the first 6 of the 7 entries that this client saw, 6 of them proved" in covers
    assert result["covers"].startswith("It covers the first 6 of the 7")
    assert "failed the check 'root'" in shortened.stderr
    assert both.exit_code == 2


def test_a_log_that_lost_its_past_is_refused(user: User) -> None:
    """A2 Whoever replaces the ledger and its whole log is found by the client's last checkpoint."""
    with user.system() as running:
        concord = user.begin(running)
        executed(concord, "set", "helper", "VALUES", "honesty", "--constitutive")
    shutil.rmtree(user.data / "governance")
    with user.system() as running:
        concord = user.commands(running)
        result = [concord("audit", "log"), concord("audit", "proof", "0")]
        fresh = user.commands(running, "nothing-seen.json")

        assert [each.exit_code for each in result] == [1, 1]
        assert all("THE AUDIT LOG WAS REWRITTEN" in each.stderr for each in result)
        believed = fresh("audit", "log")
        assert believed.exit_code == 0, "what was never witnessed cannot be missed"
        assert "FIRST CONTACT" in believed.stderr


def test_another_system_at_the_same_address_is_refused(user: User, tmp_path: Path) -> None:
    """V5 Whoever gave an address gets what was pinned under it, and nothing signed for others'."""
    with user.system() as running:
        user.begin(running)
        by_address = user.commands(running, url=running.url)("principal", "show")
        assert "is what was met as" in by_address.stderr
    with user.system(tmp_path / "other") as other:
        concord = user.commands(other, url=other.url)
        result = concord("principal", "enrol")
        log = concord("audit", "log")

        assert (result.exit_code, log.exit_code) == (1, 1)
        assert "ANOTHER GENESIS" in result.stderr
        assert "ANOTHER GENESIS" in log.stderr


def test_a_system_put_in_anothers_place_is_refused_at_any_address(user: User) -> None:
    """V5 A2 The data directory is rewritten, its address with it: what was pinned still counts."""
    with user.system() as running:
        concord = user.begin(running)
        executed(concord, "set", "helper", "VALUES", "honesty", "--constitutive")
    port, user.port = user.port, 0
    honest = user.data.with_name("honest")
    with user.system() as running:
        assert user.port != port
        written(user.commands(running))  # the same system, elsewhere: nothing is said about it
    user.data.rename(honest)
    user.port = 0
    forger = User(user.home.with_name("forger"), user.data)
    with forger.system() as running:
        forger.begin(running)
        result = [user.commands(running)(*words) for words in (("principal", "show"), LOG)]
        address = running.url.replace("127.0.0.1", "localhost")
        (running.data / "credentials.json").write_text(
            (running.data / "credentials.json").read_text("utf-8").replace(running.url, address)
        )
        result.append(user.commands(running)(*LOG))

        assert [each.exit_code for each in result] == [1, 1, 1]
        assert all("ANOTHER GENESIS" in each.stderr for each in result)


def test_a_second_system_is_believed_once_its_genesis_is_named(user: User, tmp_path: Path) -> None:
    """V5 A space of the same name elsewhere is somebody else's until its owners are asked."""
    with user.system() as running:
        user.begin(running)
    other = User(tmp_path / "other-home", tmp_path / "other")
    with other.system() as running:
        digest = other.begin(running).reply(GetPrincipalsResponse, "principal", "show")
        concord = user.commands(running)
        refused = concord(*LOG)
        wrong = concord("principal", "show", "--trust", "0" * 64)
        right = concord("principal", "show", "--trust", digest.genesis_digest)
        concord.done(*LOG)

        assert (refused.exit_code, wrong.exit_code, right.exit_code) == (1, 1, 0)
        assert digest.genesis_digest in refused.stderr
        assert "FIRST CONTACT" in right.stderr


LOG = ("audit", "log")


def edit(store: Path, table: str, statement: str) -> None:
    """Changes a store file past every trigger, as whoever owns the disk can."""
    with closing(sqlite3.connect(store)) as db:
        triggers = db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", (table,)
        ).fetchall()
        for (name,) in triggers:
            db.execute(f"DROP TRIGGER {name}")
        changed = db.execute(statement).rowcount
        db.commit()
    assert changed == 1


def test_an_edited_store_is_found(user: User, tmp_path: Path) -> None:
    """A2 What stands in the store is compared with what the log says, by digests made anew."""
    log = tmp_path / "log.jsonl"
    with user.system() as running:
        concord = user.begin(running)
        concord.done("link", "helper", "LIKES", "tea")
        for relation in ("VALUES", "KEEPS", "SERVES"):
            executed(concord, "set", "helper", relation, f"what it {relation}", "--constitutive")
        executed(concord, "add", "I keep confidences.", "--id", "promise", "--constitutive")
        concord.done("audit", "export", str(log))
        concord.done("audit", "verify", str(log), "--store")
    store = user.data / "graph" / "graph.db"
    edit(store, "edge", "UPDATE edge SET weight = 0.125 WHERE relation = 'VALUES'")
    edit(store, "edge", "UPDATE edge SET edge_type = 1 WHERE relation = 'KEEPS'")
    edit(store, "node", "UPDATE node SET name = 'obedience' WHERE name = 'what it SERVES'")
    edit(store, "edge", "UPDATE edge SET edge_type = 2 WHERE relation = 'LIKES'")
    edit(store, "memory", "UPDATE memory SET content = 'I tell.' WHERE id = 'promise'")
    with user.system() as running:
        result = user.commands(running)("audit", "verify", str(log), "--store", "--json")

    assert result.exit_code == 1, result.output
    assert "AUDIT_MISMATCH" in result.stderr
    found = [each["what"] for each in json.loads(result.stdout)["store"]]
    assert found.count(CHANGED) == len(["VALUES", "the node obedience", "promise"])
    assert found.count(MISSING) == len(["KEEPS", "what it KEEPS"])
    assert found.count(UNLOGGED) == len(["LIKES", "tea"])
