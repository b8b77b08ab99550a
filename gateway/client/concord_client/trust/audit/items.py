"""The items in a replay: revisions, digests, and whether one may change without an entry (A2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any


def etag_of(item_id: str, revision: int) -> str:
    """Return an item's etag, which consents name: a hash of its id and revision alone."""
    return sha256(f"etag {revision} {item_id}".encode()).hexdigest()[:24]


class Items:
    """The state of items according to the log's entries so far."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}
        self._revisions: dict[str, int] = {}
        self._digests: dict[str, str] = {}
        self._ends_of: dict[str, tuple[str, ...]] = {}
        """The ids of each constitutive item's ends."""
        self._ends: Counter[str] = Counter()
        """How many constitutive items depend on each end."""
        self._removed: set[str] = set()
        """Items that were removed while they were constitutive."""

    def constitutive(self) -> Mapping[str, str]:
        """Return the newest digest of each constitutive item and of each end of one, by id."""
        names = {name for item_id, ends in self._ends_of.items() for name in (item_id, *ends)}
        return {name: self._digests[name] for name in names}

    def revision(self, item_id: str) -> int:
        """Return the newest revision in graph's entries; 0 without one."""
        return self._revisions.get(item_id, 0)

    def first(self, item_id: str) -> int | None:
        """Return the first entry about an item; None without one."""
        return self._first.get(item_id)

    def fixed(self, item_id: str) -> str | None:
        """Return an item's digest if only an entry may change it; None if it may change without
        one, since it is not constitutive and no constitutive item depends on it."""
        pinned = self._ends[item_id] or item_id in self._ends_of or item_id in self._removed
        return self._digests.get(item_id) if pinned else None

    def constitutive_digest(self, item_id: str) -> str:
        """Return the digest of a constitutive item; empty for any other."""
        return self._digests[item_id] if item_id in self._ends_of else ""

    def saw(self, item_id: str, index: int) -> None:
        """Note that an entry names an item."""
        self._first.setdefault(item_id, index)

    def write(self, item_id: str, said: Mapping[str, Any], index: int, *, removed: bool) -> None:
        """Update an item by an entry of graph's; it has "ends" if it is constitutive now."""
        ends: Mapping[str, str] | None = said.get("ends")
        digest: str = said["digest"]
        for name in (item_id, *(ends or ())):
            self.saw(name, index)
        self._revisions[item_id] = said["revision"]
        was_fixed = item_id in self._ends_of or item_id in self._removed
        self._ends.subtract(self._ends_of.pop(item_id, ()))
        self._removed.discard(item_id)
        self._digests |= {item_id: digest, **(ends or {})}
        if ends is not None:
            self._ends_of[item_id] = tuple(ends)
            self._ends.update(tuple(ends))
        elif removed and was_fixed:
            self._removed.add(item_id)

    def moved(self, ends: Mapping[str, str]) -> Iterable[str]:
        """Return the ends whose digests in an entry differ from those in the log."""
        return [name for name, digest in ends.items() if self.fixed(name) not in (None, digest)]
