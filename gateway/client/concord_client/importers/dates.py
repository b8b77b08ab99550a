"""Reads dates and times as people and their tools write them."""

import re
from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise

_AM, _PM = (
    r"[Aa]\.?\s?[Mm]\b\.?|ص|πμ|π\.μ\.",
    r"[Pp]\.?\s?[Mm]\b\.?|م|μμ|μ\.μ\.",
)
_AM_BEFORE, _PM_BEFORE = "上午|凌晨|早上|清晨|오전|午前", "下午|中午|晚上|오후|午後"
DATE = r"\d{1,4}[-/.]\s?\d{1,2}[-/.]\s?\d{1,4}\.?"
"""A pattern of a date in numbers."""
CLOCK = (
    rf"(?:(?:{_AM_BEFORE}|{_PM_BEFORE})\s?)?\d{{1,2}}[:.]\d{{2}}(?:[:.]\d{{2}})?"
    rf"(?:\s?(?:{_AM}|{_PM}))?"
)
"""A pattern of a time of day, in the halves of a day that messengers' languages name."""
_WRITTEN = re.compile(
    r"(?P<first>\d{1,4})(?P<mark>[-/.])\s?(?P<second>\d{1,2})(?P=mark)\s?(?P<third>\d{1,4})\.?"
    rf"(?:[T,،]?\s*(?:(?:(?P<am_before>{_AM_BEFORE})|(?P<pm_before>{_PM_BEFORE}))\s?)?"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<of_minute>\d{2}))?"
    rf"(?:\s?(?:(?P<am>{_AM})|(?P<pm>{_PM})))?)?"
)
_CENTURY = 2000
_MOST = 12
"""Months, and hours of half a day."""
_CLOCK = r"(?:,?\s+(?:at\s+|um\s+)?(?P<clock>\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp]\.?[Mm]\.?)?))?"
_ZONE = r"(?:\s*\([^()]*\)|\s+Uhr)?"
_NAMED = r"(?P<month>[^\W\d_]{3,})\.?"
_WEEKDAY = r"(?:[^\W\d_]+\.?,\s+|[^\W\d_]+(?:day|tag|woch)\s+)?"
_IN_WORDS = [
    re.compile(rf"{_WEEKDAY}{each},?\s+(?:del?\s+)?(?P<year>\d{{4}}){_CLOCK}{_ZONE}")
    for each in (
        rf"{_NAMED}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?",
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|er|º)?\s+(?:of\s+|de\s+)?{_NAMED}",
    )
]
_MONTH_NAMES = (
    ("january", "januar", "jänner", "janvier", "enero"),
    ("february", "februar", "février", "febrero"),
    ("march", "märz", "mrz", "mars", "marzo"),
    ("april", "avril", "abril"),
    ("may", "mai", "mayo"),
    ("june", "juni", "juin", "junio"),
    ("july", "juli", "juillet", "julio"),
    ("august", "août", "agosto"),
    ("september", "septembre", "septiembre"),
    ("october", "oktober", "octobre", "octubre"),
    ("november", "novembre", "noviembre"),
    ("december", "dezember", "décembre", "diciembre"),
)
_DIGITS = re.compile(r"(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2})?)?")
_MONTH = re.compile(r"(\d{4})[-/.](\d{1,2})")


def instant_of(text: str, *, month_first: bool = False) -> datetime | None:
    """The time in a text: ISO 8601, dd.mm.yyyy, dd/mm/yy or yyyy/mm/dd, with or without a clock;
    a month, yyyy-mm, is its first day. Also dates in English, German, French and Spanish words:
    March 5, 2024 and 5. März 2024.

    None for another text. `month_first`: 3/4/2024 is the fourth of March; dates with dots never
    name the month first. The time has a zone only if the text names one.
    """
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        pass
    text = text.strip().removeprefix("@").partition(" → ")[0]  # as Notion writes a span
    if month := _MONTH.fullmatch(text):
        text = f"{month[1]}-{month[2]}-1"
    text = _in_digits(text)
    found = _WRITTEN.fullmatch(text)
    return _time(found, month_first=month_first) if found else None


def instant_of_digits(text: str) -> datetime | None:
    """The time that an id such as 202403051230 is made of, also with seconds or of the day only."""
    if not (found := _DIGITS.fullmatch(text)):
        return None
    parts = [int(each) for each in found.groups(default="0")]
    try:
        return datetime(*parts)  # type: ignore[arg-type] # noqa: DTZ001 - the text names no zone
    except ValueError:
        return None


def _in_digits(text: str) -> str:
    """A date in words as yyyy-mm-dd; another text as it is."""
    for pattern in _IN_WORDS:
        if (found := pattern.fullmatch(text)) and (month := _number(found["month"].casefold())):
            date = f"{found['year']}-{month}-{found['day']}"
            return f"{date} {found['clock']}" if found["clock"] else date
    return text


def _number(name: str) -> int:
    """The number of a month by its name or the beginning of one; 0 for another word."""
    return next(
        (at for at, names in enumerate(_MONTH_NAMES, 1) if any(n.startswith(name) for n in names)),
        0,
    )


def is_month_first(texts: Iterable[str]) -> bool:
    """Whether the dates of a file name the month first, where both readings are possible.

    Decided by a number over 12, else by the reading with fewer steps back in time, else by the
    spelling: in the United States 3/4/24 is usual, elsewhere 03/04/2024.
    """
    found = [each for text in texts if (each := _WRITTEN.fullmatch(text.strip()))]
    open_ = [each for each in found if each["mark"] != "." and len(each["first"]) <= 2]
    if any(int(each["first"]) > _MOST for each in open_):
        return False
    if any(int(each["second"]) > _MOST for each in open_):
        return True
    backward = [_backward(open_, month_first=order) for order in (False, True)]
    if backward[0] != backward[1]:
        return backward[1] < backward[0]
    return any(len(each["first"]) == 1 and len(each["third"]) <= 2 for each in open_)


def _backward(found: list[re.Match[str]], *, month_first: bool) -> int:
    """How many times are earlier than the one before."""
    times = [time for each in found if (time := _time(each, month_first=month_first))]
    return sum(later < earlier for earlier, later in pairwise(times))


def _time(found: re.Match[str], *, month_first: bool) -> datetime | None:
    try:
        return _read(found, month_first=month_first)
    except ValueError:
        return None


def _read(found: re.Match[str], *, month_first: bool) -> datetime:
    first, month, third = (int(found[name]) for name in ("first", "second", "third"))
    year, day = (first, third) if len(found["first"]) > 2 else (third, first)
    if month_first and found["mark"] != "." and len(found["first"]) <= 2:
        month, day = day, month
    year += _CENTURY if year < 100 else 0
    hour = int(found["hour"] or 0)
    is_pm = bool(found["pm"] or found["pm_before"])
    if is_pm or found["am"] or found["am_before"]:
        hour = hour % _MOST + (_MOST if is_pm else 0)
    minute, second = int(found["minute"] or 0), int(found["of_minute"] or 0)
    return datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 - the text names none
