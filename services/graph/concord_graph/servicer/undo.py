"""UndoService."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from concord.graph.v1 import undo_pb2, undo_pb2_grpc
from concord_chassis.call.identity import caller

from concord_graph.domain.selection import MOST_SELECTED, UndoBy, Undoer, UndoItem, UndoSelection
from concord_graph.servicer import incoming
from concord_graph.servicer.calls import FOUND, NOT_FOUND, Context
from concord_graph.servicer.claim import GOVERNS
from concord_graph.servicer.outgoing import stamp
from concord_graph.usecases.selection.undoing import Undoing

_BY = {"principal": UndoBy.PRINCIPAL, "session_id": UndoBy.SESSION, "import_id": UndoBy.IMPORT}
_NAMES = {by: name for name, by in _BY.items()}
_MOST_NAMED = 20


class UndoServicer(undo_pb2_grpc.UndoServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(self, undoing: Undoing) -> None:
        self._undoing = undoing

    async def PreviewUndo(
        self, request: undo_pb2.PreviewUndoRequest, context: Context
    ) -> undo_pb2.PreviewUndoResponse:
        found = await self._undoing.look(caller().space, _selection(request.selection), _undoer())
        look = found.look
        return undo_pb2.PreviewUndoResponse(
            items=[*_items(look.undone), *_items(look.left)],
            undone_count=len(look.undone),
            left_count=len(look.left),
            digest=found.digest,
            unfinished_digest=found.unfinished,
        )

    async def UndoOperations(
        self, request: undo_pb2.UndoOperationsRequest, context: Context
    ) -> undo_pb2.UndoOperationsResponse:
        remaining = await self._undoing.undo(
            caller().space, _undoer(), _selection(request.selection), request.digest
        )
        return undo_pb2.UndoOperationsResponse(complete=not remaining, remaining_count=remaining)

    async def GetUndo(
        self, request: undo_pb2.GetUndoRequest, context: Context
    ) -> undo_pb2.GetUndoResponse:
        found = await self._undoing.summary(caller().space, request.digest)
        if found is None:
            return undo_pb2.GetUndoResponse(status=NOT_FOUND)
        asked = found.selection
        return undo_pb2.GetUndoResponse(
            status=FOUND,
            principal=found.principal,
            selection=undo_pb2.UndoSelection(
                **{_NAMES[asked.by]: asked.name},
                since=stamp(asked.since),
                before=None if asked.before is None else stamp(asked.before),
            ),
            undo_time=stamp(found.time),
            items=[*_items(found.undone), *_items(found.left)],
            undone_count=len(found.undone),
            left_count=len(found.left),
        )


def _undoer() -> Undoer:
    who = caller()
    return Undoer(who.principal, who.kind, GOVERNS in who.scopes)


def _selection(message: undo_pb2.UndoSelection) -> UndoSelection:
    by = message.WhichOneof("by") or ""
    return UndoSelection(
        _BY[by],
        incoming.text(getattr(message, by)),
        incoming.instant(message, "since") or 0,
        incoming.instant(message, "before"),
    )


def _items(items: Iterable[UndoItem]) -> Iterable[undo_pb2.UndoneItem]:
    for each in islice(items, MOST_SELECTED):
        yield undo_pb2.UndoneItem(
            kind=int(each.kind),  # type: ignore[arg-type] # numbers are the contract's
            id=each.id,
            revision=each.revision,
            back_to=each.back_to,
            label=each.label,
            left=int(each.left or 0),  # type: ignore[arg-type]
            changed_by=each.changed_by[:_MOST_NAMED],
        )
