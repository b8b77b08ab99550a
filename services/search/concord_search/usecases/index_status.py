"""Says how far the index of a space has followed, in each of its versions (spec S10)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from concord_chassis.server.background import Background

from concord_search.ports.embedder import EmbeddingModel
from concord_search.ports.index import Index, IndexState, Version
from concord_search.usecases.embedders import Embedders
from concord_search.usecases.follow import FOLLOW_SPACE
from concord_search.usecases.progress import Progress


@dataclass(frozen=True, slots=True)
class Status:
    """The state of one space's index, and of the feed behind it.

    `versions`: the existing ones; `models`: those that this server can embed with.
    """

    state: IndexState
    head_seq: int
    following: bool
    versions: Mapping[Version, IndexState]
    models: Sequence[EmbeddingModel]


class IndexStatus:
    """The index-status use case."""

    def __init__(
        self,
        *,
        embedders: Embedders,
        index: Index,
        progress: Progress,
        background: Background,
    ) -> None:
        self._background = background
        self._embedders = embedders
        self._index = index
        self._progress = progress

    async def __call__(self, space: str) -> Status:
        """Answers for a space; zeros for one without memories."""
        states = {version: (await self._index.states(version)).get(space) for version in Version}
        found = {version: state for version, state in states.items() if state is not None}
        none = IndexState("", 0, 0, 0, self._index.model(space))
        state = found.get(Version.SERVING, none)
        head = max(self._progress.of(space).head_seq, state.applied_seq)
        follows = self._progress.keeps_up and not self._background.fails(FOLLOW_SPACE, space)
        return Status(state, head, follows, found, self._embedders.models)
