"""Search as dissonance asks it, for itself and for a caller."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from concord_dissonance.ports.calls import Credential


class Search(Protocol):
    """Search, asked by dissonance for itself."""

    async def similar(
        self, space: str, memory_ids: Sequence[str], limit: int, fresh: str = ""
    ) -> Mapping[str, Sequence[tuple[str, float]]]:
        """What is near to each memory: ids with their cosine, best first.

        Memories that the index does not have yet are absent; what is named may be gone since.
        `fresh`: the token of a change that the index must have.
        """
        ...

    async def nearly_same(
        self, space: str, memory_ids: Sequence[str], fresh: str = ""
    ) -> Mapping[str, Sequence[str]]:
        """The memories, of whatever kind but turns, that may differ from each by a small edit."""
        ...


class CallersSearch(Protocol):
    """Search, asked in a caller's name."""

    async def found(self, who: Credential, query: str, limit: int, fresh: str) -> Sequence[str]:
        """The ids of a query's best results, best first; not counted as read.

        `fresh`: the freshness token of a write that it sees; empty = none in particular.
        """
        ...
