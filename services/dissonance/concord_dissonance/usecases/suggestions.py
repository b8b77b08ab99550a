"""Opens proposals for suggestions that come from no conflict (D4, T6, V1, V10), each once."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from concord.governance.v1.proposal_pb2 import Proposal
from concord.graph.v1.governed_pb2 import GovernedAction
from concord_chassis.observe.log import Logger

from concord_dissonance.clients.governance import GovernanceClient
from concord_dissonance.clients.graph.client import GraphClient
from concord_dissonance.domain.errors import NoPlace, ServiceRefused
from concord_dissonance.ports.actions import (
    concerns,
    conflict_of,
    item_of,
    key_of,
    occasion_of,
    pair_of,
)
from concord_dissonance.ports.calls import PRINCIPAL, repeated_id

MOST_WAITING = 5
"""The most suggestions that wait in a space; conflicts keep the rest of dissonance's 20 places."""
_FULL = "ERROR_REASON_TOO_MANY_PENDING"

Proposing = defaultdict[str, asyncio.Lock]
"""A lock for each space: of a pair's proposals the one that opens first keeps the others out."""


class Suggestions:
    """The use case. Governance knows the suggestions of before, whatever became of them."""

    def __init__(
        self, graph: GraphClient, governance: GovernanceClient, proposing: Proposing, log: Logger
    ) -> None:
        self._graph, self._governance, self._log = graph, governance, log
        self._busy = proposing

    async def open(
        self,
        space: str,
        action: GovernedAction,
        *,
        session_id: str = "",
        note: str = "",
    ) -> Proposal | None:
        """The proposal of a suggested action, new or waiting.

        `session_id`: the session at whose end an item is promoted. `note`: the evidence, for
        whoever decides.
        The proposal of before if the same versions of two memories were suggested then. None if it
        is refused, if another proposal about its two memories waits, or if a promotion was decided
        before.

        Raises `NoPlace`, `ServiceUnavailable`.
        """
        key, occasion, item_id = key_of(action), occasion_of(action), item_of(action)
        async with self._busy[space]:
            pending = await self._governance.pending(space)
            waiting = {key_of(each.action): each for each in pending if key_of(each.action)}
            if key in waiting:
                return waiting[key]
            if item_id:
                # A promotion recurs every session, and what waited for a place may do so for longer
                # than request ids are known.
                before = await self._governance.about(space, item_id)
                for each in before:
                    if each.proposer == PRINCIPAL and occasion_of(each.action) == occasion:
                        return each if pair_of(action) else None
            if await self._is_taken(space, pair_of(action), pending):
                return None
            if len(waiting) >= MOST_WAITING:
                raise NoPlace
            try:
                request_id = repeated_id(occasion)
                return await self._governance.suggest(
                    space, request_id, action, session_id=session_id, note=note
                )
            except ServiceRefused as refused:
                if refused.reason == _FULL:
                    raise NoPlace from refused
                self._log.info("not suggested", space=space, why=refused.reason)
                return None

    async def has_place(self, space: str) -> bool:
        """Whether fewer suggestions wait than may. Raises `ServiceUnavailable`."""
        pending = await self._governance.pending(space)
        return sum(bool(key_of(each.action)) for each in pending) < MOST_WAITING

    async def _is_taken(
        self, space: str, pair: frozenset[str], pending: Sequence[Proposal]
    ) -> bool:
        """Whether one of dissonance's proposals is about two memories, or about their facts."""
        if any(pair and pair_of(each.action) == pair for each in pending):
            return True
        conflicts = [conflict_of(each.action)[0] for each in pending if pair]
        return any(
            [
                concerns(await self._graph.conflict(space, conflict_id), pair)
                for conflict_id in filter(None, conflicts)
            ]
        )
