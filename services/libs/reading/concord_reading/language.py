"""Which language a text is in, by its words."""

import re
from functools import cache

from concord_concepts.normal_form import fold
from concord_concepts.stop_words import ENGLISH, GERMAN

from concord_reading.lexicon import lexicon
from concord_reading.prose import prose, without_quotations

DEFAULT_LANGUAGE = "en"
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_UMLAUTS = frozenset("äöü")


def language_of(*texts: str) -> str:
    """Return the language of the first text whose words show one; else the default one."""
    return next(filter(None, map(language_shown, texts)), DEFAULT_LANGUAGE)


def language_shown(text: str) -> str:
    """Return the language with the most function words of its own; empty if two have equally
    many."""
    words = [fold(each) for each in _WORD.findall(without_quotations(prose(text)))]
    english = sum(word in _telling()[0] for word in words)
    german = sum((word in _telling()[1]) + (not _UMLAUTS.isdisjoint(word)) for word in words)
    return "" if english == german else "en" if english > german else "de"


@cache
def _telling() -> tuple[frozenset[str], frozenset[str]]:
    """Return the function words that English alone has, and those that German alone has."""
    german = lexicon("de").words
    usual = GERMAN | german["finite"] | german["prepositions"] | german["adverbs"]
    return ENGLISH - lexicon("en").words["also german"], usual - german["also english"] - ENGLISH
