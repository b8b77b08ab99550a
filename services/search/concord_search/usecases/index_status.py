"""Says how far the index of a space has followed, in each of its versions (spec S10)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from concord_search.ports.embedder import EmbeddingModel
from concord_search.ports.index import IndexState, Version
from concord_search.ports.judges import Judges
from concord_search.usecases.space_follower import FollowerContext
from concord_search.usecases.space_workers import FOLLOW_SPACE


@dataclass(frozen=True, slots=True)
class Status:
    """The state of one space's index, and of the feed behind it.

    `versions`: the existing ones; `models`: those that this server can embed with; `unread`: how
    many changed texts the judges have not read yet, None if nobody knows.
    """

    state: IndexState
    head_seq: int
    following: bool
    versions: Mapping[Version, IndexState]
    models: Sequence[EmbeddingModel]
    unread: int | None


class IndexStatus:
    """The index-status use case. `context`: the followers', whose state it is.

    `judges` is None if search has no dissonance service to ask.
    """

    def __init__(self, context: FollowerContext, judges: Judges | None) -> None:
        self._context, self._judges = context, judges

    async def __call__(self, space: str) -> Status:
        """Answers for a space; zeros for one without memories."""
        context = self._context
        await context.progress.load(space)
        states = {version: await context.index.state(space, version) for version in Version}
        found = {version: state for version, state in states.items() if state is not None}
        none = IndexState("", 0, 0, 0, context.index.model(space))
        state = found.get(Version.SERVING, none)
        head = max(context.progress.of(space).head_seq, state.applied_seq)
        follows = context.progress.keeps_up and not context.background.fails(FOLLOW_SPACE, space)
        unread = await self._judges.unread(space) if self._judges else None
        return Status(state, head, follows, found, context.embedders.models, unread)
