"""Legal references in texts, and the ranks and regions of the statutes that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache

from concord_reading.lexicon import read_classes

from concord_dissonance.domain.dialectic.phrases import PHRASES

UNION, FEDERAL, LAND = 8, 6, 4
"""The ranks of the Union's law, of a federal statute and of a Land's."""
_PART = r"(?:Abs(?:atz|\.)?|Satz|S\.|Nr\.?|lit\.|Buchst\.|Unterabs\.|para(?:graph|\.)?|ff?\.)"
_LEADING = r"\b(?:[Nn]ach|[Gg]emäß|[Ll]aut|[Uu]nder|[Pp]ursuant to)\s+(?:(?:der|dem|den|the)\s+)?"
_SHORT = r"(?=\w{3})[A-ZÄÖÜ]\w*[A-ZÄÖÜ]\w*(?![-\w])"
_GERMAN = (
    r"(?!Besatzung)(?=[A-ZÄÖÜ])\w*(?i:satzung|verordnung|gesetz|gesetzbuch|verfassung|richtlinie"
    r"|bauordnung|gemeindeordnung|gewerbeordnung|prozessordnung|verkehrsordnung)\b"
)
_ENGLISH = (
    r"(?:(?i:federal|state|national|municipal|local|city|company|EU)\s+){0,2}"
    r"(?i:law|act|statute|constitution|ordinance|regulation|bylaw|by-law|guideline)\b"
)
_NAMED = re.compile(
    rf"{_LEADING}(?P<led>{_SHORT}|{_GERMAN}|{_ENGLISH})"
    rf"|^(?:The\s+|Die\s+|Das\s+)?(?P<law>{_GERMAN}|{_ENGLISH})"
)
"""A statute by its name alone: after a leading word, as in "nach BayBO", or at the beginning."""
_REFERENCE = re.compile(
    r"(?:§{1,2}\s*|\b(?:Art(?:ikel|icle|\.)?|Section|Sec\.)\s+)\d+[a-z]?\b"
    rf"(?:\s*\(\w+\)|,?\s*(?:und\s+|and\s+|,\s*)?{_PART}(?:\s*(?:\d+[a-z]?|[a-z])\b)?)*"
    r"(?:\s+(?:of\s+the\s+|of\s+|der\s+|des\s+)?[A-ZÄÖÜ][\w-]*(?:\s+(?:[A-ZÄÖÜ][\w-]*)){0,3})?"
)
_NUMBERED = re.compile(
    r"(?:§{1,2}|\b(?P<kind>art|sec)(?:ikel|icle|tion|\.)?)\s*(?P<number>\d+[a-z]?)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d/])(?:19|20)\d\d(?![\d/])")
_SECTION = re.compile(rf"{_NUMBERED.pattern}|{_PART}\s*\d*[a-z]?\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_LED = re.compile(rf"(?:{_LEADING})?{_REFERENCE.pattern}")


def legal_references(text: str) -> list[str]:
    """Return the statutes that a text names, e.g. "§ 10 Abs. 1 BauGB", each once."""
    found = [each.group().strip() for each in _REFERENCE.finditer(text)]
    found += [each["led"] or each["law"] for each in _NAMED.finditer(text)]
    return list(dict.fromkeys(found))


def without_references(text: str) -> str:
    """Return a text without the statutes that it names, and the words that lead to them."""
    return _LED.sub(" ", _NAMED.sub(" ", text))


def numbered(text: str) -> frozenset[tuple[str, str]]:
    """Return the sections that a text names by number, however it writes them: "§ 10", "Art. 6"."""
    return frozenset(
        ((each["kind"] or "§").casefold(), each["number"].casefold())
        for each in _NUMBERED.finditer(text)
    )


def edition(bases: Iterable[str]) -> tuple[str, int]:
    """Return a statute's name without its sections, and the year of its edition; 0: none named."""
    text = " ".join(bases).casefold()
    years = _YEAR.findall(text)
    name = " ".join(_WORD.findall(_SECTION.sub(" ", _YEAR.sub(" ", text))))
    return name, int(years[-1]) if years else 0


def states_basis(texts: Iterable[str], basis: str) -> bool:
    """Whether one of the texts states a basis literally, in whole words, blanks aside."""
    words = r"\s*".join(map(re.escape, basis.casefold().split()))
    wanted = re.compile(rf"(?<!\w){words}(?!\w)")
    return any(wanted.search(text.casefold()) for text in texts)


def rank(bases: Iterable[str]) -> int | None:
    """Return the highest legal rank among some bases; None: no rank is known."""
    found = [known for each in bases if (known := _rank(each)) is not None]
    return max(found, default=None)


def regions(bases: Iterable[str]) -> frozenset[str]:
    """Return the regions whose own statutes are among some bases, by their first names."""
    return frozenset().union(*map(_regions, bases))


def _regions(basis: str) -> frozenset[str]:
    named = PHRASES.regions(basis)
    found = _class_of(basis, "region")
    return named or frozenset({found} if found else ())


def _rank(basis: str) -> int | None:
    found = _class_of(basis, "rank")
    if not found:
        return LAND if any(map(PHRASES.is_state, _regions(basis))) else None
    known = int(found)
    is_of_land = any(map(PHRASES.is_state, _regions(basis)))
    return LAND if is_of_land and known == FEDERAL else known


def _class_of(basis: str, kind: str) -> str:
    """Return the first rank, or region, with a pattern for a word of the basis; else empty."""
    written = [each.strip(".,;()") for each in basis.split()]
    words = written + [each.casefold() for each in written]
    for name, patterns in _classes(kind).items():
        if any(fnmatchcase(word, pattern) for word in words for pattern in patterns):
            return name
    return ""


@cache
def _classes(kind: str) -> Mapping[str, frozenset[str]]:
    """Return the patterns of statutes' names by rank, or by region."""
    return {
        name.removeprefix(f"{kind} "): frozenset(body.split())
        for name, body in read_classes("legal.txt", __package__)
        if name.startswith(f"{kind} ")
    }
