"""Recognises questions, those for times or the past, and the first person by a text's words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from concord_reading.times import Relation, Window, windows

from concord_search.domain.instants import Micros

_ASKS = re.compile(r"\?[\"')\]\s]*(\[[^\]]*\]\s*)?$")
"""A question mark at the end, where a bracket such as a picture's caption may follow."""

_SPANS = "day|night|morning|evening|weekend|week|month|year|summer|winter|spring|autumn|fall"
_ASKS_WHEN = re.compile(
    rf"\b(?:when|how (?:long|often|many (?:{_SPANS})s)|(?:what|which) (?:date|time|{_SPANS})"
    r"|wann|wie (?:lange|oft|viele (?:tage|wochen|monate|jahre))"
    r"|(?:welche[mnrs]?) (?:datum|tag|woche|monat|jahr|zeit))\b",
    re.IGNORECASE,
)
"""In English and in German."""

_YEAR = 4
"""Characters of a year."""

_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a query asks: whether it wants a time, and whether it is in the first person."""

    when: bool = False
    first_person: bool = False

    @classmethod
    def by(cls, query: str) -> "Asked":
        """Reads both from the words of a query."""
        return cls(_ASKS_WHEN.search(query) is not None, _FIRST_PERSON.search(query) is not None)


NOTHING_ASKED = Asked()


def asks(text: str) -> bool:
    """Whether a text is a question."""
    return _ASKS.search(text) is not None


def says_when(named: Sequence[Window]) -> bool:
    """Whether one of the times that a text names is told in words, or is a year.

    A date in figures alone is most often that of a list or of the text itself.
    """
    return any(len(each.phrase) == _YEAR or any(map(str.isalpha, each.phrase)) for each in named)


def asks_of_the_past(text: str, now: Micros) -> bool:
    """Whether a question is about the past, rather than the present."""
    return any(each.of_past or each.relation is Relation.BEFORE for each in windows(text, now))
