"""Turns the times that a query names into the window that ranks its results (spec S11)."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from concord_reading.times import Relation, Window

from concord_search.domain.asked_times import AskedTimes, TimePhrase, TimeUse, Within
from concord_search.domain.candidates import Candidates
from concord_search.domain.instants import NEVER, Micros
from concord_search.domain.memory import Talk
from concord_search.usecases.results import Ranked

ANCHORS = 20
"""So many candidates are looked at for the thing that a time is relative to."""

MOST_THINGS = 2
"""So many things that times are relative to are looked for in a query."""

SURE = 0.6
"""A memory dates a thing if it holds this share of the thing's words, by weight."""

_NAME = re.compile(r"(?<=[^.?!]\s)[A-ZÄÖÜ]\w+")


class Dated(NamedTuple):
    """When a thing was, and the memory that says so; `end` None: it goes on."""

    begin: Micros
    end: Micros | None
    memory_id: str


def anchor_text(query: str, window: Window) -> str:
    """What to look for: the thing, and the names that the rest of the query has, for "she"."""
    rest = query[: window.span.start] + " " + query[window.span.end :]
    names = [each for each in _NAME.findall(rest) if each not in window.anchor]
    return " ".join([*names, window.anchor])


def dating_row(ranked: Ranked) -> int | None:
    """The best candidate that is surely about the thing and states when it was.

    No turn of a conversation: that is of the day on which it was said.
    """
    found, scores = ranked.ranking.found, ranked.ranking.scores["lexical"]
    stated = (found.names_until > 0) | (found.valid_from != found.created)
    stated &= (found.talk.kind == Talk.NONE) & ~found.talk.asks
    for row in ranked.rows:
        if scores[row] >= SURE and stated[row]:
            return row
    return None


def dated_by(found: Candidates, row: int, memory_id: str) -> Dated:
    """When the thing was: the time that the text names, else when the memory held."""
    if found.names_until[row] > 0:
        return Dated(int(found.names_from[row]), int(found.names_until[row]), memory_id)
    end = int(found.held_until[row])
    return Dated(int(found.valid_from[row]), None if end == NEVER else end, memory_id)


def asked_times(
    found: Sequence[Window], dated: Mapping[str, Dated], *, no_window: bool
) -> AskedTimes:
    """All phrases with what was made of each, and what the dated ones have in common.

    `dated`: the things that could be dated, by their words in the query.
    """
    phrases, within = [], None
    for each in found:
        thing = dated.get(each.anchor)
        known = each if thing is None else each.beside(thing.begin, thing.end)
        use = _use(known, no_window=no_window)
        if use in (TimeUse.RANKED, TimeUse.PAST):
            own = Within(known.begin, known.end, each.phrase, known.of_past)
            both = own if within is None else within.and_(own)
            use, within = (TimeUse.NOT_USED, within) if both is None else (use, both)
        by = "" if thing is None else thing.memory_id
        words = _own_words(known, is_of_thing=bool(by))
        phrases.append(TimePhrase(each.phrase, known.begin, known.end, use, by, words))
    return AskedTimes(tuple(phrases), within)


def _own_words(window: Window, *, is_of_thing: bool) -> str:
    """The words of a phrase that say a fixed time, an edge, or that it is over; none where today
    decides, or where something was meanwhile."""
    if window.of_past and not window.is_dated:
        return "" if window.anchor else window.phrase
    if is_of_thing:
        return "" if window.relation is Relation.AT else window.phrase
    if window.begin is None or window.end is None:
        return window.phrase
    return (window.inner or window.phrase) if window.fixed else ""


def _use(window: Window, *, no_window: bool) -> TimeUse:
    if not window.is_dated and not window.of_past:
        return TimeUse.NOT_DATED
    if no_window:
        return TimeUse.NOT_USED
    return TimeUse.RANKED if window.is_dated else TimeUse.PAST
