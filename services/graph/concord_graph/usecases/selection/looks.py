"""A look at what an erasure by selection would take, over the whole history of a space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from concord_graph.domain.selection import By, Options, Selected, Selection
from concord_graph.domain.selection_scan import Scan
from concord_graph.domain.spelling import NameKind, fold
from concord_graph.ports import ChangeType, OperationFilter, Reads, Ref
from concord_graph.usecases.read.near_names import near_names
from concord_graph.usecases.selection.asked import Asked, asked_by
from concord_graph.usecases.selection.plans import unfinished

_PAGE = 500
_REVISING = OperationFilter(
    types=(
        *(ChangeType.CREATED, ChangeType.UPDATED, ChangeType.DELETED, ChangeType.RESTORED),
        ChangeType.ERASED,
    ),
    oldest_first=True,
)


@dataclass(frozen=True, slots=True)
class Look:
    """What an erasure would take and what would stay. `asked`: queries that it blanks."""

    selected: Selected
    digest: str
    near_names: tuple[str, ...]
    asked: Asked
    unfinished: str = ""


async def look_at(tx: Reads, selection: Selection, options: Options) -> Look:
    """Look through every revision of a space, in one consistent view."""
    scan = Scan(selection)
    beyond = 0
    while changes := await tx.operations(_REVISING, beyond, _PAGE):
        beyond = changes[-1].seq
        refs = [Ref(each.item_kind, each.item_id, each.revision) for each in changes]
        for record in await tx.revisions(refs):
            if record is not None:
                scan.take(record)
    pinned = {item_id: await tx.is_pinned(item_id) for item_id in scan.candidates()}
    selected = scan.selected(options, pinned)
    near: Sequence[str] = ()
    if selection.by == By.SUBJECT:
        found = await near_names(tx, NameKind.NODE, selection.names[0])
        near = [name for name in found if fold(name) not in selection.folded]
    return Look(
        selected=selected,
        digest=selected.digest(selection, options),
        near_names=tuple(near),
        asked=await asked_by(tx, selection),
        unfinished=await unfinished(tx, selection),
    )
