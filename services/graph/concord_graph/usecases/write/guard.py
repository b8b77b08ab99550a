"""What protection says to the writes of a transaction, with or without a grant (G4, V5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from concord_attestation.consent import GenesisRecord, Grant, GrantInvalid, RestoreGrant

from concord_graph.domain import protection
from concord_graph.domain.conflicts import Conflict
from concord_graph.domain.digests import etag
from concord_graph.domain.errors import (
    ConstitutiveProtected,
    EtagMismatch,
    ItemExists,
    SafeguardViolation,
)
from concord_graph.domain.items import (
    HIDING,
    DeclaredRelation,
    Edge,
    Entry,
    Item,
    ItemKind,
    Memory,
    Node,
    Record,
)
from concord_graph.domain.protection import Surroundings
from concord_graph.ports import Writes
from concord_graph.usecases.write import standings

ItemT = TypeVar("ItemT", Node, Edge, Memory)
RecordT = TypeVar("RecordT", Node, Edge, Memory, Entry, DeclaredRelation)


class PreviewGrant:
    """Stands for a grant in a preview, whose transaction is rolled back."""


AnyGrant = Grant | GenesisRecord | RestoreGrant | PreviewGrant


class Guard:
    """Lets writes of one transaction through protection, or refuses them; notes what they pin."""

    def __init__(self, tx: Writes, grant: AnyGrant | None) -> None:
        self.tx = tx
        self._grant = grant
        # items that this grant created: the action's digest covers them
        self._made: set[str] = set()
        self._worded: set[str] = set()  # nodes that state nothing beyond what the action states
        self._consented: set[str] = set()  # items that the consents pin, written or not
        self._depended: set[str] = set()  # items that a decision without consent is about
        self._frozen: frozenset[str] | None = None  # read from the store; a put may outdate it

    @property
    def is_granted(self) -> bool:
        """Whether a verified grant lets this writer through protection."""
        return self._grant is not None

    @property
    def consented(self) -> frozenset[str]:
        """The items that the consents pin, whether they are written or not."""
        return frozenset(self._consented)

    @property
    def depended(self) -> frozenset[str]:
        """The items that a decision without consent depends on."""
        return frozenset(self._depended)

    def named(self, node: Node) -> None:
        """Note that an action names this node by name.

        A node that has only a name states no more than the action does. So of two actions that
        would create it, the second finds exactly the node that it would have created.
        """
        if node.is_bare:
            self._worded.add(node.id)

    async def demand_etag(self, item: RecordT, given: str, intended: RecordT | None = None) -> None:
        """Refuse a write against another version than the current one.

        `intended`: the version that would be written. If it breaks protection, the write is refused
        and recorded as such, whatever version the caller named.
        """
        if etag_matches(item, given):
            return
        if self._grant is None and isinstance(intended, (Node, Edge, Memory)):
            await self._protected(item, intended)
        raise EtagMismatch(item.id)

    async def demand_allowed(self, before: ItemT | None, after: ItemT) -> None:
        """Refuse a write that protection forbids, before other writes prepare it."""
        await self._protected(before, after)

    async def demand_decidable(self, entry: Entry, conflict: Conflict) -> bool:
        """Return whether a decision about a conflict needs consent because a side is constitutive.

        Its consents, or its proposal if it needs none, name the conflict and both sides.
        """
        sides = {
            each.id: await self.tx.memory(each.id) or await self.tx.edge(each.id)
            for each in conflict.sides
        }
        named = {entry.id, *(item_id for item_id, item in sides.items() if item is not None)}
        defining = [item_id for item_id, item in sides.items() if protection.is_constitutive(item)]
        if defining and self._grant is None:
            why = "this would decide about something constitutive"
            raise ConstitutiveProtected(defining[0], why)
        self._pin(named, needs_consent=bool(defining))
        return bool(defining)

    def depend_on(self, *items: Item) -> None:
        """Note the items that a change is about, whether it writes them or not.

        The proposal names their versions; so do the consents if one of them is constitutive.
        """
        needs_consent = any(protection.is_constitutive(item) for item in items)
        self._pin({item.id for item in items}, needs_consent=needs_consent)

    def depend_on_ends(self, *ids: str) -> None:
        """Note the ends of new lineage: its proposal names their versions, whatever its level.

        An end that does not exist is named without a version: it must not appear meanwhile.
        """
        self._depended |= set(ids)

    def _pin(self, ids: set[str], *, needs_consent: bool) -> None:
        if not needs_consent:
            self._depended |= ids
            return
        self._consented |= ids
        if isinstance(self._grant, Grant) and not ids <= self._grant.etags.keys():
            raise GrantInvalid("etags")

    async def is_frozen(self, item_id: str) -> bool:
        """Return whether a change of an item's words needs consent.

        It does if the item is pinned, or if lineage that was made with consent ends at it, or at an
        edge of which it is an end. An item that both principals replaced stays frozen: otherwise
        one of them could later edit the text that is hidden behind both signatures.
        """
        return await self.tx.is_pinned(item_id) or item_id in await self._frozen_by_lineage()

    async def _frozen_by_lineage(self) -> frozenset[str]:
        if self._frozen is None:
            self._frozen = await self.tx.frozen_by_lineage()
        return self._frozen

    async def _protected(self, before: ItemT | None, after: ItemT) -> tuple[ItemT, bool]:
        why = await self._why_not_alone(before, after)
        if not isinstance(self._grant, GenesisRecord):
            never = protection.reserved(before, after, await self._hung_on(after))
            if never is not None:
                raise SafeguardViolation(before.id if before else "", never)
            await self._demand_no_later_twin(before, after)
        return await self._consented_to(before, after, why)

    async def _demand_no_later_twin(self, before: Item | None, after: Item) -> None:
        """Refuse to make an edge constitutive if a descriptive one of its triple begins later.

        A constitutive edge has no successor, so both would hold from then on.
        """
        if not isinstance(after, Edge) or not protection.is_constitutive(after):
            return
        was = before if protection.is_constitutive(before) else None
        if isinstance(was, Edge) and was.place == after.place:
            return
        for sibling in await self._siblings(after):
            if sibling.id == after.id or protection.is_constitutive(sibling):
                continue
            if sibling.effective_from > after.effective_from:
                raise ItemExists(sibling.id, "triple and a later valid_from")

    async def _why_not_alone(self, before: Item | None, after: Item) -> str | None:
        """Return why a change needs consent, None if it does not.

        Raises:
            ConstitutiveProtected: it does, and this writer has no grant.
        """
        around = await self._surroundings(before, after)
        why = protection.breach(before, after, around)
        if why is not None and self._grant is None:
            raise ConstitutiveProtected(_protected_id(before, after, around), why)
        return why

    async def _hung_on(self, item: Item) -> Sequence[Item]:
        """Return those ends of an edge that may be reserved items, named by id."""
        if not isinstance(item, Edge):
            return ()
        found: list[Item | None] = []
        for end in (item.source, item.target):
            if end.kind == ItemKind.EDGE:
                found.append(await self.tx.edge(end.id))
            elif end.kind == ItemKind.NODE and self.is_granted:
                found.append(await self.tx.node(end.id))
        return [end for end in found if end is not None]

    async def _consented_to(
        self, before: ItemT | None, after: ItemT, why: str | None
    ) -> tuple[ItemT, bool]:
        if why is None:
            return after, False
        touched = {before.id} if before is not None else set()
        touched |= await self._depends_on(before, after)
        touched -= self._made
        self._consented |= touched
        if (
            isinstance(self._grant, Grant)
            and not touched - self._worded <= self._grant.etags.keys()
        ):
            raise GrantInvalid("etags")
        if isinstance(after, Edge) and after.relation in HIDING:
            return replace(after, governed=True), True
        return after, True

    async def _depends_on(self, before: Item | None, after: Item) -> set[str]:
        """Return the items whose words are part of the consent to an edge.

        These are its ends, and the ends of an end that is itself an edge.
        """
        if not isinstance(after, Edge) or not protection.takes_words(before, after):
            return set()
        ids = {after.source.id, after.target.id}
        for end in (after.source, after.target):
            if end.kind == ItemKind.EDGE and (edge := await self.tx.edge(end.id)) is not None:
                ids |= {edge.source.id, edge.target.id}
        return ids

    async def _surroundings(self, before: Item | None, item: Item) -> Surroundings:
        # a new item may be frozen, too: its id may have been pinned before
        frozen = not standings.is_drawn(before, item) and await self.is_frozen(item.id)
        if isinstance(item, Edge) and not item.is_lineage:
            return Surroundings(frozen, agreed_twin=await self._agreed_twin(before, item))
        if not isinstance(item, Edge) or item.relation not in HIDING:
            return Surroundings(is_frozen=frozen)
        target = await self.tx.memory(item.target.id) or await self.tx.edge(item.target.id)
        source = await self.tx.memory(item.source.id) or await self.tx.edge(item.source.id)
        return Surroundings(
            is_frozen=frozen,
            target_constitutive=protection.is_constitutive(target),
            source_constitutive=protection.is_constitutive(source),
            target_pinned=await self.tx.is_pinned(item.target.id),
        )

    async def _agreed_twin(self, before: Item | None, edge: Edge) -> str:
        """Return the id of another edge of the triple, of any valid time, that is constitutive or
        pinned; empty without one."""
        if isinstance(before, Edge) and not before.deleted and before.place == edge.place:
            return ""
        for sibling in await self._siblings(edge):
            if sibling.id == edge.id:
                continue
            if protection.is_constitutive(sibling) or await self.tx.is_pinned(sibling.id):
                return sibling.id
        return ""

    async def _siblings(self, edge: Edge) -> Sequence[Edge]:
        return await self.tx.live_edges_of_triple(edge.source.id, edge.relation, edge.target.id)


def _protected_id(before: Item | None, after: Item, around: Surroundings) -> str:
    """Return the id of the item that a refusal is about; empty if it does not exist."""
    if around.agreed_twin and not protection.is_constitutive(before):
        return around.agreed_twin
    if before is not None:
        return before.id
    if isinstance(after, Edge) and (around.target_constitutive or around.target_pinned):
        return after.target.id
    return after.id if isinstance(after, Memory) and after.id_stated else ""


def etag_matches(item: Record, given: str) -> bool:
    """Return whether a caller names the current version of an item."""
    return etag(item) == given
