"""Names that are spelt alike: suggestions for a reader whose name was not found (G13)."""

from __future__ import annotations

import enum
import unicodedata
from collections.abc import Collection
from difflib import SequenceMatcher

from concord_graph.domain.items import Entry, ItemKind, Memory, Node, Record

MOST_CHARACTERS = 64
"""The characters of a name that are compared, from either end."""
MOST_NEAR = 5
_ALIKE = 0.6


class NameKind(enum.IntEnum):
    """What a name names."""

    NODE = 1
    MEMORY_ID = 2
    EXTERNAL_ID = 3
    SESSION = 4


def names_of(item: Record) -> list[tuple[NameKind, str, str]]:
    """Return an item's names as (kind of name, id of its owner, name); "" when it has none."""
    match item:
        case Node():
            return [(NameKind.NODE, item.id, item.name)]
        case Memory():
            own = item.id if item.id_stated else ""
            keyed = (NameKind.EXTERNAL_ID, item.id, item.external_id)
            return [(NameKind.MEMORY_ID, item.id, own), keyed]
        case Entry(kind=ItemKind.EPISODE, session_id=session, deleted=False):
            return [(NameKind.SESSION, session, session)]
    return []


def folded(name: str) -> str:
    """Return a name without case, diacritics and runs of white space, and at most 64 characters."""
    return fold(name)[:MOST_CHARACTERS]


def backwards(name: str) -> str:
    """Return the folded name reversed, at most 64 characters: like endings sort together."""
    return fold(name)[::-1][:MOST_CHARACTERS]


def nearest(asked: str, names: Collection[str]) -> tuple[str, ...]:
    """Return up to 5 names that are spelt like the one asked for, the nearest first.

    A name is near if its folded form is similar by 0.6 (Ratcliff and Obershelp), or begins or ends
    with the asked one. Equally near names are sorted, so that the answer is always the same.
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
    """Return the similarity of two folded names, from 0.6 to 1; 0 when it is less."""
    matcher.set_seq1(name)
    if min(matcher.real_quick_ratio(), matcher.quick_ratio()) >= _ALIKE:
        likeness = matcher.ratio()
        if likeness >= _ALIKE:
            return likeness
    return _ALIKE if wanted and (name.startswith(wanted) or name.endswith(wanted)) else 0.0


def fold(name: str) -> str:
    """Return a name without case, diacritics and runs of white space."""
    apart = unicodedata.normalize("NFKD", name)
    plain = "".join(character for character in apart if not unicodedata.combining(character))
    return " ".join(plain.casefold().split())
