"""Finds memories near in meaning to a memory or a text."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from concord_search.domain.filters import MemoryFilter, Scope, Superseded
from concord_search.domain.instants import PRESENT, AsOf
from concord_search.ports.embedder import EmbeddingModel, Vector
from concord_search.ports.index import Near, NearQuery
from concord_search.usecases.locate_filter import located
from concord_search.usecases.progress import Demand
from concord_search.usecases.results import may_be_shown
from concord_search.usecases.search_context import SearchContext


@dataclass(frozen=True, slots=True)
class SimilarQuery:
    """Asks for memories near to either a memory (`memory_id`) or a text.

    About each of many memories, it names neither.
    """

    memory_id: str = ""
    text: str = ""
    filter: MemoryFilter = field(default_factory=MemoryFilter)
    include_superseded: bool = False
    min_similarity: float = -1.0
    demand: Demand | None = None
    limit: int = 10
    as_of: AsOf = PRESENT


@dataclass(frozen=True, slots=True)
class SimilarAnswer:
    """The near memories, by cosine; `exists` is False if there is no such memory."""

    exists: bool
    near: Sequence[Near] = ()


class FindSimilar:
    """The find-similar use cases: near to one, and near to each of many."""

    def __init__(self, context: SearchContext) -> None:
        self._context = context

    async def __call__(self, space: str, query: SimilarQuery) -> SimilarAnswer:
        """Answers in a space.

        Raises `FreshnessTokenInvalid`, `IndexStale`, `GraphUnavailable`, `EmbeddingUnavailable`,
        `IndexDiskFull`, `NodeUnknown`, `FilterUnsupported`.
        """
        await self._context.progress.until_fresh(space, query.demand)
        model = self._context.index.model(space)
        vector = await self._origin(space, query, model)
        if vector is None:
            return SimilarAnswer(exists=False)
        near = await self._near(space, query, vector, model)
        if not near:
            self._context.progress.demand_following("nothing is near")
        return SimilarAnswer(exists=True, near=near)

    async def each(
        self, space: str, memory_ids: Sequence[str], query: SimilarQuery
    ) -> list[tuple[str, SimilarAnswer]]:
        """The memories near to each memory, by the index alone, which may lag behind graph.

        Raises `FreshnessTokenInvalid`, `IndexStale`, `GraphUnavailable`, `IndexDiskFull`, and
        `FilterUnsupported` for a filter that names a node.
        """
        await self._context.progress.until_fresh(space, query.demand)
        self._context.progress.demand_following("anything is near")
        scope = Scope(self._context.now(space), Superseded.EXCLUDE, query.filter, PRESENT)
        wanted = NearQuery(scope, query.limit, query.min_similarity)
        found = await self._context.index.near_each(space, memory_ids, wanted)
        return [
            (memory_id, SimilarAnswer(near is not None, near or ()))
            for memory_id, near in zip(memory_ids, found, strict=True)
        ]

    async def _origin(
        self, space: str, query: SimilarQuery, model: EmbeddingModel
    ) -> Vector | None:
        """The vector to compare with; None if the memory does not exist or is forgotten."""
        embedder = await self._context.embedders.of(model)
        if not query.memory_id:
            return await embedder.embed_query(query.text)
        (memory,) = await self._context.graph.current(
            space, [query.memory_id], count_as_read=False, as_of=query.as_of
        )
        if memory is None or memory.state.forgotten:
            return None
        known = await self._context.index.vector_of(space, memory.state.id, memory.state.seq, model)
        if known is not None:
            return known
        return await embedder.embed_query(memory.state.content)

    async def _near(
        self, space: str, query: SimilarQuery, vector: Vector, model: EmbeddingModel
    ) -> list[Near]:
        mode = Superseded.INCLUDE if query.include_superseded else Superseded.EXCLUDE
        located_filter = await located(self._context.graph, space, query.filter, query.as_of)
        scope = Scope(self._context.now(space), mode, located_filter, query.as_of)
        # One more than asked for, as the memory itself is found too.
        wanted = NearQuery(scope, query.limit + 1, query.min_similarity)
        found = await self._context.index.near(space, vector, model, wanted)
        others = sorted(
            (each for each in found if each.id != query.memory_id),
            key=lambda each: (-each.similarity, each.id),
        )[: query.limit]
        return await self._still_there(space, others, scope)

    async def _still_there(self, space: str, near: Sequence[Near], scope: Scope) -> list[Near]:
        if not near:
            return []
        ids = [each.id for each in near]
        memories = await self._context.graph.current(
            space, ids, count_as_read=False, as_of=scope.as_of
        )
        return [
            each
            for each, memory in zip(near, memories, strict=True)
            if memory is not None and may_be_shown(memory, each.seq, scope)
        ]
