"""Records of one transaction: revisions with their outbox rows, conflicts and claims."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace

from concord_graph.domain import claims, protection
from concord_graph.domain.claims import Claim
from concord_graph.domain.conflicts import Conflict, to_entry
from concord_graph.domain.digests import digest, etag
from concord_graph.domain.errors import ConstitutiveProtected, ItemErased
from concord_graph.domain.items import (
    FOREVER,
    DeclaredRelation,
    Edge,
    Entry,
    ItemKind,
    Memory,
    Node,
    Record,
    Revision,
    is_erased,
)
from concord_graph.domain.sessions import Restatement
from concord_graph.ports import Author, Change, ChangeType, ClaimMade, Writes
from concord_graph.usecases.read.attested import digests_of_ends
from concord_graph.usecases.write.gave_way import Moved
from concord_graph.usecases.write.guard import AnyGrant, Guard, RecordT
from concord_graph.usecases.write.outbox import log
from concord_graph.usecases.write.standing_guard import StandingGuard, claim_made


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


class Recorder(Guard):
    """Writes the records of one transaction for one author: a `Writer` judges items first."""

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
        self.claims: list[ClaimMade] = []
        self.standing = StandingGuard(tx, author, self._made)
        self._owed: dict[str, ItemKind] | None = None
        self._effects: dict[str, Effect] = {}

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effect on each item that this writer wrote, in order of the first writes."""
        return tuple(self._effects.values())

    async def put_conflict(
        self,
        before: Entry | None,
        conflict: Conflict,
        *,
        needs_consent: bool = False,
        deleted: bool = False,
        follows: bool = False,
    ) -> Entry:
        """Write the next revision of a conflict, or a new one; `demand_decidable` comes first.

        `follows`: it follows from a write on the author's own item, so its standing is not asked.

        Conflicts are numbered, and listed, by the changes that made them.
        """
        if before is not None and before.erase_time:
            raise ItemErased(before.id)
        entry = before
        if entry is None:
            rank = await self.tx.head_seq() + 1
            entry = Entry(self.tx.new_id(), ItemKind.CONFLICT, {}, rank=rank)
        if not (self.is_granted or follows):
            await self.standing.demand_decidable(before, conflict)
        conflict = replace(conflict, consented=needs_consent)
        after = replace(to_entry(conflict, entry), deleted=deleted)
        entry = await self._record(before, after, needs_consent=needs_consent)
        self._note(before, entry, needs_consent=needs_consent)
        return entry

    async def put_claim(self, before: Entry | None, claim: Claim) -> Entry:
        """Write the next revision of a claim, or a new one, numbered by its change."""
        entry = before
        if entry is None:
            rank = await self.tx.head_seq() + 1
            entry = Entry(self.tx.new_id(), ItemKind.CLAIM, {}, rank=rank)
        entry = await self._record(before, claims.to_entry(claim, entry))
        if before is None:
            self.claims.append(claim_made(entry))
        return entry

    async def keep(self, before: Entry | None, after: Entry) -> Entry:
        """Write an entry, which protection does not restrict and no supersession depends on.

        Each entry gets a record time of its own, since lists of entries are sorted by time.

        Raises:
            BeyondReach: it is there, and out of the reach of the author's key.
            NotedAbove: it is there, and who put it stands above the author (W9).
        """
        if before is not None:
            await self.standing.demand_free(before)
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
