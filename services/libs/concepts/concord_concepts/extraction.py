"""Finds the concepts of a text by rules alone: no model, no domain dictionary, no randomness.

A text is cut into chunks (runs of word characters and the signs that code uses between them).
The concepts of a chunk do not depend on its neighbours. They are cached, as texts repeat words.
"""

import re
from functools import lru_cache
from typing import NamedTuple
from unicodedata import is_normalized, normalize

from concord_concepts.normal_form import normalise
from concord_concepts.stop_words import STOP_WORDS

MAX_CONCEPT_LENGTH = 64
"""Longest concept in characters; longer runs (hashes, encoded data) are no words."""

_CHUNK = re.compile(
    r"[^\W\d_]{2,10}[ ][0-9]{1,6}(?![\w-]|\.[0-9])"  # a label and its number: PEP 484
    r"|\w(?:[\w./'’+#-]|::)*"
)
_C_FAMILY = re.compile(r"[A-Za-z](?:\+\+|#)")
_SENTENCE_ENDS = frozenset(".!?:\n")
_LONGEST_LABEL = 5  # "step 3" and "port 7600" are labels, "shipped 300" is a count
_SHORTEST_PART = 3  # of a word with a hyphen: "e-mail" is about mail

# Salience in points: one mention is 8. Ratios were set by reading results, not fitted.
_MENTION = 8
_CODE_LIKE = 9
_ACRONYM = 6
_CAPITALISED = 4
_EARLY = 6
_LONGEST_REWARDED = 10


class _Word(NamedTuple):
    """A concept of a chunk, its points, and whether it begins with a capital."""

    concept: str
    points: int
    capitalised: bool


def extract(text: str, limit: int = 12) -> tuple[str, ...]:
    """Return up to `limit` concepts of `text`, the most salient first; none below a limit of 1.

    Each is at most MAX_CONCEPT_LENGTH characters and a fixed point of `normalise`. Salience adds
    up mentions, length, an early place and a form that names things (code, acronyms, capitals
    inside a sentence); ties go to the one that stands first. Equal texts, up to Unicode
    composition, give equal results.
    Example: "PEP 484 adds type hints to Python" gives ("pep 484", "python", "hint", ...).
    """
    if limit < 1:
        return ()
    if not text.isascii() and not is_normalized("NFC", text):
        text = normalize("NFC", text)
    points: dict[str, int] = {}
    for found in _CHUNK.finditer(text):
        start = found.start()
        for concept, gain, capitalised in _words(found[0]):
            bonus = _CAPITALISED if capitalised and _inside_sentence(text, start) else 0
            if start and text[start - 1] == "`":
                bonus += _CODE_LIKE
            points[concept] = points.get(concept, 0) + gain + bonus
    return _most_salient(points, limit)


def _most_salient(points: dict[str, int], limit: int) -> tuple[str, ...]:
    """Rank concepts in their order of appearance; the sort is stable, so ties keep that order."""
    count = len(points)
    for place, concept in enumerate(points):
        points[concept] += _EARLY * (count - place) // count
    return tuple(sorted(points, key=points.__getitem__, reverse=True)[:limit])


def _inside_sentence(text: str, start: int) -> bool:
    return start > 1 and text[start - 1] == " " and text[start - 2] not in _SENTENCE_ENDS


@lru_cache(maxsize=1 << 15)
def _words(chunk: str) -> tuple[_Word, ...]:
    """Return the concepts of one chunk, whatever its place in the text."""
    if " " in chunk:
        return _labelled(chunk)
    if not _C_FAMILY.fullmatch(chunk):
        chunk = chunk.rstrip("./'’+#-:")
    if len(chunk) > MAX_CONCEPT_LENGTH:
        return ()
    if chunk.isalpha():
        return _plain(chunk)
    if "/" in chunk and not _is_path(chunk):
        return tuple(word for part in chunk.split("/") for word in _words(part))
    letters = chunk.replace("’", "'")
    if letters.replace("-", "").replace("'", "").isalpha():
        return _joined(letters)
    if chunk.isdecimal():
        return ()
    return _word(chunk, _CODE_LIKE)


def _labelled(chunk: str) -> tuple[_Word, ...]:
    """Read "PEP 484" as one concept and "port 7600" as that and "port"."""
    label, number = chunk.split(" ")
    if label.isupper():
        return _word(chunk, _CODE_LIKE)
    words = _plain(label)
    if not words or len(label) > _LONGEST_LABEL:
        return words
    return words + _word(f"{label} {number}", 0)


def _plain(word: str) -> tuple[_Word, ...]:
    if word.isupper():
        return _word(word, _ACRONYM)
    camel_case = any(map(str.isupper, word[1:]))
    return _word(word, _CODE_LIKE if camel_case else 0)


def _joined(word: str) -> tuple[_Word, ...]:
    """Read a word with apostrophes or hyphens: "Anna's" as "anna", "time-aware" as two words."""
    if word.casefold() in STOP_WORDS:
        return ()
    parts = [part for part in word.split("-") if len(part) >= _SHORTEST_PART]
    if "-" in word and parts:
        return tuple(found for part in parts for found in _words(part))
    return _word(word, 0)


def _word(form: str, bonus: int) -> tuple[_Word, ...]:
    concept = normalise(form)
    if concept in STOP_WORDS or form.casefold() in STOP_WORDS:
        return ()
    if not 1 < len(concept) <= MAX_CONCEPT_LENGTH:
        return ()
    reward = min(len(concept), _LONGEST_REWARDED) // 2
    return (_Word(concept, _MENTION + bonus + reward, form[0].isupper()),)


def _is_path(chunk: str) -> bool:
    """Tell `src/app/main.py` and `a/b/c` from "and/or"."""
    return chunk.count("/") > 1 or "." in chunk
