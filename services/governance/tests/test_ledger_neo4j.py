"""What the ledger in a Neo4j keeps to beyond the port's suite: locks, stamps, and who else writes.

These run in `make test-neo4j`.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import neo4j
import pytest
import pytest_asyncio
from concord_governance.adapters.neo4j import schema, statements
from concord_governance.adapters.neo4j.ledger import Neo4jLedger, open_ledger
from concord_governance.domain.errors import LedgerBusy, LedgerUnavailable, LostRace
from concord_governance.ports.ledger import LedgerReads, LedgerWrites
from concord_stores.neo4j_server import RESERVED
from concord_stores.neo4j_transactions import Transactions
from concord_testing.neo4j_server import OneStore
from ledger_world import ENTRY, Clock, put, settings, size
from neo4j.exceptions import ConstraintError

pytestmark = pytest.mark.neo4j

_ALL = {
    name: text for name, text in vars(statements).items() if name[0].isalpha() and name.isupper()
}
_KEPT = ("ConcordLeaf", "ConcordSubtree", "ConcordNonce")


@pytest_asyncio.fixture(loop_scope="function")
async def two(server: OneStore, tmp_path: Path) -> AsyncIterator[list[Neo4jLedger]]:
    """Two processes' ledgers of one store, both opened at once in an empty database."""
    at = settings(server, tmp_path / "two.db")
    async with AsyncExitStack() as stack:
        both = await asyncio.gather(
            *(open_ledger(at, Clock(), transaction_seconds=each) for each in (60, 1))
        )
        for each in both:
            stack.push_async_callback(each.close)
        yield both


async def test_replicas_write_one_after_the_other(two: list[Neo4jLedger]) -> None:
    """A2 V1 Numbers and places have no gap and no repeat, whoever writes."""

    async def work(tx: LedgerWrites) -> int:
        await tx.append([ENTRY, ENTRY])
        return await tx.next_number()

    numbers = await asyncio.gather(*(each.write("one", work) for each in two * 10))

    assert sorted(numbers) == list(range(1, 21))
    leaves = await two[0].read("one", lambda tx: tx.leaves(0, 100))
    assert [leaf.index for leaf in leaves] == list(range(40))


async def test_whoever_waits_too_long_is_told_so(two: list[Neo4jLedger]) -> None:
    """A1 A space that another process holds is busy; nothing is written, other spaces go on."""
    locked, free = asyncio.Event(), asyncio.Event()

    async def work(tx: LedgerWrites) -> None:
        locked.set()
        await free.wait()
        await tx.append([ENTRY])

    writing = asyncio.create_task(two[0].write("one", work))
    await locked.wait()
    with pytest.raises(LedgerBusy):
        await two[1].write("one", lambda tx: tx.append([ENTRY]))
    await two[1].write("two", lambda tx: tx.append([ENTRY]))
    free.set()
    await writing

    assert await two[1].read("one", size) == 1


async def test_a_read_is_of_one_state(two: list[Neo4jLedger]) -> None:
    """A2 One that a write overtook runs again; so does a refusal that rests on half a state."""
    tries: list[int] = []

    async def work(tx: LedgerReads) -> tuple[int, int]:
        before = await tx.log_size()
        tries.append(before)
        if len(tries) <= 2:
            await two[1].write("one", lambda tx: tx.append([ENTRY, ENTRY]))
        after = len(await tx.leaves(0, 99))
        if before != after and len(tries) == 1:
            raise LostRace("half of it was seen")
        return before, after

    assert await two[0].read("one", work) == (4, 4)
    assert tries == [0, 2, 4]


async def test_a_read_that_is_always_overtaken_ends(two: list[Neo4jLedger]) -> None:
    """A2 At last it holds the lock, and nobody overtakes it."""
    tries = []

    async def work(tx: LedgerReads) -> tuple[int, int]:
        before = await tx.log_size()
        tries.append(before)
        if len(tries) <= 3:
            await two[1].write("one", lambda tx: tx.append([ENTRY]))
        return before, len(await tx.leaves(0, 99))

    assert await two[0].read("one", work) == (3, 3)


_AT_A_START = {"SPACES", "CURSORS", "PARTITIONS", "UNCONFIRMED_SPACES"}
_OF_EVERY_SPACE = _AT_A_START | {
    *("STORE_EPOCH", "WAITING", "TIMES"),
    *("MOVE_PARTITION", "FORGET_PARTITION"),
}


@pytest.mark.parametrize("name", sorted(_ALL))
def test_no_statement_changes_what_is_append_only(name: str) -> None:
    """A2 V2 Leaves, subtrees and nonces are matched or created; none is set, removed or deleted."""
    text = _ALL[name]
    kept = [alias for alias, label in re.findall(r"\((\w*):(\w+)", text) if label in _KEPT]
    if not kept:
        return
    if "CREATE" in text:  # what it sets is what it creates, whole
        assert not re.search(r"MATCH|MERGE|DELETE|REMOVE", text)
    else:
        assert not re.search(r"SET|MERGE|DELETE|REMOVE", text)


@pytest.mark.parametrize("name", sorted(_ALL))
def test_every_statement_is_of_one_space(name: str) -> None:
    """V6 Each binds the space, but those that are of none; labels are none that a caller has.

    W7 Keys, sign-ins and what operators know of spaces stand beside the spaces' ledgers.
    """
    text = _ALL[name]

    beside = re.search(r"\((a:ConcordSpace|k:ConcordKey|s:ConcordSignIn)", text)
    of_none = beside or name in _OF_EVERY_SPACE
    assert of_none or "$space" in text or "$fields" in text or "$leaves" in text
    assert all(
        label.startswith(RESERVED) or label == "Store" for label in re.findall(r"\(\w*:(\w+)", text)
    )


async def test_a_place_in_the_log_is_taken_once(two: list[Neo4jLedger], server: OneStore) -> None:
    """A2 The store refuses a second leaf in a place, also to whoever writes past us."""
    await put(two[0], "p", 1)

    with pytest.raises(ConstraintError):
        server.run("CREATE (:ConcordLeaf {space: 'one', place: 0, data: 'x'})")


async def test_every_plan_begins_with_a_seek(two: list[Neo4jLedger], server: OneStore) -> None:
    """A2 In an empty store too: nothing goes through all there is, but what a start asks at most:
    every space, of which partitions' cursors are 64, and the spaces with unconfirmed erasures."""
    assert await two[0].ready()
    for name, text in _ALL.items():
        planned = f"EXPLAIN CYPHER replan=force {statements.planned(text)}"
        scans = [step for step in _steps(server.plan(planned)) if "Scan" in step]

        assert scans == (["NodeByLabelScan"] if name in _AT_A_START else []), name


async def test_a_store_that_was_exchanged_is_not_ready(
    two: list[Neo4jLedger], server: OneStore
) -> None:
    """W1 Health tells the truth: the server answers, but not with the ledger that was opened."""
    assert await two[0].ready()
    server.run("MATCH (s:Store {key: $stamp}) SET s.epoch = 'another'", stamp=schema.STAMP)

    assert not await two[0].ready()


async def test_it_shares_a_database_with_another_part_of_concord(
    server: OneStore, tmp_path: Path
) -> None:
    """A1 What has a stamp of ours is no other program's; what has none is."""
    at = settings(server, tmp_path / "shared.db")
    server.run("CREATE (:Store {key: 'concord', schema: 1, epoch: 'e'}), (:Item {id: 'i'})")
    ledger = await open_ledger(at, Clock())
    await put(ledger, "p", 1)
    await ledger.close()

    assert server.run("MATCH (i:Item) RETURN i.id") == [["i"]]


async def test_a_server_that_goes_away_is_told(server: OneStore, tmp_path: Path) -> None:
    """A1 In the ledger's words, not the driver's."""
    at = settings(server, tmp_path / "gone.db")
    ledger = await open_ledger(at, Clock(), busy_seconds=1)
    whole = ledger._server
    broken = neo4j.AsyncGraphDatabase.driver(
        "bolt://127.0.0.1:1", auth=("a", "b"), max_transaction_retry_time=0.1
    )
    ledger._server = Transactions(broken)

    with pytest.raises(LedgerUnavailable, match="cannot be read or written"):
        await ledger.read("one", size)
    await broken.close()
    await whole.close()


def _steps(plan: Mapping[str, Any]) -> list[str]:
    name = plan["operatorType"].partition("@")[0]
    return [name, *(step for child in plan.get("children", ()) for step in _steps(child))]
