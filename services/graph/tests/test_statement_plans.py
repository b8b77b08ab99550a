"""Which indexes the store's reads use: those about now never walk what is no longer known."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from concord_graph.adapters.seen import Seen
from concord_graph.adapters.sqlite import (
    conflicts,
    fact_edges,
    filters,
    lists,
    statements,
    succession,
    views,
)
from concord_graph.adapters.sqlite.schema import SCHEMA
from concord_graph.domain.items import ItemKind
from concord_graph.ports import MemoryFilter

ENDS = ("source_id", "target_id")
CURRENT = MemoryFilter()


def _walked(now: bool, seen: Seen) -> str:
    return statements.walked(now, ENDS, True, "", seen=seen, constitutive=False, standing_only=True)


READS: dict[str, Callable[[bool], str]] = {
    "nodes": statements.node_views,
    "edges": statements.edge_views,
    "memories": statements.memory_views,
    "standings": succession.standings,
    "exits": succession.exits_of,
    "values around": succession.values_around,
    "rivals": lambda _: succession.RIVALS,
    "amendments": statements.amendments,
    "edges by id": lambda now: statements.items(ItemKind.EDGE, now),
    "memories by id": lambda now: statements.items(ItemKind.MEMORY, now),
    "facts": fact_edges.facts_of_each,
    "stating": lambda _: fact_edges.STATING,
    "by name": lambda now: statements.found(now, by_name=True),
    "by id": lambda now: statements.found(now, by_name=False),
    "triple": statements.of_triple,
    "external id": statements.of_external_id,
    "kinds": statements.kinds,
    "lineage": statements.lineage,
    "hops": lambda now: _walked(now, Seen.HOP),
    "steps": lambda now: _walked(now, Seen.STEP),
    "whole steps": lambda now: _walked(now, Seen.WHOLE),
    "degrees": lambda now: statements.degrees(now, ENDS),
    "listed nodes": lists.listed_nodes,
    "listed edges": lambda now: lists.listed_edges(now, True, "", by_participant=False),
    "listed memories": lambda now: lists.listed_memories(now, filters.memory_tests(CURRENT)[0]),
    "conflict by id": conflicts.by_id,
    "edges at": statements.edges_at,
    "conflicts of pairs": conflicts.between,
    "open conflicts": conflicts.open_at,
    "derived memories": lambda _: conflicts.DERIVED,
    "live edges": lambda now: lists.live_items(ItemKind.EDGE, now, True),
    "live memories": lambda now: lists.live_items(ItemKind.MEMORY, now, True),
    "counted edges": lambda now: lists.counted(ItemKind.EDGE, now, True),
    "counted memories": lambda now: lists.counted(ItemKind.MEMORY, now, True),
}


MEETS_FEW = r"relation=\? AND target_id=\?|edge_succession .*effective_from"


@pytest.fixture(scope="module")
def db() -> Iterator[sqlite3.Connection]:
    """An empty store of the newest schema."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        SCHEMA.prepare(connection)
        yield connection


def plan(db: sqlite3.Connection, sql: str) -> list[str]:
    """Return the steps in which SQLite would answer."""
    bound = dict.fromkeys(re.findall(r":(\w+)", sql), 0)
    return [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", bound)]


@pytest.mark.parametrize("sql", [views.NEWEST_STATES, views.STATE_THROUGH])
def test_the_state_of_a_much_read_memory_is_one_seek(db: sqlite3.Connection, sql: str) -> None:
    """S1 G6 Each read is a change, too: what walks them costs more with each search."""
    (found,) = [step for step in plan(db, sql) if " k " in step]

    assert "change_state" in found
    assert "item_id=?" in found


@pytest.mark.parametrize("read", READS)
def test_reads_about_now_skip_history(db: sqlite3.Connection, read: str) -> None:
    """T3 G9 An index of every revision there ever was costs a read about now its speed."""
    steps = plan(db, READS[read](True))

    assert [step for step in steps if "_then" in step] == []
    assert [s for s in steps if re.match(r"SCAN [enmlostux]\b", s)] == []


@pytest.mark.parametrize("read", ["edges", "hops", "steps", "whole steps", "triple"])
def test_reads_about_then_meet_one_triple_at_a_hub(db: sqlite3.Connection, read: str) -> None:
    """T3 Supersession among a hub's 100,000 edges looks at those of the same triple alone."""
    steps = [s for s in plan(db, READS[read](False)) if re.match(r"SEARCH (s|l|u) ", s)]

    for step in steps:
        assert re.search(MEETS_FEW, step), step
