"""Attributes, how many values a thing has of each, and the words that name them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import NamedTuple

from concord_reading.frame import Frame, Kind, Word
from concord_reading.lexicon import lexicon, noun_key, read_classes


class Phase(Enum):
    """What a word says of its attribute's value."""

    HOLDS = "holds"
    BEGINS = "begins"
    ENDS = "ends"


class Values(Enum):
    """What the values of an attribute are."""

    OBJECT = "object"
    """One at a time, not in the subject: "is married to Ada"."""
    KIND = "kind"
    """One at a time of those of one kind: "lives in Bonn", but also "in a flat"."""
    SUBJECT = "subject"
    """One at a time, in the subject: "Ada owns it"."""
    NUMBER = "number"
    """One number or date at a time."""
    MANY = "many"
    """Many, each of which can end."""


class Named(NamedTuple):
    """An attribute as a word names it."""

    attribute: str
    phase: Phase
    values: Values


@cache
def attributes(language: str) -> Mapping[str, tuple[Named, ...]]:
    """Return the attributes that a stem names, also "stem preposition" or "stem particle"."""
    found: dict[str, tuple[Named, ...]] = {}
    words = lexicon(language)
    for title, body in read_classes(f"attributes.{language}.txt"):
        name, _, kind = title.partition(": ")
        for line in body.splitlines():
            phase, _, spelt = line.partition(":")
            for entry in spelt.split(","):
                first, *rest = entry.split()
                key = " ".join([words.stem(first), *rest])
                named = Named(name, Phase(phase.strip()), Values(kind))
                for each in {key, " ".join([noun_key(first), *rest])}:
                    found[each] = (*found.get(each, ()), named)
    return found


def named_by(word: Word, frame: Frame) -> tuple[Named, ...]:
    """Return the attributes that a word of a frame names, by itself or with what hangs on it."""
    known = attributes(frame.language)
    place = next(at for at, each in enumerate(frame.words) if each is word)
    links = [each.link for each in frame.words if each.head == place and each.link]
    if place == frame.verb and frame.particle:
        links.append(frame.particle)
    found = [each for link in links for each in known.get(f"{word.key} {link}", ())]
    is_verb = word.kind is Kind.VERB
    return tuple(
        each for each in (*known.get(word.key, ()), *found) if is_verb or each.phase is Phase.HOLDS
    )
