"""The ledger's writes in one Neo4j transaction, which holds the space's lock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from concord_chassis.channel.cursors import Cursor as PartitionCursor
from neo4j import AsyncManagedTransaction

from concord_governance.adapters import rows
from concord_governance.adapters.neo4j import statements
from concord_governance.adapters.neo4j.access import Neo4jAccessWrites
from concord_governance.adapters.neo4j.reads import Neo4jLedgerReads
from concord_governance.domain.entries import Entry
from concord_governance.domain.errors import LostRace
from concord_governance.domain.proposals import Proposal
from concord_governance.ports.ledger import Clock, Cursor, RequestReceipt


class Neo4jLedgerWrites(Neo4jLedgerReads, Neo4jAccessWrites):
    """One transaction on one space's ledger, the only one that writes there until it ends."""

    def __init__(self, tx: AsyncManagedTransaction, space: str, clock: Clock) -> None:
        super().__init__(tx, space)
        self._clock = clock
        self._now: int | None = None

    async def hold(self) -> None:
        """Take the space's lock: from then on no other transaction changes the space."""
        await self._run(statements.HOLD)

    async def now(self) -> int:
        if self._now is None:
            self._now = max(self._clock(), (await self._head())[2])
        return self._now

    async def next_number(self) -> int:
        return int((await self._run(statements.NUMBER))[0][0])

    async def put(self, before: Proposal | None, after: Proposal) -> None:
        fields = {
            "space": self._space,
            **rows.of_proposal(before, after),
            "proposer": after.newest.proposer,
            "orphaned": list(after.orphaned),
        }
        if before is None:
            await self._run(statements.PROPOSE, fields=fields)
        elif not await self._run(
            statements.RESOLVE, id=after.id, version=before.version, fields=fields
        ):
            raise LostRace("somebody else wrote the proposal meanwhile")
        if rows.is_revised(before, after):
            revision = {"space": self._space, **rows.of_revision(after.newest)}
            await self._run(statements.REVISE, id=after.id, fields=revision)
        if touched := rows.touched(before, after):
            await self._run(statements.AFFECT, id=after.id, items=sorted(touched))
        await self._run(
            statements.CONSENT,
            id=after.id,
            revision=after.newest.revision,
            consents=[asdict(consent) for consent in after.consents],
        )

    async def record_nonce(self, nonce: str) -> None:
        await self._run(statements.RECORD_NONCE, nonce=nonce)

    async def keep_receipt(
        self, principal: str, method: str, request_id: str, receipt: RequestReceipt
    ) -> None:
        """Store a request's receipt, and drop the space's that are older than seven days."""
        now = self._clock()
        await self._run(statements.FORGET_RECEIPTS, before=now - rows.REQUEST_KEPT)
        fields = {
            "space": self._space,
            "principal": principal,
            "method": method,
            "request_id": request_id,
            "digest": receipt.digest,
            "proposal_ids": list(receipt.proposal_ids),
            "create_time": now,
        }
        await self._run(statements.KEEP_RECEIPT, fields=fields)

    async def append(self, entries: Sequence[Entry]) -> None:
        done = await rows.appended(self, self._space, entries)
        leaves = [{"space": self._space, **leaf} for leaf in done.leaves]
        await self._run(statements.APPEND, leaves=leaves)
        await self._run(statements.GROW, nodes=[list(node) for node in done.subtrees])
        await self._run(statements.ADVANCE, log_size=done.size, last_time=done.time)

    async def move_cursor(self, cursor: Cursor) -> None:
        await self._run(statements.MOVE_CURSOR, **cursor._asdict())

    async def move_partition(self, partition: int, cursor: PartitionCursor | None) -> None:
        if cursor is None:
            await self._run(statements.FORGET_PARTITION, partition=partition)
        else:
            await self._run(
                statements.MOVE_PARTITION,
                partition=partition,
                number=cursor.number,
                mark=cursor.digest,
            )

    async def count_key_change(self) -> None:
        await self._run(statements.COUNT_KEY_CHANGE)

    async def forget_words(self, item_id: str, *, confirm: bool) -> int:
        if confirm:
            await self._run(statements.UNCONFIRM, item_id=item_id)
        return int((await self._run(statements.FORGET_WORDS, item_id=item_id))[0][0])

    async def forget_proposals(self, proposal_ids: Sequence[str]) -> int:
        found = await self._run(statements.FORGET_PROPOSALS, ids=list(proposal_ids))
        return int(found[0][0])

    async def forget_all_words(self) -> None:
        await self._run(statements.FORGET_ALL_WORDS)

    async def confirmed(self, memory_id: str) -> None:
        await self._run(statements.CONFIRM, memory_id=memory_id)
