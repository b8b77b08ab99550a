"""Lists, reviews and resolves conflicts in a caller's name (D5, D6)."""

import hashlib
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from concord_chassis.call.failure import Failure

from concord_dissonance.domain.errors import ItemUnknown
from concord_dissonance.domain.reviews import Decision, Resolve
from concord_dissonance.ports.calls import Credential, Shown
from concord_dissonance.ports.governance import Governance, Proposal
from concord_dissonance.ports.graph import (
    CallersGraph,
    ConflictPage,
    Decided,
    Dismissed,
    Graph,
)

_REUSED = "ERROR_REASON_REQUEST_ID_REUSED"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a decision: it took effect, or it is a proposal that waits for both slots."""

    conflict: Shown
    decided: Decided | None = None
    proposal: Proposal | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of conflicts; `proposals`: by conflict id, the number of the waiting proposal."""

    page: ConflictPage
    proposals: Mapping[str, int] = field(default_factory=dict)


class Reviews:
    """Use cases of callers: list conflicts, and decide about them."""

    def __init__(self, graph: Graph, callers: CallersGraph, governance: Governance) -> None:
        self._graph, self._callers, self._governance = graph, callers, governance

    async def list(self, space: str, who: Credential, query: Shown) -> Listed:
        """A page of conflicts with the numbers of their waiting proposals."""
        page = await self._callers.conflicts(who, query)
        waiting = await self._governance.pending(space) if page.conflicts else ()
        there = {each.id for each in page.conflicts}
        numbers = {each.conflict_id: each.number for each in waiting if each.conflict_id in there}
        return Listed(page, numbers)

    async def decide(
        self, space: str, who: Credential, request_id: str, decision: Decision
    ) -> Outcome:
        """Applies a decision, or proposes it if a side is constitutive.

        An empty etag means the newest version. Raises `ItemUnknown`.
        """
        conflict = await self._callers.conflict(who, decision.conflict_id)
        if conflict is None:
            raise ItemUnknown(decision.conflict_id)
        newest = replace(decision, etag=decision.etag or conflict.etag)
        if conflict.needs_consent:
            proposal = await self._governance.propose(space, request_id, newest, who)
            return Outcome(conflict.shown, proposal=proposal)
        try:
            decided = await self._callers.decide(who, request_id, newest)
        except Failure as refused:
            if decision.etag or refused.reason != _REUSED:
                raise
            # The request came before: the newest version is the one that this decision made.
            former = await self._callers.former_etag(who, conflict)
            decided = await self._callers.decide(who, request_id, replace(decision, etag=former))
        return Outcome(decided.conflict, decided=decided)

    async def dismiss_run(
        self, who: Credential, request_id: str, run_id: str, context: str
    ) -> Dismissed:
        """Dismisses all potential conflicts of a run that the caller may dismiss alone.

        Graph takes them in requests of bounded size, whose ids are the same for a repeated call.
        """
        count = 0
        for number in itertools.count():
            own_id = hashlib.sha256(f"{request_id}\0{number}".encode()).hexdigest()
            done = await self._callers.dismiss_run(who, own_id, run_id, context)
            count += done.count
            if done.is_complete:
                return replace(done, count=count)
        raise AssertionError("counting does not end")

    async def resolve_pair(
        self,
        space: str,
        who: Credential,
        request_id: str,
        pair: tuple[str, str],
        resolution: Resolve,
    ) -> Outcome:
        """Resolves the conflict of two items, and records it first if there is none.

        Raises `ItemUnknown`.
        """
        conflict = await self._callers.conflict(who, pair=pair)
        if conflict is None:
            etags = await self._callers.etags(who, pair)
            conflict_id = await self._graph.open_conflict(space, request_id, etags, resolution)
        else:
            conflict_id = conflict.id
        return await self.decide(
            space, who, request_id, replace(resolution, conflict_id=conflict_id)
        )
