"""Digests of the states of a space's memories, with which followers of the feed compare theirs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256

from concord_graph.domain.items import ItemKind
from concord_graph.ports import Change, ChangeType, GraphStore

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
