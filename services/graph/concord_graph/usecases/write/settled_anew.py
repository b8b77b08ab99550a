"""Working out how items stand, in spaces that were written before the store kept it (G16)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from concord_graph.domain.facts import Support
from concord_graph.domain.items import ItemKind, Record
from concord_graph.domain.succession import Standing
from concord_graph.ports import (
    Change,
    ChangeType,
    GraphStore,
    OperationFilter,
    Reads,
    Ref,
    Unsettled,
    Writes,
)
from concord_graph.usecases.write.sweep import Sweep

_A_PAGE = 1_000
_REVISIONS = OperationFilter(
    types=(
        *(ChangeType.CREATED, ChangeType.UPDATED, ChangeType.DELETED, ChangeType.RESTORED),
        ChangeType.ERASED,
    ),
    item_kinds=(ItemKind.EDGE, ItemKind.MEMORY, ItemKind.RELATION),
    oldest_first=True,
)


class _Page(NamedTuple):
    """Changes with the revisions that they wrote, and which edges became facts by them."""

    changes: Sequence[Change]
    revisions: Sequence[Record | None]
    supports: Sequence[Support]


async def settle_store(store: GraphStore, tell: Callable[[str, int, int], None]) -> None:
    """Go through the record of each such space, in pages of changes.

    What was worked out stays when the program is stopped. `tell` is given the space, the changes
    that were gone through, and all of them.
    """
    while found := await store.unsettled():
        for unsettled in found:
            await _settle_space(store, unsettled, partial(tell, unsettled.space))


async def _settle_space(
    store: GraphStore, unsettled: Unsettled, tell: Callable[[int, int], None]
) -> None:
    sweep, first, expected = Sweep(), 1, unsettled.first
    while first:
        page = await store.read(unsettled.space, partial(_page, first=first))
        following = page.changes[-1].seq + 1 if len(page.changes) == _A_PAGE else 0
        due = [each.record_time for each in page.changes if each.seq >= unsettled.first]
        if due or not following:
            tell(expected - 1, unsettled.seq)
        await _settle(sweep, page)
        settled = [each for each in sweep.drain() if due and each[0] >= due[0]]
        if due or not following:
            keep = partial(_keep, expected=expected, settled=settled, following=following)
            if not await store.write(unsettled.space, keep):
                return  # another process was faster: what it leaves is found anew
            expected = following
        first = following


async def _page(tx: Reads, first: int) -> _Page:
    changes = await tx.operations(_REVISIONS, first - 1, _A_PAGE)
    refs = [Ref(change.item_kind, change.item_id, change.revision) for change in changes]
    revisions = await tx.revisions(refs)
    times = [change.record_time for change in changes]
    return _Page(changes, revisions, await tx.supports(times[0], times[-1]) if times else ())


async def _settle(sweep: Sweep, page: _Page) -> None:
    """Settle what became facts once all changes of its time are settled.

    A new memory that defines the agent is settled as one without facts at first.
    """
    supports = [*reversed(page.supports)]
    for change, revision in zip(page.changes, page.revisions, strict=True):
        while supports and supports[-1].record_from < change.record_time:
            await _settle_facts(sweep, supports.pop())
        if revision is not None:
            await sweep.settle(revision, change.record_time)
    while supports:
        await _settle_facts(sweep, supports.pop())


async def _settle_facts(sweep: Sweep, support: Support) -> None:
    await sweep.settle_facts(support.memory_id, support.edges, support.record_from)


async def _keep(
    tx: Writes,
    *,
    expected: int,
    settled: Sequence[tuple[int, Mapping[str, Standing]]],
    following: int,
) -> bool:
    """Store what a page settled; return whether it was this process's to store."""
    if await tx.unsettled_from() != expected:
        return False
    for time, standings in settled:
        await tx.put_standings(standings, time)
    await tx.keep_unsettled(following)
    return True
