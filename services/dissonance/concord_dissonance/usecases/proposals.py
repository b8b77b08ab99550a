"""Keeps each finding's proposal: opened once, revised by a review, withdrawn with the conflict.

Everything follows from graph's conflicts and governance's proposals (D7): nothing is remembered
here, so a restart, or a second dissonance, changes nothing.
"""

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Iterable

from concord_chassis.log import Logger

from concord_dissonance.domain.errors import ServiceRefused
from concord_dissonance.domain.statements import State
from concord_dissonance.ports.governance import Governance, Proposal
from concord_dissonance.ports.graph import Conflict, Graph

MOST_PENDING = 20
"""Dissonance's proposals that wait in a space; governance holds it to that, too."""

_OF_THE_SPACE = frozenset({"ERROR_REASON_GENESIS_MISSING", "ERROR_REASON_TOO_MANY_PENDING"})
"""Why nothing at all is proposed in a space; other refusals are one conflict's own."""


class Proposals:
    """The use case: brings the proposals of a space in line with its conflicts."""

    def __init__(self, graph: Graph, governance: Governance, log: Logger) -> None:
        self._graph, self._governance, self._log = graph, governance, log
        self._busy: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def settle(self, space: str) -> bool:
        """Withdraws what lost its conflict and proposes the surest of what is left.

        Returns whether a finding waits until another's proposal ends. Raises `ServiceUnavailable`.
        """
        async with self._busy[space]:
            conflicts = {each.id: each for each in await self._graph.open_conflicts(space, ())}
            waiting = [
                each
                for each in await self._governance.pending(space)
                if await self._stands(space, each, conflicts.get(each.conflict_id))
            ]
            named = {each.conflict_id for each in waiting}
            unnamed = [each for each in conflicts.values() if each.id not in named]
            return await self._open(space, unnamed, MOST_PENDING - len(waiting))

    async def _stands(self, space: str, proposal: Proposal, conflict: Conflict | None) -> bool:
        """Whether a proposal waits on: else it is withdrawn. Of a suggestion it does."""
        if proposal.suggestion:
            return True
        if conflict is not None and conflict.etag == proposal.conflict_etag:
            return True
        reviewed = conflict is not None and conflict.state is State.CONFIRMED
        if reviewed and conflict is not None and proposal.is_in_review and conflict.proposal:
            await self._governance.revise(space, proposal, conflict.proposal)
            return True
        await self._governance.withdraw(space, proposal.id)
        return False

    async def _open(self, space: str, conflicts: Iterable[Conflict], room: int) -> bool:
        potential = (each for each in conflicts if each.state is State.POTENTIAL)
        for each in sorted(potential, key=lambda each: (-each.confidence, each.id)):
            if each.proposal is None or await self._was_proposed(space, each):
                continue
            if room <= 0:
                return True
            try:
                await self._governance.propose(space, _request_id(each), each.proposal)
            except ServiceRefused as refused:
                self._log.info("not proposed", space=space, conflict=each.id, why=refused.reason)
                if refused.reason in _OF_THE_SPACE:
                    return False
                continue
            room -= 1
        return False

    async def _was_proposed(self, space: str, conflict: Conflict) -> bool:
        """Whether this version of a conflict had its proposal: each finding opens one, once."""
        before = await self._governance.about(space, conflict.id)
        return any(each.conflict_etag == conflict.etag for each in before)


def _request_id(conflict: Conflict) -> str:
    return hashlib.sha256(f"{conflict.id}\0{conflict.etag}".encode()).hexdigest()
