"""Ending sessions (M7)."""

from __future__ import annotations

from dataclasses import replace

from concord_graph.domain.errors import ItemNotFound
from concord_graph.domain.sessions import CO_READ_MICROSECONDS
from concord_graph.ports import ChangeType, SessionEnded
from concord_graph.usecases.write.outbox import log
from concord_graph.usecases.write.writer import Writer


async def end_session(
    writer: Writer, session_id: str, last_use_time: int | None = None
) -> SessionEnded:
    """End a session and announce it in the feed.

    Nothing changes if it has ended, or if its last use was not at `last_use_time` (µs; None: any).

    Raises:
        ItemNotFound: no call ever used the session.
    """
    session = await writer.tx.session(session_id)
    if session is None:
        raise ItemNotFound(session_id)
    if session.end_time or last_use_time not in (None, session.last_use_time):
        return SessionEnded(session)
    change = await log(writer.tx, ChangeType.SESSION_ENDED, writer.author, item_id=session_id)
    time = change.record_time
    await writer.tx.end_session(session_id, time)
    await writer.tx.drop_co_reads(time - CO_READ_MICROSECONDS)
    return SessionEnded(replace(session, end_time=time))
