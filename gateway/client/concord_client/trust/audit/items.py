"""What a replay knows of items: how each stands, and what nobody changes without an entry (A2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any


def etag_of(item_id: str, revision: int) -> str:
    """Return the version of an item that consents name: over its id and revision alone."""
    return sha256(f"etag {revision} {item_id}".encode()).hexdigest()[:24]


class Items:
    """Everything that the log has told of items so far."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}
        self._revisions: dict[str, int] = {}
        self._digests: dict[str, str] = {}
        self._standing: dict[str, tuple[str, ...]] = {}
        """What is constitutive, with the ids of its ends."""
        self._ends: Counter[str] = Counter()
        """How many constitutive items each end holds up."""
        self._removed: set[str] = set()
        """What was removed while it was constitutive."""

    def constitutive(self) -> Mapping[str, str]:
        """Return what is constitutive, and what it rests on, to the newest digest of each."""
        names = {name for item_id, ends in self._standing.items() for name in (item_id, *ends)}
        return {name: self._digests[name] for name in names}

    def revision(self, item_id: str) -> int:
        """Return the newest revision that graph told of; 0 without one."""
        return self._revisions.get(item_id, 0)

    def first(self, item_id: str) -> int | None:
        """Return the entry that first told of an item; None for what nobody spoke of."""
        return self._first.get(item_id)

    def fixed(self, item_id: str) -> str | None:
        """Return the digest that an item has until an entry tells otherwise; None when it may
        change without one: what is not constitutive, and holds up nothing that is."""
        held = self._ends[item_id] or item_id in self._standing or item_id in self._removed
        return self._digests.get(item_id) if held else None

    def stands(self, item_id: str) -> str:
        """Return the digest of what is constitutive; empty for anything else."""
        return self._digests[item_id] if item_id in self._standing else ""

    def saw(self, item_id: str, index: int) -> None:
        """Take that an entry told of an item."""
        self._first.setdefault(item_id, index)

    def write(self, item_id: str, told: Mapping[str, Any], index: int, *, removed: bool) -> None:
        """Take what an entry of graph's says of an item; it has ends if it is constitutive now."""
        ends: Mapping[str, str] | None = told.get("ends")
        digest: str = told["digest"]
        for name in (item_id, *(ends or ())):
            self.saw(name, index)
        self._revisions[item_id] = told["revision"]
        was_fixed = item_id in self._standing or item_id in self._removed
        self._ends.subtract(self._standing.pop(item_id, ()))
        self._removed.discard(item_id)
        self._digests |= {item_id: digest, **(ends or {})}
        if ends is not None:
            self._standing[item_id] = tuple(ends)
            self._ends.update(tuple(ends))
        elif removed and was_fixed:
            self._removed.add(item_id)

    def moved(self, ends: Mapping[str, str]) -> Iterable[str]:
        """Return the ends that an entry says are otherwise than the log told."""
        return [name for name, digest in ends.items() if self.fixed(name) not in (None, digest)]
