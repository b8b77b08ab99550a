"""Which items a selection of operations touched, and who else did (W9)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field, replace

from concord_graph.domain.items import ItemKind, Record
from concord_graph.domain.selection import UndoBy, Undoer, UndoSelection
from concord_graph.ports import Change, ChangeType, OperationFilter, Reads, Ref
from concord_graph.usecases.write.stands import APPLY

PAGE = 500
REVISING = OperationFilter(
    types=(
        *(ChangeType.CREATED, ChangeType.UPDATED, ChangeType.DELETED, ChangeType.RESTORED),
        ChangeType.ERASED,
    ),
    oldest_first=True,
)


@dataclass(slots=True)
class Touched:
    """An item that the selection changed: by these operations, and since then by `others`."""

    kind: ItemKind
    id: str
    own: list[Change] = field(default_factory=list)
    others: list[Change] = field(default_factory=list)

    @property
    def back_to(self) -> int:
        """The revision before the first selected operation; 0: there was none."""
        return self.own[0].revision - 1

    @property
    def newest(self) -> Ref:
        """The newest revision."""
        last = max(each.revision for each in (*self.own, *self.others))
        return Ref(self.kind, self.id, last)

    @property
    def is_governed(self) -> bool:
        """Whether a governed change is among the operations."""
        return any(each.needs_consent or each.author.method == APPLY for each in self.own)

    def may_undo(self, undoer: Undoer) -> bool:
        """Return whether somebody may undo all that the selection did to it."""
        return all(undoer.may_undo(each.author.principal, each.author.kind) for each in self.own)

    @property
    def changed_by(self) -> tuple[str, ...]:
        """Who else changed it since."""
        return tuple(sorted({each.author.principal for each in self.others}))


async def touched_by(tx: Reads, selection: UndoSelection) -> dict[str, Touched]:
    """Return the items that a selection touched, by id, in the order of their first operations."""
    names = dict.fromkeys(UndoBy, "") | {selection.by: selection.name}
    filter_ = replace(
        REVISING,
        principal=names[UndoBy.PRINCIPAL],
        session_id=names[UndoBy.SESSION],
        import_id=names[UndoBy.IMPORT],
        since=selection.since,
        before=selection.before,
    )
    found: dict[str, Touched] = {}
    own: set[int] = set()
    async for change in _operations(tx, filter_, None):
        touched = found.setdefault(change.item_id, Touched(change.item_kind, change.item_id))
        touched.own.append(change)
        own.add(change.seq)
    if own:
        async for change in _operations(tx, REVISING, min(own)):
            if change.item_id in found and change.seq not in own:
                touched = found[change.item_id]
                if change.seq > touched.own[0].seq:
                    touched.others.append(change)
    return found


async def records(tx: Reads, refs: Collection[Ref]) -> dict[Ref, Record]:
    """Return these revisions, those that there are."""
    listed, found = list(refs), {}
    for start in range(0, len(listed), PAGE):
        page = listed[start : start + PAGE]
        for ref, record in zip(page, await tx.revisions(page), strict=True):
            if record is not None:
                found[ref] = record
    return found


async def _operations(
    tx: Reads, filter_: OperationFilter, beyond: int | None
) -> AsyncIterator[Change]:
    while changes := await tx.operations(filter_, beyond, PAGE):
        for change in changes:
            yield change
        beyond = changes[-1].seq
