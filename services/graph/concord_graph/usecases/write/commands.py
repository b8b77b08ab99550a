"""Running a write: once per request id, in one transaction, with its refusals on record."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar, cast

from concord_attestation.consent import ConsentError
from concord_attestation.refusal_limit import REASON as LIMIT_REACHED
from concord_attestation.refusal_limit import RefusalLimit

from concord_graph.domain.errors import (
    ConstitutiveProtected,
    EnrolmentSecretInvalid,
    GenesisExists,
    GraphError,
    ItemExists,
    ItemState,
    LineageCycle,
    PrincipalsReserved,
    RequestIdReused,
    SafeguardViolation,
    SpaceDeleted,
    StandsAbove,
    TooManyRefusals,
)
from concord_graph.domain.items import DeclaredRelation, Entry, Instant, Item, ItemKind
from concord_graph.domain.protection import is_constitutive
from concord_graph.domain.reach import BeyondReach, Reach
from concord_graph.domain.relevance import Access
from concord_graph.domain.supersession import Supersession
from concord_graph.ports import (
    Author,
    ChangeType,
    ClaimMade,
    Clock,
    GaveWay,
    GraphStore,
    MemoryErased,
    NodeDeleted,
    Outcome,
    Reads,
    Receipt,
    Ref,
    Result,
    View,
    Writes,
    Written,
    shown,
)
from concord_graph.usecases.read.shown import with_heads
from concord_graph.usecases.write.gave_way import gave_way
from concord_graph.usecases.write.outbox import log
from concord_graph.usecases.write.writer import Writer, ref

_RECORDED_REFUSALS = (
    *(ConstitutiveProtected, SafeguardViolation, ConsentError, EnrolmentSecretInvalid),
    *(GenesisExists, PrincipalsReserved),
)

_OF_CONSTITUTIVE = (ItemExists, ItemState, LineageCycle)
"""Refusals that are recorded only if the item that they name is constitutive."""

MOST_CLAIMS = 1_000
"""Claims that a reply lists."""
MOST_CLAIMED = 65_536
"""Characters of a request, base64, that becomes a claim; a longer one is refused."""

IMPORT = "ImportSpace"
"""Refused imports begin no record of their space: an import needs an unused space."""

CONFIRM = "ConfirmErase"
"""The one method that still writes in a deleted space: it confirms erasures."""

_BY_GOVERNANCE = frozenset({"ApplyGovernedChange", "RevokeConsent"})
"""Methods that governance calls for all callers: no refusal limit applies to it."""

R = TypeVar("R", bound=Result)
R_co = TypeVar("R_co", bound=Result, covariant=True)
Command = Callable[[Writer], Awaitable[R]]


@dataclass(frozen=True, slots=True)
class Done(Generic[R_co]):
    """The result of a command, the items that its reply shows, and the change it came to.

    `seq`, `epoch`: the last change and the store's epoch, for the freshness token. `now`: µs.
    """

    result: R_co
    views: tuple[View, ...]
    seq: int
    epoch: str
    now: int
    entries: tuple[Entry, ...] = ()
    relation: DeclaredRelation | None = None
    gave_way: GaveWay = field(default_factory=GaveWay)
    claims: tuple[ClaimMade, ...] = ()


async def claim_whole(writer: Writer, above: StandsAbove, request: str) -> Any:
    """Record what a request (base64) would do; return the result that shows what it named as it is.

    A relation that was not declared has no revision to show.
    """
    await writer.claim_whole(above, request)
    named = above.named
    one = ref(named) if named is not None else Ref(ItemKind.RELATION, "", 0)
    match writer.author.method:
        case "EraseMemory":
            return MemoryErased(one, "")
        case "DeleteNode":
            return NodeDeleted(one, 0)
    return Written(one, Outcome.CLAIMED)


class ItemRefused(Exception):
    """One item of a batch was refused. `index`: its place, from 0; `cause`: the error."""

    def __init__(self, index: int, cause: Exception) -> None:
        super().__init__(f"item {index}: {cause}")
        self.index = index
        self.cause = cause


class BatchRefused(Exception):
    """A batch was refused as a whole: nothing was written."""

    def __init__(self, refusals: Sequence[ItemRefused]) -> None:
        super().__init__(f"{len(refusals)} items were refused")
        self.refusals = tuple(refusals)


class Commands:
    """Runs writes."""

    def __init__(
        self,
        store: GraphStore,
        clock: Clock,
        use_session: Callable[[str, str], None],
    ) -> None:
        """`use_session`: notes that a write used a session of a space."""
        self._store = store
        self._use_session = use_session
        self._clock = clock
        self._limit = RefusalLimit()

    async def run(
        self,
        space: str,
        author: Author,
        request: bytes,
        command: Command[R],
        *,
        session_id: str = "",
        whole: Callable[[], str] | None = None,
    ) -> Done[R]:
        """Run a command once for this author and request.

        `request`: the bytes to compare if the request id comes again; empty: nothing is compared.
        `session_id`: the session that the request itself names. `whole`: gives the request, base64,
        without its id, if it may become a claim; then a write that would change what stands above
        the author does nothing but to claim it (W9).

        Raises:
            TooManyRefusals: the author had too many refused attempts on record in this hour.
        """
        if author.method not in _BY_GOVERNANCE:
            wait = self._limit.wait(space, author.principal, self._clock())
            if wait:
                raise TooManyRefusals(wait)

        sessions = {session_id}

        async def transaction(tx: Writes, doing: Command[R] = command) -> Done[R]:
            if tx.is_deleted and author.method != CONFIRM:
                raise SpaceDeleted(space)
            receipt = await self._known(tx, author, request)
            if receipt is None:
                writer = Writer(tx, author, max(self._clock(), tx.last_time + 1))
                receipt = await self._first(writer, request, doing)
                sessions.update(writer.sessions)
            result = cast(R, receipt.result)  # of the same method, so of the same type
            return await self._done(tx, result, receipt)

        try:
            try:
                done = await self._store.write(space, transaction, author=author)
            except StandsAbove as above:
                asked = whole() if whole is not None else ""
                if not asked or len(asked) > MOST_CLAIMED:
                    if author.reach is Reach.ALL:
                        raise
                    raise BeyondReach(above.item_id) from above
                instead = partial(claim_whole, above=above, request=asked)
                claiming = partial(transaction, doing=instead)
                done = await self._store.write(space, claiming, author=author)
        except (GraphError, ConsentError, BatchRefused) as error:
            for refusal in _refusals(error):
                item_id = getattr(refusal, "item_id", "")
                if isinstance(refusal, _OF_CONSTITUTIVE) and not await self._defines(
                    space, item_id
                ):
                    continue
                await self._record(space, author, item_id, refusal.reason)
            raise
        for used in sessions:
            self._use_session(space, used)
        return done

    async def _known(self, tx: Writes, author: Author, request: bytes) -> Receipt | None:
        found = await tx.receipt()
        if found is None:
            return None
        salt, digest, receipt = found
        erased = not digest  # an erasure removed the digest: any request gets the receipt
        if request and not erased and not is_same_request(digest, salt, request):
            raise RequestIdReused(author.request_id)
        return receipt

    async def _first(self, writer: Writer, request: bytes, command: Command[R]) -> Receipt:
        tx, author = writer.tx, writer.author
        early = await tx.early_refusals() if await tx.head_seq() == 0 else ()
        result = await command(writer)
        now = max(self._clock(), tx.last_time)
        given_way = await gave_way(tx, writer.moved, shown(result), now, author.principal)
        for _, whose, why in early:
            await _refused(tx, "", ItemKind.GHOST, whose, why)
        salt = secrets.token_bytes(16)
        claims = tuple(writer.claims[:MOST_CLAIMS])
        receipt = Receipt(result, await tx.head_seq(), given_way, claims)
        await tx.keep_receipt(author, salt, _fingerprint(salt, request), receipt)
        return receipt

    async def _done(self, tx: Writes, result: R, receipt: Receipt) -> Done[R]:
        now = max(self._clock(), tx.last_time)
        views = []
        entries = []
        relation = None
        for reference in shown(result):
            item = await tx.revision(reference)
            if isinstance(item, Entry):
                entries.append(item)
            elif isinstance(item, DeclaredRelation):
                relation = item
            elif item is not None:
                views.append(await _view_of(tx, item, Instant(now)))
        shown_views = await with_heads(tx, views, Instant(now))
        return Done(
            result,
            tuple(shown_views),
            receipt.seq,
            tx.epoch,
            now,
            tuple(entries),
            relation,
            receipt.gave_way,
            receipt.claims,
        )

    async def _defines(self, space: str, item_id: str) -> bool:
        """Return whether an item is live and constitutive."""

        async def look(tx: Reads) -> bool:
            return is_constitutive(await tx.memory(item_id) or await tx.edge(item_id))

        return bool(item_id) and await self._store.read(space, look)

    async def _record(self, space: str, author: Author, item_id: str, why: str) -> None:
        """Record a refused attempt at a constitutive item, and that the limit is reached."""
        now = self._clock()
        has_room, is_last = self._limit.entries(space, author.principal, now)
        if not has_room and author.method not in _BY_GOVERNANCE:
            # other calls of this principal reached the limit meanwhile
            raise TooManyRefusals(self._limit.wait(space, author.principal, now))
        if not has_room:
            return
        refusals = [(item_id, why)] + [("", LIMIT_REACHED)] * is_last

        async def transaction(tx: Writes) -> None:
            early = author.method == IMPORT and await tx.head_seq() == 0
            for about, reason in refusals:
                if early:
                    await tx.keep_early_refusal(self._clock(), author, reason)
                    continue
                kind = (await tx.kinds([about])).get(about, ItemKind.GHOST)
                await _refused(tx, about, kind, author, reason)

        await self._store.write(space, transaction)


async def _view_of(tx: Reads, item: Item, at: Instant) -> View:
    """Return this revision of an item, with the item's supersession."""
    found = (await tx.views(item.kind, [item.id], at)).get(item.id)
    if found is None:
        return View(item, Supersession(item.create_time), Access(item.create_time, 0))
    return found._replace(item=item)


async def _refused(tx: Writes, item_id: str, kind: ItemKind, author: Author, reason: str) -> None:
    """Append a refused attempt to the record."""
    await log(
        tx,
        ChangeType.REFUSED,
        author,
        item_id=item_id,
        item_kind=kind,
        reason=reason,
        needs_consent=True,
    )


def _refusals(error: Exception) -> list[GraphError | ConsentError]:
    """Return the refusals that may have to be recorded, one or all of a batch."""
    causes = [r.cause for r in error.refusals] if isinstance(error, BatchRefused) else [error]
    return [
        cause for cause in causes if isinstance(cause, (*_RECORDED_REFUSALS, *_OF_CONSTITUTIVE))
    ]


def is_same_request(digest: str, salt: bytes, request: bytes) -> bool:
    """Return whether a request has the salted digest that was stored with its request id."""
    return digest == _fingerprint(salt, request)


def _fingerprint(salt: bytes, request: bytes) -> str:
    return hashlib.sha256(salt + request).hexdigest()
