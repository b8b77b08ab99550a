"""Suggests that a memory amends a former one that it slightly edits (T6), or repeats it (V1)."""

from collections.abc import Sequence

from concord.dissonance.v1.dissonance_pb2 import Amendment
from concord.graph.v1.governed_pb2 import GovernedAction, MergeItemsRequest
from concord.graph.v1.lineage_pb2 import AddLineageRequest
from concord.type.v1 import type_pb2
from concord_chassis.observe.log import Logger

from concord_dissonance.clients.graph.client import GraphClient
from concord_dissonance.clients.graph.waiting_client import WaitingClient
from concord_dissonance.clients.search import SEARCH, SearchClient
from concord_dissonance.domain.amendment import amended, description
from concord_dissonance.domain.errors import NoPlace, ServiceUnavailable
from concord_dissonance.domain.sides import Kind
from concord_dissonance.domain.statements import Statement
from concord_dissonance.usecases.suggestions import MOST_WAITING, Suggestions


class Amendments:
    """The use case.

    A memory whose suggestion has no place is noted, and compared again, as it then is, when there
    is one. `without_place`: the spaces where some are noted, as far as this process knows.
    """

    def __init__(
        self,
        graph: GraphClient,
        search: SearchClient,
        suggestions: Suggestions,
        waiting: WaitingClient,
        log: Logger,
    ) -> None:
        self._graph, self._search, self._suggestions = graph, search, suggestions
        self._waiting, self._log = waiting, log
        self.without_place: set[str] = set()

    async def __call__(
        self, space: str, memory_ids: Sequence[str], fresh: str = ""
    ) -> list[Amendment]:
        """The amendments that these memories may be, each proposed if that is possible.

        `fresh`: the token of a change that the index must have. Raises `ServiceUnavailable`.
        """
        found, waiting, _ = await self._compared(space, memory_ids, fresh)
        if waiting:
            self.without_place.add(space)
            await self._note(space, waiting, frozenset())
        return found

    async def come_up(self, space: str) -> None:
        """Suggest what waits for a place while there are places, the earliest first.

        Without search it goes on waiting. Raises `ServiceUnavailable` when another service does
        not answer.
        """
        self.without_place.discard(space)
        ids = await self._waiting.ids(space)
        left = {*ids}
        for start in range(0, len(ids), MOST_WAITING):
            if not await self._suggestions.has_place(space):
                break
            try:
                part = ids[start : start + MOST_WAITING]
                _, waiting, done = await self._compared(space, part, "")
            except ServiceUnavailable as lost:
                if lost.service != SEARCH:
                    raise
                break
            await self._note(space, waiting, done)
            left -= done
        if left:
            self.without_place.add(space)

    async def _note(self, space: str, waiting: Sequence[str], done: frozenset[str]) -> None:
        if lost := await self._waiting.change(space, waiting, done):
            self._log.warning("not suggested", space=space, why="too many wait", memories=lost)

    async def _compared(
        self, space: str, memory_ids: Sequence[str], fresh: str
    ) -> tuple[list[Amendment], list[str], frozenset[str]]:
        """The amendments of memories; the memories with one that has no place; those with none.

        A memory that is not indexed is among neither.
        """
        near = await self._search.nearly_same(space, memory_ids, fresh)
        wanted = {*memory_ids, *(each for formers in near.values() for each in formers)}
        there = {each.id: each for each in await self._graph.memories_of(space, sorted(wanted))}
        found: list[Amendment] = []
        waiting: list[str] = []
        for memory_id in memory_ids:
            if (newer := there.get(memory_id)) and near.get(memory_id):
                formers = [there[each] for each in near[memory_id] if each in there]
                edits, has_place = await self._suggested(space, newer, formers)
                found += edits
                waiting += [] if has_place else [memory_id]
        unknown = {each for each in memory_ids if each in there and each not in near}
        return found, waiting, frozenset(memory_ids) - unknown - {*waiting}

    async def _suggested(
        self, space: str, newer: Statement, formers: Sequence[Statement]
    ) -> tuple[list[Amendment], bool]:
        """A memory's amendments, and whether each of its suggestions had a place."""
        sides = [each.side for each in formers if _may_be_amended(each, newer)]
        edits = amended(newer.side, sides)
        same = sorted(
            (each for each in formers if _says_the_same(each, newer)),
            key=lambda each: (each.side.written, each.id),
        )
        has_place = True
        related = await self._graph.related(space, newer.id) if edits or same else frozenset()
        versions = {each.id: each.etag for each in formers}
        for kept in same[:1]:
            if kept.id not in related:
                merge = MergeItemsRequest(
                    kept_id=kept.id,
                    kept_etag=kept.etag,
                    merged_id=newer.id,
                    merged_etag=newer.etag,
                )
                try:
                    await self._suggestions.open(space, GovernedAction(merge_items=merge))
                except NoPlace:
                    has_place = False
        found = []
        for former, edit in edits:
            if former.id not in related:
                amend = AddLineageRequest(
                    relation=type_pb2.LINEAGE_RELATION_AMENDS,
                    newer_id=newer.id,
                    newer_etag=newer.etag,
                    older_id=former.id,
                    older_etag=versions[former.id],
                )
                proposal = None
                try:
                    proposal = await self._suggestions.open(
                        space, GovernedAction(add_lineage=amend)
                    )
                except NoPlace:
                    has_place = False
                found.append(
                    Amendment(
                        newer_id=newer.id,
                        older_id=former.id,
                        similarity=edit.similarity,
                        change=description(former.text, newer.side.text, edit),
                        proposal_number=proposal.number if proposal else 0,
                    )
                )
        return found, has_place


def _may_be_amended(former: Statement, newer: Statement) -> bool:
    """Whether a former memory is its chain's head, not amended yet, and of the same subject."""
    if former.id == newer.id or former.is_superseded or former.is_amended:
        return False
    ours, theirs = ({fact.subject for fact in each.facts} for each in (newer, former))
    is_former = (former.side.written, former.id) < (newer.side.written, newer.id)
    same_subject = not ours or not theirs or bool(ours & theirs)
    return is_former and same_subject and former.side.kind is not Kind.TURN


def _says_the_same(former: Statement, newer: Statement) -> bool:
    """Whether a former memory has the same words, kind and stated times (V1)."""
    ours, theirs = newer.side, former.side
    if former.id == newer.id or ours.kind is not theirs.kind or ours.kind is Kind.TURN:
        return False
    is_former = (theirs.written, former.id) < (ours.written, newer.id)
    times = (ours.valid_from, ours.valid_until) == (theirs.valid_from, theirs.valid_until)
    return is_former and times and ours.text.split() == theirs.text.split()
