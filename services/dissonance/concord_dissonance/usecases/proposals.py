"""Opens, revises and withdraws the proposals of conflicts (D7).

A finding's proposal is opened once, revised after a review, and withdrawn with its conflict. What
was merely found in texts opens none: a caller who believes it resolves or confirms it. All
state is in graph's conflicts and governance's proposals, so a restart, or another replica, changes
nothing.
"""

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Iterable

from concord_chassis.observe.log import Logger

from concord_dissonance.domain.errors import ServiceRefused
from concord_dissonance.domain.statements import State
from concord_dissonance.ports.governance import Governance, Proposal
from concord_dissonance.ports.graph import Conflict, Graph

MOST_PENDING = 20
"""The most proposals of dissonance that wait in a space; governance enforces that, too."""

_OF_THE_SPACE = frozenset({"ERROR_REASON_GENESIS_MISSING", "ERROR_REASON_TOO_MANY_PENDING"})
"""Refusals that hold for all of a space's proposals; other refusals are about one conflict."""


class Proposals:
    """The use case: brings the proposals of a space in line with its conflicts."""

    def __init__(self, graph: Graph, governance: Governance, log: Logger) -> None:
        self._graph, self._governance, self._log = graph, governance, log
        self._busy: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def settle(self, space: str) -> bool:
        """Withdraws proposals without an open conflict, and proposes the surest conflicts.

        Returns whether a conflict waits because the limit of proposals is reached. Raises
        `ServiceUnavailable`.
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
        """Whether a proposal goes on waiting; if not, it is withdrawn. Suggestions always do."""
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
        potential = (
            each for each in conflicts if each.state is State.POTENTIAL and not each.is_text_finding
        )
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
        """Whether this version of a conflict was proposed before: each is proposed once."""
        before = await self._governance.about(space, conflict.id)
        return any(each.conflict_etag == conflict.etag for each in before)


def _request_id(conflict: Conflict) -> str:
    return hashlib.sha256(f"{conflict.id}\0{conflict.etag}".encode()).hexdigest()
