"""Digests of states, computed as graph does, and the states that changes made (spec S10).

A state is a memory's id and the sequence number of the change that made it.
"""

from collections.abc import Iterable
from hashlib import sha256

from concord_search.domain.changes import ChangeKind

BUCKETS = 256

State = tuple[str, int]
Digest = tuple[int, int]
"""How many states a bucket has, and the exclusive or of their SHA-256."""

_MAKE_A_STATE = frozenset(
    {ChangeKind.CREATED, ChangeKind.UPDATED, ChangeKind.RESTORED, ChangeKind.STANDING_CHANGED}
)


def bucket_of(memory_id: str) -> int:
    """The number of a memory's bucket."""
    return sha256(memory_id.encode()).digest()[0]


def digests_of(states: Iterable[State]) -> list[Digest]:
    """The digests of states, by bucket."""
    found = [(0, 0)] * BUCKETS
    for memory_id, seq in states:
        bucket = bucket_of(memory_id)
        count, digest = found[bucket]
        said = int.from_bytes(sha256(f"{memory_id}\n{seq}".encode()).digest())
        found[bucket] = (count + 1, digest ^ said)
    return found


def states_made(changes: Iterable[tuple[str, int, int]]) -> set[State]:
    """The states that are left after changes: (memory id, sequence number, kind), in sequence."""
    states: dict[str, set[int]] = {}
    forgotten: set[str] = set()
    for memory_id, seq, kind in changes:
        made = states.setdefault(memory_id, set())
        if kind == ChangeKind.ERASED:
            made.clear()
        if kind in (ChangeKind.ERASED, ChangeKind.DELETED):
            forgotten.add(memory_id)
        elif kind in (ChangeKind.CREATED, ChangeKind.RESTORED):
            forgotten.discard(memory_id)
        if kind in _MAKE_A_STATE and memory_id not in forgotten:
            made.add(seq)
    return {(memory_id, seq) for memory_id, made in states.items() for seq in made}
