"""States of memories, for readers of a search's results and for the followers of the feed, who
compare theirs by digests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from concord_graph.domain.items import AsOf, Instant, ItemKind
from concord_graph.ports import Change, ChangeType, GraphStore, Reads, ServiceRecord, State, View
from concord_graph.usecases.read.shown import (
    Shown,
    show,
    with_amendments,
    with_claims,
    with_conflicts,
    with_connections,
    with_ends,
    writers_of,
)

BUCKETS = 256
CHANGES_A_READ = 1_000
DIGEST_BYTES = 32

_MAKE_A_STATE = frozenset(
    {
        ChangeType.CREATED,
        ChangeType.UPDATED,
        ChangeType.RESTORED,
        ChangeType.STANDING_CHANGED,
    }
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
    writers = await writers_of(tx, [state.view for state in ended if state])
    shown: list[tuple[State, Shown] | None] = []
    for place, state in enumerate(ended):
        if state is None:
            shown.append(None)
            continue
        view = amended.get(place, state.view)
        whose = view._replace(writer=writers.get(view.item.id, ""))
        shown.append((state, show(whose, now, state.at.valid)))
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
    disputed = await with_claims(tx, await with_conflicts(tx, amended, at), at)
    annotated = await with_connections(tx, disputed, at)
    return dict(zip(places, annotated, strict=True))


async def keeps_recalls(tx: Reads) -> bool:
    """Return whether the space logs which memories its searches returned to whom (W8)."""
    return bool(json.loads(await tx.service_record(ServiceRecord.RECALL_LOG) or "{}").get("on"))


@dataclass(slots=True)
class Bucket:
    """How many states of memories a bucket has, and the exclusive or of their digests."""

    states: int = 0
    digest: int = 0


@dataclass(slots=True)
class _Memory:
    """The states of one memory so far, while the outbox is read."""

    bucket: int
    states: int = 0
    digest: int = 0
    forgotten: bool = False


@dataclass(slots=True)
class Digests:
    """The digests of a space through change `seq`."""

    seq: int = 0
    _memories: dict[str, _Memory] = field(default_factory=dict)

    def take(self, changes: Iterable[Change]) -> None:
        """Count the next changes."""
        for change in changes:
            self.seq = change.seq
            if change.item_kind == ItemKind.MEMORY:
                self._take(change)

    def _take(self, change: Change) -> None:
        memory = self._memories.get(change.item_id)
        if memory is None:
            bucket = sha256(change.item_id.encode()).digest()[0]
            memory = self._memories[change.item_id] = _Memory(bucket)
        match change.type:
            case ChangeType.ERASED:
                memory.states, memory.digest, memory.forgotten = 0, 0, True
            case ChangeType.DELETED:
                memory.forgotten = True
            case ChangeType.CREATED | ChangeType.RESTORED:
                memory.forgotten = False
        if change.type in _MAKE_A_STATE and not memory.forgotten:
            line = f"{change.item_id}\n{change.seq}".encode()
            memory.states += 1
            memory.digest ^= int.from_bytes(sha256(line).digest())

    def buckets(self) -> list[Bucket]:
        """Return every bucket, by number."""
        found = [Bucket() for _ in range(BUCKETS)]
        for memory in self._memories.values():
            bucket = found[memory.bucket]
            bucket.states += memory.states
            bucket.digest ^= memory.digest
        return found


async def digests(store: GraphStore, space: str, through: int) -> Digests:
    """Return the digests of a space up to and with a change; 0: up to the newest.

    Memories that were erased after that change count: its digests never change.
    """
    found = Digests()
    while changes := await store.changes(space, found.seq, CHANGES_A_READ):
        covered = [change for change in changes if not through or change.seq <= through]
        found.take(covered)
        if len(covered) < len(changes):
            break
    return found
