"""Small edits: when a text is a former one with little changed, and what changed (T6).

Texts are compared word by word; links, letter case and punctuation are left out. `similarity` is
2·s / (n + m): s words that stay in their order, of n and m words. An edit is small when

- both texts have at least LEAST_WORDS words,
- the similarity is at least LEAST_SIMILARITY,
- at most MOST_PLACES places changed, and
- at most MOST_CHANGED words went, and at most as many came.

The numbers were chosen by measurement: services/decisions/0013-amendments-are-suggested.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from concord_graph.domain.links import without_links

LEAST_WORDS = 6
LEAST_SIMILARITY = 0.8
MOST_PLACES = 3
MOST_CHANGED = 8
_ROUNDING = 1e-9

_WORD = re.compile(r"\w+(?:[.,:'’/@-]\w+)*")
_LONGEST_SIDE = 60
_LONGEST_CHANGE = 200


@dataclass(frozen=True, slots=True)
class Edit:
    """How a text differs from a former one.

    `change` says it to people, in at most 200 characters. `places` are the spans of words that
    changed, as (first, after the last) of the text's own words.
    """

    similarity: float
    change: str
    places: tuple[tuple[int, int], ...]


class Text:
    """A content, cut into words once."""

    def __init__(self, content: str) -> None:
        self.content = content
        self.words = _WORD.findall(without_links(content).casefold())
        """What it is compared by."""

    def written(self) -> list[str]:
        """Return the words as they were written, where folding their case left them whole."""
        written = _WORD.findall(without_links(self.content))
        return written if len(written) == len(self.words) else self.words


def small_edit(former: Text, text: Text) -> Edit | None:
    """Return how a text edits a former one; None when it is another text, or the very same."""
    old, new = former.words, text.words
    if min(len(old), len(new)) < LEAST_WORDS or former.content == text.content:
        return None
    most = min(2 * MOST_CHANGED, int((1 - LEAST_SIMILARITY) * (len(old) + len(new)) + _ROUNDING))
    spans = _changes(old, new, most) if len({*old} ^ {*new}) <= most else None
    if spans is None or len(spans) > MOST_PLACES:
        return None
    gone, came = (sum(span[end] - span[end - 1] for span in spans) for end in (1, 3))
    if max(gone, came) > MOST_CHANGED:
        return None
    places = tuple((start, end) for _, _, start, end in spans)
    similarity = 1 - (gone + came) / (len(old) + len(new))
    return Edit(similarity, _told(former.written(), text.written(), spans), places)


Span = tuple[int, int, int, int]


def _changes(old: Sequence[str], new: Sequence[str], most: int) -> list[Span] | None:
    """Return the spans that differ: from, to of the old words, from, to of the new ones.

    None when more than `most` words went and came. Myers, "An O(ND) difference algorithm
    and its variations" (1986): what differs much is given up early, however long the texts are.
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
                return _spans(rounds, at, at - diagonal)
    return None


def _start(furthest: Mapping[int, int], diagonal: int, steps: int) -> int:
    """Return how many old words are behind when a diagonal is reached in so many steps."""
    if _comes(furthest, diagonal, steps):
        return furthest[diagonal + 1]
    return furthest[diagonal - 1] + 1


def _comes(furthest: Mapping[int, int], diagonal: int, steps: int) -> bool:
    """Return whether the last step was a word that came, rather than one that went."""
    if diagonal in (-steps, steps):
        return diagonal == -steps
    return furthest[diagonal - 1] < furthest[diagonal + 1]


def _spans(rounds: Sequence[Mapping[int, int]], x: int, y: int) -> list[Span]:
    """Return the way back from the ends, with steps that follow one another made one."""
    spans: list[Span] = []
    for steps in range(len(rounds) - 1, 0, -1):
        came = _comes(rounds[steps], x - y, steps)
        diagonal = x - y + (1 if came else -1)
        x = rounds[steps][diagonal]
        y = x - diagonal
        span = (x, x, y, y + 1) if came else (x, x + 1, y, y)
        if spans and (span[1], span[3]) == (spans[-1][0], spans[-1][2]):
            span = (span[0], spans[-1][1], span[2], spans[-1][3])
            spans.pop()
        spans.append(span)
    return spans[::-1]


def _told(old: Sequence[str], new: Sequence[str], spans: Sequence[Span]) -> str:
    if not spans:
        return "letter case, punctuation or links"
    told = [_change(" ".join(old[a:b]), " ".join(new[c:d])) for a, b, c, d in spans]
    return _cut("; ".join(told), _LONGEST_CHANGE)


def _change(before: str, after: str) -> str:
    before, after = _cut(before, _LONGEST_SIDE), _cut(after, _LONGEST_SIDE)
    if not before:
        return f'added "{after}"'
    return f'"{before}" became "{after}"' if after else f'removed "{before}"'


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
