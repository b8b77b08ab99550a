"""Reads dates and times as people and their tools write them."""

import re
from collections.abc import Iterable
from datetime import datetime

_WRITTEN = re.compile(
    r"(?P<first>\d{1,4})(?P<mark>[-/.])(?P<second>\d{1,2})(?P=mark)(?P<third>\d{1,4})"
    r"(?:[T,]?\s*(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<of_minute>\d{2}))?"
    r"(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?)?"
)
_CENTURY = 2000
_MOST = 12
"""Months, and hours of half a day."""


def instant_of(text: str, *, month_first: bool = False) -> datetime | None:
    """A time in ISO 8601, as dd.mm.yyyy, dd/mm/yy, yyyy/mm/dd, with a clock or without; else None.

    `month_first`: 3/4/2024 is the fourth of March; with dots it never is. Has a zone only where the
    text has one.
    """
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        pass
    found = _WRITTEN.fullmatch(text.strip())
    try:
        return _read(found, month_first=month_first) if found else None
    except ValueError:
        return None


def is_month_first(texts: Iterable[str]) -> bool:
    """Whether dates with slashes name the month first: where one could not be read otherwise, or
    the clock has halves."""
    for text in texts:
        found = _WRITTEN.fullmatch(text.strip())
        if not found or found["mark"] == "." or len(found["first"]) == 4:
            continue
        if int(found["first"]) > _MOST:
            return False
        if int(found["second"]) > _MOST or found["half"]:
            return True
    return False


def _read(found: re.Match[str], *, month_first: bool) -> datetime:
    first, month, third = (int(found[name]) for name in ("first", "second", "third"))
    year, day = (first, third) if len(found["first"]) > 2 else (third, first)
    if month_first and found["mark"] != "." and len(found["first"]) <= 2:
        month, day = day, month
    year += _CENTURY if year < 100 else 0
    hour = int(found["hour"] or 0)
    if found["half"]:
        hour = hour % _MOST + (_MOST if found["half"] in "Pp" else 0)
    minute, second = int(found["minute"] or 0), int(found["of_minute"] or 0)
    return datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 - the text names none
