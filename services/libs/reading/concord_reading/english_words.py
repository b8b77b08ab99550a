"""The words of an English parse: what one is compared by, and which tokens make it."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from concord_concepts.normal_form import fold

from concord_reading.frame import Kind
from concord_reading.lexicon import Lexicon, lexicon

if TYPE_CHECKING:
    from spacy.tokens import Token as Parsed

NAMED = frozenset({"PROPN"})
_SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
"""One short syllable, whose consonant is doubled before "ing"."""
_CONTRACTED = {"wanna": "want", "'ve": "have"}
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")


def is_over(verb: Parsed) -> bool:
    """Whether a clause says what held once and is over: "used to live"."""
    xcomp = any(each.dep_ == "xcomp" for each in verb.children)
    return verb.lemma_ == "use" and verb.tag_ == "VBD" and xcomp


def bare(token: Parsed) -> str:
    """Return a token's word, without the full stop that ends its sentence."""
    word = fold(token.text)
    if token.is_punct:
        return "·"  # a hyphen is no month
    if dated := _DAY.fullmatch(word):
        beside = {fold(e.text) for e in token.doc[max(0, token.i - 1) : token.i + 3]}
        return dated[1] if beside & lexicon("en").months.keys() else word
    return word.rstrip(".") or word


def top(tokens: Sequence[Parsed]) -> Parsed:
    """Return the token that governs the others."""
    own = {each.i for each in tokens}
    return next((each for each in tokens if each.head.i not in own), tokens[-1])


def is_one_name(group: Sequence[Parsed], token: Parsed) -> bool:
    """Whether a token goes on with a name: "Ada Lovelace", "hall A", "db2"."""
    last = group[-1]
    if last.i + 1 != token.i:
        return False
    return last.pos_ in NAMED and token.pos_ in NAMED and last.head in (token, token.head)


def is_its_letter(group: Sequence[Parsed], token: Parsed) -> bool:
    """Whether a token is the letter that names a thing: "hall A"."""
    follows = group[-1].i + 1 == token.i and group[-1].pos_ in {"NOUN", "PROPN"}
    return follows and len(bare(token)) == 1 and token.text[0].isupper() and token.text != "I"


def kind_of(tokens: Sequence[Parsed], value: object, root: Parsed) -> Kind:
    """Return the kind of the word that some tokens make."""
    if value is not None:
        return Kind.VALUE
    kinds = {"PROPN": Kind.NAME, "VERB": Kind.VERB, "AUX": Kind.VERB, "ADJ": Kind.ADJECTIVE,
             "ADV": Kind.ADVERB}  # fmt: skip
    if all(each.pos_ in NAMED for each in tokens):
        return Kind.NAME
    return kinds.get(root.pos_, Kind.NOUN)


def key_of(tokens: Sequence[Parsed], words: Lexicon, value: object) -> str:
    """Return what the word is compared by."""
    if value is not None:
        return " ".join(fold(each.text) for each in tokens)
    return " ".join(bare(each) if each.pos_ in NAMED else stem_of(each, words) for each in tokens)


def stem_of(token: Parsed, words: Lexicon) -> str:
    """Return the stem of a token."""
    return words.stem(
        fold(token.lemma_ if token.pos_ in {"VERB", "AUX", "ADJ"} else token.text).rstrip(".")
    )


def base_form(token: Parsed) -> str:
    """Return the base form of a verb; empty for another word. Of two that fit, the parser takes the
    shorter one: "hop" for "hoping"."""
    if token.pos_ not in {"VERB", "AUX"}:
        return ""
    word, lemma = fold(token.text), fold(token.lemma_)
    if _SHORT.fullmatch(lemma) and word in (f"{lemma}ing", f"{lemma}ed"):
        return f"{lemma}e"
    return _CONTRACTED.get(word, lemma)


def is_plural(token: Parsed) -> bool:
    """Whether a noun is in the plural."""
    return "Plur" in token.morph.get("Number", [])


def is_definite(root: Parsed) -> bool:
    """Whether a noun means one definite thing."""
    if root.pos_ in NAMED:
        return True
    marks: Set[str] = {fold(e.text) for e in root.children if e.dep_ in {"det", "poss", "nummod"}}
    if marks & {"a", "an", "another", "some", "any", "no", "one"}:
        return False
    return bool(marks) or any(each.dep_ == "poss" for each in root.children)
