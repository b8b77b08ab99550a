"""Reads texts into frames: English by a parser, German by rules."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from concord_reading import english, german
from concord_reading.frame import Passage, Reading
from concord_reading.parser import ParserMissing, load
from concord_reading.prose import prose, without_quotations
from concord_reading.reading import DEFAULT_LANGUAGE, language_of

if TYPE_CHECKING:
    from spacy.language import Language

_KEPT = 20_000
"""Readings that are kept; the least recently used go first."""
_LONGEST = 20_000
_BATCH = 64


class Reader:
    """Reads passages; one for a process. It is safe to call from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Passage, Reading] = OrderedDict()

    def read(self, passage: Passage) -> Reading:
        """Return what a text says; see `read_all`."""
        return self.read_all([passage])[0]

    def read_all(self, passages: Iterable[Passage]) -> list[Reading]:
        """Return what texts say, in order. English without a parser has no frames."""
        asked = list(passages)
        with self._lock:
            missing = [each for each in dict.fromkeys(asked) if each not in self._kept]
            self._kept.update(zip(missing, _read(missing), strict=True))
            for each in asked:
                self._kept.move_to_end(each)
            found = [self._kept[each] for each in asked]
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found


@cache
def reader() -> Reader:
    """Return the process's reader."""
    return Reader()


@cache
def parser() -> Language | None:
    """Return the process's parser; None where its files are missing."""
    try:
        return load()
    except ParserMissing:
        return None


def _read(passages: Sequence[Passage]) -> list[Reading]:
    texts = [without_quotations(prose(each.text[:_LONGEST])) for each in passages]
    spoken = [each.language or language_of(text) for each, text in zip(passages, texts, strict=True)]
    found: dict[int, Reading] = {}
    english_ones = [at for at, each in enumerate(spoken) if each == DEFAULT_LANGUAGE]
    if english_ones and (parse := parser()) is not None:
        docs = parse.pipe((texts[at] for at in english_ones), batch_size=_BATCH)
        for at, doc in zip(english_ones, docs, strict=True):
            found[at] = Reading("en", english.frames_of(doc, passages[at]))
    for at, each in enumerate(spoken):
        if each == "de":
            found[at] = Reading("de", german.frames_of(texts[at], passages[at]))
    return [found.get(at, Reading(spoken[at])) for at in range(len(passages))]
