"""Reads of conflicts: by id, by pair, and the open ones of many items."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from operator import itemgetter

from concord_graph.adapters.neo4j import records
from concord_graph.adapters.neo4j.patterns import Known, bringing, known_at, seen, was_known
from concord_graph.adapters.neo4j.transaction import SpaceTransaction
from concord_graph.domain.claims import ClaimState, OpenClaim, OpenClaims
from concord_graph.domain.claims import by_item as by_claimed_item
from concord_graph.domain.conflicts import OPEN
from concord_graph.domain.items import FOREVER, Entry
from concord_graph.domain.open_conflicts import OpenConflict, OpenConflicts, by_item

_SAID = ("judge", "conflict_class", "author")
_STATES = sorted(state.name for state in OPEN)


class ConflictReads(SpaceTransaction):
    """The part of a view that reads conflicts."""

    async def entry(self, entry_id: str, record: int = FOREVER) -> Entry | None:
        found = await self.ask(_entry(known_at(record)), asked=[{"record": record}], id=entry_id)
        return records.read(Entry, found[0][0]) if found else None

    async def conflicts_between(
        self, pairs: Collection[tuple[str, str]], record: int = FOREVER
    ) -> Mapping[tuple[str, str], Entry]:
        asked = [{"record": record, "first": first, "second": second} for first, second in pairs]
        found = [row[0] for row in await self.ask(_between(known_at(record)), asked=asked)]
        return {(each["first_id"], each["second_id"]): records.read(Entry, each) for each in found}

    async def open_conflicts(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, OpenConflicts]:
        """Return the open conflicts; no statement in a space that never had a conflict."""
        if not self._disputed:
            return {}
        asked = [{"record": record, "id": item_id} for item_id in ids]
        rows = await self.ask(_open(known_at(record)), asked=asked, states=_STATES)
        return by_item(
            OpenConflict(rank, item_id, conflict_id, state, *itemgetter(*_SAID)(json.loads(body)))
            for rank, item_id, conflict_id, state, body in rows
        )

    async def open_claims(
        self, ids: Collection[str], record: int = FOREVER
    ) -> Mapping[str, OpenClaims]:
        """Return the open claims; no statement in a space that never had a conflict or claim."""
        if not self._disputed:
            return {}
        asked = [{"record": record, "id": item_id} for item_id in ids]
        rows = await self.ask(_claims(known_at(record)), asked=asked, state=ClaimState.OPEN.name)
        return by_claimed_item(
            OpenClaim(rank, item_id, claim_id, first, second, json.loads(body)["action"], claimant)
            for rank, item_id, claim_id, first, second, body, claimant in rows
        )

    async def claimants(self, most: int) -> Mapping[str, int]:
        found = await self.ask(
            "MATCH (c:Claim) WHERE c.first_id IS NOT NULL AND c.shelf = $state"
            " RETURN c.claimant AS claimant, count(*) ORDER BY claimant LIMIT $most",
            state=ClaimState.OPEN.name,
            most=most,
        )
        return {str(claimant): int(count) for claimant, count in found}

    async def derived_from(self, memory_ids: Collection[str], limit: int) -> Sequence[str]:
        found = await self.ask(
            "MATCH (m:Deriving) WHERE m.id > ''"
            " AND any(quoted IN $quoted WHERE m.sources CONTAINS quoted)"
            " RETURN m.id, m.sources ORDER BY m.space, m.id",
            quoted=[json.dumps(memory_id, ensure_ascii=False) for memory_id in memory_ids],
        )
        named = set(memory_ids)
        return [
            memory_id
            for memory_id, sources in found
            if any(named & set(source.get("memory_ids", ())) for source in json.loads(sources))
        ][:limit]

    async def triggered(self, limit: int) -> Sequence[tuple[str, Sequence[str]]]:
        found = await self.ask(
            "MATCH (m:Memory) WHERE size(m.surfaces_when) > 0"
            " RETURN m.id, m.surfaces_when ORDER BY m.id LIMIT $limit",
            limit=limit,
        )
        return [(memory_id, list(triggers)) for memory_id, triggers in found]


@cache
def _entry(known: Known) -> str:
    if known is None:
        return (
            "MATCH (t:Item {id: $id})"
            f" WHERE t.kind IN {sorted(map(int, records.ENTRIES))} RETURN properties(t)"
        )
    return (
        f"{bringing(known)}MATCH (t:EntryVersion {{id: $id}}) WHERE {was_known('t', known)}"
        " RETURN properties(t)"
    )


@cache
def _between(known: Known) -> str:
    keys = "first_id: ask.first, second_id: ask.second"
    return f"UNWIND $asked AS ask MATCH {seen('t', 'Conflict', known, keys)} RETURN properties(t)"


@cache
def _open(known: Known) -> str:
    return " UNION ALL ".join(
        f"UNWIND $asked AS ask MATCH {seen('t', 'Conflict', known, f'{side}: ask.id')}"
        f" AND t.shelf IN $states RETURN t.rank AS rank, t.{side} AS item, t.id AS conflict,"
        " t.shelf AS state, t.body AS body"
        for side in ("first_id", "second_id")
    )


@cache
def _claims(known: Known) -> str:
    return " UNION ALL ".join(
        f"UNWIND $asked AS ask MATCH {seen('t', 'Claim', known, f'{side}: ask.id')}"
        f" AND t.shelf = $state RETURN t.rank AS rank, t.{side} AS item, t.id AS claim,"
        " t.first_id AS first, t.second_id AS second, t.body AS body, t.claimant AS claimant"
        for side in ("first_id", "second_id")
    )
