"""What a writer may do to what others wrote, by how high they stand (W9; decision 0087)."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

from concord_graph.domain.claims import (
    LINEAGE,
    NOTHING,
    Claim,
    ClaimAction,
    Rank,
    Stand,
    Target,
    claim_of,
    harms,
)
from concord_graph.domain.conflicts import Conflict, conflict_of
from concord_graph.domain.errors import StandsAbove
from concord_graph.domain.items import (
    DeclaredRelation,
    Edge,
    Entry,
    Item,
    ItemKind,
    Memory,
    Node,
    Relation,
    is_erased,
)
from concord_graph.domain.reach import BeyondReach, NotedAbove, Reach
from concord_graph.domain.succession import former_values, next_values
from concord_graph.ports import Author, ClaimMade, OperationFilter, Reads, ServiceRecord, Writes
from concord_graph.usecases.read.succession import value_of
from concord_graph.usecases.write.rows import Near, Rows
from concord_graph.usecases.write.stands import APPLY, WROTE, Stands

ItemT = TypeVar("ItemT", Node, Edge, Memory)
MOST_RIVALS = 100_000
"""Values of a relation that a late declaration is judged by; of more it is refused."""


@dataclass(frozen=True, slots=True)
class Harm:
    """What a write would do to an item that stands above its author, or `claimant`.

    `by`: what would take the item's place, when the writer does not know a better answer.
    """

    item: Target
    action: ClaimAction
    stand: Stand
    by: Target = NOTHING
    claimant: str = ""
    claimant_kind: str = ""


class Judged(NamedTuple, Generic[ItemT]):
    """A write as it may be written, the items that it claims, and the lower values, each with what
    it would do, that would end it."""

    after: ItemT
    harms: Sequence[Harm] = ()
    pushed: Sequence[tuple[Edge, Harm]] = ()


class StandingGuard(Stands):
    """Judges the writes of one author in one transaction. `made`: the ids of what it created."""

    def __init__(self, tx: Writes, author: Author, made: Collection[str]) -> None:
        super().__init__(tx, author, made)
        self._claims_among_equals: bool | None = None

    async def may(self, item: Item | DeclaredRelation) -> bool:
        """Return whether the author may do as it likes with an item."""
        return item.id in self._made or not await self._is_kept(item, await self.stand(item))

    async def _is_kept(self, item: Item | DeclaredRelation, stand: Stand) -> bool:
        """Return whether an item stands above the author, or is out of its key's reach."""
        return await self._stands_above(stand) or await self.is_out_of_reach(item)

    def changes(self, before: Item, after: Item) -> bool:
        """Return whether a write is more to an item than what anybody may do to it: of a key with
        less reach than all, whatever it changes."""
        return harms(before, after) or (self._author.reach is not Reach.ALL and before != after)

    async def demand_free(self, entry: Entry) -> None:
        """Refuse to change an entry that stands above the author, or is out of its key's reach.

        Raises:
            BeyondReach: the key has less reach than all, and it is not its own.
            NotedAbove: who put it stands above the author.
        """
        if await self.is_out_of_reach(entry):
            raise BeyondReach(entry.id)
        if await self.is_noted_above(entry):
            raise NotedAbove(entry.id)

    async def is_noted_above(self, entry: Entry) -> bool:
        """Return whether who put an entry stands above the author (W9)."""
        if self.rank is Rank.HUMAN and not await self._guards_equals():
            return False
        return await self._stands_above(await self.noted_by(entry))

    async def _stands_above(self, stand: Stand) -> bool:
        if stand.rank < self.rank or not stand.principals - {self._author.principal}:
            return False
        return stand.rank > self.rank or (bool(stand.rank) and await self._guards_equals())

    async def _guards_equals(self) -> bool:
        if self._claims_among_equals is None:
            self._claims_among_equals = await claims_among_equals(self._tx)
        return self._claims_among_equals

    async def judged(self, before: Item | None, after: ItemT, rows: Rows) -> Judged[ItemT]:
        """Judge a write: an edge that would make a higher item give way only claims that.

        Raises:
            StandsAbove: it would change a higher item itself.
        """
        if before is not None:
            await self.demand_unharmed(before, after)
        if not isinstance(after, Edge):
            return Judged(after)
        if after.relation == Relation.CONTRADICTS and not after.deleted:
            return Judged(replace(after, claimed=await self._contradicts_above(after)))
        near = await rows.near(after)
        if harms := await self.harmed_by(before, after, near):
            await self._demand_claimable(harms)
            return Judged(replace(after, claimed=True), harms)
        return Judged(after, (), await self.pushed_in_by(after, near))

    async def _demand_claimable(self, harms: Sequence[Harm]) -> None:
        """Refuse to half do a governed change.

        Raises:
            StandsAbove: the change is one.
        """
        if self._author.method != APPLY:
            return
        for harm in harms:
            if (item := await self._item(harm.item.id)) is not None:
                raise StandsAbove(item, harm.action, item)

    def claim(self, harm: Harm, edge_id: str, said_by: str = "") -> Claim:
        """Return the claim of an edge that would harm an item; `said_by`: the memory that states
        the edge."""
        by = Target(said_by, ItemKind.MEMORY) if said_by else harm.by
        return Claim(
            item=harm.item,
            action=harm.action,
            claimant=harm.claimant or self._author.principal,
            claimant_kind=harm.claimant_kind or self._author.kind,
            owner=harm.stand.owner(self._author.principal),
            rank=harm.stand.rank,
            by=by,
            edge_id=edge_id,
        )

    async def whole_claim(self, above: StandsAbove, request: str) -> Claim:
        """Return the claim of a whole request (base64)."""
        stand = await self.stand(above.target)
        return Claim(
            item=Target(above.target.id, above.target.kind),
            action=ClaimAction(above.action),
            claimant=self._author.principal,
            claimant_kind=self._author.kind,
            owner=stand.owner(self._author.principal),
            rank=stand.rank,
            method=self._author.method,
            request=request,
        )

    async def demand_unharmed(self, before: Item, after: Item) -> None:
        """Refuse a change of an item that stands above the author, unless it only adds to it.

        Raises:
            StandsAbove: it changes the item, or what is said about a node by its name.
        """
        if not self.changes(before, after):
            return
        if not await self.may(before):
            raise StandsAbove(before, action_of(before, after), before)
        if isinstance(before, Node) and (after.deleted or before.name != _name(after)):
            for edge in await self._tx.edges_at(before.id, live=True):
                if not await self.may(edge):
                    raise StandsAbove(edge, action_of(before, after), before)

    async def harmed_by(self, before: Item | None, edge: Edge, near: Near) -> list[Harm]:
        """Return which items that stand above the author would give way to an edge, newly there."""
        was = before if isinstance(before, Edge) and not before.deleted else None
        if edge.deleted or edge.governed:
            return []
        if was is not None and (was.place, was.claimed) == (edge.place, edge.claimed):
            return []
        if edge.relation in LINEAGE:
            return await self._lineage(edge)
        if near is None:
            return []
        value = value_of(replace(edge, claimed=False))
        former = former_values(value, [each for each in near.before if each.id != edge.id])
        ids = [each.id for each in former if not each.is_fixed]
        found = await self._tx.items(ids) if ids else {}
        values = [each for each in found.values() if isinstance(each, Edge)]
        return [harm for each in values if (harm := await self._follows(each, edge))]

    async def only_claims(self, edge: Edge, unclaimed: Edge) -> bool:
        """Return whether a claimed edge that the author states again goes on to do nothing."""
        if edge.relation == Relation.CONTRADICTS and await self._contradicts_above(edge):
            return True
        near = await Rows(self._tx).near(unclaimed)
        return bool(await self.harmed_by(edge, unclaimed, near)) or await self.is_out_of_reach(edge)

    async def _lineage(self, edge: Edge) -> list[Harm]:
        older = await self._item(edge.target.id)
        if older is None or is_erased(older) or older.id in self._made:
            return []  # a ghost, or gone for good: what is forgotten may come back
        stand = await self.stand(older)
        if not await self._is_kept(older, stand):
            return []
        by = Target(edge.source.id, edge.source.kind)
        return [Harm(_target(older), LINEAGE[edge.relation], stand, by)]

    async def _contradicts_above(self, edge: Edge) -> bool:
        """Return whether an end of an edge stands above the author."""
        ends = [await self._item(end.id) for end in (edge.source, edge.target)]
        return any([end is not None and not await self.may(end) for end in ends])

    async def _follows(self, former: Edge, edge: Edge) -> Harm | None:
        stand = await self.stand(former)
        if former.id in self._made or not await self._is_kept(former, stand):
            return None
        said = await self._said_by(former, stand)
        return Harm(said, ClaimAction.FOLLOW, stand, _target(edge))

    async def _said_by(self, edge: Edge, stand: Stand) -> Target:
        """Return the memory by which an edge stands as high as it does, else the edge."""
        others = stand.principals - {self._author.principal}
        async for memory in self.stating(edge):
            own = await self.stand(memory)
            if own.rank == stand.rank and own.principals & others:
                return _target(memory)
        return _target(edge)

    async def pushed_in_by(self, edge: Edge, near: Near) -> list[tuple[Edge, Harm]]:
        """Return the later values, of lower writers, that would end a new value at once or later.

        Each with what it would do: it was there before the value that it would end.
        """
        if near is None or edge.ends_none or self._author.reach is not Reach.ALL:
            return []  # what is added alone takes nothing back that is there
        found: list[tuple[Edge, Harm]] = []
        left = [each for each in near.after if each.id != edge.id]
        stand = Stand(self.rank, frozenset({self._author.principal}))
        while following := next_values(value_of(edge), left):
            items = await self._tx.items([each.id for each in following])
            lower = [
                each
                for each in items.values()
                if isinstance(each, Edge) and await self.is_below(each)
            ]
            if len(lower) < len(following):
                break
            for each in lower:
                of = await self.first_author(each.id)
                by = Target(each.id, ItemKind.EDGE)
                harm = Harm(_target(edge), ClaimAction.FOLLOW, stand, by, of.principal, of.kind)
                found.append((each, harm))
            gone = {each.id for each in following}
            left = [each for each in left if each.id not in gone]
        return found

    async def is_below(self, edge: Edge) -> bool:
        """Return whether an edge ends nothing of the author's."""
        stand, own = await self.stand(edge), frozenset({self._author.principal})
        return edge.id not in self._made and await self._under(stand, Stand(self.rank, own))

    async def _under(self, lower: Stand, higher: Stand) -> bool:
        """Return whether what stands so ends nothing that stands as `higher`."""
        if lower.rank != higher.rank or lower.principals & higher.principals:
            return lower.rank < higher.rank
        return await self._guards_equals()

    async def first_author(self, item_id: str) -> Author:
        """Return who first wrote an item."""
        filter_ = OperationFilter(item_id=item_id, types=WROTE, oldest_first=True)
        return (await self._tx.operations(filter_, None, 1))[0].author

    async def demand_decidable(self, before: Entry | None, after: Conflict) -> None:
        """Refuse a decision by which a side that stands above the author gives way, or is held to
        contradict another; of a key with less reach than all, any about a side out of it.

        Raises:
            StandsAbove: it does.
        """
        known = conflict_of(before) if before is not None else None
        action, sides = ClaimAction.CONFIRM, after.pair
        resolution = after.resolution
        if resolution is not None and (known is None or known.resolution != resolution):
            action, sides = ClaimAction.RESOLVE, (resolution.superseded_id, "")
        elif not after.is_asserted or (known is not None and known.is_asserted):
            action, sides = ClaimAction.DECIDE, ("", "")
        if before is not None and await self.is_out_of_reach(before):
            sides = after.pair
        for side in filter(None, sides):
            item = await self._item(side)
            if item is not None and not item.deleted and not await self.may(item):
                raise StandsAbove(item, action, before)

    async def demand_declarable(
        self, before: DeclaredRelation | None, after: DeclaredRelation
    ) -> None:
        """Refuse a declaration by which values that stand above the author would end, or one that
        changes what somebody above it declared.

        Raises:
            StandsAbove: it does.
            BeyondReach: a key that only adds would decide how later values stand.
        """
        if before is not None and before != after and not await self.may(before):
            raise StandsAbove(before, ClaimAction.DECLARE, before)
        if not after.functional or (before is not None and before.functional):
            return
        rivals = await self._tx.rivals(after.name, MOST_RIVALS)
        found = await self._tx.items(rivals) if rivals else {}
        for edge in found.values():
            if not await self.may(edge):
                raise StandsAbove(edge, ClaimAction.DECLARE, before)
        if self._author.reach is Reach.NONE:
            raise BeyondReach(after.id)

    async def overtaken(self, relation: str) -> list[tuple[Edge, Harm]]:
        """Return the values that would end higher ones of earlier once a relation is functional."""
        rivals = await self._tx.rivals(relation, MOST_RIVALS)
        found = await self._tx.items(rivals) if rivals else {}
        if len({edge.revision.principal for edge in found.values()}) < 2:
            return []
        rows: dict[str, list[Edge]] = {}
        for edge in found.values():
            if isinstance(edge, Edge):
                rows.setdefault(edge.source.id, []).append(edge)
        over: list[tuple[Edge, Harm]] = []
        for row in rows.values():
            over += await self._overtaken_in(sorted(row, key=lambda each: each.effective_from))
        return over

    async def _overtaken_in(self, row: Sequence[Edge]) -> list[tuple[Edge, Harm]]:
        found: list[tuple[Edge, Harm]] = []
        higher: tuple[Edge, Stand] | None = None
        for edge in row:
            stand = await self.stand(edge)
            if higher is None or not await self._under(stand, higher[1]):
                higher = edge, stand
            elif edge.target != higher[0].target and not edge.ends_none:
                of = await self.first_author(edge.id)
                by, said = Target(edge.id, edge.kind), await self._said_by(*higher)
                found.append(
                    (edge, Harm(said, ClaimAction.FOLLOW, higher[1], by, of.principal, of.kind))
                )
        return found

    async def _item(self, item_id: str) -> Item | None:
        return (await self._tx.items([item_id])).get(item_id)


async def claims_among_equals(tx: Reads) -> bool:
    """Return whether, in this space, equals of different principals claim, too."""
    stored = await tx.service_record(ServiceRecord.CLAIM_SETTINGS)
    return bool(json.loads(stored or "{}").get("claims_among_equals"))


def claim_made(entry: Entry) -> ClaimMade:
    """Return what a write's reply says of a claim."""
    claim = claim_of(entry)
    item, by = claim.item, claim.by
    return ClaimMade(entry.id, entry.rank, claim.action, item.id, item.kind, claim.owner, by.id)


def action_of(before: Item, after: Item) -> ClaimAction:
    """Return what a write of an item does to it."""
    if is_erased(after):
        return ClaimAction.ERASE
    if before.deleted:
        return ClaimAction.RESTORE
    if after.deleted:
        return ClaimAction.FORGET if isinstance(before, Memory) else ClaimAction.DELETE
    return ClaimAction.UPDATE


def _target(item: Item) -> Target:
    return Target(item.id, item.kind)


def _name(item: Item) -> str:
    return item.name if isinstance(item, Node) else ""
