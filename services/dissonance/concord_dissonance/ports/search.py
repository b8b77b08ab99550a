"""The port of search."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from concord_dissonance.ports.calls import Credential


class Search(Protocol):
    """Search, asked under dissonance's own name, or in a caller's name."""

    async def similar(
        self, space: str, memory_ids: Sequence[str], limit: int, fresh: str = ""
    ) -> Mapping[str, Sequence[tuple[str, float]]]:
        """Each memory's neighbours in meaning: ids with their cosine, best first.

        Memories that the index does not have yet are absent; a neighbour may be gone since.
        `fresh`: the token of a change that the index must have.
        """
        ...

    async def nearly_same(
        self, space: str, memory_ids: Sequence[str], fresh: str = ""
    ) -> Mapping[str, Sequence[str]]:
        """The memories, of any kind but turns, that may differ from each by a small edit."""
        ...

    async def surely_found(
        self, who: Credential, query: str, limit: int, fresh: str
    ) -> Sequence[str]:
        """The ids of a caller's query's best results of medium or high confidence, best first; not
        counted as read.

        `fresh`: the freshness token of a write that the index must have; empty: of none.
        """
        ...
