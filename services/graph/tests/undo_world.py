"""Looks at, and undoes, what a selection of operations did, as tests ask for it."""

from __future__ import annotations

from concord.graph.v1 import undo_pb2
from google.protobuf.timestamp_pb2 import Timestamp
from graph_world import DAY, Calls, World, stamp

START = stamp(0)


def later(live: World) -> Timestamp:
    """A day passes; return the time."""
    live.clock.pass_(DAY)
    return stamp(live.clock.now)


async def heads(calls: Calls, memory_id: str) -> list[str]:
    """Return what stands in a memory's place now."""
    return list((await calls.get(memory_id)).supersession.head_ids)


def by_principal(name: str, since: object = START, **fields: object) -> undo_pb2.UndoSelection:
    """Select what a principal did since a time."""
    return undo_pb2.UndoSelection(principal=name, since=since, **fields)  # type: ignore[arg-type]


async def look(calls: Calls, selection: undo_pb2.UndoSelection) -> undo_pb2.PreviewUndoResponse:
    """Look at what an undo would bring back."""
    return await calls.undo.PreviewUndo(undo_pb2.PreviewUndoRequest(selection=selection))


def undone(reply: undo_pb2.PreviewUndoResponse | undo_pb2.GetUndoResponse) -> dict[str, int]:
    """Return the revision that each item is brought back to, by id."""
    return {each.id: each.back_to for each in reply.items if not each.left}


def left(reply: undo_pb2.PreviewUndoResponse | undo_pb2.GetUndoResponse) -> dict[str, str]:
    """Return why each item that stays is left, by id."""
    return {
        each.id: undo_pb2.LeftReason.Name(each.left).removeprefix("LEFT_REASON_")
        for each in reply.items
        if each.left
    }


async def undo_looked_at(
    calls: Calls, selection: undo_pb2.UndoSelection, digest: str
) -> undo_pb2.GetUndoResponse:
    """Undo what the digest names, in as many calls as it takes; return the summary."""
    request = undo_pb2.UndoOperationsRequest(selection=selection, digest=digest)
    done = await calls.undo.UndoOperations(request)
    while not done.complete:
        done = await calls.undo.UndoOperations(request)
    return await calls.undo.GetUndo(undo_pb2.GetUndoRequest(digest=digest))


async def undo(calls: Calls, selection: undo_pb2.UndoSelection) -> undo_pb2.GetUndoResponse:
    """Look, undo what was looked at, and return the summary."""
    seen = await look(calls, selection)
    summary = await undo_looked_at(calls, selection, seen.digest)
    assert undone(summary) == undone(seen)
    assert left(summary) == left(seen)
    return summary
