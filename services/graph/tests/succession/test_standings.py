"""How items stand, as each write left it: what working it out for all of them anew says (T2)."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from concord_graph.domain.items import Instant, ItemKind
from concord_graph.domain.succession import UNTOUCHED, Standing
from concord_graph.ports import GraphStore, Reads, Writes
from concord_graph.usecases.write.standings import Settling
from graph_world import World
from random_history import enrolled, write_in_row


class _RolledBack(Exception):
    """Ends a transaction whose writes were only asked about."""


async def all_ids(tx: Reads) -> list[str]:
    """Return the ids of all live edges and memories."""
    kinds = (ItemKind.EDGE, ItemKind.MEMORY)
    return [item.id for kind in kinds for item in await tx.live_items(kind, Instant(0))]


async def kept_and_anew(
    store: GraphStore, space: str
) -> tuple[Mapping[str, Standing], Mapping[str, Standing]]:
    """Return how all items stand, as it is stored, and worked out from what is there now."""
    found: list[Mapping[str, Standing]] = []

    async def work(tx: Writes) -> None:
        ids = await all_ids(tx)
        found.append(await tx.standings(ids))
        await tx.put_standings(dict.fromkeys(ids, UNTOUCHED), tx.last_time + 1)
        await Settling(tx, tx.last_time + 1).settle(ids)
        found.append(await tx.standings(ids))
        raise _RolledBack

    with pytest.raises(_RolledBack):
        await store.write(space, work)
    return found[0], found[1]


def moved(before: Mapping[str, Standing], after: Mapping[str, Standing]) -> set[str]:
    """Return the items that are superseded from another time on, or no longer."""
    pairs = {
        item_id: (before.get(item_id, UNTOUCHED), after.get(item_id, UNTOUCHED))
        for item_id in before.keys() | after.keys()
    }
    return {
        item_id
        for item_id, (was, now) in pairs.items()
        if was.superseded_from != now.superseded_from
    }


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(n, marks=pytest.mark.soak) for n in range(4, 60))]
)
async def test_each_write_leaves_all_items_as_they_would_stand_anew(live: World, seed: int) -> None:
    """T2 G2 G4 M1 S10 In a row of many values: a neighbour that a write forgets would differ, and
    the feed names each item that a write moves."""
    draw = random.Random(seed)
    space = await enrolled(live, "home")
    before: Mapping[str, Standing] = {}
    seq = len(await space.calls.changes())
    for _ in range(60):
        await write_in_row(space, draw)
        kept, anew = await kept_and_anew(live.app._store, "home")
        assert kept == anew
        changes = await space.calls.changes(after=seq)
        assert moved(before, kept) <= {change.item_id for change in changes}
        before, seq = kept, seq + len(changes)
