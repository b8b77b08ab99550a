"""Reads claims, each with what it is about (W9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from concord_graph.domain.claims import Claim, ClaimState, claim_of
from concord_graph.domain.items import FOREVER, Entry, Instant, ItemKind
from concord_graph.ports import EntryFilter, Reads
from concord_graph.usecases.read.shown import statement

MOST_CLAIMANTS = 100


class ShownClaim(NamedTuple):
    """A claim with the words of its item and of what would take its place; empty when gone."""

    entry: Entry
    claim: Claim
    item_words: str
    by_words: str


class ShownClaimant(NamedTuple):
    """Who has open claims, how many, and the newest."""

    claimant: str
    total: int
    claims: Sequence[ShownClaim]


async def list_claims(
    tx: Reads, filter_: EntryFilter, now: int, before: tuple[int, int] | None, limit: int
) -> tuple[list[ShownClaim], int]:
    """Return claims, newest first, and how many match in all."""
    found, total = await tx.entries(filter_, Instant(now), before=before, limit=limit)
    return await shown_claims(tx, found, now), total


async def list_claimants(tx: Reads, now: int, each: int) -> tuple[list[ShownClaimant], bool]:
    """Return who has open claims, by name, each with the newest; and whether there are more."""
    counts = await tx.claimants(MOST_CLAIMANTS + 1)
    found = []
    for claimant, count in list(counts.items())[:MOST_CLAIMANTS]:
        filter_ = EntryFilter(ItemKind.CLAIM, ClaimState.OPEN.name, claimant=claimant)
        claims, _ = await list_claims(tx, filter_, now, None, each)
        found.append(ShownClaimant(claimant, count, claims))
    return found, len(counts) > MOST_CLAIMANTS


async def shown_claims(tx: Reads, entries: Sequence[Entry], now: int) -> list[ShownClaim]:
    """Return claims with the words of their items, which are read with one query a kind."""
    claims = [claim_of(entry) for entry in entries]
    words: dict[str, str] = {}
    for kind in (ItemKind.NODE, ItemKind.EDGE, ItemKind.MEMORY):
        ids = {each.id for claim in claims for each in (claim.item, claim.by) if each.kind == kind}
        views = await tx.views(kind, ids, Instant(now, FOREVER)) if ids else {}
        words |= {item_id: statement(v) for item_id, v in views.items() if not v.item.deleted}
    return [
        ShownClaim(entry, claim, words.get(claim.item.id, ""), words.get(claim.by.id, ""))
        for entry, claim in zip(entries, claims, strict=True)
    ]
