"""Reads what a decision record says of others: "Superseded by [2. Chat](0002.md)" and its kin."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from concord_client.importers.dates import instant_of
from concord_client.importers.vault import LINK

_ACTIVE = {
    "supersedes": "supersedes",
    "supercedes": "supersedes",  # as adr-tools writes it
    "replaces": "supersedes",
    "obsoletes": "supersedes",
    "deprecates": "deprecates",
    "amends": "amends",
}
_PASSIVE = {
    "amended" if word == "amends" else f"{word[:-1]}d": key for word, key in _ACTIVE.items()
}
# Marks of lists, tables and emphasis, not of quotations; a former status, as in "Accepted, ...".
_MARKS = r"[\s*_+|~#:\[-]*+"
_BEGINS = rf"{_MARKS}(?:status[\s*_|:]++)?{_MARKS}(?:(?:[a-z]+[,;.]|[a-z]+~~)\s+)?{_MARKS}"
_SAID = re.compile(
    rf"{_BEGINS}(?:(?P<passive>{'|'.join(_PASSIVE)})[ _-]by|(?P<active>{'|'.join(_ACTIVE)}))\b"
    r"[*_:\s|]*(?P<rest>.*)",
    re.IGNORECASE,
)
_TO_THIS = re.compile(
    rf"[\s*_,]+(?:has\s+|have\s+)?(?P<word>{'|'.join([*_ACTIVE, *_PASSIVE])})\s+(?:this|it)\b",
    re.IGNORECASE,
)
NUMBER = re.compile(
    r"(?:ADR|RFC|decision|record)?[-_ #]{0,2}(\d{1,5})(?!\d|[-/.]\d)", re.IGNORECASE
)
_ALONE = re.compile(r"\s*(?:$|[,;.:)\]&*_|]|(?:and|und)\b)", re.IGNORECASE)
"""What follows a bare number that names a record: "Replaces 3 servers" names none."""
_AND = re.compile(r"[\s,;&*_]*(?:(?:and|und)\b)?[\s*_]*", re.IGNORECASE)
_ITEM = re.compile(r"\s*[-*+]\s+")
_DATE = re.compile(
    r"[\s*_+|-]*+(?:date|datum|created|created at|created time)[\s*_]*+[:|][\s*_|]*+"
    r"(?P<date>[^|*_\n]+)[\s*_|]*+",
    re.IGNORECASE,
)
_FARTHEST_DATE = 40
"""Lines of a note in which its date is looked for."""


@dataclass(frozen=True, slots=True)
class Stated:
    """One thing that a note says about another."""

    key: str
    """supersedes, amends or deprecates."""
    target: str
    """The link or number that names the other note, as written."""
    is_passive: bool
    """Whether the other note supersedes, amends or deprecates this one."""


def stated_in(lines: Sequence[str]) -> Iterator[Stated]:
    """What lines say that begin with such a word, or with the link that does it to "this"."""
    for at, line in enumerate(lines):
        if said := _SAID.fullmatch(line):
            word = (said["passive"] or said["active"]).casefold()
            key = _PASSIVE[word] if said["passive"] else _ACTIVE[word]
            rest = said["rest"]
            targets = _targets(rest) or _linked(rest, bool(said["passive"]))
            for target in targets or _below(lines[at + 1 :], rest):
                yield Stated(key, target, is_passive=bool(said["passive"]))
        else:
            yield from _before(line)


def date_in(lines: Sequence[str]) -> datetime | None:
    """The date in a line, an item or a table of a note's beginning that calls it so."""
    for at, line in enumerate(lines[:_FARTHEST_DATE]):
        if (found := _DATE.fullmatch(line)) and (date := instant_of(found["date"])):
            return date
        if "|" in line and at + 2 < len(lines) and set(lines[at + 1]) <= set("|-: "):
            names = [each.strip(" *_").casefold() for each in line.split("|")]
            cells = lines[at + 2].split("|")
            for name, cell in zip(names, cells, strict=False):
                if name in ("date", "datum") and (date := instant_of(cell)):
                    return date
    return None


def _before(line: str) -> Iterator[Stated]:
    begin = re.match(r"[\s*_+|-]*", line)
    start = begin.end() if begin else 0
    link = LINK.match(line, start) or NUMBER.match(line, start)
    if link and (said := _TO_THIS.match(line, link.end())):
        word = said["word"].casefold()
        yield Stated(_ACTIVE.get(word) or _PASSIVE[word], link[0], is_passive=True)


def _targets(rest: str) -> list[str]:
    """The links and numbers at the beginning of a text, parted by commas or "and"."""
    found, at = [], 0
    while link := LINK.match(rest, at) or _number(rest, at):
        found.append(link[0])
        between = _AND.match(rest, link.end())
        at = between.end() if between else link.end()
    return found


def _number(rest: str, at: int) -> re.Match[str] | None:
    """The number of a record at a place of a text, not that of things."""
    number = NUMBER.match(rest, at)
    is_bare = number is not None and number[0] == number[1]
    return None if number and is_bare and not _ALONE.match(rest, number.end()) else number


def _linked(rest: str, is_passive: bool) -> list[str]:
    """After words that say what it is: "superseded by the new plan [[B]]"."""
    return [link[0] for link in LINK.finditer(rest)] if is_passive else []


def _below(lines: Sequence[str], rest: str) -> list[str]:
    """The links on the next line with words, or in the items of a list there."""
    if rest.strip(" *_|:]"):
        return []
    found: list[str] = []
    for line in lines:
        if not line.strip():
            if found:
                break
            continue
        item = _ITEM.match(line)
        here = _targets(line[item.end() if item else 0 :].lstrip())
        found += here
        if not (item and here):
            break
    return found
