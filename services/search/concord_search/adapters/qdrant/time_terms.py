"""Times as terms of the sparse vector: each year, month and weekday that a text names (S11).

They are words that no text holds, beside the text's own: so "2024-03-05" is found by "in March
2024", and a date in German by one in English.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from concord_reading.times import Window

from concord_search.domain.instants import DAY, Micros

MOST_MONTHS = 12
"""Of a longer time only the years are terms."""
MOST_YEARS = 10
"""A longer time has no terms."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def with_times(text: str, named: Sequence[Window]) -> str:
    """A text with the terms of those of its times that do not depend on when it was said."""
    terms = of_spans((each.begin, each.end) for each in named if each.fixed)
    return f"{text}\n{' '.join(terms)}" if terms else text


def of_spans(spans: Iterable[tuple[Micros | None, Micros | None]]) -> Sequence[str]:
    """The terms of half-open spans; an open one has those of its one side."""
    found: dict[str, None] = {}
    for begin, end in spans:
        if begin is None and end is None:
            continue
        first = begin if begin is not None else (end or 0) - 1
        last = end - 1 if begin is not None and end is not None else first
        found |= dict.fromkeys(_terms(_day(first), _day(last), last - first))
    return list(found)


def _terms(first: datetime, last: datetime, length: Micros) -> Iterable[str]:
    if last.year - first.year >= MOST_YEARS:
        return
    for year in range(first.year, last.year + 1):
        yield f"timey{year}"
    months = (last.year - first.year) * 12 + last.month - first.month
    if months >= MOST_MONTHS:
        return
    for away in range(months + 1):
        place = first.year * 12 + first.month - 1 + away
        yield f"timem{place // 12}x{place % 12 + 1}"
    if length < DAY:
        yield f"timed{first.isoweekday()}"


def _day(instant: Micros) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=instant)
    except OverflowError:
        return _EPOCH
