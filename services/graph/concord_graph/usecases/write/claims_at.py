"""Which claims there are at items, and which of them end with an item (W9)."""

from __future__ import annotations

from collections.abc import Sequence

from concord_graph.domain.claims import ClaimAction, ClaimState, claim_of
from concord_graph.domain.items import FOREVER, Edge, Entry, Instant, Item, ItemKind, is_erased
from concord_graph.ports import EntryFilter, Reads

MOST_AT = 1_000
"""Claims at one item that are looked at, the newest."""
_GONE = frozenset({ClaimAction.FORGET, ClaimAction.ERASE, ClaimAction.DELETE})


async def named(tx: Reads, ids: Sequence[str], claimant: str = "") -> Sequence[Entry]:
    """Return the claims at items, settled ones too, newest first."""
    filter_ = EntryFilter(ItemKind.CLAIM, None, sides=tuple(ids), claimant=claimant)
    found, _ = await tx.entries(filter_, Instant(0, FOREVER), limit=MOST_AT)
    return found


async def of_edge(tx: Reads, edge: Edge) -> list[Entry]:
    """Return the claims of an edge, settled ones too."""
    stating = [memory_id for memory_id, _ in await tx.stating([edge.id])]
    found = await named(tx, [edge.id, edge.source.id, *stating])
    return [entry for entry in found if claim_of(entry).edge_id == edge.id]


async def ended_by(tx: Reads, item: Item) -> list[tuple[Entry, ClaimState]]:
    """Return the open claims that end as an item goes, each with the state that it comes to.

    What its owner did is accepted. A claim whose own side goes is withdrawn; so is one on an item
    that was erased.
    """
    if isinstance(item, Edge) and item.claimed:
        found = await of_edge(tx, item)
        return [(entry, ClaimState.WITHDRAWN) for entry in found if is_open(entry)]
    at = (await tx.open_claims([item.id])).get(item.id)
    ended = []
    for entry in await named(tx, [item.id]) if at else ():
        claim = claim_of(entry)
        if claim.state != ClaimState.OPEN:
            continue
        if claim.item.id != item.id:
            ended.append((entry, ClaimState.WITHDRAWN))
        elif claim.action in _GONE:
            ended.append((entry, ClaimState.ACCEPTED))
        elif is_erased(item):
            ended.append((entry, ClaimState.WITHDRAWN))
    return ended


def is_open(entry: Entry) -> bool:
    """Return whether nobody has settled a claim."""
    return claim_of(entry).state == ClaimState.OPEN
