"""Records that Concord's other services keep in graph: judged positions, models' costs and more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from uuid import uuid4

from concord_graph.domain.errors import EtagMismatch, SpaceDeleted
from concord_graph.ports import Clock, GraphStore, Reads, ServiceRecord, Writes

MOST_SUGGESTED = 1_000
"""How many suggestions of a session are remembered."""
MOST_SPENDS = 1_000
"""How many spend ids of a day are remembered, so that a repeated spend is not added twice."""

Sums = Mapping[str, int]
"""Calls, tokens and micros of money, by these names."""


@dataclass(frozen=True, slots=True)
class JudgedPosition:
    """How far a space was judged, and by which version of the judges.

    `etag`: of this record; empty if none is stored.
    """

    token: str = ""
    judge_version: str = ""
    etag: str = ""


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """What a space lets checks record by themselves.

    `records_text_findings`: the checks that follow a write compare texts, too.
    """

    records_text_findings: bool = False


class Records:
    """Reads and writes the records of other services."""

    def __init__(self, store: GraphStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def judged_position(
        self, space: str, kind: ServiceRecord = ServiceRecord.JUDGED_POSITION
    ) -> JudgedPosition:
        """Return how far a space was judged or, by `kind`, how far its changes were followed."""

        async def work(tx: Reads) -> JudgedPosition:
            return JudgedPosition(**await tx.service_record(kind))

        return await self._store.read(space, work)

    async def put_judged_position(
        self,
        space: str,
        position: JudgedPosition,
        kind: ServiceRecord = ServiceRecord.JUDGED_POSITION,
    ) -> str:
        """Store a position that has the stored one's etag; return its new etag.

        Raises:
            EtagMismatch: the stored position has another etag.
        """

        async def work(tx: Writes) -> str:
            demand_space(tx)
            stored = await tx.service_record(kind)
            if stored.get("etag", "") != position.etag:
                raise EtagMismatch(kind)
            body = asdict(replace(position, etag=uuid4().hex))
            await tx.put_service_record(kind, body)
            return str(body["etag"])

        return await self._store.write(space, work)

    async def check_settings(self, space: str) -> CheckSettings:
        """Return a space's settings of checks."""

        async def work(tx: Reads) -> CheckSettings:
            return CheckSettings(**await tx.service_record(ServiceRecord.CHECK_SETTINGS))

        return await self._store.read(space, work)

    async def set_check_settings(self, space: str, settings: CheckSettings) -> None:
        """Store a space's settings of checks."""

        async def work(tx: Writes) -> None:
            demand_space(tx)
            await tx.put_service_record(ServiceRecord.CHECK_SETTINGS, asdict(settings))

        await self._store.write(space, work)

    async def add_model_spend(
        self, space: str, spend: Sums, limit: Sums | None, spend_id: str = ""
    ) -> tuple[bool, Sums]:
        """Add to today's costs of models, unless a sum would exceed its limit.

        Return whether the spend is in today's sums, and these. A known `spend_id` is not added
        again.
        """

        async def work(tx: Writes) -> tuple[bool, Sums]:
            demand_space(tx)
            today = datetime.fromtimestamp(self._clock() / 1_000_000, UTC).date().isoformat()
            stored = await tx.service_record(ServiceRecord.MODEL_SPEND)
            if stored.get("day") != today:
                stored = {"sums": dict.fromkeys(spend, 0)}
            sums, known = stored["sums"], stored.get("spend_ids", [])
            if spend_id in known:
                return True, sums
            added = {name: max(sums[name] + spend[name], 0) for name in spend}
            if limit is not None and any(added[name] > limit[name] for name in spend):
                return False, sums
            body = {"day": today, "sums": added}
            if spend_id:
                body["spend_ids"] = [*known, spend_id][-MOST_SPENDS:]
            await tx.put_service_record(ServiceRecord.MODEL_SPEND, body)
            return True, added

        return await self._store.write(space, work)

    async def claim_suggestions(
        self, space: str, session_id: str, memory_ids: Sequence[str], limit: int
    ) -> Sequence[str]:
        """Return the first `limit` memories not yet suggested in a session; note them as such."""

        async def work(tx: Writes) -> Sequence[str]:
            demand_space(tx)
            stored = await tx.service_record(ServiceRecord.SUGGESTED, session_id)
            before: list[str] = stored.get("memory_ids", [])
            taken = [each for each in memory_ids if each not in set(before)][:limit]
            if taken:
                body = {"memory_ids": [*before, *taken][-MOST_SUGGESTED:]}
                await tx.put_service_record(ServiceRecord.SUGGESTED, body, session_id)
            return taken

        return await self._store.write(space, work)


def demand_space(tx: Writes) -> None:
    """Refuse to write in a deleted space."""
    if tx.is_deleted:
        raise SpaceDeleted(tx.space)
