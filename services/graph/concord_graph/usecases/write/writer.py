"""The one writer of items: every write passes the protection rules here.

It makes the revision, writes the outbox row in the same transaction, and announces the items whose
supersession changed with it.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from concord_attestation.consent import GenesisRecord, Grant, GrantInvalid, RestoreGrant

from concord_graph.domain import protection
from concord_graph.domain.conflicts import Conflict, conflict_of, to_entry
from concord_graph.domain.erasure import erased_entry
from concord_graph.domain.errors import (
    ConstitutiveProtected,
    EtagMismatch,
    ItemErased,
    ItemExists,
    SafeguardViolation,
)
from concord_graph.domain.facts import Support
from concord_graph.domain.items import (
    FOREVER,
    HIDING,
    DeclaredRelation,
    Edge,
    Entry,
    Item,
    ItemKind,
    Memory,
    Node,
    Record,
    Revision,
    digest,
    etag,
    is_erased,
)
from concord_graph.domain.protection import Surroundings
from concord_graph.domain.sessions import Restatement
from concord_graph.ports import Author, Change, ChangeType, Outcome, Ref, Writes, Written
from concord_graph.usecases.read.attested import digests_of_ends
from concord_graph.usecases.write import conflicts, standings
from concord_graph.usecases.write.gave_way import Moved
from concord_graph.usecases.write.outbox import log

ItemT = TypeVar("ItemT", Node, Edge, Memory)
RecordT = TypeVar("RecordT", Node, Edge, Memory, Entry, DeclaredRelation)


@dataclass(frozen=True, slots=True)
class Effect:
    """The revisions of an item before (0: there was none) and after a change.

    `etag`: of the revision before. `governed`: the revisions that needed consent.
    """

    kind: ItemKind
    id: str
    before: int
    after: int
    etag: str
    governed: tuple[int, ...] = ()

    @property
    def needs_consent(self) -> bool:
        """Whether any revision needed consent."""
        return bool(self.governed)


class PreviewGrant:
    """Stands for a grant in a preview, whose transaction is rolled back."""


class Writer:
    """Writes items of one transaction for one author, with or without a grant."""

    def __init__(
        self,
        tx: Writes,
        author: Author,
        now: int,
        grant: Grant | GenesisRecord | RestoreGrant | PreviewGrant | None = None,
    ) -> None:
        self.tx = tx
        self.now = now
        self.author = author
        self._grant = grant
        self.sessions: set[str] = set()  # sessions of the items that it created
        self.moved = Moved()
        self._owed: dict[str, ItemKind] | None = None
        self._made: set[str] = (
            set()
        )  # items that this grant created: the action's digest covers them
        self._worded: set[str] = set()  # nodes that state nothing beyond what the action states
        self._consented: set[str] = set()  # items that the consents pin, written or not
        self._depended: set[str] = set()  # items that a decision without consent is about
        self._effects: dict[str, Effect] = {}
        self._frozen: frozenset[str] | None = None  # read from the store; a put may outdate it

    def with_grant(self, grant: Grant | GenesisRecord | RestoreGrant | PreviewGrant) -> Writer:
        """Return a writer that this verified grant lets through protection."""
        granted = Writer(self.tx, self.author, self.now, grant)
        granted.moved = self.moved
        return granted

    @property
    def is_granted(self) -> bool:
        """Whether a verified grant lets this writer through protection."""
        return self._grant is not None

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effect on each item that this writer wrote, in order of the first writes."""
        return tuple(self._effects.values())

    @property
    def consented(self) -> frozenset[str]:
        """The items that the consents pin, whether they are written or not."""
        return frozenset(self._consented)

    @property
    def depended(self) -> frozenset[str]:
        """The items that a decision without consent depends on."""
        return frozenset(self._depended)

    def new_id(self) -> str:
        """Return a fresh id."""
        return self.tx.new_id()

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

    async def put(self, before: ItemT | None, after: ItemT) -> ItemT:
        """Write `after` as the next revision of `before`, or as a new item.

        Raises:
            ItemErased: an erased item is never written again.
        """
        if isinstance(before, (Edge, Memory)) and before.erase_time:
            raise ItemErased(before.id)
        after, needs_consent = await self._protected(before, after)
        item = await self._record(before, after, needs_consent=needs_consent)
        self._note(before, item, needs_consent=needs_consent)
        changed = await standings.settle(self.tx, before, item, item.revision.record_from)
        self.moved.note(before, item, changed)
        await self._announce(changed)
        await self._follow(before, item)
        return item

    async def put_conflict(
        self,
        before: Entry | None,
        conflict: Conflict,
        *,
        needs_consent: bool = False,
        deleted: bool = False,
    ) -> Entry:
        """Write the next revision of a conflict, or a new one; `demand_decidable` comes first.

        Lists of conflicts are sorted by the numbers of the changes that made them.
        """
        if before is not None and before.erase_time:
            raise ItemErased(before.id)
        entry = before
        if entry is None:
            rank = await self.tx.head_seq() + 1
            entry = Entry(self.new_id(), ItemKind.CONFLICT, {}, rank=rank)
        conflict = replace(conflict, consented=needs_consent)
        after = replace(to_entry(conflict, entry), deleted=deleted)
        entry = await self._record(before, after, needs_consent=needs_consent)
        self._note(before, entry, needs_consent=needs_consent)
        return entry

    async def demand_decidable(self, entry: Entry, conflict: Conflict) -> bool:
        """Return whether a decision about a conflict needs consent because a side is constitutive.

        Its consents, or its proposal if it needs none, name the conflict and both sides.
        """
        sides = {each.id: await self._side(each.id) for each in conflict.sides}
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

    async def _side(self, item_id: str) -> Edge | Memory | None:
        return await self.tx.memory(item_id) or await self.tx.edge(item_id)

    async def _follow(self, before: Item | None, item: Item) -> None:
        """Write the changes of conflicts that follow from the write of another item."""
        if isinstance(item, (Edge, Memory)) and item.erase_time:
            for entry in await conflicts.with_words(self.tx, item):
                erased = await self._record(entry, erased_entry(entry, item.erase_time))
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
        declared = await self._record(before, after)
        self._note(before, declared, needs_consent=False)
        time = declared.revision.record_from
        changed = await standings.settle_declaration(self.tx, before, declared, time)
        self.moved.items |= changed
        if after.functional:
            self.moved.declared.add(after.name)
        await self._announce(changed)
        return declared

    async def demand_allowed(self, before: ItemT | None, after: ItemT) -> None:
        """Refuse a write that protection forbids, before other writes prepare it."""
        await self._protected(before, after)

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

    async def keep(self, before: Entry | None, after: Entry) -> Entry:
        """Write an entry, which protection does not restrict and no supersession depends on.

        Each entry gets a record time of its own, since lists of entries are sorted by time.
        """
        self.tx.step()
        return await self._record(before, after)

    async def restate(self, memory: Memory, session_id: str) -> None:
        """Note that a session stated an existing memory again."""
        if session_id and session_id != memory.session_id:
            self.sessions.add(session_id)
            await self.tx.put_session_rows([Restatement(memory.id, session_id, self.now)])

    async def record_revocation(self, envelope: str) -> None:
        """Write the outbox row of a revocation, whose signed envelope burnt a nonce."""
        await log(self.tx, ChangeType.REVOKED, self.author, paper=envelope)

    async def replay(self, item: Record | None, change: Change) -> None:
        """Write a change, and the revision that it made, as another store recorded them."""
        if isinstance(item, (Node, Edge, Memory)) and not self.is_granted:
            why = protection.agreed(item)
            if why is not None:
                raise ConstitutiveProtected("", why)
        self.tx.wind(change.seq, change.record_time)
        if item is not None:
            await self.tx.put(item)
            if is_erased(item):
                await self.tx.erase(item)
        await self.tx.append(change)

    async def _record(
        self, before: RecordT | None, after: RecordT, *, needs_consent: bool = False
    ) -> RecordT:
        """Make the revision, write it, and write the outbox row."""
        seq, time = self.tx.tick()
        item = replace(
            after,
            create_time=before.create_time if before else time,
            revision=Revision(
                number=before.revision.number + 1 if before else 1,
                seq=seq,
                record_from=time,
                record_until=FOREVER,
                principal=self.author.principal,
                salt=_salt(before, after),
            ),
        )
        if not isinstance(item, DeclaredRelation) and item.erase_time:
            item = replace(item, erase_time=time)
        await self.tx.put(item)
        if is_erased(item):
            await self.tx.erase(item)
        if isinstance(item, Edge) and (item.governed or item.id in (self._frozen or ())):
            self._frozen = None
        if before is None:
            self._made.add(item.id)
            if isinstance(item, (Memory, Entry)):
                self.sessions.add(item.session_id)
        await self.tx.append(
            Change(
                seq=seq,
                record_time=time,
                item_id=item.id,
                item_kind=item.kind,
                type=_what_happened(before, item),
                revision=item.revision.number,
                digest=digest(item),
                before_digest=digest(before) if before else "",
                author=self.author,
                needs_consent=needs_consent,
                ends=await digests_of_ends(self.tx, item),
            )
        )
        return item

    def _note(self, before: Record | None, after: Record, *, needs_consent: bool) -> None:
        first = self._effects.get(after.id)
        number = after.revision.number
        self._effects[after.id] = Effect(
            kind=after.kind,
            id=after.id,
            before=first.before if first else before.revision.number if before else 0,
            after=number,
            etag=first.etag if first else etag(before) if before else "",
            governed=(*(first.governed if first else ()), *((number,) if needs_consent else ())),
        )

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
        frozen = await self._is_frozen(before, item)
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

    async def _is_frozen(self, before: Item | None, item: Item) -> bool:
        """Return whether an item is frozen; a new one may be if its id was pinned before."""
        return not standings.is_drawn(before, item) and await self.is_frozen(item.id)

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


def ref(item: Record) -> Ref:
    """Return the reference to a revision."""
    return Ref(item.kind, item.id, item.revision.number)


def written(before: Record | None, after: Record) -> Written:
    """Return an item's reference and outcome: created, updated or unchanged."""
    if before is None:
        return Written(ref(after), Outcome.CREATED)
    same = before.revision.number == after.revision.number
    return Written(ref(after), Outcome.UNCHANGED if same else Outcome.UPDATED)


def _salt(before: Record | None, after: Record) -> bytes:
    """Return the salt of an item's digests: drawn at its creation, erased with its words."""
    if before is None:
        return secrets.token_bytes(16)
    return b"" if is_erased(after) else before.revision.salt


def _what_happened(before: Record | None, after: Record) -> ChangeType:
    if before is None:
        return ChangeType.CREATED
    if is_erased(after):
        return ChangeType.ERASED
    if before.deleted == after.deleted:
        return ChangeType.UPDATED
    return ChangeType.DELETED if after.deleted else ChangeType.RESTORED
