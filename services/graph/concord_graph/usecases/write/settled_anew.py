"""Working out how items stand, in spaces that were written before the store kept it (G16)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from concord_graph.domain.facts import Support
from concord_graph.domain.items import FOREVER, ItemKind
from concord_graph.ports import Change, ChangeType, GraphStore, OperationFilter, Ref, Writes
from concord_graph.usecases.write.standings import settle_again, settle_facts

_A_PAGE = 1_000
_REVISIONS = OperationFilter(
    types=(
        *(ChangeType.CREATED, ChangeType.UPDATED, ChangeType.DELETED, ChangeType.RESTORED),
        ChangeType.ERASED,
    ),
    item_kinds=(ItemKind.EDGE, ItemKind.MEMORY, ItemKind.RELATION),
    oldest_first=True,
)


async def settle_store(store: GraphStore, tell: Callable[[str, int, int], None]) -> None:
    """Go through the record of each such space, change by change.

    What was worked out stays when the program is stopped. `tell` is given the space, the changes
    that were gone through, and all of them.
    """
    for unsettled in await store.unsettled():
        first = unsettled.first
        while first:
            tell(unsettled.space, first - 1, unsettled.seq)
            first = await store.write(unsettled.space, _page)


async def _page(tx: Writes) -> int:
    """Settle the next page of changes; return the number of the one after it, 0 after the last."""
    first = await tx.unsettled_from()
    if not first:
        return 0  # another process was faster
    changes = await tx.operations(_REVISIONS, first - 1, _A_PAGE)
    following = changes[-1].seq + 1 if len(changes) == _A_PAGE else 0
    refs = [ref for change in changes for ref in _versions(change)]
    versions = iter(await tx.revisions(refs))
    supports = await _supports(tx, changes)
    for change, before, after in zip(changes, versions, versions, strict=False):
        await _settle_facts(tx, supports, change.record_time)
        if after is not None:
            await settle_again(tx, before, after, change.record_time)
    await _settle_facts(tx, supports, FOREVER)
    await tx.keep_unsettled(following)
    return following


async def _settle_facts(tx: Writes, supports: list[Support], before: int) -> None:
    """Settle what became facts before a time (µs), whose changes are all settled; take it out.

    A new memory that defines the agent is settled as one without facts at first.
    """
    while supports and supports[-1].record_from < before:
        support = supports.pop()
        time = support.record_from
        await settle_facts(tx, support.memory_id, support.edges, time, time)


def _versions(change: Change) -> list[Ref]:
    """Return the versions before and after a change; the one before the first does not exist."""
    numbers = (change.revision - 1, change.revision)
    return [Ref(change.item_kind, change.item_id, number) for number in numbers]


async def _supports(tx: Writes, changes: Sequence[Change]) -> list[Support]:
    """Return which edges became facts by these changes, the last first.

    Facts change with a change of their memory, or of an edge that takes another one's place.
    """
    if not changes:
        return []
    found = await tx.supports(changes[0].record_time, changes[-1].record_time)
    return [*reversed(found)]
