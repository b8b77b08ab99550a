"""How high items stand: as the record of who wrote them says (W9; decision 0087)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable

from concord_graph.domain.claims import Rank, Stand, rank_of
from concord_graph.domain.items import (
    DeclaredRelation,
    Edge,
    Entry,
    Item,
    Memory,
    MemoryOrigin,
    Record,
)
from concord_graph.domain.reach import Reach
from concord_graph.ports import Author, Change, ChangeType, OperationFilter, Writes

APPLY = "ApplyGovernedChange"
RESTORING = "RestoreBackup"
"""The method of the one author that repeats others' erasures: in a restored copy."""
PAGE = 100
WROTE = (ChangeType.CREATED, ChangeType.UPDATED, ChangeType.RESTORED)
_NOBODY = Stand(Rank.NOBODY, frozenset())
_PROPOSED = {MemoryOrigin.HUMAN: Rank.HUMAN, MemoryOrigin.TOOL: Rank.TOOL}


class Stands:
    """Looks up how high items, and the author of a transaction, stand.

    `made`: the ids of what the author created in it.
    """

    def __init__(self, tx: Writes, author: Author, made: Collection[str]) -> None:
        self._tx = tx
        self._author = author
        self._made = made

    @property
    def rank(self) -> Rank:
        """How high the author stands: of a governed change, its proposer."""
        if self._author.method == RESTORING:
            return Rank.HUMAN
        if self._author.method == APPLY:
            return _PROPOSED.get(self._author.origin, Rank.AGENT)
        return rank_of(self._author.kind)

    @property
    def reaches_all(self) -> bool:
        """Whether the author's key may change what is there."""
        return self._author.reach is Reach.ALL

    async def is_above(self, item: Memory | Edge | DeclaredRelation) -> bool:
        """Return whether the author stands above all who wrote an item, or took it away, and may
        change it: what it says of it then holds."""
        if item.revision.principal == self._author.principal or not self.reaches_all:
            return False
        return (await self.stand(item)).rank < self.rank

    async def stand(self, item: Item | DeclaredRelation) -> Stand:
        """Return how high an item stands: as the highest of those who wrote it; an edge of facts as
        the highest of the live memories that state it, and of those who wrote it as their own."""
        if not isinstance(item, Edge) or item.is_lineage:
            return await self._written_by(item)
        stands = [] if item.is_of_facts else [await self._written_by(item)]
        async for memory in self.stating(item):
            stands.append(await self._written_by(memory))
            if stands[-1].rank == Rank.HUMAN > self.rank:
                break  # nobody stands higher, and whoever stands as high is above the author, too
        return _highest(stands)

    async def stating(self, edge: Edge) -> AsyncIterator[Memory]:
        """Yield the live memories that state an edge, by id."""
        ids = [""]
        while ids:
            stated = await self._tx.stating([edge.id], ids[-1], PAGE)
            ids = [each for each, _ in stated]
            found = await self._tx.items(ids) if ids else {}
            for memory in found.values():
                if isinstance(memory, Memory):
                    yield memory
            if len(ids) < PAGE:
                return

    async def is_out_of_reach(self, item: Record) -> bool:
        """Return whether the author's key may not change an item (W7): any that was there before,
        or any with a revision of another principal. An edge of facts has those of the memories that
        state it, too; without any it is nobody's."""
        if self._author.reach is Reach.ALL or item.id in self._made:
            return False
        stating = [each async for each in self.stating(item)] if isinstance(item, Edge) else []
        if isinstance(item, Edge) and item.is_of_facts and item.deleted and not stating:
            return False
        if self._author.reach is Reach.NONE:
            return True
        return not all([await self._wrote_alone(each) for each in (item, *stating)])

    async def _wrote_alone(self, item: Record) -> bool:
        """Return whether the author's principal made all revisions of an item."""
        filter_ = OperationFilter(item_id=item.id, types=(*WROTE, ChangeType.DELETED))
        beyond: int | None = None
        while page := await self._tx.operations(filter_, beyond, PAGE):
            if any(each.author.principal != self._author.principal for each in page):
                return False
            beyond = page[-1].seq
        return beyond is not None

    async def noted_by(self, entry: Entry) -> Stand:
        """Return how high an entry stands: as the highest of those who put it. Who put another one
        for which it was evicted did not."""
        return await self._written_by(entry, but=entry.revision.seq if entry.shelf else 0)

    async def _written_by(self, item: Record, *, but: int = 0) -> Stand:
        """Return the highest rank of those who wrote an item, and who of that rank did so first:
        whoever adds to it later does not own it. `but`: a change that does not count."""
        if item.id in self._made:
            return Stand(self.rank, frozenset({self._author.principal}))
        types = (*WROTE, ChangeType.DELETED) if item.deleted else WROTE
        filter_ = OperationFilter(item_id=item.id, types=types, oldest_first=True)
        origin = item.origin if isinstance(item, Memory) else MemoryOrigin.UNSPECIFIED
        highest, beyond = _NOBODY, None
        while True:
            changes = await self._tx.operations(filter_, beyond, PAGE)
            for each in changes:
                rank = _rank_of(each, origin)
                if rank > highest.rank and each.seq != but:
                    highest = Stand(rank, frozenset({each.author.principal}))
            if highest.rank == Rank.HUMAN or len(changes) < PAGE:
                return highest
            beyond = changes[-1].seq


def _rank_of(change: Change, origin: MemoryOrigin) -> Rank:
    """Return the rank of who made a change; `origin`: of the memory that it wrote."""
    if change.needs_consent:
        return Rank.HUMAN
    if change.author.method == APPLY:
        return _PROPOSED.get(origin, Rank.AGENT)
    return rank_of(change.author.kind)


def _highest(stands: Iterable[Stand]) -> Stand:
    found = list(stands)
    rank = max((stand.rank for stand in found), default=Rank.NOBODY)
    by = [stand.principals for stand in found if stand.rank == rank]
    return Stand(rank, frozenset().union(*by)) if rank else _NOBODY
