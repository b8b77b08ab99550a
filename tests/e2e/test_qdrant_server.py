"""The whole of Concord, as `concord up` starts it, with its index on a Qdrant server."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from concord_client import Client, Refused
from concord_testing import qdrant_server
from concord_testing.command_line import CommandLine
from concord_testing.polling import SECONDS
from concord_testing.qdrant_server import LocalQdrant
from concord_testing.up_process import spawned
from running_system import add, found

pytestmark = pytest.mark.qdrant


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalQdrant]:
    """A server of the test's own."""
    with qdrant_server.local(tmp_path / "qdrant", os.environ) as own:
        yield own


def settings(server: LocalQdrant) -> dict[str, str]:
    """What chooses that server."""
    return {"INDEX_STORE": "qdrant", "QDRANT_URL": server.url, "QDRANT_TIMEOUT": "1"}


def until_found(client: Client, query: str, token: str) -> list[str]:
    """What a search finds once search answers again."""
    until = time.monotonic() + SECONDS
    while True:
        try:
            return found(client, query, token)
        except Refused as refused:
            if refused.code is not grpc.StatusCode.UNAVAILABLE or time.monotonic() > until:
                raise
            time.sleep(0.1)


def test_writes_go_on_without_the_server_and_are_found_after(
    tmp_path: Path, server: LocalQdrant
) -> None:
    """S10 Qdrant gone: a typed error, honest health, no lost write, and the index catches up."""
    with spawned(tmp_path / "data", settings=settings(server)) as system:
        concord = CommandLine(system.environ)
        with system.client() as client:
            token = add(client, "office", "The office is in Bremen.")
            assert found(client, "where is the office", token) == ["office"]
            server.kill()
            with pytest.raises(Refused) as refused:
                found(client, "where is the office")
            token = add(client, "dog", "The dog is called Rex.")
            until = time.monotonic() + SECONDS
            while concord("status").exit_code == 0 and time.monotonic() < until:
                time.sleep(0.1)
            status = concord("status", "--json")
            server.start()

            assert until_found(client, "what is the dog called", token)[0] == "dog"
            reconciled = concord("reconcile")

    assert refused.value.reason == "ERROR_REASON_UNAVAILABLE"
    assert status.exit_code != 0
    assert '"concord.search.v1.SearchService": false' in status.output
    assert reconciled.exit_code == 0, reconciled.output


def test_what_was_indexed_is_there_after_a_restart_of_both(
    tmp_path: Path, server: LocalQdrant
) -> None:
    """S10 `concord up` stopped and the server killed: both start, and nothing is missing."""
    with spawned(tmp_path / "data", settings=settings(server)) as system:
        with system.client() as client:
            token = add(client, "office", "The office is in Bremen.")
            found(client, "office", token)
        assert system.stop() == 0
    server.kill()
    server.start()
    with (
        spawned(tmp_path / "data", settings=settings(server)) as system,
        system.client() as client,
    ):
        assert found(client, "where is the office", token) == ["office"]


def test_without_a_server_the_start_says_which_is_missing(
    tmp_path: Path, server: LocalQdrant
) -> None:
    """S10 W4 A sentence that names the server, and no traceback."""
    server.kill()
    printed = CommandLine({"CONCORD_DATA": str(tmp_path / "data"), **settings(server)})(
        "up", "--port", "0"
    )

    assert printed.exit_code != 0
    assert server.url in printed.output
    assert "Traceback" not in printed.output
