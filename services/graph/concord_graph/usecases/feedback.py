"""Principals' votes on ranked queries, and the constitutive weight calibrated by them (S7)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any
from uuid import uuid4

from concord_graph.domain.errors import EtagMismatch, ItemExists, ItemNotFound
from concord_graph.domain.relevance import MICROSECONDS_PER_DAY
from concord_graph.ports import Clock, GraphStore, Reads, ServiceRecord, Writes
from concord_graph.usecases.records import demand_space

KEPT_DAYS = 30
"""Days that a query waits for feedback."""

MOST_MOVES = 100


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """A query, the constitutive weight that ranked it, and whether a value was its first result."""

    id: str
    text: str
    weight: float
    constitutive_first: bool


@dataclass(frozen=True, slots=True)
class VoteCount:
    """The votes of one principal at one weight, for one kind of first result."""

    principal: str
    weight: float
    constitutive_first: bool
    helpful: int = 0
    unhelpful: int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """A move of the weight; `time` in µs."""

    principal: str
    old: float
    new: float
    evidence: str
    time: int = 0


@dataclass(frozen=True, slots=True)
class Calibration:
    """A space's weight (0: never moved), all votes, those since the last move, and the moves."""

    weight: float = 0.0
    new_votes: int = 0
    counts: tuple[VoteCount, ...] = ()
    moves: tuple[Move, ...] = ()
    etag: str = ""


class Feedback:
    """Reads and writes of votes and of the weight."""

    def __init__(self, store: GraphStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def put_query(self, space: str, query: RankedQuery) -> None:
        """Store a query for feedback; drop those that are older than `KEPT_DAYS`."""
        since = self._clock() - KEPT_DAYS * MICROSECONDS_PER_DAY

        async def work(tx: Writes) -> None:
            demand_space(tx)
            await tx.drop_service_records(ServiceRecord.RANKED_QUERY, first_id(since))
            await tx.put_service_record(ServiceRecord.RANKED_QUERY, asdict(query), query.id)

        await self._store.write(space, work)

    async def add(
        self, space: str, query_id: str, principal: str, helpful: bool | None, reason: str
    ) -> Calibration:
        """Store a principal's vote, and count it unless `helpful` is None.

        Raises:
            ItemNotFound: no stored query has this id.
            ItemExists: the principal voted otherwise before.
        """

        async def work(tx: Writes) -> Calibration:
            demand_space(tx)
            asked = await tx.service_record(ServiceRecord.RANKED_QUERY, query_id)
            key = f"{query_id}/{principal}"
            before = await tx.service_record(ServiceRecord.FEEDBACK, key)
            if not asked and not before:
                raise ItemNotFound(query_id)
            vote = {"helpful": helpful, "reason": reason}
            known = await _calibration(tx)
            if before:
                if {name: before[name] for name in vote} != vote:
                    raise ItemExists(query_id)
                return known
            body = {**asked, **vote, "time": self._clock()}
            await tx.put_service_record(ServiceRecord.FEEDBACK, body, key)
            if helpful is None:
                return known
            return await _put(tx, _counted(known, RankedQuery(**asked), principal, helpful))

        return await self._store.write(space, work)

    async def calibration(self, space: str) -> Calibration:
        """Return the weight with the votes and moves that led to it."""
        return await self._store.read(space, _calibration, brief=True)

    async def move(self, space: str, move: Move, etag: str) -> Calibration:
        """Move the weight.

        Raises:
            EtagMismatch: a vote or a move was added since the caller read the calibration.
        """

        async def work(tx: Writes) -> Calibration:
            demand_space(tx)
            known = await _calibration(tx)
            if known.etag != etag:
                raise EtagMismatch(ServiceRecord.CALIBRATION)
            moves = (replace(move, time=self._clock()), *known.moves)[:MOST_MOVES]
            return await _put(tx, replace(known, weight=move.new, new_votes=0, moves=moves))

        return await self._store.write(space, work)


def first_id(time: int) -> str:
    """Return the text that sorts before every UUIDv7 of this time (µs) and after earlier ones."""
    text = f"{max(time, 0) // 1000:012x}"
    return f"{text[:8]}-{text[8:]}"


def _counted(known: Calibration, query: RankedQuery, principal: str, helpful: bool) -> Calibration:
    empty = VoteCount(principal, query.weight, query.constitutive_first)
    voted = (empty.principal, empty.weight, empty.constitutive_first)
    others: list[VoteCount] = []
    mine = empty
    for each in known.counts:
        if (each.principal, each.weight, each.constitutive_first) == voted:
            mine = each
        else:
            others.append(each)
    mine = replace(mine, helpful=mine.helpful + helpful, unhelpful=mine.unhelpful + (not helpful))
    return replace(known, counts=(*others, mine), new_votes=known.new_votes + 1)


async def _calibration(tx: Reads) -> Calibration:
    body: Any = await tx.service_record(ServiceRecord.CALIBRATION)
    if not body:
        return Calibration()
    counts = tuple(VoteCount(**each) for each in body["counts"])
    moves = tuple(Move(**each) for each in body["moves"])
    return Calibration(**{**body, "counts": counts, "moves": moves})


async def _put(tx: Writes, calibration: Calibration) -> Calibration:
    kept = replace(calibration, etag=uuid4().hex)
    await tx.put_service_record(ServiceRecord.CALIBRATION, asdict(kept))
    return kept
