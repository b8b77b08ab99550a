"""Legal references as texts write them, and the rank of what they refer to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache

from concord_dissonance.domain.lexicon import read_classes

_PART = r"(?:Abs(?:atz|\.)?|Satz|S\.|Nr\.?|lit\.|Buchst\.|Unterabs\.|para(?:graph|\.)?|ff?\.)"
_LEADING = r"\b(?:[Nn]ach|[Gg]emäß|[Ll]aut|[Uu]nder|[Pp]ursuant to)\s+(?:(?:der|dem|den|the)\s+)?"
_NAMED = re.compile(rf"{_LEADING}(?P<law>(?=\w{{3}})[A-ZÄÖÜ]\w*[A-ZÄÖÜ]\w*)(?![-\w])")
"""A statute by its short name alone, e.g. "nach BayBO"."""
_REFERENCE = re.compile(
    r"(?:§{1,2}\s*|\b(?:Art(?:ikel|icle|\.)?|Section|Sec\.)\s+)\d+[a-z]?\b"
    rf"(?:\s*\(\w+\)|,?\s*(?:und\s+|and\s+|,\s*)?{_PART}(?:\s*(?:\d+[a-z]?|[a-z])\b)?)*"
    r"(?:\s+(?:of\s+the\s+|of\s+|der\s+|des\s+)?[A-ZÄÖÜ][\w-]*(?:\s+(?:[A-ZÄÖÜ][\w-]*)){0,3})?"
)
_LED = re.compile(rf"(?:{_LEADING})?{_REFERENCE.pattern}")


def legal_references(text: str) -> list[str]:
    """Return the statutes that a text names, e.g. "§ 10 Abs. 1 BauGB", each once."""
    found = [each.group().strip() for each in _REFERENCE.finditer(text)]
    return list(dict.fromkeys([*found, *(each["law"] for each in _NAMED.finditer(text))]))


def without_references(text: str) -> str:
    """Return a text without the statutes that it names, and what leads to them."""
    return _LED.sub(" ", _NAMED.sub(" ", text))


def states_basis(texts: Iterable[str], basis: str) -> bool:
    """Whether one of the texts states a basis literally, in whole words, whatever its blanks."""
    words = r"\s*".join(map(re.escape, basis.casefold().split()))
    wanted = re.compile(rf"(?<!\w){words}(?!\w)")
    return any(wanted.search(text.casefold()) for text in texts)


def rank(bases: Iterable[str]) -> int | None:
    """Return the highest legal rank among some bases; None where none is known."""
    found = [known for each in bases if (known := _rank(each)) is not None]
    return max(found, default=None)


def _rank(basis: str) -> int | None:
    words = [each.strip(".,;()") for each in basis.casefold().split()]
    for number, patterns in _ranks().items():
        if any(fnmatchcase(word, pattern) for word in words for pattern in patterns):
            return number
    return None


@cache
def _ranks() -> Mapping[int, frozenset[str]]:
    """Return patterns of names by their rank; one that fits several has the first one's."""
    return {
        int(name.removeprefix("rank ")): frozenset(body.split())
        for name, body in read_classes("legal.txt")
    }
