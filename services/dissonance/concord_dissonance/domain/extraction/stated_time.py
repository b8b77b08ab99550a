"""Times that a clause states: dates with a year, and phrases such as "yesterday" by the text's own
time (D13). What the clause does not state stays unstated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple

from concord_reading.frame import Frame
from concord_reading.lexicon import lexicon, read_classes
from concord_reading.quantities import Date

from concord_dissonance.domain.extraction.words import words_of
from concord_dissonance.domain.sides import Micros

_ONE = {"en": ("a", "an", "one"), "de": ("einem", "einer", "einen")}
_BEFORE = 20
"""Characters before a time that can hold "since" or "about"."""
_FIRST_YEAR, _LAST_YEAR = 2, 9998


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
        if (days := _days(date)) is None:
            continue
        link, start = _before(text, each.start)
        if link in words["since"]:
            yield Period(_micros(days[0]), None, start, each.end)
        elif link in words["until"]:
            yield Period(None, _micros(days[0]), start, each.end)
        elif link in words["telling"]:
            yield Period(_micros(days[0]), _micros(days[1]), start, each.end)


def _before(text: str, at: int) -> tuple[str, int]:
    """Return the word before a place, folded, and where it begins."""
    found = re.search(r"(\w+)\s+\Z", text[max(0, at - _BEFORE) : at])
    return (found[1].lower(), at - len(found[0])) if found else ("", at)


def _days(date: Date) -> tuple[datetime, datetime] | None:
    """Return a date's first instant and the one after its last; None: there is no such day."""
    if date.year is None or not _FIRST_YEAR < date.year < _LAST_YEAR:
        return None
    try:
        first = datetime(date.year, date.month or 1, date.day or 1, tzinfo=UTC)
    except ValueError:
        return None
    if date.day is not None:
        return first, first + timedelta(days=1)
    return (first, _month(first, 1)) if date.month else (first, first.replace(year=date.year + 1))


def _relative(text: str, frame: Frame, now: datetime) -> Iterator[Period]:
    begin = frame.span.start
    for pattern, unit, away in _phrases(frame.language):
        for match in pattern.finditer(text, begin, frame.span.end):
            link, start = _before(text, match.start())
            words = words_of(frame.language)
            if link in words["approximately"]:
                continue
            number = _number(match.groupdict().get("n"), frame.language)
            count = away if away is not None else -number
            weekday = lexicon(frame.language).weekdays.get(
                (match.groupdict().get("weekday") or "").lower(), 0
            )
            first, after = _period(unit, count, weekday, now)
            if link in words["since"]:
                yield Period(_micros(first), None, start, match.end())
            elif link in words["until"]:
                yield Period(None, _micros(first), start, match.end())
            else:
                yield Period(_micros(first), _micros(after), *match.span())


def _number(spelt: str | None, language: str) -> int:
    if spelt is None:
        return 0
    word = spelt.lower()
    if word in _ONE[language]:
        return 1
    return int(word) if word.isdecimal() else lexicon(language).numbers[word]


def _period(unit: str, count: int, weekday: int, now: datetime) -> tuple[datetime, datetime]:
    """Return the first instant of a day, week, month or year so far away, and the one after."""
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "weekday":
        first = day - timedelta(days=(day.isoweekday() - weekday - 1) % 7 + 1)
        return first, first + timedelta(days=1)
    if unit == "weekend":
        first = day - timedelta(days=(day.isoweekday() - 1) % 7 + 2)
        return first, first + timedelta(days=2)
    if unit == "day":
        first = day + timedelta(days=count)
        return first, first + timedelta(days=1)
    if unit == "week":
        first = day - timedelta(days=day.isoweekday() - 1) + timedelta(weeks=count)
        return first, first + timedelta(weeks=1)
    if unit == "month":
        first = _month(day.replace(day=1), count)
        return first, _month(first, 1)
    first = day.replace(year=max(_FIRST_YEAR, day.year + count), month=1, day=1)
    return first, first.replace(year=first.year + 1)


def _month(first: datetime, away: int) -> datetime:
    months = first.year * 12 + first.month - 1 + away
    return first.replace(year=max(_FIRST_YEAR, months // 12), month=months % 12 + 1)


def _micros(time: datetime) -> Micros:
    return Micros(int(time.timestamp()) * 1_000_000)


@cache
def _phrases(language: str) -> Sequence[tuple[re.Pattern[str], str, int | None]]:
    """Return the patterns of the phrases, each with its unit, and how many away; None: minus n."""
    known = lexicon(language)
    numbers = "|".join([r"\d{1,3}", *_ONE[language], *map(re.escape, known.numbers)])
    parts = {"n": f"(?P<n>{numbers})", "weekday": f"(?P<weekday>{'|'.join(known.weekdays)})"}
    found: list[tuple[re.Pattern[str], str, int | None]] = []
    for unit, body in read_classes(f"times.{language}.txt", __package__):
        for line in body.splitlines():
            phrase, _, away = line.partition(":")
            spelt = r"\s+".join(parts.get(word, word) for word in phrase.split())
            pattern = re.compile(rf"\b{spelt}\b", re.IGNORECASE)
            found.append((pattern, unit, None if "n" in away else int(away)))
    return found
