"""The ledger's reads in one Neo4j transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from concord_governance.adapters import rows
from concord_governance.adapters.neo4j import statements
from concord_governance.adapters.neo4j.access import Neo4jAccessReads, Row
from concord_governance.domain.proposals import OPEN, Proposal, Status
from concord_governance.ports.ledger import Cursor, EntryFilter, Leaf, RequestReceipt

_NO_HEAD: Row = [None, 0, 0, "", 0, ""]


class Neo4jLedgerReads(Neo4jAccessReads):
    """A view of one space's ledger; the ledger checks afterwards that no write came between."""

    async def holder(self) -> str | None:
        """Return the id of the last write, which every commit replaces; None before the first."""
        found: str | None = (await self._head())[0]
        return found

    async def proposal(self, proposal_id: str) -> Proposal | None:
        return _only(await self._proposals(statements.PROPOSAL, id=proposal_id))

    async def proposal_numbered(self, number: int) -> Proposal | None:
        return _only(await self._proposals(statements.PROPOSAL_NUMBERED, number=number))

    async def proposals(
        self, statuses: Sequence[Status], item_id: str, before: int, limit: int
    ) -> Sequence[Proposal]:
        return await self._proposals(
            statements.PROPOSALS_ON if item_id else statements.PROPOSALS,
            statuses=[int(status) for status in statuses],
            item_id=item_id,
            before=before,
            limit=limit,
        )

    async def newest_of_each(self, statuses: Sequence[Status], limit: int) -> Sequence[Proposal]:
        states = [int(status) for status in statuses]
        return await self._proposals(statements.NEWEST_OF_EACH, statuses=states, limit=limit)

    async def proposal_count(self, statuses: Sequence[Status], proposer: str = "") -> int:
        states = [int(status) for status in statuses]
        ((count,),) = await self._run(statements.PROPOSAL_COUNT, statuses=states, proposer=proposer)
        return int(count)

    async def due(self, now: int) -> Sequence[Proposal]:
        still_open = sorted(int(status) for status in OPEN)
        return await self._proposals(statements.DUE, open=still_open, now=now, limit=rows.MOST_DUE)

    async def undecided_effects(self) -> Sequence[Proposal]:
        return await self._proposals(statements.DECIDED, decided=int(Status.APPROVED))

    async def nonce_is_recorded(self, nonce: str) -> bool:
        return bool(await self._run(statements.NONCE, nonce=nonce))

    async def receipt(self, principal: str, method: str, request_id: str) -> RequestReceipt | None:
        found = await self._run(
            statements.RECEIPT, principal=principal, method=method, request_id=request_id
        )
        return RequestReceipt(found[0][0], tuple(found[0][1])) if found else None

    async def log_size(self) -> int:
        return int((await self._head())[1])

    async def leaves(self, start: int, end: int) -> Sequence[Leaf]:
        return _leaves(await self._run(statements.LEAVES, start=start, end=end))

    async def entries(self, filter_: EntryFilter, before: int, limit: int) -> Sequence[Leaf]:
        found = await self._run(
            statements.ENTRIES_ON if filter_.item_id else statements.ENTRIES,
            item_id=filter_.item_id,
            actions=[int(action) for action in filter_.actions],
            actor=None if filter_.actor is None else int(filter_.actor),
            since=filter_.since,
            until=filter_.until,
            before=before,
            limit=limit,
        )
        return _leaves(found)

    async def nodes(self, names: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], bytes]:
        if not names:
            return {}
        found = await self._run(statements.SUBTREES, names=[list(name) for name in names])
        return {(level, place): bytes(hash_) for level, place, hash_ in found}

    async def feed_cursor(self) -> Cursor:
        return Cursor(*(await self._head())[3:6])

    async def key_changes(self) -> int:
        found = await self._run(statements.KEY_CHANGES)
        return int(found[0][0]) if found else 0

    async def unconfirmed(self) -> Sequence[str]:
        return sorted(row[0] for row in await self._run(statements.UNCONFIRMED))

    async def _head(self) -> Row:
        found = await self._run(statements.HEAD)
        return found[0] if found else _NO_HEAD

    async def _proposals(self, text: str, **bound: Any) -> list[Proposal]:
        return [
            rows.proposal(row, row["orphaned"], revision, consents)
            for row, revision, consents in await self._run(text, **bound)
        ]


def _only(found: list[Proposal]) -> Proposal | None:
    return found[0] if found else None


def _leaves(found: list[Row]) -> list[Leaf]:
    return [Leaf(place, time, bytes(data)) for place, time, data in found]
