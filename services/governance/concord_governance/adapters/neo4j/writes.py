"""The ledger's writes in one Neo4j transaction, which holds the space's lock."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, astuple

from concord_attestation.instants import format_time
from concord_attestation.tree import Frontier, leaf_hash
from neo4j import AsyncManagedTransaction

from concord_governance.adapters import endings
from concord_governance.adapters.neo4j import statements
from concord_governance.adapters.neo4j.access import Neo4jAccessWrites
from concord_governance.adapters.neo4j.reads import Fields, Neo4jLedgerReads
from concord_governance.domain.documents import without_words
from concord_governance.domain.entries import Entry
from concord_governance.domain.errors import LostRace
from concord_governance.domain.proposals import Decision, Proposal
from concord_governance.ports.ledger import Clock, Cursor, Leaf, RequestReceipt

_REQUEST_KEPT_MICROSECONDS = 7 * 86_400_000_000


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
        newest = after.newest
        fields = _fields(self._space, before, after)
        if before is None:
            await self._run(statements.PROPOSE, fields=fields)
        elif not await self._run(
            statements.RESOLVE, id=after.id, version=before.version, fields=fields
        ):
            raise LostRace("somebody else wrote the proposal meanwhile")
        effects = after.decision.effects if after.decision else ()
        touched = {effect.item_id for effect in effects if not effect.cascaded}
        if before is None or before.newest.revision != newest.revision:
            await self._put_revision(after)
            touched |= {item.id for item in newest.affected if item.etag}
        if touched:
            await self._run(statements.AFFECT, id=after.id, items=sorted(touched))
        await self._run(
            statements.CONSENT,
            id=after.id,
            revision=newest.revision,
            consents=[asdict(consent) for consent in after.consents],
        )

    async def _put_revision(self, proposal: Proposal) -> None:
        newest = proposal.newest
        document = without_words(json.loads(newest.canonical))
        fields = {
            "space": self._space,
            "proposal_id": proposal.id,
            "revision": newest.revision,
            "digest": newest.digest,
            "document": json.dumps(document, separators=(",", ":"), ensure_ascii=False),
            "canonical": newest.canonical,
        }
        await self._run(statements.REVISE, id=proposal.id, fields=fields)

    async def record_nonce(self, nonce: str) -> None:
        """Record an envelope's nonce, for ever."""
        await self._run(statements.RECORD_NONCE, nonce=nonce)

    async def keep_receipt(
        self, principal: str, method: str, request_id: str, receipt: RequestReceipt
    ) -> None:
        """Store a request's receipt, and drop the space's that are older than seven days."""
        now = self._clock()
        await self._run(statements.FORGET_RECEIPTS, before=now - _REQUEST_KEPT_MICROSECONDS)
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

    async def append(self, entries: Sequence[Entry]) -> Sequence[Leaf]:
        size = await self.log_size()
        names = Frontier.edge_of(size)
        stored = await self.nodes(names)
        frontier = Frontier(size, [stored[name] for name in names])
        time = await self.now()
        leaves, rows, made = [], [], []
        for entry in entries:
            place = frontier.size
            data = entry.encoded(self._space, place, format_time(time))
            made += [list(node) for node in frontier.append(leaf_hash(data))]
            leaves.append(Leaf(place, time, data))
            rows.append(_leaf(self._space, leaves[-1], entry))
        await self._run(statements.APPEND, leaves=rows)
        await self._run(statements.GROW, nodes=made)
        await self._run(statements.ADVANCE, log_size=frontier.size, last_time=time)
        return leaves

    async def move_cursor(self, cursor: Cursor) -> None:
        await self._run(statements.MOVE_CURSOR, **cursor._asdict())

    async def count_key_change(self) -> None:
        await self._run(statements.COUNT_KEY_CHANGE)

    async def forget_words(self, item_id: str, *, confirm: bool) -> int:
        if confirm:
            await self._run(statements.UNCONFIRM, item_id=item_id)
        return int((await self._run(statements.FORGET_WORDS, item_id=item_id))[0][0])

    async def forget_all_words(self) -> None:
        await self._run(statements.FORGET_ALL_WORDS)

    async def confirmed(self, memory_id: str) -> None:
        await self._run(statements.CONFIRM, memory_id=memory_id)


def _fields(space: str, before: Proposal | None, after: Proposal) -> Fields:
    newest = after.newest
    decision = after.decision or Decision("", 0, b"")
    return {
        "space": space,
        "id": after.id,
        "number": newest.number,
        "revision": newest.revision,
        "proposer": newest.proposer,
        "version": (before.version if before else 0) + 1,
        "status": int(after.status),
        "create_time": after.create_time,
        "expire_time": newest.expire_time,
        "resolve_time": after.resolve_time,
        "resolved_by": endings.ended_by(after),
        "resolution": endings.why(after),
        "undone_by": after.undone_by,
        "undo_until": after.undo_until,
        "decision_id": decision.id,
        "decision_time": decision.time,
        "decision_grant": decision.grant,
        "effects": json.dumps([astuple(effect) for effect in decision.effects]),
        "orphaned": list(after.orphaned),
    }


def _leaf(space: str, leaf: Leaf, entry: Entry) -> Fields:
    return {
        "space": space,
        "place": leaf.index,
        "time": leaf.time,
        "happen_time": entry.happen_time(leaf.time),
        "action": int(entry.action),
        "actor": int(entry.actor),
        "item_id": entry.item_id,
        "proposal_id": entry.proposal_id,
        "data": leaf.data,
    }
