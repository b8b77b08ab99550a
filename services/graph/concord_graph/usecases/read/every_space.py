"""Going through all spaces of a store, in pages."""

from __future__ import annotations

from collections.abc import AsyncIterator

from concord_graph.ports import GraphStore

_A_PAGE = 500


async def every_space(store: GraphStore) -> AsyncIterator[str]:
    """Yield the name of each space that has a change, partition by partition."""
    for partition in range(len(await store.numbers())):
        after = ""
        while found := await store.spaces(partition, after, _A_PAGE):
            for head in found:
                yield head.space
            after = found[-1].space
