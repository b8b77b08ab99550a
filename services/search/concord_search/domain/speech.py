"""Recognises questions, times and the first person in a text by its words (English)."""

import re
from dataclasses import dataclass

_ASKS = re.compile(r"\?[\"')\]\s]*(\[[^\]]*\]\s*)?$")
"""A question mark at the end, where a bracket such as a picture's caption may follow."""

_MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_SPANS = "day|night|morning|evening|weekend|week|month|year|summer|winter|spring|autumn|fall"
_WHEN = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|since|recently|{_MONTHS}|{_DAYS}"
    rf"|(?:last|next|this|past|few|two|three) (?:{_SPANS})s?|(?<![-\d])(?:19|20)\d\d(?![-\d]))\b",
    re.IGNORECASE,
)
_ASKS_WHEN = re.compile(
    rf"\b(?:when|how (?:long|often|many (?:{_SPANS})s)|(?:what|which) (?:date|time|{_SPANS}))\b",
    re.IGNORECASE,
)
_ASKS_OF_THE_PAST = re.compile(
    r"\b(?:used to|previously|former(?:ly)?|originally|before(?= (?:that|it|the)\b|\W*$)|at first"
    r"|in the past|back then|at the time|earlier|no longer"
    r"|früher\w*|damals|ehemal\w*|vormals|ursprünglich\w*|anfangs|vorher|zuvor)\b",
    re.IGNORECASE,
)
"""In English and in German."""


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


def says_when(text: str) -> bool:
    """Whether a text names a time in words, or a year."""
    return _WHEN.search(text) is not None


def asks_of_the_past(text: str) -> bool:
    """Whether a question is about the past, rather than the present."""
    return _ASKS_OF_THE_PAST.search(text) is not None
