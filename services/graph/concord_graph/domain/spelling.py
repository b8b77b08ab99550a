"""Names that are spelt alike: what a reader that found nothing may have meant (G13)."""

from __future__ import annotations

import enum
import unicodedata
from collections.abc import Collection
from difflib import SequenceMatcher

from concord_graph.domain.items import Entry, ItemKind, Memory, Node, Record

MOST_CHARACTERS = 64
"""As much of a name as is compared, from either end."""
MOST_NEAR = 5
_ALIKE = 0.6


class NameKind(enum.IntEnum):
    """What a name names."""

    NODE = 1
    MEMORY_ID = 2
    EXTERNAL_ID = 3
    SESSION = 4


def names_of(item: Record) -> list[tuple[NameKind, str, str]]:
    """Return what names an item: the kind of name, whose it is, and the name or nothing."""
    match item:
        case Node():
            return [(NameKind.NODE, item.id, item.name)]
        case Memory():
            own = item.id if item.id_stated else ""
            keyed = (NameKind.EXTERNAL_ID, item.id, item.external_id)
            return [(NameKind.MEMORY_ID, item.id, own), keyed]
        case Entry(kind=ItemKind.EPISODE, session_id=session):
            return [(NameKind.SESSION, session, session)]
    return []


def folded(name: str) -> str:
    """Return a name without case, diacritics and runs of white space, and at most 64 characters."""
    return _fold(name)[:MOST_CHARACTERS]


def backwards(name: str) -> str:
    """Return the folded name from its end, at most 64 characters: what ends alike is near by it."""
    return _fold(name)[::-1][:MOST_CHARACTERS]


def nearest(asked: str, names: Collection[str]) -> tuple[str, ...]:
    """Return up to 5 names that are spelt like the one asked for, the nearest first.

    Near is a similarity of 0.6 (Ratcliff and Obershelp's, of the folded names), or to begin or end
    with what was asked for. Equal ones go by name, so that the same names give the same answer.
    """
    wanted = folded(asked)
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    found = []
    for name in set(names):
        if likeness := _likeness(matcher, wanted, folded(name)):
            found.append((-likeness, name))
    return tuple(name for _, name in sorted(found)[:MOST_NEAR])


def _likeness(matcher: SequenceMatcher[str], wanted: str, name: str) -> float:
    """Return how alike two folded names are, from 0.6 to 1; 0 when they are not."""
    matcher.set_seq1(name)
    if min(matcher.real_quick_ratio(), matcher.quick_ratio()) >= _ALIKE:
        likeness = matcher.ratio()
        if likeness >= _ALIKE:
            return likeness
    return _ALIKE if wanted and (name.startswith(wanted) or name.endswith(wanted)) else 0.0


def _fold(name: str) -> str:
    apart = unicodedata.normalize("NFKD", name)
    plain = "".join(character for character in apart if not unicodedata.combining(character))
    return " ".join(plain.casefold().split())
