"""The one writer of items: every write passes the protection rules here.

It makes the revision, writes the outbox row in the same transaction, and announces the items whose
supersession changed with it.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from concord_graph.domain import protection
from concord_graph.domain.conflicts import Conflict, conflict_of, to_entry
from concord_graph.domain.digests import digest, etag
from concord_graph.domain.erasure import erased_entry
from concord_graph.domain.errors import (
    ConstitutiveProtected,
    ItemErased,
    ItemNotFound,
    SafeguardViolation,
)
from concord_graph.domain.facts import Support
from concord_graph.domain.items import (
    FOREVER,
    DeclaredRelation,
    Edge,
    Entry,
    Item,
    ItemKind,
    Memory,
    Node,
    Record,
    Revision,
    is_erased,
)
from concord_graph.domain.sessions import Restatement
from concord_graph.ports import Author, Change, ChangeType, Outcome, Ref, Writes, Written
from concord_graph.usecases.read.attested import digests_of_ends
from concord_graph.usecases.write import conflicts, standings
from concord_graph.usecases.write.gave_way import Moved
from concord_graph.usecases.write.guard import AnyGrant, Guard, ItemT, RecordT
from concord_graph.usecases.write.outbox import log

FoundT = TypeVar("FoundT", bound=Record)


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


class Writer(Guard):
    """Writes items of one transaction for one author, with or without a grant."""

    def __init__(
        self,
        tx: Writes,
        author: Author,
        now: int,
        grant: AnyGrant | None = None,
    ) -> None:
        super().__init__(tx, grant)
        self.now = now
        self.author = author
        self.sessions: set[str] = set()  # sessions of the items that it created
        self.moved = Moved()
        self._owed: dict[str, ItemKind] | None = None
        self._effects: dict[str, Effect] = {}

    def with_grant(self, grant: AnyGrant) -> Writer:
        """Return a writer that this verified grant lets through protection."""
        granted = Writer(self.tx, self.author, self.now, grant)
        granted.moved = self.moved
        return granted

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effect on each item that this writer wrote, in order of the first writes."""
        return tuple(self._effects.values())

    async def put(self, before: ItemT | None, after: ItemT) -> ItemT:
        """Write `after` as the next revision of `before`, or as a new item.

        Raises:
            ItemErased: an erased item is never written again.
        """
        if before is not None and before.erase_time:
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

        Conflicts are numbered, and listed, by the changes that made them.
        """
        if before is not None and before.erase_time:
            raise ItemErased(before.id)
        entry = before
        if entry is None:
            rank = await self.tx.head_seq() + 1
            entry = Entry(self.tx.new_id(), ItemKind.CONFLICT, {}, rank=rank)
        conflict = replace(conflict, consented=needs_consent)
        after = replace(to_entry(conflict, entry), deleted=deleted)
        entry = await self._record(before, after, needs_consent=needs_consent)
        self._note(before, entry, needs_consent=needs_consent)
        return entry

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
