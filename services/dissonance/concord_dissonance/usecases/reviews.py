"""Lists, reviews and resolves conflicts in a caller's name (D5, D6)."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from concord.governance.v1.proposal_pb2 import Proposal
from concord.graph.v1 import conflict_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import Failure

from concord_dissonance.clients.governance import GovernanceClient
from concord_dissonance.clients.graph.callers_client import CallersGraphClient
from concord_dissonance.clients.graph.client import GraphClient
from concord_dissonance.domain.errors import ItemUnknown
from concord_dissonance.ports.actions import Decided, Decision, conflict_of
from concord_dissonance.ports.calls import Credential, repeated_id

_REUSED = "ERROR_REASON_REQUEST_ID_REUSED"


@dataclass(frozen=True, slots=True)
class Proposed:
    """A decision about a conflict that is a proposal, which waits for both slots."""

    conflict: conflict_pb2.Conflict
    proposal: Proposal


class Reviews:
    """Use cases of callers: list conflicts, and decide about them."""

    def __init__(
        self, graph: GraphClient, callers: CallersGraphClient, governance: GovernanceClient
    ) -> None:
        self._graph, self._callers, self._governance = graph, callers, governance

    async def list(
        self, space: str, who: Credential, query: conflict_pb2.ListConflictsRequest
    ) -> tuple[conflict_pb2.ListConflictsResponse, Mapping[str, int]]:
        """A page of conflicts, and by conflict id the numbers of their waiting proposals."""
        page = await self._callers.conflicts(who, query)
        waiting = await self._governance.pending(space) if page.conflicts else ()
        numbers = {conflict_of(each.action)[0]: each.number for each in waiting}
        there = {each.id for each in page.conflicts} & numbers.keys()
        return page, {conflict_id: numbers[conflict_id] for conflict_id in there}

    async def decide(self, space: str, who: Credential, decision: Decision) -> Decided | Proposed:
        """Applies a decision, or proposes it if a side is constitutive.

        An empty etag means the newest version, and is replaced by that. Raises `ItemUnknown`.
        """
        asked = conflict_pb2.GetConflictRequest(id=decision.conflict_id)
        conflict = await self._callers.conflict(who, asked)
        if conflict is None:
            raise ItemUnknown(decision.conflict_id)
        decision.conflict_id = conflict.id  # not its number: proposals are found by it
        is_newest = not decision.etag
        decision.etag = decision.etag or conflict.etag
        sides = (conflict.first, conflict.second)
        if any(each.edge_type == type_pb2.EDGE_TYPE_CONSTITUTIVE for each in sides):
            proposal = await self._governance.propose(space, decision.request_id, decision, who)
            return Proposed(conflict, proposal)
        try:
            return await self._callers.decide(who, decision)
        except Failure as refused:
            if not is_newest or refused.reason != _REUSED:
                raise
        # The request came before: the newest version is the one that this decision made.
        changed = conflict.modify_time.ToMicroseconds()
        asked.as_of.record_time.FromMicroseconds(changed - 1)
        former = await self._callers.conflict(who, asked)
        decision.etag = former.etag if former else ""
        return await self._callers.decide(who, decision)

    async def dismiss(
        self, who: Credential, request: conflict_pb2.DismissConflictsRequest
    ) -> conflict_pb2.DismissConflictsResponse:
        """Dismisses all potential conflicts of a run, or findings of text of a rule or a group,
        that the caller may dismiss alone.

        Graph takes them in requests of bounded size, whose ids are the same for a repeated call.
        """
        count, asked = 0, request.request_id
        for number in itertools.count():
            request.request_id = repeated_id(asked, number)
            done = await self._callers.dismiss(who, request)
            count += done.dismissed_count
            if done.is_complete:
                done.dismissed_count = count
                return done
        raise AssertionError("counting does not end")

    async def resolve_pair(
        self,
        space: str,
        who: Credential,
        pair: conflict_pb2.ConflictPair,
        resolution: conflict_pb2.ResolveConflictRequest,
    ) -> Decided | Proposed:
        """Resolves the conflict of two items, and records it first if there is none.

        Raises `ItemUnknown`.
        """
        conflict = await self._callers.conflict(who, conflict_pb2.GetConflictRequest(pair=pair))
        if conflict is None:
            etags = await self._callers.etags(who, (pair.first_id, pair.second_id))
            resolution.conflict_id = await self._graph.open_conflict(space, etags, resolution)
        else:
            resolution.conflict_id = conflict.id
        return await self.decide(space, who, resolution)
