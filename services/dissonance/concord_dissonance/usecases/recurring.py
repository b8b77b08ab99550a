"""Proposes that a fact which recurs becomes constitutive (V10)."""

from dataclasses import dataclass

from concord_dissonance.domain.recurring import Recurrence, recurrences
from concord_dissonance.domain.statements import Statement
from concord_dissonance.domain.suggestions import Promote
from concord_dissonance.ports.governance import Governance
from concord_dissonance.ports.graph import Graph
from concord_dissonance.ports.sessions import Sessions
from concord_dissonance.usecases.suggestions import Suggestions

SESSIONS = 5
"""So many of the last ended sessions must all have stated a fact."""


@dataclass(frozen=True, slots=True)
class Recurring:
    """A recurring memory or edge, and the number of the proposal to make it constitutive."""

    item_id: str
    proposal_number: int


class ProposeRecurring:
    """The use case. Only statements of sessions count; that a session read a fact does not."""

    def __init__(
        self, graph: Graph, sessions: Sessions, governance: Governance, suggestions: Suggestions
    ) -> None:
        self._graph, self._sessions = graph, sessions
        self._governance, self._suggestions = governance, suggestions

    async def __call__(self, space: str, session_id: str) -> list[Recurring]:
        """The recurring facts at the end of a session. Raises `ServiceUnavailable`."""
        ended = await self._sessions.ended(space, SESSIONS)
        if len(ended) < SESSIONS:
            return []
        stated = await self._sessions.stated_in(space, ended)
        memories = await self._graph.memories_of(space, sorted(stated))
        found: list[Recurring] = []
        for each in recurrences(memories, stated, frozenset(ended)):
            item = await self._item(space, each)
            if item is None or item.side.is_constitutive or not await self._counts(space, each):
                continue
            promote = Promote(item.id, each.fact is not None, item.etag, session_id)
            if proposal := await self._suggestions.open(space, promote):
                found.append(Recurring(item.id, proposal.number))
        return found

    async def _item(self, space: str, each: Recurrence) -> Statement | None:
        """The oldest memory with the text, or the current edge of the triple."""
        if each.fact is None:
            return each.stating[0]
        values = await self._graph.values_of(space, {(each.fact.subject, each.fact.relation)})
        same = (value for value in values if value.side.fact == each.fact)
        return next((value for value in same if not value.is_superseded), None)

    async def _counts(self, space: str, each: Recurrence) -> bool:
        """Whether two sources stated it, or the human."""
        if each.has_two_sources:
            return True
        human = await self._governance.human(space)
        ids = [memory.id for memory in each.stating]
        return human in await self._sessions.authors(space, ids) if human else False
