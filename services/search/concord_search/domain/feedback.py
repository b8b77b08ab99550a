"""Votes on ranked queries, what they are counted into, and the suggestions of a session (S7, S9).

Search keeps these in graph's small records. The functions take and return the records' bodies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from concord_search.domain.calibration import Proposal, Votes
from concord_search.domain.errors import FeedbackRefused, QueryUnknown
from concord_search.domain.instants import Micros

KEPT_DAYS = 30
"""Days that a query waits for feedback."""
MOST_MOVES = 100
"""How many moves of the weight are logged: the last ones."""
MOST_SUGGESTED = 1_000
"""How many suggestions of a session are remembered."""

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Move:
    """A move of the weight."""

    principal: str
    old: float
    new: float
    evidence: str
    time: Micros


@dataclass(frozen=True, slots=True)
class Calibration:
    """A space's constitutive weight (0: never moved), all votes, the number of those since the
    last move, and the moves, the newest first. `etag`: of the stored record; empty: there is none.
    """

    weight: float = 0.0
    new_votes: int = 0
    counts: tuple[Votes, ...] = ()
    moves: tuple[Move, ...] = ()
    etag: str = ""


@dataclass(frozen=True, slots=True)
class Vote:
    """A principal's vote on a query; `helpful` None: only the reason is kept."""

    query_id: str
    principal: str
    helpful: bool | None
    reason: str
    time: Micros


def calibration_of(body: Body, etag: str = "") -> Calibration:
    """The calibration that a record holds."""
    if not body:
        return Calibration()
    counts = tuple(Votes(**each) for each in body["counts"])
    moves = tuple(Move(**each) for each in body["moves"])
    return Calibration(body["weight"], body["new_votes"], counts, moves, etag)


def moved(known: Calibration, principal: str, old: float, asked: Proposal, time: Micros) -> Body:
    """The record after a move: what was counted as new begins at 0."""
    move = Move(principal, old, asked.weight, asked.evidence[:1000], time)
    moves = (move, *known.moves)[:MOST_MOVES]
    return asdict(replace(known, weight=asked.weight, new_votes=0, moves=moves))


def voted(
    vote: Vote, query: Body, former: Body, calibration: Body
) -> tuple[Calibration, Sequence[Body | None]]:
    """Count a vote, once for each principal and query.

    `former`: the principal's vote on the query before. Return the calibration, and the three
    records to be stored; none after the same vote, and None for one that stays.

    Raises:
        QueryUnknown: nobody asked the query, or too long ago.
        FeedbackRefused: the principal voted otherwise before.
    """
    if not query and not former:
        raise QueryUnknown(vote.query_id)
    given = {"helpful": vote.helpful, "reason": vote.reason}
    known = calibration_of(calibration)
    if former:
        if {name: former[name] for name in given} != given:
            raise FeedbackRefused(vote.query_id)
        return known, ()
    kept = {**query, **given, "time": vote.time}
    if vote.helpful is None:
        return known, (query, kept, None)
    voter = Votes(vote.principal, query["weight"], query["constitutive_first"], 0, 0)
    alike = (each for each in known.counts if replace(each, helpful=0, unhelpful=0) == voter)
    mine = next(alike, voter)
    others = (each for each in known.counts if each is not mine)
    mine = replace(
        mine,
        helpful=mine.helpful + vote.helpful,
        unhelpful=mine.unhelpful + (not vote.helpful),
    )
    counted = replace(known, counts=(*others, mine), new_votes=known.new_votes + 1)
    return counted, (query, kept, asdict(counted))


def claimed(
    suggested: Body, memory_ids: Sequence[str], limit: int
) -> tuple[Sequence[str], Sequence[Body]]:
    """Take the first memories that a session was not suggested yet; the record if some were."""
    before = suggested.get("memory_ids", [])
    taken = [each for each in memory_ids if each not in set(before)][:limit]
    return taken, [{"memory_ids": [*before, *taken][-MOST_SUGGESTED:]}] if taken else []
