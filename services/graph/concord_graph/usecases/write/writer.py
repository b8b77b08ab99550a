"""The one writer of items: every write passes the protection rules here.

It makes the revision, writes the outbox row in the same transaction, and announces the items whose
supersession changed with it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import TypeVar

from concord_graph.domain import protection
from concord_graph.domain.claims import ClaimReason, ClaimState, claim_of
from concord_graph.domain.conflicts import conflict_of
from concord_graph.domain.erasure import erased_entry
from concord_graph.domain.errors import ItemErased, ItemNotFound, SafeguardViolation, StandsAbove
from concord_graph.domain.facts import Support
from concord_graph.domain.items import (
    DeclaredRelation,
    Edge,
    Entry,
    Item,
    ItemKind,
    Memory,
    Record,
)
from concord_graph.ports import Outcome, Ref, Written
from concord_graph.usecases.write import claims_at, conflicts, standings
from concord_graph.usecases.write.guard import AnyGrant, ItemT
from concord_graph.usecases.write.recorder import Recorder
from concord_graph.usecases.write.rows import Rows
from concord_graph.usecases.write.standing_guard import Harm, claim_made

FoundT = TypeVar("FoundT", bound=Record)


class Writer(Recorder):
    """Writes items of one transaction for one author, with or without a grant."""

    def with_grant(self, grant: AnyGrant) -> Writer:
        """Return a writer that this verified grant lets through protection."""
        granted = Writer(self.tx, self.author, self.now, grant)
        granted.moved = self.moved
        granted.claims = self.claims
        return granted

    async def put(
        self, before: ItemT | None, after: ItemT, *, follows: bool = False, said_by: str = ""
    ) -> ItemT:
        """Write `after` as the next revision of `before`, or as a new item.

        `follows`: it follows from a write on the author's own item, so its standing is not asked.
        `said_by`: the memory that states the edge, which may not be written yet.

        Raises:
            ItemErased: an erased item is never written again.
            StandsAbove: it would change another principal's item, who stands higher (W9).
        """
        if before is not None and before.erase_time:
            raise ItemErased(before.id)
        after, needs_consent = await self._protected(before, after)
        harms: Sequence[Harm] = ()
        rows = Rows(self.tx)
        if not (follows or self.is_granted):
            after, harms, pushed = await self.standing.judged(before, after, rows)
            for lower, harm in pushed:
                await self.take_back(lower, harm)
        item = await self._record(before, after, needs_consent=needs_consent)
        self._note(before, item, needs_consent=needs_consent)
        for harm in harms:
            await self.put_claim(None, self.standing.claim(harm, item.id, said_by))
        changed = await standings.settle(self.tx, before, item, item.revision.record_from, rows)
        self.moved.note(before, item, changed)
        await self._announce(changed)
        await self._follow(before, item)
        return item

    async def demand_unharmed(self, before: Item, after: Item) -> None:
        """Refuse a change that standing forbids, before other writes prepare it.

        Raises:
            StandsAbove: as `put` does.
        """
        if not self.is_granted:
            await self.standing.demand_unharmed(before, after)

    async def take_back(self, lower: Edge, harm: Harm) -> None:
        """Make an edge that is there one that only claims."""
        await self.put(lower, replace(lower, claimed=True), follows=True)
        await self.put_claim(None, self.standing.claim(harm, lower.id))

    async def claim_whole(self, above: StandsAbove, request: str) -> None:
        """Record what a whole request (base64) would do, unless the author claims that already."""
        claim = await self.standing.whole_claim(above, request)
        known = await claims_at.named(self.tx, [claim.item.id], claim.claimant)
        alike = next((entry for entry in known if claim_of(entry) == claim), None)
        if alike is None:
            await self.put_claim(None, claim)
        else:
            self.claims.append(claim_made(alike))

    async def state_claimed(self, edge: Edge) -> Edge:
        """Return a claimed edge that the author states, too: if the author may, it claims no more,
        and its claims are accepted."""
        unclaimed = replace(edge, claimed=False)
        if not edge.claimed or await self.standing.only_claims(edge, unclaimed):
            return edge
        for entry in filter(claims_at.is_open, await claims_at.of_edge(self.tx, edge)):
            await self.settle_claim(entry, ClaimState.ACCEPTED)
        return await self.put(edge, unclaimed, follows=True)

    async def settle_claim(
        self, entry: Entry, state: ClaimState, reason: ClaimReason = ClaimReason.NONE
    ) -> Entry:
        """Write a claim's next revision: it is settled, by the author."""
        settled = claim_of(entry).settled(state, self.author.principal, self.now, reason)
        return await self.put_claim(entry, settled)

    async def _follow(self, before: Item | None, item: Item) -> None:
        """Write the changes of conflicts and claims that follow from the write of an item."""
        if item.deleted and not (before is None or before.deleted):
            for entry, state in await claims_at.ended_by(self.tx, item):
                await self.settle_claim(entry, state)
            for entry, ended in await conflicts.ended_by(self.tx, item, self.author.principal):
                await self.put_conflict(entry, ended, follows=True)
        if isinstance(item, (Edge, Memory)) and item.erase_time:
            for entry in await conflicts.with_words(self.tx, item):
                erased = await self._record(entry, erased_entry(entry, item.erase_time))
                if entry.kind == ItemKind.CONFLICT:
                    self._note(entry, erased, needs_consent=False)
        if not isinstance(item, Edge) or not item.is_lineage:
            return
        found = await conflicts.following(self.tx, before, item, self.author.principal)
        if found is None:
            return
        stored, conflict = found
        if stored is not None and conflict_of(stored).consented:
            needs_consent = await self.demand_decidable(stored, conflict)
        else:
            needs_consent = False
        await self.put_conflict(stored, conflict, needs_consent=needs_consent)

    async def put_key(self, before: Edge, after: Edge) -> Edge:
        """Give a principal another key, whose proof the caller has verified.

        Only the genesis and this method write the edges that stand for principals.
        """
        if not protection.changes_key(before, after):
            raise SafeguardViolation(before.id, "this is no change of a principal's key")
        why = await self._why_not_alone(before, after)
        after, needs_consent = await self._consented_to(before, after, why)
        edge = await self._record(before, after, needs_consent=needs_consent)
        self._note(before, edge, needs_consent=needs_consent)
        return edge

    async def put_facts(self, support: Support) -> None:
        """Store which edges a memory's facts are, and how it stands with them."""
        await self.tx.put_facts(support)
        await standings.settle_facts(self.tx, support.memory_id, support.edges, support.record_from)

    async def declare(
        self, before: DeclaredRelation | None, after: DeclaredRelation
    ) -> DeclaredRelation:
        """Write the declaration of a relation, which protection does not restrict."""
        if not self.is_granted:
            await self.standing.demand_declarable(before, after)
        if after.functional and not (before is not None and before.functional):
            for lower, harm in await self.standing.overtaken(after.name):
                await self.take_back(lower, harm)
        declared = await self._record(before, after)
        self._note(before, declared, needs_consent=False)
        time = declared.revision.record_from
        changed = await standings.settle_declaration(self.tx, before, declared, time)
        self.moved.items |= changed
        if after.functional:
            self.moved.declared.add(after.name)
        await self._announce(changed)
        return declared

    @asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        """Announce each item whose supersession a block of writes changes once, at its end."""
        if self._owed is not None:
            yield
            return
        self._owed = {}
        try:
            yield
            owed = self._owed
        finally:
            self._owed = None
        await self._announce(owed)

    async def _announce(self, changed: standings.Affected) -> None:
        if self._owed is not None:
            self._owed |= changed
            return
        await self.tx.announce(changed, self.author)


@contextmanager
def claimed_as(named: Record) -> Iterator[None]:
    """Let a claim's reply show what the caller named, whatever of it stands above."""
    try:
        yield
    except StandsAbove as above:
        above.named = named
        raise


def existing(item: FoundT | None, item_id: str) -> FoundT:
    """Return an item that was looked for by its id, a deleted one too.

    Raises:
        ItemNotFound: there is none.
    """
    if item is None:
        raise ItemNotFound(item_id)
    return item


def live(item: FoundT | None, item_id: str) -> FoundT:
    """Return a live item that was looked for by its id. Raises as `existing`."""
    return existing(None if item is not None and item.deleted else item, item_id)


def ref(item: Record) -> Ref:
    """Return the reference to a revision."""
    return Ref(item.kind, item.id, item.revision.number)


def written(before: Record | None, after: Record) -> Written:
    """Return an item's reference and outcome: created, updated or unchanged."""
    if before is None:
        return Written(ref(after), Outcome.CREATED)
    same = before.revision.number == after.revision.number
    return Written(ref(after), Outcome.UNCHANGED if same else Outcome.UPDATED)
