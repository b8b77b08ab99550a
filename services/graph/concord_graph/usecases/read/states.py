"""States of memories, for the followers of the feed and for readers of a search's results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from concord_graph.domain.items import AsOf, Instant
from concord_graph.ports import Reads, ServiceRecord, State, View
from concord_graph.usecases.read.shown import (
    Shown,
    show,
    with_amendments,
    with_conflicts,
    with_connections,
    with_ends,
)

FEW = 100
"""States that a brief read returns at most."""


async def states(
    tx: Reads, refs: Sequence[tuple[str, int]], as_of: AsOf, now: int
) -> tuple[list[tuple[State, Shown] | None], bool]:
    """Return memories as of the change that each ref names (0: as of `as_of`).

    Also return whether the space keeps a recall log.
    """
    at = as_of.at(now)
    found = await tx.states(refs, at.valid, at.record)
    ended = [
        replace(state, view=(await with_ends(tx, [state.view], state.at))[0])
        if state and seq
        else state
        for state, (_, seq) in zip(found, refs, strict=True)
    ]
    amended = await _amended_now(tx, refs, ended, at)
    shown = [
        (state, show(amended.get(place, state.view), now, state.at.valid)) if state else None
        for place, state in enumerate(ended)
    ]
    return shown, await keeps_recalls(tx)


async def _amended_now(
    tx: Reads, refs: Sequence[tuple[str, int]], states: Sequence[State | None], at: Instant
) -> dict[int, View]:
    """Return by place the views of refs without a change, with all that a reader sees of them.

    Refs with a change come from a follower of the feed, who needs neither amendments nor open
    conflicts nor connections.
    """
    places = [i for i, state in enumerate(states) if state and not refs[i][1]]
    views = [state.view for i in places if (state := states[i])]
    amended = await with_amendments(tx, await with_ends(tx, views, at), at)
    annotated = await with_connections(tx, await with_conflicts(tx, amended, at), at)
    return dict(zip(places, annotated, strict=True))


async def keeps_recalls(tx: Reads) -> bool:
    """Return whether the space logs which memories its searches returned to whom (W8)."""
    return bool(json.loads(await tx.service_record(ServiceRecord.RECALL_LOG) or "{}").get("on"))
