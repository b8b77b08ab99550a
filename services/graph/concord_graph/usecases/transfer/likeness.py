"""Distinguishes items of one name in a state export, independent of their order (G15).

Colour refinement: an item's colour is a digest of its words. Each round mixes in the colours of its
neighbours, until a round distinguishes no further items. Items that are equal even then have equal
neighbourhoods, so any one of them may be called the first.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping

Link = tuple[str, str, str]
"""(start id, relation word, end id)."""

_LENGTH = 12


def told_apart(
    said: Mapping[str, str], alike: Collection[str], links: Iterable[Link]
) -> dict[str, str]:
    """Return a short text for each of the `alike`, different for any two of them.

    `said`: by id, all that the export says of an item itself, whatever order items arrived in. For
    items that are missing there, such as ghosts, the id is taken.
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
