"""`concord operations` and `concord undo` of what a principal, session or import did (W9)."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from concord.governance.v1.access_pb2 import CreateKeyResponse
from concord.graph.v1.space_pb2 import ListOperationsRequest, ListOperationsResponse
from concord.graph.v1.undo_pb2 import GetUndoResponse, PreviewUndoResponse
from concord_client.client import Client
from concord_client.credentials import Target
from concord_testing.command_line import CommandLine
from concord_testing.up_process import Spawned, spawned
from two_signers import environ_of

MANY = 400


class Keys:
    """The keys of an agent and a person in a space that its owner made for them."""

    def __init__(self, running: Spawned, home: Path) -> None:
        owner = CommandLine(environ_of(running, home))
        owner.done("space", "create", "work", "--save")
        scopes = {"helper": "read,write", "ada": "read,write,govern"}
        self._secrets = {
            name: owner.reply(
                CreateKeyResponse,
                *("key", "create", "--space", "work", "--principal", name),
                *("--kind", kind, "--scopes", scopes[name]),
            ).secret
            for name, kind in (("helper", "agent"), ("ada", "human"))
        }
        self._home = home

    def of(self, running: Spawned, name: str) -> CommandLine:
        """Somebody's command line."""
        key = {"CONCORD_API_KEY": self._secrets[name]}
        return CommandLine(environ_of(running, self._home) | key)

    def client(self, running: Spawned, name: str) -> Client:
        """Somebody's client."""
        return Client(Target(running.url, self._secrets[name]))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spawned]:
    """A running system."""
    with spawned(tmp_path_factory.mktemp("undo") / "data") as system:
        yield system


@pytest.fixture(scope="module")
def keys(running: Spawned, tmp_path_factory: pytest.TempPathFactory) -> Keys:
    """The keys of a space there."""
    return Keys(running, tmp_path_factory.mktemp("home"))


def now() -> str:
    """The time, as an option says it."""
    time.sleep(0.01)
    return datetime.now(UTC).isoformat()


def test_a_person_looks_and_undoes_what_an_agent_did(running: Spawned, keys: Keys) -> None:
    """W9 W4 A look lists it and changes nothing; its digest undoes exactly that; the rest is
    listed with the reason."""
    ada, helper = keys.of(running, "ada"), keys.of(running, "helper")
    ada.done("add", "Tea is at four.", "--id", "tea")
    since = now()
    helper.done("add", "Cake is on Friday.", "--id", "cake")
    helper.done("add", "Bread is fresh.", "--id", "bread")
    helper("add", "Tea is at six.", "--id", "six", "--supersedes", "tea")
    ada.done("update", "bread", "--tag", "checked")
    chosen = ("--principal", "helper", "--since", since)

    listed = helper.reply(ListOperationsResponse, "operations", *chosen)
    seen = ada.reply(PreviewUndoResponse, "undo", *chosen)
    page = ada.done("undo", *chosen)
    other = helper.reply(PreviewUndoResponse, "undo", "--principal", "ada", "--since", since)
    before = ada.done("get", "cake")
    summary = ada.reply(GetUndoResponse, "undo", *chosen, "--digest", seen.digest, "--yes")

    assert {"cake", "bread", "six"} <= {each.item_id for each in listed.operations}
    assert {each.principal for each in listed.operations} == {"helper"}
    assert "Cake is on Friday." in page
    assert "changed or replaced since, by ada" in page
    assert f"--digest {seen.digest}" in page
    assert other.undone_count == 0
    assert "forgotten" not in before
    assert (summary.undone_count, summary.left_count) == (seen.undone_count, 1)
    assert "forgotten" in ada.done("get", "cake")
    assert "forgotten" not in ada.done("get", "bread")
    assert "helper" not in ada.done("claims")


def test_a_changed_selection_is_refused(running: Spawned, keys: Keys) -> None:
    """W9 W4 What was not looked at is not undone; a selection needs its time."""
    ada, helper = keys.of(running, "ada"), keys.of(running, "helper")
    since = now()
    chosen = ("--principal", "helper", "--since", since)
    helper.done("add", "Butter is soft.", "--id", "butter")
    seen = ada.reply(PreviewUndoResponse, "undo", *chosen)
    helper.done("add", "Milk is cold.", "--id", "milk")

    refused = ada("undo", *chosen, "--digest", seen.digest, "--yes")
    asked = ada("undo", *chosen, "--digest", seen.digest, stdin="n\n")
    untimed = ada("undo", "--principal", "helper")

    assert [each.exit_code for each in (refused, asked, untimed)] == [1, 1, 2]
    assert "ERROR_REASON_SELECTION_CHANGED" in refused.stderr
    assert "forgotten" not in ada.done("get", "butter")


def test_an_import_is_undone_by_one_of_its_requests(
    running: Spawned, keys: Keys, tmp_path: Path
) -> None:
    """W9 I1 As `concord operations` shows it, or by the id alone."""
    ada = keys.of(running, "ada")
    file = tmp_path / "notes.jsonl"
    file.write_text('{"content": "Salt."}\n{"content": "Pepper."}\n')
    since = now()

    ada.done("import", str(file))
    (last,) = ada.reply(ListOperationsResponse, "operations", "--limit", "1").operations
    seen = ada.reply(PreviewUndoResponse, "undo", "--import", last.request_id, "--since", since)
    alone = last.request_id.split("-")[1]
    listed = ada.reply(ListOperationsResponse, "operations", "--import", alone)

    assert seen.undone_count == len(listed.operations) == 2


def test_lists_name_who_wrote_first(running: Spawned, keys: Keys) -> None:
    """W9 W4 A page says who wrote a memory; lists and searches are of one principal."""
    ada, helper = keys.of(running, "ada"), keys.of(running, "helper")
    helper.done("add", "Plums are ripe.", "--id", "plums")
    ada.done("update", "plums", "--tag", "fruit")
    ada.done("add", "Plums are blue.", "--id", "blue")

    assert "written by helper" in " ".join(ada.done("get", "plums").split())
    assert "Plums are ripe." in ada.done("list", "--principal", "helper")
    assert "Plums are blue." not in ada.done("list", "--principal", "helper")
    found = ada.done("search", "plums", "--principal", "helper")
    assert "ripe" in found
    assert "blue" not in found


def test_an_undo_goes_on_after_kill_9(tmp_path: Path) -> None:
    """W9 W5 A killed system has some of it back; the same command does the rest, each item once."""
    with spawned(tmp_path / "data") as system:
        keys = Keys(system, tmp_path)
        file = tmp_path / "many.jsonl"
        file.write_text("".join(f'{{"content": "Thing {n}."}}\n' for n in range(MANY)))
        since = now()
        keys.of(system, "helper").done("import", str(file))
        chosen = ("--principal", "helper", "--since", since)
        ada = keys.of(system, "ada")
        seen = ada.reply(PreviewUndoResponse, "undo", *chosen)
        with ThreadPoolExecutor(1) as threads, keys.client(system, "ada") as client:
            cut = threads.submit(ada, "undo", *chosen, "--digest", seen.digest, "--yes")
            while not client.space.ListOperations(_by_ada(1)).operations:
                time.sleep(0.01)
            system.kill()
            assert cut.result().exit_code == 1
    with spawned(tmp_path / "data") as system:
        ada = keys.of(system, "ada")
        half = ada.reply(PreviewUndoResponse, "undo", *chosen)
        ada.done("undo", *chosen, "--digest", half.unfinished_digest, "--yes")
        with keys.client(system, "ada") as client:
            done = client.space.ListOperations(_by_ada(500)).operations

    assert seen.undone_count == MANY
    assert 0 < half.undone_count < MANY
    assert half.unfinished_digest == seen.digest
    assert len(done) == len({each.item_id for each in done}) == MANY


def _by_ada(most: int) -> ListOperationsRequest:
    return ListOperationsRequest(principal="ada", page_size=most)
