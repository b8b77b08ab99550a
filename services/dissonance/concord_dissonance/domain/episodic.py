"""Which memories say what was once, and not what is: no check compares their texts (D3).

These are turns, journals, notes that are named by a date, and logs. Two days of a diary disagree
in every line and contradict each other in none. Facts that they state are compared all the same.
"""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

from concord_dissonance.domain.sides import Kind
from concord_dissonance.domain.statements import Statement

KINDS = frozenset({Kind.TURN, Kind.JOURNAL})
"""The kinds of memories that are episodic, whatever their names are."""
_YEAR, _DAY = r"(?:19|20)\d\d", r"[0-3]?\d"
_DATE = re.compile(
    rf"{_YEAR}([-_./ ]?)[01]?\d\1{_DAY}|{_DAY}([-./]){_DAY}\2{_YEAR}|{_YEAR}-[01]\d|{_YEAR}-?w\d\d"
)
_MONTH = re.compile(
    "jan(uary|uar)?|jänner|feb(ruary|ruar)?|mar(ch)?|märz|apr(il)?|may|mai|june?|juni|july?|juli"
    "|aug(ust)?|sept?(ember)?|o[ck]t(ober)?|nov(ember)?|de[cz](ember)?"
)
_WEEKDAY = re.compile(
    "(mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun"
    "|(mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend|mo|di|mi|do|fr|sa|so"
)
_FULL_YEAR = re.compile(_YEAR)
_ORDINAL = re.compile(rf"{_DAY}(?:st|nd|rd|th)?")
_TITLE = re.compile(r"#{1,6}[ \t]+(.+)")
_LOG = re.compile(r"(?:.*[\W_])?(?:change|work)?logs?")
_STAMP = re.compile(
    rf"[\[(<]?(?:{_YEAR}[-/.][01]\d[-/.][0-3]\d[T ,]+[0-2]\d:[0-5]\d"
    r"|[a-z]{3} +[0-3]?\d [0-2]\d:[0-5]\d:[0-5]\d |[0-2]\d:[0-5]\d:[0-5]\d\b)",
    re.IGNORECASE,
)
"""A date with a time of day, as each entry of a log begins."""


def without_episodic(statements: Iterable[Statement]) -> tuple[list[Statement], Counter[str]]:
    """Return the statements that are compared, and how many others there are, by reason."""
    kept, left = [], Counter[str]()
    for each in statements:
        if reason := why_left_out(each):
            left[reason] += 1
        else:
            kept.append(each)
    return kept, left


def why_left_out(statement: Statement) -> str:
    """Return "TURN", "JOURNAL", "DATED_NOTE" or "LOG"; empty for what is compared."""
    if statement.side.kind in KINDS:
        return statement.side.kind.name
    if statement.side.kind is Kind.EDGE:
        return ""
    titled = _TITLE.match(statement.side.text)
    files = [PurePosixPath(each.partition("#")[0]) for each in statement.names]
    names = [statement.id, *(file.stem for file in files), *(titled.groups() if titled else ())]
    if any(map(is_date, names)):
        return "DATED_NOTE"
    is_log = any(file.suffix == ".log" or _LOG.fullmatch(file.stem.casefold()) for file in files)
    return "LOG" if is_log or _STAMP.match(statement.side.text) else ""


def is_date(name: str) -> bool:
    """Return whether a name is a date and nothing else: a day, a week or a month of a year."""
    left, count = _DATE.subn(" ", name.strip().casefold(), count=1)
    words = [word for word in re.findall(r"\w+", left) if not _WEEKDAY.fullmatch(word)]
    if count:
        return not words
    months, years, days = (
        [word for word in words if form.fullmatch(word)] for form in (_MONTH, _FULL_YEAR, _ORDINAL)
    )
    is_all = len(words) == len(months) + len(years) + len(days)
    return is_all and len(months) == len(years) == 1 and len(days) < 2
