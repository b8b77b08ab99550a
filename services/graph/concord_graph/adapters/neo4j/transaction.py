"""One transaction on a space: the only access to its data."""

from __future__ import annotations

from typing import Any

from neo4j import AsyncManagedTransaction, AsyncResult

from concord_graph.adapters.counters import Counters
from concord_graph.adapters.neo4j.patterns import ANY_AMENDMENT, ANY_CONFLICT, scoped
from concord_graph.adapters.neo4j.pending import PendingReads
from concord_graph.adapters.neo4j.records import Fields
from concord_graph.domain.items import Instant

Row = list[Any]
_HEAD = (
    "MATCH (s:Space) RETURN s.seq, s.last_time,"
    " COLLECT { MATCH (f:Functional) WHERE f.name IS NOT NULL RETURN f.name },"
    f" coalesce(s.stated, false), {ANY_AMENDMENT}, {ANY_CONFLICT}"
)


class SpaceTransaction(Counters):
    """Runs statements of one space; each part of a view or a write adds methods to it.

    Each Neo4j statement sees the latest commits. `is_unchanged` checks that all statements saw one
    state; if not, the store runs the work again.
    """

    def __init__(
        self, tx: AsyncManagedTransaction, space: str, *, epoch: str, pending: PendingReads
    ) -> None:
        self._tx = tx
        self._space_name = space
        self._epoch = epoch
        self._pending = pending
        self._seq = 0
        self._last_time = 0
        self._stated = False
        self._amended = False
        self._disputed = False
        self._asked = 0
        self._functional: set[str] = set()
        self._ever_functional: list[Row] | None = None

    async def begin(self) -> None:
        """Read the space's counters; the first statement of the transaction."""
        head = await self._head()
        self._seq, self._last_time, functional, *known = head
        self._stated, self._amended, self._disputed = known
        self._functional = set(functional)

    async def is_unchanged(self) -> bool:
        """Return whether all statements read the same state of the space."""
        return self._asked <= 1 or (await self._head())[0] == self._seq

    async def _head(self) -> tuple[int, int, list[str], bool, bool, bool]:
        """Return the space's last change and record time, its functional relations, and whether it
        has facts, has amendments, and ever had a conflict."""
        found = await self.ask(_HEAD)
        self._asked -= 1
        if not found:
            return 0, 0, [], False, False, False
        seq, last_time, functional, stated, amended, disputed = found[0]
        return seq, last_time, functional, stated, amended, disputed

    async def ask(self, text: str, **bound: Any) -> list[Row]:
        """Run a statement of this space, and return its rows."""
        result = await self._run(text, bound)
        return await result.values()

    async def _items(self, text: str, **bound: Any) -> list[Fields]:
        return [row[0] for row in await self.ask(text, **bound)]

    async def _run(self, text: str, bound: Fields) -> AsyncResult:
        """Run a statement in the space: the only access to a space's data."""
        self._asked += 1
        given = {**bound, "space": self._space_name}
        return await self._tx.run(scoped(text), given=given)


def at_instant(at: Instant) -> dict[str, Any]:
    """Return the values that a statement binds for the instant of a read."""
    return {"asked": [{"record": at.record}], "valid": at.valid}
