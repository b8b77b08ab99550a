"""Accepting, refusing and withdrawing claims (W9; decision 0087)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from concord_graph.domain.claims import (
    OF_EDGES,
    Claim,
    ClaimAction,
    ClaimReason,
    ClaimState,
    claim_of,
    is_touched,
)
from concord_graph.domain.digests import etag
from concord_graph.domain.errors import (
    FieldInvalid,
    ItemNotFound,
    ItemState,
    StandsAbove,
)
from concord_graph.domain.items import FOREVER, Entry, Instant, Item, ItemKind, Record
from concord_graph.domain.reach import BeyondReach, Reach
from concord_graph.ports import ClaimsSettled, EntryFilter, OperationFilter, Reads, Ref
from concord_graph.usecases.items.lineage import refuse_descent
from concord_graph.usecases.write import claims_at
from concord_graph.usecases.write.commands import Command
from concord_graph.usecases.write.writer import Writer, ref

MOST_DIGITS = 15
"""Digits of the largest number of a claim."""
MOST_SETTLED = 1_000
"""Claims of one claimant that one request settles."""


ACCEPT = "AcceptClaims"


@dataclass(frozen=True, slots=True)
class Meant:
    """What a claim's request would change: an item, at which version ("": at any), and which of its
    fields; None: all."""

    item_id: str
    etag: str
    fields: frozenset[str] | None


class Requests(Protocol):
    """Reads the requests that claims recorded."""

    def meant(self, claim: Claim) -> Meant:
        """Return what the request would change."""

    def command(self, claim: Claim, etag: str) -> Command[Any]:
        """Return the command of the request, against a version of its item."""


@dataclass(frozen=True, slots=True)
class ClaimsNamed:
    """Some claims by id or number, or all open ones of a claimant up to a number."""

    ids: tuple[str, ...] = ()
    claimant: str = ""
    up_to: int = 0


async def settle_claims(
    writer: Writer,
    named: ClaimsNamed,
    state: ClaimState,
    *,
    governs: bool,
    requests: Requests,
) -> ClaimsSettled:
    """Settle claims, all or none. `governs`: the author may decide about what others wrote.

    One that is accepted, but whose request no longer fits its item, is refused with the reason.

    Raises:
        ItemNotFound: there is no such claim.
        ItemState: one is settled already, or what it names is gone.
        StandsAbove: the author may not settle it.
    """
    settled = []
    for entry in await _named(writer.tx, named):
        claim = claim_of(entry)
        await _demand_settler(writer, claim, state, governs=governs)
        claim.settled(state, "", 0)  # refuse one that is settled before anything is done
        became, reason = state, ClaimReason.NONE
        if state == ClaimState.ACCEPTED:
            reason = await _do(writer, entry, claim, requests)
        if reason:
            became = ClaimState.REFUSED
        now = await writer.tx.entry(entry.id) or entry
        if claim_of(now).state == ClaimState.OPEN:
            now = await writer.settle_claim(now, became, reason)
        settled.append(ref(now))
    return ClaimsSettled(tuple(settled))


async def _named(tx: Reads, named: ClaimsNamed) -> Sequence[Entry]:
    if bool(named.ids) == bool(named.claimant):
        raise FieldInvalid("named", "needs ids, or a claimant")
    if not named.claimant:
        found = {entry.rank: entry for name in named.ids for entry in [await _one(tx, name)]}
        return [found[rank] for rank in sorted(found)]
    if not named.up_to:
        raise FieldInvalid("named.up_to_number", "is required with a claimant")
    filter_ = EntryFilter(ItemKind.CLAIM, ClaimState.OPEN.name, claimant=named.claimant)
    listed, _ = await tx.entries(filter_, Instant(0, FOREVER))
    return [entry for entry in reversed(listed) if entry.rank <= named.up_to][:MOST_SETTLED]


async def _one(tx: Reads, name: str) -> Entry:
    """Return a claim by its id, or by its number in decimal."""
    entry = None if name.isdecimal() else await tx.entry(name)
    if name.isdecimal() and len(name) <= MOST_DIGITS:
        every, before = EntryFilter(ItemKind.CLAIM, None), (int(name), FOREVER)
        found, _ = await tx.entries(every, Instant(0, FOREVER), before=before, limit=1)
        entry = next((each for each in found if each.rank == int(name)), None)
    if entry is None or entry.kind != ItemKind.CLAIM:
        raise ItemNotFound(name)
    return entry


async def _demand_settler(
    writer: Writer, claim: Claim, state: ClaimState, *, governs: bool
) -> None:
    own = claim.claimant == writer.author.principal
    is_owner = claim.owner == writer.author.principal
    stands = governs and writer.standing.rank >= claim.rank and not own
    tx, item_id = writer.tx, claim.item.id
    item = (await tx.items([item_id])).get(item_id) or await tx.node(item_id)
    if own if state == ClaimState.WITHDRAWN else (is_owner or stands):
        if state != ClaimState.WITHDRAWN:
            await _demand_reach(writer, claim, item)
        return
    if item is None:
        raise ItemState("what the claim is about is gone")
    raise StandsAbove(item, claim.action, item)


async def _demand_reach(writer: Writer, claim: Claim, item: Item | None) -> None:
    """Refuse who may settle a claim, but with a key that may not change what it is about (W7)."""
    if writer.author.reach is Reach.ALL:
        return
    if item is None or await writer.standing.is_out_of_reach(item):
        raise BeyondReach(claim.item.id)


async def _do(writer: Writer, entry: Entry, claim: Claim, requests: Requests) -> ClaimReason:
    """Do what a claim would do, as the author; return why not, if its request fits no more."""
    if claim.action not in OF_EDGES:
        if not claim.request:
            raise ItemState("what the claim asked for was erased with its item")
        meant = requests.meant(claim)
        item = await _item(writer.tx, claim, meant)
        if reason := await _unfit(writer.tx, claim, meant, item):
            return reason
        await requests.command(claim, etag(item) if item and meant.etag else "")(writer)
        return ClaimReason.NONE
    edge = await writer.tx.edge(claim.edge_id)
    if edge is None or edge.deleted:
        raise ItemState("what the claim named is gone")
    others = [each for each in await claims_at.of_edge(writer.tx, edge) if each.id != entry.id]
    if edge.claimed and not any(claim_of(o).state != ClaimState.ACCEPTED for o in others):
        if edge.is_lineage:
            await refuse_descent(writer, edge.source.id, edge.target.id)
        await writer.put(edge, replace(edge, claimed=False), follows=True)
        if not edge.is_lineage:
            await refuse_descent(writer, edge.id, edge.id)
    return ClaimReason.NONE


async def _item(tx: Reads, claim: Claim, meant: Meant) -> Record | None:
    """Return what a claim's request names; of a node or edge that it would write, the claimed."""
    if claim.action == ClaimAction.DECLARE:
        return await tx.relation(meant.item_id)
    item_id = meant.item_id or claim.item.id
    found: Record | None = (await tx.items([item_id])).get(item_id) or await tx.node(item_id)
    return found or await tx.entry(item_id)


async def _unfit(tx: Reads, claim: Claim, meant: Meant, item: Record | None) -> ClaimReason:
    """Return why a claim's request fits its item no more, if it does not.

    What other accepted claims changed is no reason: who accepts them decides in which order.
    """
    if item is None:
        return ClaimReason.NONE if claim.action == ClaimAction.DECLARE else ClaimReason.ITEM_GONE
    if claim.action == ClaimAction.RESTORE and not item.deleted:
        return ClaimReason.ITEM_CHANGED
    if claim.action not in (ClaimAction.RESTORE, ClaimAction.DECLARE) and item.deleted:
        return ClaimReason.ITEM_GONE
    after, left = item, MOST_SETTLED
    while meant.etag and etag(after) != meant.etag:
        left -= 1
        before = await tx.revision(Ref(item.kind, item.id, after.revision.number - 1))
        if before is None or not left:
            return ClaimReason.ITEM_CHANGED
        if is_touched(before, after, meant.fields) and not await _was_accepted(tx, after):
            return ClaimReason.ITEM_CHANGED
        after = before
    return ClaimReason.NONE


async def _was_accepted(tx: Reads, item: Record) -> bool:
    """Return whether accepting a claim made this revision of an item."""
    made = await tx.operations(OperationFilter(item_id=item.id), item.revision.seq + 1, 1)
    return bool(made) and made[0].seq == item.revision.seq and made[0].author.method == ACCEPT
