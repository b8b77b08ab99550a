"""Proposes that a fact which recurs becomes constitutive (V10)."""

from concord.dissonance.v1.dissonance_pb2 import RecurringFact
from concord.graph.v1 import governed_pb2, graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from google.protobuf.field_mask_pb2 import FieldMask

from concord_dissonance.clients.governance import GovernanceClient
from concord_dissonance.clients.graph.client import GraphClient
from concord_dissonance.clients.graph.sessions_client import SessionsClient
from concord_dissonance.domain.errors import NoPlace
from concord_dissonance.domain.recurring import Recurrence, recurrences
from concord_dissonance.domain.statements import Statement
from concord_dissonance.usecases.suggestions import Suggestions

SESSIONS = 5
"""So many of the last ended sessions must all have stated a fact."""


class ProposeRecurring:
    """The use case. Only statements of sessions count; that a session read a fact does not."""

    def __init__(
        self,
        graph: GraphClient,
        sessions: SessionsClient,
        governance: GovernanceClient,
        suggestions: Suggestions,
    ) -> None:
        self._graph, self._sessions = graph, sessions
        self._governance, self._suggestions = governance, suggestions

    async def __call__(self, space: str, session_id: str) -> list[RecurringFact]:
        """The recurring facts at the end of a session. Raises `ServiceUnavailable`."""
        ended = await self._sessions.ended(space, SESSIONS)
        if len(ended) < SESSIONS:
            return []
        stated = await self._sessions.stated_in(space, ended)
        memories = await self._graph.memories_of(space, sorted(stated))
        found: list[RecurringFact] = []
        for each in recurrences(memories, stated, frozenset(ended)):
            item = await self._item(space, each)
            if item is None or item.side.is_constitutive or not await self._counts(space, each):
                continue
            promotion = _promotion(item, is_edge=each.fact is not None)
            try:
                proposal = await self._suggestions.open(space, promotion, session_id=session_id)
            except NoPlace:  # if it goes on to recur, the end of the next session finds it
                continue
            if proposal is not None:
                found.append(RecurringFact(item_id=item.id, proposal_number=proposal.number))
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


def _promotion(item: Statement, *, is_edge: bool) -> governed_pb2.GovernedAction:
    """The action that makes a version of a memory or edge constitutive."""
    mask = FieldMask(paths=["edge_type"])
    kind = type_pb2.EDGE_TYPE_CONSTITUTIVE
    if is_edge:
        edge = type_pb2.Edge(id=item.id, etag=item.etag, edge_type=kind)
        update = graph_pb2.UpdateEdgeRequest(edge=edge, update_mask=mask)
        return governed_pb2.GovernedAction(update_edge=update)
    memory = type_pb2.Memory(id=item.id, etag=item.etag, edge_type=kind)
    change = memory_pb2.UpdateMemoryRequest(memory=memory, update_mask=mask)
    return governed_pb2.GovernedAction(update_memory=change)
