"""Times that a clause states: dates with a year, and phrases such as "yesterday" by the text's own
time (D13). What the clause does not state stays unstated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from concord_reading.frame import Frame
from concord_reading.periods import whole_days
from concord_reading.quantities import Date
from concord_reading.times import phrases_away

from concord_dissonance.domain.extraction.words import words_of
from concord_dissonance.domain.sides import Micros

_BEFORE = 20
"""Characters before a time that can hold "since" or "about"."""


class Period(NamedTuple):
    """From when and until when (exclusive) something held; None: not stated."""

    since: Micros | None
    until: Micros | None
    start: int
    """Where the phrase that states it begins in the text, and ends."""
    end: int


def stated_times(text: str, frame: Frame, time: Micros | None) -> list[Period]:
    """Return the times that a clause of a text states; `time`: the text's own."""
    found = [*_dates(text, frame)]
    if time is not None:
        found += _relative(text, frame, datetime.fromtimestamp(time / 1e6, UTC))
    return [
        each
        for at, each in enumerate(found)
        if not any(other.start <= each.start and each.end <= other.end and other != each
                   for other in (*found[:at], *found[at + 1 :]))
    ]  # fmt: skip


def _dates(text: str, frame: Frame) -> Iterator[Period]:
    words = words_of(frame.language)
    for each in frame.words:
        date = each.value
        if not isinstance(date, Date) or date.year is None:
            continue
        days = whole_days(date.year, date.month, date.day)
        if days is None or days.begin is None or days.end is None:
            continue
        link, start = _before(text, each.start)
        if link in words["since"]:
            yield Period(_micros(days.begin), None, start, each.end)
        elif link in words["until"]:
            yield Period(None, _micros(days.begin), start, each.end)
        elif link in words["telling"]:
            yield Period(_micros(days.begin), _micros(days.end), start, each.end)


def _before(text: str, at: int) -> tuple[str, int]:
    """Return the word before a place, folded, and where it begins."""
    found = re.search(r"(\w+)\s+\Z", text[max(0, at - _BEFORE) : at])
    return (found[1].lower(), at - len(found[0])) if found else ("", at)


def _relative(text: str, frame: Frame, now: datetime) -> Iterator[Period]:
    words = words_of(frame.language)
    for whole, (begin, end) in phrases_away(text, frame.span, frame.language, now):
        link, start = _before(text, begin)
        if whole.begin is None or whole.end is None or whole.begin > now:
            continue  # what is to come is no fact yet
        if link in words["approximately"]:
            continue
        if link in words["since"]:
            yield Period(_micros(whole.begin), None, start, end)
        elif link in words["until"]:
            yield Period(None, _micros(whole.begin), start, end)
        else:
            yield Period(_micros(whole.begin), _micros(whole.end), begin, end)


def _micros(time: datetime) -> Micros:
    return Micros(int(time.timestamp()) * 1_000_000)
