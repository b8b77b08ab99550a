"""What is selected: who is forgotten whole, and what that takes (M4); which operations are undone,
by whom, and what of them is left (W9)."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from concord_graph.domain.claims import Rank, rank_of
from concord_graph.domain.items import ItemKind
from concord_graph.domain.spelling import fold

MOST_SELECTED = 10_000
"""Items that one erasure may select."""


class By(enum.IntEnum):
    """What names the selected one; numbers as in the contract's oneof."""

    SUBJECT = 1
    SESSION = 2
    SPEAKER = 3
    PRINCIPAL = 4


class Part(enum.IntEnum):
    """Why an item is selected; numbers as in the contract, the first that applies."""

    SAID = 1
    FACTS = 2
    DERIVED = 3
    MENTION = 4


class Why(enum.IntEnum):
    """Why a selected item stays; numbers as in the contract."""

    CONSTITUTIVE = 1
    SHARED = 2
    MENTION = 3
    CHANGED = 4
    NAMED = 5
    DECLARATION = 6


@dataclass(frozen=True, slots=True)
class Selection:
    """Who is selected: `names` are one name, then others of the same; an id has one."""

    by: By
    names: tuple[str, ...]

    @property
    def folded(self) -> frozenset[str]:
        """The names without case, diacritics and runs of white space."""
        return frozenset(fold(name) for name in self.names)


@dataclass(frozen=True, slots=True)
class Options:
    """What is erased beside that which is the selected one's alone."""

    mentions: bool = False
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A selected item at its newest revision. `others`: folded names of whom it is about, too.

    `label`: the beginning of what it says, for people.
    """

    kind: ItemKind
    id: str
    revision: int
    part: Part
    label: str = ""
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """A selected item that stays, and why."""

    found: Found
    why: Why


@dataclass(frozen=True, slots=True)
class Selected:
    """The outcome of a scan: what an erasure takes, in that order, and what stays.

    `ids`: ids and names of principals that hold a selected name and that the record keeps.
    """

    erased: tuple[Found, ...]
    kept: tuple[Kept, ...]
    ids: tuple[str, ...]

    def digest(self, selection: Selection, options: Options) -> str:
        """Return the digest (hex SHA-256) that an erasure must name: of exactly these revisions."""
        head = [int(selection.by), *selection.names, options.mentions, options.shared]
        rows = sorted([int(each.kind), each.id, each.revision] for each in self.erased)
        return sha256(json.dumps([head, rows]).encode()).hexdigest()


class Names:
    """Looks for names in texts, as whole words, without case and diacritics."""

    def __init__(self, names: Iterable[str]) -> None:
        """`names`: folded."""
        wanted = "|".join(re.escape(name) for name in sorted(names) if name)
        self._pattern = re.compile(rf"(?<![^\W_])(?:{wanted})(?![^\W_])") if wanted else None

    def are_in(self, *texts: str) -> bool:
        """Return whether one of the texts has one of the names."""
        return self._pattern is not None and any(self._pattern.search(fold(t)) for t in texts)


_FIXED = {1: 8, 5: 4}
_LENGTH = 2
_MOST_DEPTH = 40


def texts_in(message: bytes, depth: int = 0) -> Iterator[str]:
    """Yield every string of a message and of the messages in it.

    What is both, as far as the bytes say, is taken for both; bytes that are no message say nothing.
    """
    for value in _parts(message) or ():
        with suppress(UnicodeDecodeError):
            yield value.decode()
        if depth < _MOST_DEPTH:
            yield from texts_in(value, depth + 1)


def _parts(message: bytes) -> list[bytes] | None:
    """Return the values of variable length of a message; None if it is none."""
    place, found = 0, list[bytes]()
    while place < len(message):
        tag, place = _varint(message, place)
        kind = tag & 7
        if kind == 0:
            _, place = _varint(message, place)
        elif kind == _LENGTH:
            length, place = _varint(message, place)
            found.append(message[place : place + length])
            place += length
        elif kind in _FIXED:
            place += _FIXED[kind]
        else:
            return None
    return found if place == len(message) else None


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """Return a number and the place after it, which is behind the end where it is cut."""
    value = shift = 0
    while place < len(message):
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
    return 0, len(message) + 1


class UndoBy(enum.IntEnum):
    """What names the operations; numbers as in the contract's oneof."""

    PRINCIPAL = 1
    SESSION = 2
    IMPORT = 3


class Left(enum.IntEnum):
    """Why an item is left; numbers as in the contract."""

    CHANGED = 1
    PROTECTED = 2
    ERASED = 3
    NEEDED = 4
    SETTLED = 5
    FORBIDDEN = 6
    ABOVE = 7


class UndoSelection(NamedTuple):
    """Which operations: those of `name`, from `since` until `before` (µs, exclusive; None: all)."""

    by: UndoBy
    name: str
    since: int
    before: int | None = None


class Undoer(NamedTuple):
    """Who undoes. `governs`: may decide about what others wrote."""

    principal: str
    kind: str
    governs: bool

    def may_undo(self, principal: str, kind: str) -> bool:
        """Return whether it may undo what a principal of a kind did.

        Everybody undoes their own doings, a person an agent's, and both a tool's. A person's are
        undone by another person only who governs.
        """
        if principal == self.principal:
            return True
        mine, its = rank_of(self.kind) if self.kind else Rank.NOBODY, rank_of(kind)
        return mine > its or (mine == its == Rank.HUMAN and self.governs)


@dataclass(frozen=True, slots=True)
class UndoItem:
    """An item of a selection, at its newest revision, and the revision before (0: there was none).

    `label`: the beginning of what it says. `left`: why it is left; None: it is undone.
    `changed_by`: who changed it since.
    """

    kind: ItemKind
    id: str
    revision: int
    back_to: int
    label: str = ""
    left: Left | None = None
    changed_by: tuple[str, ...] = ()
