"""What every ledger keeps to: the suite of the port, run over each adapter (A1, A2, V7)."""

import asyncio
from dataclasses import replace

import pytest
from concord_attestation.bounds import MAX_ENTRY_BYTES
from concord_attestation.instants import format_time
from concord_attestation.tree import Frontier, leaf_hash
from concord_chassis.channel.cursors import Cursor as PartitionCursor
from concord_governance.domain.access import Space
from concord_governance.domain.errors import LostRace, ProposalTooLarge
from concord_governance.ports.ledger import Cursor, Ledger, LedgerWrites, RequestReceipt
from ledger_world import ENTRY, KEY, NOW, Clock, Opened, proposal, put, size


async def test_a_transaction_is_kept_whole_or_not_at_all(ledger: Ledger) -> None:
    """A1 W7 The entry commits with the effect, also on a key or a space, or neither does."""

    async def work(tx: LedgerWrites) -> None:
        await tx.put(None, proposal("p", await tx.next_number()))
        await tx.record_nonce("n")
        await tx.put_space(Space("one", NOW))
        await tx.put_key(KEY)
        await tx.keep_receipt("agent", "m", "r", RequestReceipt("d", ("p",)))
        await tx.append([ENTRY])
        raise LostRace("undone")

    with pytest.raises(LostRace):
        await ledger.write("one", work)

    assert await ledger.read("one", size) == 0
    assert await ledger.read("one", lambda tx: tx.proposal("p")) is None
    assert await ledger.read("one", lambda tx: tx.key_of_id(KEY.id)) is None
    assert await ledger.read("one", lambda tx: tx.space_named("one")) is None
    assert not await ledger.read("one", lambda tx: tx.nonce_is_recorded("n"))
    assert await ledger.read("one", lambda tx: tx.receipt("agent", "m", "r")) is None
    assert await ledger.write("one", lambda tx: tx.next_number()) == 1


async def test_an_entry_that_no_verifier_would_read_is_not_kept(ledger: Ledger) -> None:
    """A2 The log grows by no line that its verifier refuses for its size: not one byte more."""
    bare = len(ENTRY.encoded("one", 0, format_time(NOW))) - len(ENTRY.reason)
    fits = replace(ENTRY, reason="x" * (MAX_ENTRY_BYTES - bare))

    with pytest.raises(ProposalTooLarge) as refused:
        await ledger.write("one", lambda tx: tx.append([replace(fits, reason=fits.reason + "x")]))
    limit = {"bytes": str(MAX_ENTRY_BYTES + 1), "max_bytes": str(MAX_ENTRY_BYTES)}
    assert refused.value.metadata == limit
    assert await ledger.read("one", size) == 0

    await ledger.write("one", lambda tx: tx.append([fits]))
    (leaf,) = await ledger.read("one", lambda tx: tx.leaves(0, 1))
    assert len(leaf.data) == MAX_ENTRY_BYTES


async def test_a_lost_race_is_told(ledger: Ledger) -> None:
    """V7 Compare-and-set: whoever wrote on an older state changes nothing."""
    await put(ledger, "p", 1)
    seen = await ledger.read("one", lambda tx: tx.proposal("p"))
    assert seen is not None
    await ledger.write("one", lambda tx: tx.put(seen, seen))

    with pytest.raises(LostRace):
        await ledger.write("one", lambda tx: tx.put(seen, seen))


async def test_concurrent_writes_come_one_after_the_other(ledger: Ledger) -> None:
    """V1 A2 Numbers and places have no gap and no repeat."""

    async def work(tx: LedgerWrites) -> int:
        await tx.append([ENTRY, ENTRY])
        return await tx.next_number()

    numbers = await asyncio.gather(*(ledger.write("one", work) for _ in range(20)))

    assert sorted(numbers) == list(range(1, 21))
    leaves = await ledger.read("one", lambda tx: tx.leaves(0, 100))
    assert [leaf.index for leaf in leaves] == list(range(40))


async def test_the_stored_tree_is_that_of_the_leaves(ledger: Ledger) -> None:
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
            start, complete = name[1] << level, Frontier()
            for each in hashes[start : start + (1 << level)]:
                complete.append(each)
            assert nodes[name] == complete.root()


async def test_one_transaction_has_one_time_that_never_steps_back(opened: Opened) -> None:
    """V6 A2 What was judged by a time is recorded under it; the log's time goes on."""
    clock = Clock()
    ledger = await opened("one", clock)

    async def work(tx: LedgerWrites) -> tuple[int, int]:
        judged = await tx.now()
        clock.now += 5
        await tx.append([ENTRY])
        return judged, (await tx.leaves(0, 2))[-1].time

    first = await ledger.write("one", work)
    clock.now -= 1_000
    second = await ledger.write("one", work)

    assert first == (NOW, NOW)
    assert second == (NOW, NOW)


async def test_spaces_do_not_meet(ledger: Ledger) -> None:
    """V6 Numbers, nonces, proposals and logs are a space's own."""
    await put(ledger, "p", 1, "one")
    await ledger.write("one", lambda tx: tx.record_nonce("n"))
    await ledger.write("two", lambda tx: tx.append([ENTRY, ENTRY]))

    assert await ledger.spaces() == ["one", "two"]
    assert await ledger.read("two", lambda tx: tx.proposal("p")) is None
    assert not await ledger.read("two", lambda tx: tx.nonce_is_recorded("n"))
    assert (await ledger.read("one", size), await ledger.read("two", size)) == (1, 2)


async def test_what_was_kept_is_there_after_a_restart(opened: Opened) -> None:
    """A2 Proposals, leaves and the place in the feed outlive the process."""
    first = await opened("one", Clock())
    await put(first, "p", 1)
    await first.write("one", lambda tx: tx.move_cursor(Cursor("epoch", 7, "digest")))
    await first.write("one", lambda tx: tx.count_key_change())
    await first.close()

    again = await opened("one", Clock())
    found = await again.read("one", lambda tx: tx.proposal("p"))
    cursor = await again.read("one", lambda tx: tx.feed_cursor())
    counts = [await again.read(space, lambda tx: tx.key_changes()) for space in ("one", "two")]

    assert counts == [1, 0]
    assert found is not None
    assert (found.newest.number, cursor) == (1, Cursor("epoch", 7, "digest"))


async def test_how_far_each_partition_was_followed_outlives_the_process(opened: Opened) -> None:
    """A1 W7 Beside the spaces' own cursors; one that is of no more use can be forgotten. One query
    answers for all spaces, also which have erasures that are not confirmed."""
    first = await opened("one", Clock())
    await first.write("b", lambda tx: tx.move_cursor(Cursor("epoch", 7, "digest")))
    for number in (4, 9):
        at = PartitionCursor(number, f"digest {number}")
        await first.write("b", lambda tx, at=at: tx.move_partition(63, at))  # type: ignore[misc] # the default binds the loop's value
    await first.write("a", lambda tx: tx.move_partition(0, PartitionCursor(1, "other")))
    await first.write("a", lambda tx: tx.forget_words("memory", confirm=True))
    await first.close()

    again = await opened("one", Clock())
    there = await again.partitions()
    await again.write("a", lambda tx: tx.move_partition(0, None))

    assert there == {0: PartitionCursor(1, "other"), 63: PartitionCursor(9, "digest 9")}
    assert await again.partitions() == {63: PartitionCursor(9, "digest 9")}
    assert await again.cursors() == {"a": Cursor(), "b": Cursor("epoch", 7, "digest")}
    assert await again.unconfirmed_spaces() == ["a"]
