"""What every ledger keeps to: the suite of the port, run over each adapter (A1, A2, V7)."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from concord_attestation.tree import leaf_hash, root_of
from concord_chassis.sqlite_file import FileUnusable
from concord_governance.adapters.sqlite.ledger import SqliteLedger, open_ledger
from concord_governance.domain.documents import as_json
from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.exceptions import LedgerBusy, LostRace
from concord_governance.domain.proposals import (
    Framing,
    FramingCheck,
    Kind,
    Level,
    Proposal,
    Revision,
    Status,
    Trigger,
)
from concord_governance.ports import LedgerReads, LedgerWrites, Receipt

NOW = 1_800_000_000_000_000


class Clock:
    """A clock that is set."""

    now = NOW

    def __call__(self) -> int:
        return self.now


def proposal(name: str, number: int) -> Proposal:
    """Return a pending proposal."""
    revision = Revision(
        space="one",
        proposal_id=name,
        number=number,
        revision=1,
        proposer="agent",
        trigger=Trigger.MANUAL,
        kind=Kind.ADD,
        level=Level.AGENT,
        action={},
        action_digest="0" * 64,
        affected=(),
        framing=Framing("a", "b", "c", "d", "e"),
        framing_check=FramingCheck.TEMPLATE,
        policy_digest="1" * 64,
        create_time=NOW,
        expire_time=NOW + 10,
        digest="2" * 64,
    )
    canonical = json.dumps(as_json(revision)).encode()
    return Proposal(replace(revision, canonical=canonical), Status.PENDING, create_time=NOW)


@pytest_asyncio.fixture(loop_scope="function")
async def ledger(tmp_path: Path) -> AsyncIterator[SqliteLedger]:
    """An empty ledger."""
    opened = open_ledger(tmp_path / "ledger.db", Clock())
    yield opened
    await opened.close()


ENTRY = Entry(Action.SMF_PROPOSE, Actor.AGENT, "agent")


async def put(ledger: SqliteLedger, name: str, number: int, space: str = "one") -> None:
    """Write a proposal and an entry."""

    async def work(tx: LedgerWrites) -> None:
        await tx.put(None, proposal(name, number))
        await tx.append([ENTRY])

    await ledger.write(space, work)


async def size(tx: LedgerReads) -> int:
    """Return the log's size."""
    return await tx.log_size()


async def test_a_transaction_is_kept_whole_or_not_at_all(ledger: SqliteLedger) -> None:
    """A1 The entry commits with the effect, or neither does."""

    async def work(tx: LedgerWrites) -> None:
        await tx.put(None, proposal("p", await tx.next_number()))
        await tx.keep_nonce("n")
        await tx.keep_receipt("agent", "m", "r", Receipt("d", ("p",)))
        await tx.append([ENTRY])
        raise LostRace("undone")

    with pytest.raises(LostRace):
        await ledger.write("one", work)

    assert await ledger.read("one", size) == 0
    assert await ledger.read("one", lambda tx: tx.proposal("p")) is None
    assert not await ledger.read("one", lambda tx: tx.nonce_is_known("n"))
    assert await ledger.read("one", lambda tx: tx.receipt("agent", "m", "r")) is None
    assert await ledger.write("one", lambda tx: tx.next_number()) == 1


async def test_a_lost_race_is_told(ledger: SqliteLedger) -> None:
    """V7 Compare-and-set: whoever wrote on an older state changes nothing."""
    await put(ledger, "p", 1)
    seen = await ledger.read("one", lambda tx: tx.proposal("p"))
    assert seen is not None
    await ledger.write("one", lambda tx: tx.put(seen, seen))

    with pytest.raises(LostRace):
        await ledger.write("one", lambda tx: tx.put(seen, seen))


async def test_concurrent_writes_come_one_after_the_other(ledger: SqliteLedger) -> None:
    """V1 A2 Numbers and places have no gap and no repeat."""

    async def work(tx: LedgerWrites) -> int:
        await tx.append([ENTRY, ENTRY])
        return await tx.next_number()

    numbers = await asyncio.gather(*(ledger.write("one", work) for _ in range(20)))

    assert sorted(numbers) == list(range(1, 21))
    leaves = await ledger.read("one", lambda tx: tx.leaves(0, 100))
    assert [leaf.index for leaf in leaves] == list(range(40))


async def test_the_stored_tree_is_that_of_the_leaves(ledger: SqliteLedger) -> None:
    """A2 Every complete subtree that is stored has the hash of its leaves."""
    for count in range(1, 14):
        await ledger.write("one", lambda tx, n=count: tx.append([ENTRY] * n))  # type: ignore[misc]

    total = await ledger.read("one", size)
    hashes = [
        leaf_hash(leaf.data) for leaf in await ledger.read("one", lambda tx: tx.leaves(0, total))
    ]
    for level in range(total.bit_length()):
        names = [(level, place) for place in range(total >> level)]
        nodes = await ledger.read("one", lambda tx, of=names: tx.nodes(of))  # type: ignore[misc]
        for name in names:
            start = name[1] << level
            assert nodes[name] == root_of(hashes[start : start + (1 << level)])


async def test_one_transaction_has_one_time_that_never_steps_back(tmp_path: Path) -> None:
    """V6 A2 What was judged by a time is recorded under it; the log's time goes on."""
    clock = Clock()
    opened = open_ledger(tmp_path / "ledger.db", clock)

    async def work(tx: LedgerWrites) -> tuple[int, int]:
        judged = await tx.now()
        clock.now += 5
        (leaf,) = await tx.append([ENTRY])
        return judged, leaf.time

    first = await opened.write("one", work)
    clock.now -= 1_000
    second = await opened.write("one", work)
    await opened.close()

    assert first == (NOW, NOW)
    assert second == (NOW, NOW)


async def test_spaces_do_not_meet(ledger: SqliteLedger) -> None:
    """V6 Numbers, nonces, proposals and logs are a space's own."""
    await put(ledger, "p", 1, "one")
    await ledger.write("one", lambda tx: tx.keep_nonce("n"))
    await ledger.write("two", lambda tx: tx.append([ENTRY, ENTRY]))

    assert await ledger.spaces() == ["one", "two"]
    assert await ledger.read("two", lambda tx: tx.proposal("p")) is None
    assert not await ledger.read("two", lambda tx: tx.nonce_is_known("n"))
    assert (await ledger.read("one", size), await ledger.read("two", size)) == (1, 2)


async def test_what_was_kept_is_there_after_a_restart(tmp_path: Path) -> None:
    """A2 Proposals, leaves and the place in the feed outlive the process."""
    opened = open_ledger(tmp_path / "ledger.db", Clock())
    await put(opened, "p", 1)
    await opened.write("one", lambda tx: tx.move_cursor("epoch", 7))
    await opened.close()

    again = open_ledger(tmp_path / "ledger.db", Clock())
    found = await again.read("one", lambda tx: tx.proposal("p"))
    cursor = await again.read("one", lambda tx: tx.feed_cursor())
    await again.close()

    assert found is not None
    assert (found.newest.number, cursor) == (1, ("epoch", 7))


@pytest.mark.parametrize("statement", ["UPDATE leaf SET data = x'00'", "DELETE FROM leaf"])
async def test_the_log_is_append_only(statement: str, ledger: SqliteLedger, tmp_path: Path) -> None:
    """A2 V2 The store itself refuses to change or remove an entry."""
    await put(ledger, "p", 1)

    with (
        closing(sqlite3.connect(tmp_path / "ledger.db")) as db,
        pytest.raises(sqlite3.IntegrityError),
    ):
        db.execute(statement)


async def test_a_locked_file_is_told(tmp_path: Path) -> None:
    """A1 A ledger that another process holds is busy, and nothing is written."""
    opened = open_ledger(tmp_path / "ledger.db", Clock(), busy_seconds=0.05)
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(LedgerBusy):
            await opened.write("one", lambda tx: tx.append([ENTRY]))
        other.execute("ROLLBACK")
    await opened.close()


def test_a_damaged_file_is_refused_with_a_sentence(tmp_path: Path) -> None:
    """A2 What is not a ledger is not opened; the sentence names the file."""
    path = tmp_path / "ledger.db"
    path.write_bytes(b"this is no database at all" * 400)

    with pytest.raises(FileUnusable) as caught:
        open_ledger(path, Clock())

    assert str(path) in str(caught.value)
