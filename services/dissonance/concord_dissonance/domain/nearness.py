"""Finds texts with like words, and texts whose sentences say something of the same things.

The cost grows with the number of texts, not of pairs: a stem of many units distinguishes none of
them, so only rarer stems lead from one unit to others. Equally near texts keep their given order.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set

from concord_dissonance.domain.sketch import Sketch

NEAR = 40
"""Most neighbours of each kind."""
MOST_POSTINGS = 100
"""A stem of more units than this leads to none of them."""
LEAST_ALIKE = 0.1
"""Least cosine of two texts, or sentences, that are alike."""
_DIGITS = 9
"""Decimal places of a likeness, so that the order in which weights are summed does not matter."""

Near = Mapping[str, Sequence[tuple[str, float]]]
"""By a text's id: its neighbours with their likeness, best first."""
Weights = Mapping[int, float]
"""By a word's hash, how rare it is: log(1 + units / units with it)."""


def near_in_words(texts: Mapping[str, Sketch], wanted: Collection[str]) -> Near:
    """Return for wanted texts those that are alike as a whole, and in their most similar sentence.

    Each is a cosine of stems, weighted by rarity; their sum, in [0, 2], is the likeness. Each
    sentence counts as if it had two more words of the greatest rarity: else the short sentences
    with which all records begin would be the most alike.
    """
    units = [(each, text.content) for each, text in texts.items()]
    weights = _rarity(units)
    whole = _alike(units, weights, 0.0, wanted)
    said = [(each, stems) for each, text in texts.items() for stems in text.sentences]
    sentences = _alike(said, weights, 2 * math.log(1 + len(texts)) ** 2, wanted)
    place = {each: number for number, each in enumerate(texts)}
    return {
        each: _best(
            place,
            [
                (other, whole[each].get(other, 0.0) + sentences[each].get(other, 0.0))
                for other in whole[each].keys() | sentences[each].keys()
            ],
        )
        for each in wanted
    }


def near_in_frames(texts: Mapping[str, Sketch], wanted: Collection[str]) -> Near:
    """Return for wanted texts those with a sentence about the same things, names and persons.

    The likeness is the greatest cosine of two sentences' things, weighted by rarity.
    """
    units = [(each, things) for each, text in texts.items() for things in text.things]
    best = _alike(units, _rarity(units), 0.0, wanted)
    place = {each: number for number, each in enumerate(texts)}
    return {each: _best(place, found.items()) for each, found in best.items()}


def _rarity(units: Sequence[tuple[str, Set[int]]]) -> Weights:
    counts = Counter(word for _, words in units for word in words)
    return {word: math.log(1 + len(units) / count) for word, count in counts.items()}


def _best(place: Mapping[str, int], found: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    return sorted(found, key=lambda each: (-each[1], place[each[0]]))[:NEAR]


def _alike(
    units: Sequence[tuple[str, Set[int]]], weights: Weights, more: float, wanted: Collection[str]
) -> Mapping[str, Mapping[str, float]]:
    """Return, by wanted text and other text, the greatest cosine of two of their units.

    `units`: a text's id and a set of words each. `more`: the sum of squared weights of words that
    each unit is taken to have besides, and no other unit has.
    """
    length = [math.sqrt(more + sum(weights[stem] ** 2 for stem in stems)) for _, stems in units]
    leads = _postings(stems for _, stems in units)
    best: dict[str, dict[str, float]] = defaultdict(dict)
    for place, (text, stems) in enumerate(units):
        if text not in wanted:
            continue
        shared: defaultdict[int, float] = defaultdict(float)
        for stem in stems & leads.keys():
            for other in leads[stem]:
                shared[other] += weights[stem] ** 2
        found = best[text]
        for other, common in shared.items():
            other_text = units[other][0]
            alike = round(common / (length[place] * length[other]), _DIGITS)
            if other_text != text and alike >= max(LEAST_ALIKE, found.get(other_text, 0.0)):
                found[other_text] = alike
    return best


def _postings(units: Iterable[Set[int]]) -> Mapping[int, Sequence[int]]:
    """Return, by stem, the places of the units that have it, for stems of few units."""
    postings: dict[int, list[int]] = defaultdict(list)
    for place, stems in enumerate(units):
        for stem in stems:
            postings[stem].append(place)
    return {stem: places for stem, places in postings.items() if len(places) <= MOST_POSTINGS}
