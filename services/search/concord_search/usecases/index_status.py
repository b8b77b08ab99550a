"""Says how far the index of a space has followed (spec S10)."""

from dataclasses import dataclass

from concord_search.ports import Embedder, EmbeddingModel, Index, IndexState
from concord_search.usecases.progress import Progress


@dataclass(frozen=True, slots=True)
class Status:
    """The state of one space's index, and of the feed behind it."""

    state: IndexState
    head_seq: int
    model: EmbeddingModel
    following: bool


class IndexStatus:
    """The index-status use case."""

    def __init__(self, *, embedder: Embedder, index: Index, progress: Progress) -> None:
        self._embedder = embedder
        self._index = index
        self._progress = progress

    async def __call__(self, space: str) -> Status:
        """Answers for a space; zeros for one without memories."""
        state = (await self._index.states()).get(space) or IndexState("", 0, 0, 0)
        head = max(self._progress.of(space).head_seq, state.applied_seq)
        return Status(state, head, self._embedder.model, self._progress.keeps_up)
