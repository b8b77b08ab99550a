"""Reads proposals, and briefs about those that wait for an answer (V9)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from concord_governance.domain.actions import conflict_of
from concord_governance.domain.dissonance import OpenConflicts
from concord_governance.domain.errors import GraphRefused, GraphUnavailable
from concord_governance.domain.proposals import HOUR, OPEN, Proposal, Status
from concord_governance.domain.safeguards import REQUIRED_SLOTS
from concord_governance.domain.summary import memories_of, summary
from concord_governance.ports.graph import Graph
from concord_governance.ports.ledger import LedgerReads
from concord_governance.usecases.graph_feed import has_too_many_spaces
from concord_governance.usecases.ledger_commands import LedgerCommands

BRIEFING_LINES = 3
"""The most proposals of one status, and conflicts of one state, in a briefing: agents read it at
the start of each session, and hundreds of lines of findings hid what mattered."""
AGES = {"under_1h": HOUR, "under_1d": 24 * HOUR, "under_2d": 48 * HOUR}
"""Classes of age by their upper bounds in microseconds; older proposals are "over_2d"."""
READ_AT_ONCE = 64
"""Proposals that are read at once; each may be a megabyte."""
_NEWEST = 2**62


@dataclass(frozen=True, slots=True)
class Waiting:
    """Each proposer's newest proposals of one status, with the slots that have not answered, and
    summaries."""

    lines: Sequence[tuple[Proposal, tuple[str, ...], str]]
    count: int
    """How many proposals of the status there are in all."""


@dataclass(frozen=True, slots=True)
class Briefing:
    """The proposals and conflicts that wait at the start of a session.

    `rolled_back`: graph is older than the space's log, so nothing can be decided.
    `too_many_spaces`: no more spaces can be made, and those there are slow each other.
    """

    proposals: Waiting
    reviews: Waiting
    conflicts: OpenConflicts
    rolled_back: bool = False
    too_many_spaces: bool = False


class ProposalReads:
    """Reads proposals. All reads but `open_by_age` first end the expired ones."""

    def __init__(self, commands: LedgerCommands, graph: Graph) -> None:
        self._commands = commands
        self._graph = graph

    async def by_id(self, space: str, proposal_id: str) -> Proposal | None:
        """Return a proposal; None if this space has none of that id."""
        await self._commands.expire(space)
        return await self._commands.ledger.read(space, lambda tx: tx.proposal(proposal_id))

    async def by_number(self, space: str, number: int) -> Proposal | None:
        """Return a proposal by number; None if this space has none of that number."""
        await self._commands.expire(space)
        return await self._commands.ledger.read(space, lambda tx: tx.proposal_numbered(number))

    async def newest_first(
        self, space: str, statuses: Sequence[Status], item_id: str, before: int, wanted: int
    ) -> AsyncGenerator[Proposal]:
        """Yield proposals, newest first, with a number below `before` (0: from the newest on).

        Without `statuses` those of every status, without an `item_id` those on every item.
        `wanted`: how many the caller will take; so many are read at once, up to `READ_AT_ONCE`.
        """
        await self._commands.expire(space)
        start, step = before or _NEWEST, min(wanted, READ_AT_ONCE)
        while True:
            found = await self._commands.ledger.read(
                space,
                lambda tx, at=start: tx.proposals(statuses, item_id, at, step),  # type: ignore[misc] # the default binds the loop's value
            )
            for proposal in found:
                yield proposal
            if len(found) < step:
                return
            start = found[-1].newest.number

    async def summarized(
        self, space: str, rows: AsyncGenerator[Proposal], *, wanted: bool
    ) -> AsyncGenerator[tuple[Proposal, str]]:
        """Yield proposals, each with its summary if that is wanted, and close `rows`."""
        async with aclosing(rows):
            async for each in rows:
                yield each, await self.summary(space, each) if wanted else ""

    async def summary(self, space: str, proposal: Proposal) -> str:
        """Return what a proposal does in its items' words; in neutral ones if these are unknown."""
        newest = proposal.newest
        if not newest.canonical:  # its words were erased
            return ""
        said: Mapping[str, str] = {}
        try:
            if conflict_id := conflict_of(newest.action):
                conflict = await self._graph.conflict(space, conflict_id)
                if conflict is not None:
                    said = dict(zip(conflict.side_ids, conflict.statements, strict=True))
            elif memory_ids := memories_of(newest.action):
                said = await self._graph.contents(space, memory_ids)
        except (GraphRefused, GraphUnavailable):
            said = {}
        found = summary(newest.action, newest.affected, said)
        return found or newest.framing.neutral_summary

    async def briefing(self, space: str) -> Briefing:
        """Return the first proposals that wait for answers or the agent's review, the first open
        conflicts, and the numbers of all."""
        await self._commands.expire(space)
        conflicts = await self._graph.open_conflicts(space, BRIEFING_LINES)
        return Briefing(
            await self._waiting(space, Status.PENDING),
            await self._waiting(space, Status.PENDING_REVIEW),
            conflicts,
            self._commands.feed.is_rolled_back(space),
            await has_too_many_spaces(self._commands.ledger),
        )

    async def open_by_age(self) -> Mapping[str, int]:
        """Return how many proposals of all spaces wait for an answer or a review, by `AGES`.

        Proposals that have expired, but that no read has ended yet, are counted too.
        """
        counts = dict.fromkeys([*AGES, "over_2d"], 0)
        times, now = (
            await self._commands.ledger.proposal_times(sorted(OPEN)),
            self._commands.clock(),
        )
        for time in times:
            age = next((name for name, end in AGES.items() if now - time < end), "over_2d")
            counts[age] += 1
        return counts

    async def _waiting(self, space: str, status: Status) -> Waiting:
        now = self._commands.clock()

        async def work(tx: LedgerReads) -> tuple[Sequence[Proposal], int]:
            newest = await tx.newest_of_each([status], BRIEFING_LINES)
            return newest, await tx.proposal_count([status])

        shown, count = await self._commands.ledger.read(space, work)
        lines = [
            (each, each.missing_slots(REQUIRED_SLOTS, now), await self.summary(space, each))
            for each in shown
        ]
        return Waiting(lines, count)
