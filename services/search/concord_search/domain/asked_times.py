"""The times that a query names, and how near to them a memory is (spec S11)."""

import re
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from concord_concepts.stop_words import STOP_WORDS

from concord_search.domain.candidates import Candidates, Floats
from concord_search.domain.filters import MemoryFilter, Superseded
from concord_search.domain.instants import DAY, NEVER, PRESENT, AsOf, Micros
from concord_search.domain.memory import Talk

EVER: Micros = -(1 << 53) + 1
"""Before every instant; the engine compares instants as doubles, which are exact from it on."""

OUTSIDE = 0.5
"""The score just outside the window."""

OPEN = 365 * DAY
"""How far outside an open window half of that is left; of any other, it is the window's length."""


class TimeUse(Enum):
    """What was made of a phrase that names a time."""

    RANKED = "ranked"
    PAST = "past"
    NOT_DATED = "not dated"
    NOT_USED = "not used"


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """A phrase of a query that names a time: half-open, None = open or not dated.

    `dated_by`: the memory that dates the thing to which the phrase is relative. `own`: its words
    that a fixed time, or the edge of an open one, does without.
    """

    phrase: str
    begin: Micros | None
    end: Micros | None
    use: TimeUse
    dated_by: str = ""
    own: str = ""


@dataclass(frozen=True, slots=True)
class Within:
    """The half-open window by which results are ranked. `of_past` and both None: what has ended."""

    begin: Micros | None
    end: Micros | None
    phrase: str
    of_past: bool = False

    def is_over(self, now: Micros) -> bool:
        """Whether what held then may have ended since."""
        return self.of_past or (self.end is not None and self.end <= now)

    def is_ahead(self, now: Micros) -> bool:
        """Whether what begins then may not have begun."""
        return any(edge is not None and edge > now for edge in (self.begin, self.end))

    def and_(self, other: "Within") -> "Within | None":
        """What both have in common; None if nothing."""
        begin = max(_lowest(self.begin), _lowest(other.begin))
        end = min(_highest(self.end), _highest(other.end))
        if begin >= end:
            return None
        said = f"{self.phrase}, {other.phrase}"
        return Within(
            None if begin == EVER else begin, None if end == NEVER else end, said, self.of_past
        )


@dataclass(frozen=True, slots=True)
class AskedTimes:
    """All time phrases of a query, and the window that they give together, if any."""

    phrases: tuple[TimePhrase, ...] = ()
    within: Within | None = None

    @property
    def in_words(self) -> str:
        """What was made of each phrase, in one or two short sentences; empty for none."""
        said = []
        for title, uses in (
            ("Ranked by time", {TimeUse.RANKED, TimeUse.PAST}),
            ("Times not used", {TimeUse.NOT_DATED, TimeUse.NOT_USED}),
        ):
            named = [f'"{each.phrase}"' for each in self.phrases if each.use in uses]
            said += [f"{title}: {', '.join(named)}."] if named else []
        return " ".join(said)

    def look_back(self, as_of: AsOf, now: Micros) -> bool:
        """Whether what was superseded or has ended belongs to the answer: the query asks for a time
        that is over, and the request names no instant of its own."""
        return as_of == PRESENT and self.within is not None and self.within.is_over(now)

    def look_ahead(self, as_of: AsOf, now: Micros) -> bool:
        """Whether what has not begun belongs to the answer: the query asks for a time that is not
        over, and the request names no instant of its own."""
        return as_of == PRESENT and self.within is not None and self.within.is_ahead(now)

    def looked_at(
        self, superseded: Superseded, wanted: MemoryFilter, as_of: AsOf, now: Micros
    ) -> tuple[Superseded, MemoryFilter]:
        """The mode and filter with what held then, or will hold, where a search leaves that out."""
        back, ahead = self.look_back(as_of, now), self.look_ahead(as_of, now)
        if superseded is not Superseded.EXCLUDE or not (back or ahead):
            return superseded, wanted
        if not wanted.names_valid_time:
            wanted = replace(wanted, valid_since=EVER if back else now)
        return (Superseded.INCLUDE if back else superseded), wanted

    def without_windows(self, query: str) -> str:
        """The query without the words of fixed times, of edges and of what is over: "in 2020",
        "before the wedding", "früher".

        They say when, not what. A fixed time is a term of its own; as words it would count once
        more, against the asked subject. "Last year" stays: texts say so, and have no such term. So
        does a thing during which it was: "during the wedding" is what is asked for, too. The query
        itself where no telling word is left.
        """
        rest = query
        for each in self.phrases:
            if each.use in (TimeUse.RANKED, TimeUse.PAST):
                rest = rest.replace(each.own, "", 1)
        words = re.findall(r"\w+", rest.casefold())
        return rest if any(each not in STOP_WORDS for each in words) else query


NO_TIMES = AskedTimes()


def window_fit(found: Candidates, within: Within, now: Micros) -> Floats:
    """1 for what held, happened or names a time within the window, else at most `OUTSIDE`.

    A turn happens on the day of its valid time; anything else holds from its valid time to its end.
    Outside, it halves with each length of the window. With `of_past` alone: 1 for what has ended.
    """
    is_turn = found.talk.kind != Talk.NONE
    until = np.where(is_turn, found.valid_from + DAY, found.held_until)
    if within.begin is None and within.end is None:
        return (until <= now).astype(np.float64)
    begin, end = _lowest(within.begin), _highest(within.end)
    gap = _gap(found.valid_from, until, begin, end)
    named = np.where(
        found.names_until > 0, _gap(found.names_from, found.names_until, begin, end), np.inf
    )
    gap = np.minimum(gap, named)
    is_open = within.begin is None or within.end is None
    half = OPEN if is_open else max(end - begin, DAY)
    return np.where(gap <= 0, 1.0, OUTSIDE * 0.5 ** (np.maximum(gap, 0.0) / half))


def _gap(since: np.ndarray, until: np.ndarray, begin: Micros, end: Micros) -> Floats:
    """How far each half-open span is from a window; 0 where they share an instant."""
    after = np.where(since >= end, since - end + 1, 0)
    before = np.where(until <= begin, begin - until + 1, 0)
    return np.maximum(after, before).astype(np.float64)


def _lowest(begin: Micros | None) -> Micros:
    return EVER if begin is None else begin


def _highest(end: Micros | None) -> Micros:
    return NEVER if end is None else end
