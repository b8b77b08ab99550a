"""Erasing what proposals say of somebody who is forgotten (M4)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from concord_governance.domain.errors import LedgerUnavailable, ProposalNotFound, ProposalState
from concord_governance.domain.proposals import Status
from concord_governance.ports.ledger import Ledger, LedgerWrites

_DECIDED = frozenset({Status.APPROVED, Status.EXECUTED})
_TRIES, _WAIT = 40, 0.25


class ErasingWords:
    """Erases the words of proposals."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def erase(self, space: str, proposal_ids: Sequence[str]) -> int:
        """Erase the words of proposals, to the last byte of the ledger's files.

        Return of how many there were words left.

        Raises:
            ProposalNotFound: one is not of this space.
            ProposalState: one is decided; its words go with the items that it is about.
            LedgerUnavailable: readers kept the files from being rewritten for ten seconds; the
                words are erased, and the same request again rewrites the files.
        """

        async def work(tx: LedgerWrites) -> int:
            for each in proposal_ids:
                proposal = await tx.proposal(each)
                if proposal is None:
                    raise ProposalNotFound
                if proposal.status in _DECIDED:
                    raise ProposalState(proposal.status.name)
            return await tx.forget_proposals(proposal_ids)

        erased = await self._ledger.write(space, work)
        for _ in range(_TRIES):
            if await self._ledger.scrub():
                return erased
            await asyncio.sleep(_WAIT)
        raise LedgerUnavailable("readers hold the ledger's files")
