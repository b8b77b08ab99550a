"""Accepting, refusing and withdrawing claims (W9; decision 0087)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from concord_graph.domain.claims import OF_EDGES, Claim, ClaimState, claim_of
from concord_graph.domain.errors import (
    FieldInvalid,
    ItemNotFound,
    ItemState,
    StandsAbove,
)
from concord_graph.domain.items import FOREVER, Entry, Instant, Item, ItemKind
from concord_graph.domain.reach import BeyondReach, Reach
from concord_graph.ports import ClaimsSettled, EntryFilter, Reads
from concord_graph.usecases.items.lineage import refuse_descent
from concord_graph.usecases.write import claims_at
from concord_graph.usecases.write.commands import Command
from concord_graph.usecases.write.writer import Writer, ref

MOST_DIGITS = 15
"""Digits of the largest number of a claim."""
MOST_SETTLED = 1_000
"""Claims of one claimant that one request settles."""


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
    asked_for: Callable[[Claim], Command[Any]],
) -> ClaimsSettled:
    """Settle claims, all or none. `governs`: the author may decide about what others wrote.

    `asked_for`: the command that a claim without an edge recorded.

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
        if state == ClaimState.ACCEPTED:
            await _do(writer, entry, claim, asked_for)
        now = await writer.tx.entry(entry.id) or entry
        if claim_of(now).state == ClaimState.OPEN:
            now = await writer.settle_claim(now, state)
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


async def _do(
    writer: Writer, entry: Entry, claim: Claim, asked_for: Callable[[Claim], Command[Any]]
) -> None:
    """Do what a claim would do, as the author."""
    if claim.action not in OF_EDGES:
        if not claim.request:
            raise ItemState("what the claim asked for was erased with its item")
        await asked_for(claim)(writer)
        return
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
