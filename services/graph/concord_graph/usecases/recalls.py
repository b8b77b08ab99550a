"""The recall log of a space, and what is kept of a query's text (W8, S7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from concord_graph.domain.recalls import KEPT_DAYS, Recall, RecallFilter
from concord_graph.domain.relevance import MICROSECONDS_PER_DAY
from concord_graph.ports import Clock, GraphStore, Reads, ServiceRecord, Writes
from concord_graph.usecases.feedback import first_id
from concord_graph.usecases.read.recall_log import keeps_recalls
from concord_graph.usecases.records import demand_space


class Recalls:
    """Reads and writes of what was returned to whom."""

    def __init__(self, store: GraphStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def add(self, space: str, recall: Recall) -> bool:
        """Keep a recall where the log is on, and forget those that are too old; say if it is on."""
        if not await self._store.read(space, keeps_recalls):
            return False
        now = self._clock()

        async def work(tx: Writes) -> bool:
            demand_space(tx)
            if not await keeps_recalls(tx):
                return False
            await tx.drop_recalls(first_id(now - KEPT_DAYS * MICROSECONDS_PER_DAY))
            await tx.put_recall(replace(recall, time=now))
            return True

        return await self._store.write(space, work)

    async def list(
        self, space: str, filter_: RecallFilter, before: str, limit: int
    ) -> tuple[Sequence[Recall], bool]:
        """Return recalls, the newest first, before a query id; and whether the log is on.

        Those that are too old are not shown, also while nothing writes.
        """
        oldest = first_id(self._clock() - KEPT_DAYS * MICROSECONDS_PER_DAY)

        async def work(tx: Reads) -> tuple[Sequence[Recall], bool]:
            found = await tx.recalls(filter_, before, limit)
            return [each for each in found if each.query_id >= oldest], await keeps_recalls(tx)

        return await self._store.read(space, work)

    async def turn(self, space: str, *, on: bool) -> None:
        """Turn the log on or off."""

        async def work(tx: Writes) -> None:
            demand_space(tx)
            await tx.put_service_record(ServiceRecord.RECALL_LOG, {"on": on})

        await self._store.write(space, work)

    async def erase_text(self, space: str, query_id: str) -> bool:
        """Erase the text of a query and the reasons of its votes; say whether there were any."""

        async def work(tx: Writes) -> bool:
            demand_space(tx)
            asked = await tx.service_record(ServiceRecord.RANKED_QUERY, query_id)
            if asked:
                body = {**asked, "text": ""}
                await tx.put_service_record(ServiceRecord.RANKED_QUERY, body, query_id)
            votes = await tx.service_records(ServiceRecord.FEEDBACK, f"{query_id}/")
            for key, vote in votes.items():
                body = {**vote, "text": "", "reason": ""}
                await tx.put_service_record(ServiceRecord.FEEDBACK, body, key)
            return bool(asked or votes)

        return await self._store.write(space, work)
