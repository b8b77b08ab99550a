"""Opens, revises and withdraws the proposals of conflicts (D7).

A finding's proposal is opened once, revised after a review, and withdrawn with its conflict. What
was merely found in texts opens none: a caller who believes it resolves or confirms it. All
state is in graph's conflicts and governance's proposals, so a restart, or another replica, changes
nothing. While a suggestion about a conflict's two memories waits, its own proposal does not
open: one pair gets one proposal.
"""

from collections.abc import Iterable, Sequence

from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import conflict_pb2
from concord.type.v1 import type_pb2
from concord_chassis.observe.log import Logger

from concord_dissonance.clients.governance import GovernanceClient
from concord_dissonance.clients.graph.client import GraphClient
from concord_dissonance.domain.errors import ServiceRefused
from concord_dissonance.domain.verdicts import JUDGES
from concord_dissonance.ports.actions import Decision, concerns, conflict_of, key_of, pair_of
from concord_dissonance.ports.calls import repeated_id
from concord_dissonance.usecases.suggestions import Proposing

MOST_PENDING = 20
"""The most proposals of dissonance that wait in a space; governance enforces that, too."""

_OF_THE_SPACE = frozenset({"ERROR_REASON_GENESIS_MISSING", "ERROR_REASON_TOO_MANY_PENDING"})
"""Refusals that hold for all of a space's proposals; other refusals are about one conflict."""


class Proposals:
    """The use case: brings the proposals of a space in line with its conflicts."""

    def __init__(
        self, graph: GraphClient, governance: GovernanceClient, proposing: Proposing, log: Logger
    ) -> None:
        self._graph, self._governance, self._log = graph, governance, log
        self._busy = proposing

    async def settle(self, space: str) -> bool:
        """Ends what former judges found in texts, withdraws proposals without an open conflict, and
        proposes the surest conflicts.

        Returns whether a conflict waits because the limit of proposals is reached, or because a
        suggestion about its memories waits. Raises `ServiceUnavailable`.
        """
        async with self._busy[space]:
            found = await self._graph.open_conflicts(space, ())
            if any(map(_is_former, found)):
                await self._graph.end_former_findings(space)
            conflicts = {each.id: each for each in found if not _is_former(each)}
            waiting = [
                each
                for each in await self._governance.pending(space)
                if await self._stands(space, each, conflicts.get(conflict_of(each.action)[0]))
            ]
            named = {conflict_of(each.action)[0] for each in waiting}
            pairs = [pair for each in waiting if (pair := pair_of(each.action))]
            unnamed = [each for each in conflicts.values() if each.id not in named]
            return await self._open(space, unnamed, MOST_PENDING - len(waiting), pairs)

    async def _stands(
        self, space: str, proposal: proposal_pb2.Proposal, conflict: conflict_pb2.Conflict | None
    ) -> bool:
        """Whether a proposal goes on waiting; if not, it is withdrawn. Suggestions always do."""
        if key_of(proposal.action):
            return True
        if conflict is not None and conflict.etag == conflict_of(proposal.action)[1]:
            return True
        in_review = proposal.status == proposal_pb2.PROPOSAL_STATUS_PENDING_REVIEW
        confirmed = conflict is not None and conflict.state == conflict_pb2.CONFLICT_STATE_CONFIRMED
        if confirmed and conflict is not None and in_review and (decision := proposed(conflict)):
            await self._governance.revise(space, proposal, decision)
            return True
        await self._governance.withdraw(space, proposal.id)
        return False

    async def _open(
        self,
        space: str,
        conflicts: Iterable[conflict_pb2.Conflict],
        room: int,
        pairs: Sequence[frozenset[str]],
    ) -> bool:
        """Opens the proposals that there is room for; `pairs`: those of the waiting suggestions."""
        is_kept_back = False
        potential = (
            each
            for each in conflicts
            if each.state == conflict_pb2.CONFLICT_STATE_POTENTIAL
            and not (each.is_text_finding or _is_merely_said(each))
        )
        for each in sorted(potential, key=lambda each: (-each.confidence, each.id)):
            decision = proposed(each)
            if decision is None or await self._was_proposed(space, each):
                continue
            if any(concerns(each, pair) for pair in pairs):
                is_kept_back = True
                continue
            if room <= 0:
                return True
            try:
                request_id = repeated_id(each.id, each.etag)
                await self._governance.propose(
                    space, request_id, decision, session_id=each.session_id
                )
            except ServiceRefused as refused:
                self._log.info("not proposed", space=space, conflict=each.id, why=refused.reason)
                if refused.reason in _OF_THE_SPACE:
                    return False
                continue
            room -= 1
        return is_kept_back

    async def _was_proposed(self, space: str, conflict: conflict_pb2.Conflict) -> bool:
        """Whether this version of a conflict was proposed before: each is proposed once."""
        before = await self._governance.about(space, conflict.id)
        return any(conflict_of(each.action)[1] == conflict.etag for each in before)


def _is_former(conflict: conflict_pb2.Conflict) -> bool:
    is_older = conflict.judges_version < JUDGES
    return conflict.is_text_finding and is_older and not conflict.reviewed_by


def _is_merely_said(conflict: conflict_pb2.Conflict) -> bool:
    """Whether a caller who stands below a side says so, and nobody decided about it (W9)."""
    return conflict.judge == conflict_pb2.JUDGE_CALLER and not conflict.reviewed_by


def proposed(conflict: conflict_pb2.Conflict) -> Decision | None:
    """Return the one decision that a conflict proposes, by its class and its sides.

    In an evolution the older side gives way; in a contradiction with one constitutive side, the
    descriptive side does (AGM). Any other contradiction is confirmed, and nothing is superseded. A
    nuance is reclassified as a contradiction, after the agent's review. None: no judge could
    decide.
    """
    found, contradiction = conflict.conflict_class, conflict_pb2.CONFLICT_CLASS_CONTRADICTION
    descriptive = [
        side.id
        for side in (conflict.first, conflict.second)
        if side.edge_type != type_pb2.EDGE_TYPE_CONSTITUTIVE
    ]
    evolved = found == conflict_pb2.CONFLICT_CLASS_EVOLUTION and conflict.older_id
    if evolved or (found == contradiction and len(descriptive) == 1):
        return conflict_pb2.ResolveConflictRequest(
            conflict_id=conflict.id,
            etag=conflict.etag,
            resolution_type=found,
            superseded_id=conflict.older_id if evolved else descriptive[0],
        )
    if found not in (contradiction, conflict_pb2.CONFLICT_CLASS_NUANCE):
        return None
    review = conflict_pb2.ReviewConflictRequest(conflict_id=conflict.id, etag=conflict.etag)
    review.decision = conflict_pb2.REVIEW_DECISION_CONFIRM
    if found != contradiction:
        review.decision = conflict_pb2.REVIEW_DECISION_RECLASSIFY
        review.conflict_class = contradiction
    return review
