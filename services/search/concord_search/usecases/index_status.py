"""Says how far the index of a space has followed, in each of its versions (spec S10)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from concord_search.ports import EmbeddingModel, IndexState, Version, VersionedIndex
from concord_search.usecases.embedders import Embedders
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

    def __init__(self, *, embedders: Embedders, index: VersionedIndex, progress: Progress) -> None:
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
        return Status(state, head, self._progress.keeps_up, found, self._embedders.models)
