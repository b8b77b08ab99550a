"""The one spelling of a concept: Unicode NFC, case folded, blanks collapsed, words in singular.

The endings removed are English plurals and the few German ones that no English word shares, so
no language has to be guessed: a query is too short for that.
"""

import re
from functools import lru_cache
from unicodedata import normalize

_IRREGULAR = {
    "analyses": "analysis",
    "buses": "bus",
    "children": "child",
    "cookies": "cookie",
    "criteria": "criterion",
    "echoes": "echo",
    "heroes": "hero",
    "hypotheses": "hypothesis",
    "indices": "index",
    "lies": "lie",
    "matrices": "matrix",
    "men": "man",
    "movies": "movie",
    "people": "person",
    "series": "series",
    "species": "species",
    "ties": "tie",
    "vertices": "vertex",
    "women": "woman",
}
_NO_PLURAL = frozenset(
    """
    alias always atlas bias canvas chaos cors css dns gas https ios kubernetes lens macos news
    pandas perhaps sms sos tls xmas
    """.split()  # noqa: SIM905 - a word list reads as words
)
# Ending and its replacement; the first that fits wins, so longer ones stand first.
_ENDINGS = (
    ("schaften", "schaft"),
    ("heiten", "heit"),
    ("keiten", "keit"),
    ("banken", "bank"),
    ("ungen", "ung"),
    ("ionen", "ion"),
    ("täten", "tät"),
    ("oaches", "oach"),
    ("tches", "tch"),
    ("nches", "nch"),
    ("rches", "rch"),
    ("tuses", "tus"),
    ("ruses", "rus"),
    ("sses", "ss"),
    ("shes", "sh"),
    ("xes", "x"),
)
_SHORTEST_WITH_ENDING = 4
_NUMBERED = re.compile(r"([^\W\d_]+)-([0-9]+)")


def normalise(concept: str) -> str:
    """Return the one spelling of a given concept; equal results mean the same concept.

    `normalise(normalise(c)) == normalise(c)` for every text. A blank concept gives "".
    Example: " Vector  Databases" and "vector database" both give "vector database".
    """
    folded = concept.lower() if concept.isascii() else fold(concept)
    return " ".join(map(singular, folded.split()))


def fold(text: str) -> str:
    """Return `text` without differences of case and of Unicode composition (NFC).

    Decomposing first makes the result stable under a second fold.
    """
    return normalize("NFC", normalize("NFD", text).casefold())


@lru_cache(maxsize=1 << 14)
def singular(word: str) -> str:
    """Return a folded word without plural ending or possessive; one with digits or signs stays.

    "pep-484" becomes "pep 484", the form in which people also write it.
    """
    while word.endswith(("'s", "’s")):
        word = word[:-2]
    numbered = _NUMBERED.fullmatch(word)
    if numbered:
        return f"{singular(numbered[1])} {numbered[2]}"
    while word.isalpha():
        shorter = _without_ending(word)
        if shorter == word:
            break
        word = shorter
    return word


def _without_ending(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < _SHORTEST_WITH_ENDING or word in _NO_PLURAL:
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending):
            return word[: -len(ending)] + instead
    if word.endswith("ies") and len(word) > len("ties"):
        return word[:-3] + "y"
    if word.endswith("s") and word[-2] not in "sui":
        return word[:-1]
    return word
