"""Telling apart items that state exports call by one name, whatever order they came in (G15).

Colour refinement: an item's colour is a digest of what it says; again and again it takes in the
colours of what hangs on it, until no more items differ. Items that are equal even then hang
together in the same way, so any one of them may be called the first.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping

Link = tuple[str, str, str]
"""Two ids and the word that stands between them."""

_LENGTH = 12


def told_apart(
    said: Mapping[str, str], alike: Collection[str], links: Iterable[Link]
) -> dict[str, str]:
    """Return a short text for each of the `alike`, different for any two of them.

    `said`: for every item by id, all of its own that the export says, the same for any order of
    arrival; items not in it, as ghosts are, say their id.
    """
    if not alike:
        return {}
    colours = {item_id: _digest(said.get(item_id, item_id)) for item_id in said}
    around: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for start, word, end in links:
        if start in alike:
            around[start].append((f">{word}", end))
        if end in alike:
            around[end].append((f"<{word}", start))
    _refine(colours, alike, around)
    while (first := _first_of_equals(colours, alike)) is not None:
        colours[first] = _digest(colours[first], "first")
        _refine(colours, alike, around)
    return {item_id: colours[item_id][:_LENGTH] for item_id in alike}


def _refine(
    colours: dict[str, str],
    alike: Collection[str],
    around: Mapping[str, list[tuple[str, str]]],
) -> None:
    count = len({colours[item_id] for item_id in alike})
    while count < len(alike):
        finer = {
            item_id: _digest(
                colours[item_id],
                *sorted(f"{word} {colours.get(end, end)}" for word, end in around.get(item_id, ())),
            )
            for item_id in alike
        }
        found = len(set(finer.values()))
        if found == count:
            return
        count = found
        colours |= finer


def _first_of_equals(colours: Mapping[str, str], alike: Collection[str]) -> str | None:
    counts = Counter(colours[item_id] for item_id in alike)
    equal = [item_id for item_id in alike if counts[colours[item_id]] > 1]
    return min(equal, key=lambda item_id: (colours[item_id], item_id), default=None)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
