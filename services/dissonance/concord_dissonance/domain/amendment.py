"""Small edits: when a memory repeats a former one with few words changed (T6).

Texts are compared word by word; links, letter case and punctuation are left out. `similarity` is
2·s / (n + m) for texts of n and m words, of which s stay in their order. An edit is small when

- both texts have at least LEAST_WORDS words,
- the similarity is at least LEAST_SIMILARITY,
- at most MOST_PLACES places changed, with at most MOST_CHANGED words removed and as many added, and
- no name became another, and no other subject is read: either would be another thing.

The numbers were chosen by measurement: services/decisions/0034-suggestions-after-the-write.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from concord_reading.frame import Role
from concord_reading.lexicon import LANGUAGES, lexicon
from concord_reading.prose import LINK
from concord_reading.tokens import Span

from concord_dissonance.domain.sides import Kind, Side

LEAST_WORDS = 6
LEAST_SIMILARITY = 0.8
MOST_PLACES = 3
MOST_CHANGED = 8
MOST_SUGGESTED = 3
MOST_ALIKE = 2
"""If more former memories differ at the same place, it is a list's column: each is another fact."""

_ROUNDING = 1e-9
_WORD = re.compile(r"\w+(?:[.,:'’/@-]\w+)*")


@dataclass(frozen=True, slots=True)
class Change:
    """A changed place. `former` is empty if words were added, `later` if words were removed."""

    former: Span
    later: Span


@dataclass(frozen=True, slots=True)
class Edit:
    """The edit from a former text; without changes it is of letter case, punctuation or links.

    Attributes:
        similarity: In [LEAST_SIMILARITY, 1].
        changes: From left to right, 0 to MOST_PLACES of them.
    """

    similarity: float
    changes: tuple[Change, ...]


def amended(later: Side, formers: Iterable[Side]) -> list[tuple[Side, Edit]]:
    """Return the former memories that a later one may amend, up to three, the most similar first.

    `formers`: current memories of its space without lineage to it. Turns and memories of another
    kind are left out, and so are more than two that differ at the same places.
    """
    if later.kind is Kind.TURN:
        return []
    edits = [
        (former, edit)
        for former in formers
        if former.kind is later.kind
        and (edit := small_edit(former.text, later.text))
        and not _has_other_subject(former, later, edit)
    ]
    alike = Counter(_places(edit) for _, edit in edits)
    kept = [(former, edit) for former, edit in edits if alike[_places(edit)] <= MOST_ALIKE]
    kept.sort(key=lambda each: (-each[1].similarity, -each[0].written, each[0].id))
    return kept[:MOST_SUGGESTED]


def _has_other_subject(former: Side, later: Side, edit: Edit) -> bool:
    """Whether words of a subject, or of what stands before it, became other such words."""
    return any(
        _is_in_subject(former, change.former) and _is_in_subject(later, change.later)
        for change in edit.changes
    )


def _is_in_subject(side: Side, place: Span) -> bool:
    return any(
        word.start < place.end and place.start < word.end
        for frame in side.frames.frames
        for at, word in enumerate(frame.words)
        if word.role is Role.SUBJECT or (word.role is Role.ADJUNCT and at < frame.verb)
    )


def small_edit(former: str, later: str) -> Edit | None:
    """Return the small edit from a former text to a later one; None: another text, or the same."""
    old, new = _words(former), _words(later)
    if min(len(old), len(new)) < LEAST_WORDS or former == later:
        return None
    before, after = [_spelt(each) for each in old], [_spelt(each) for each in new]
    most = min(2 * MOST_CHANGED, int((1 - LEAST_SIMILARITY) * (len(old) + len(new)) + _ROUNDING))
    places = _changes(before, after, most) if len({*before} ^ {*after}) <= most else None
    if places is None or len(places) > MOST_PLACES:
        return None
    gone, came = (sum(place[end] - place[end - 1] for place in places) for end in (1, 3))
    if max(gone, came) > MOST_CHANGED:
        return None
    if any(_names(old[a:b]) and _names(new[c:d]) for a, b, c, d in places):
        return None
    changes = tuple(Change(_span(old, a, b), _span(new, c, d)) for a, b, c, d in places)
    return Edit(1 - (gone + came) / (len(old) + len(new)), changes)


def description(former: str, later: str, edit: Edit) -> str:
    """Describe an edit, e.g. `"40,000" became "45,000"`, `added "not"`, `removed "early"`."""
    said = [
        _described(former[slice(*each.former)], later[slice(*each.later)]) for each in edit.changes
    ]
    return "; ".join(said) or "letter case, punctuation or links"


def _described(gone: str, came: str) -> str:
    if gone and came:
        return f'"{gone}" became "{came}"'
    return f'removed "{gone}"' if gone else f'added "{came}"'


def _places(edit: Edit) -> tuple[Span, ...]:
    return tuple(change.later for change in edit.changes)


def _words(text: str) -> list[re.Match[str]]:
    """Return the words of a text that stand outside links."""
    return list(_WORD.finditer(LINK.sub(lambda link: " " * len(link.group()), text)))


def _spelt(word: re.Match[str]) -> str:
    return word.group().casefold()


def _names(words: Sequence[re.Match[str]]) -> bool:
    """Whether a name is among `words`: a capitalized word, but no month, weekday or article."""
    return any(
        word.group()[0].isupper() and not any(_is_common(word, each) for each in LANGUAGES)
        for word in words
    )


def _is_common(word: re.Match[str], language: str) -> bool:
    words, spelt = lexicon(language), _spelt(word)
    return spelt in words.function or spelt in words.months or spelt in words.weekdays


def _span(words: Sequence[re.Match[str]], begin: int, end: int) -> Span:
    if begin < end:
        return Span(words[begin].start(), words[end - 1].end())
    at = words[begin].start() if begin < len(words) else words[-1].end()
    return Span(at, at)


_Place = tuple[int, int, int, int]
"""Begin and end in the former words, then begin and end in the later ones."""


def _changes(old: Sequence[str], new: Sequence[str], most: int) -> list[_Place] | None:
    """Return the places that differ; None if more than `most` words were removed or added.

    Myers, "An O(ND) difference algorithm and its variations" (1986): very different texts are given
    up early, however long they are.
    """
    furthest, rounds = {1: 0}, []
    for steps in range(most + 1):
        rounds.append(dict(furthest))
        for diagonal in range(-steps, steps + 1, 2):
            at = _start(furthest, diagonal, steps)
            while at < len(old) and at - diagonal < len(new) and old[at] == new[at - diagonal]:
                at += 1
            furthest[diagonal] = at
            if at >= len(old) and at - diagonal >= len(new):
                return _way_back(rounds, at, at - diagonal)
    return None


def _start(furthest: Mapping[int, int], diagonal: int, steps: int) -> int:
    """Return the number of old words passed when so many steps reach a diagonal."""
    if _comes(furthest, diagonal, steps):
        return furthest[diagonal + 1]
    return furthest[diagonal - 1] + 1


def _comes(furthest: Mapping[int, int], diagonal: int, steps: int) -> bool:
    """Return whether the last step added a word, rather than removed one."""
    if diagonal in (-steps, steps):
        return diagonal == -steps
    return furthest[diagonal - 1] < furthest[diagonal + 1]


def _way_back(rounds: Sequence[Mapping[int, int]], x: int, y: int) -> list[_Place]:
    """Return the changed places, traced back from the texts' ends; adjacent steps are merged."""
    places: list[_Place] = []
    for steps in range(len(rounds) - 1, 0, -1):
        came = _comes(rounds[steps], x - y, steps)
        diagonal = x - y + (1 if came else -1)
        x = rounds[steps][diagonal]
        y = x - diagonal
        place = (x, x, y, y + 1) if came else (x, x + 1, y, y)
        if places and (place[1], place[3]) == (places[-1][0], places[-1][2]):
            place = (place[0], places[-1][1], place[2], places[-1][3])
            places.pop()
        places.append(place)
    return places[::-1]
