"""The port of sessions."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from concord.graph.v1.session_pb2 import Session

from concord_dissonance.domain.sides import Micros


class Sessions(Protocol):
    """Graph's sessions, read under dissonance's own name."""

    async def idle(self, space: str, since: Micros) -> Sequence[Session]:
        """The sessions that go on and were last used before a time."""
        ...

    async def end_idle(self, space: str, session: Session) -> None:
        """Ends a session unless it was used since it was read."""
        ...

    async def session(self, space: str, session_id: str) -> Session | None:
        """A session's record."""
        ...

    async def ended(self, space: str, count: int) -> Sequence[str]:
        """The sessions that ended last, the last one first."""
        ...

    async def stated_in(
        self, space: str, session_ids: Sequence[str]
    ) -> Mapping[str, frozenset[str]]:
        """The sessions among these that added a memory, or added it again, by memory id."""
        ...

    async def written_in(self, space: str, session: Session) -> tuple[Sequence[str], Sequence[str]]:
        """The memories of a session, and the edges that changed while it lasted."""
        ...

    async def authors(self, space: str, memory_ids: Sequence[str]) -> frozenset[str]:
        """The principals that added or changed these memories."""
        ...
