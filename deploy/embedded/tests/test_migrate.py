"""Stores are brought up to date before a service starts on them."""

import sqlite3
from pathlib import Path

import pytest
from concord_embedded.errors import StartError
from concord_embedded.migrate import REFUSALS, migrate
from concord_embedded.restore import confirmers


def stores(folder: Path) -> dict[str, str]:
    """The settings of both stores in a folder."""
    return {
        "GRAPH_STORE_PATH": str(folder / "graph.db"),
        "GOVERNANCE_LEDGER_PATH": str(folder / "ledger.db"),
    }


async def test_both_stores_are_brought_up_to_date(tmp_path: Path) -> None:
    """W10: it makes the stores that are missing, and finds them up to date again."""
    said: list[str] = []
    for _ in range(2):
        await migrate(stores(tmp_path), said.append)

    assert [line.split(",")[0] for line in said] == 2 * [
        "graph's store is up to date",
        "the ledger is up to date",
    ]


async def test_a_store_of_a_newer_version_stops_it(tmp_path: Path) -> None:
    """W10: an upgrade does not begin on a store that it cannot serve, and the text says why."""
    await migrate(stores(tmp_path), lambda _: None)
    with sqlite3.connect(tmp_path / "graph.db") as db:
        db.execute("UPDATE meta SET value = '9999' WHERE key = 'schema'")
    db.close()

    with pytest.raises(REFUSALS, match="9999"):
        await migrate(stores(tmp_path), lambda _: None)


def test_a_restore_waits_for_the_searches_that_there_are() -> None:
    """M4, W10: what it erases again is confirmed by whom graph waits for, whatever their names."""
    assert confirmers({}) == ["search", "governance"]
    assert confirmers({"GRAPH_ERASE_CONFIRMERS": "search-0,governance"}) == [
        "search-0",
        "governance",
    ]
    with pytest.raises(StartError, match="GRAPH_ERASE_CONFIRMERS"):
        confirmers({"GRAPH_ERASE_CONFIRMERS": '["search"]'})
