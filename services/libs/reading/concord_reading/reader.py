"""Reads texts into frames: English by a parser, German by rules."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import compress
from typing import TYPE_CHECKING

from concord_reading import english, german
from concord_reading.frame import Frame, Passage, Reading, moved
from concord_reading.language import DEFAULT_LANGUAGE, language_of, language_shown
from concord_reading.parser import ParserMissing, check, installed, load
from concord_reading.prose import prose, without_quotations

if TYPE_CHECKING:
    from spacy.language import Language

_KEPT = 4_000
"""Readings that are kept; the least recently used go first."""
_LONGEST = 20_000
_BATCH = 64
_CODE = re.compile(r"[{}]|=>|\$\w|\s--?\w[\w-]*[ =]\S|^\s*\w+=\S|\S{200}")
"""What no sentence has: placeholders, options of a command, assignments, words without an end,
whose marks the parser's tokenizer takes off one by one, in quadratic time."""
_BLOCK = re.compile(r"(?:(?!\n\s*\n|\n\s*(?:[-*+•>]|\d+[.)])\s|\n[^\n:]{1,40}:\s).)+", re.DOTALL)
"""A paragraph, an item of a list, or a line that begins with a label."""


_ONE_AT_A_TIME = threading.Lock()
"""The parser has one memory zone."""


class Reader:
    """Reads passages; one for a process. It is safe to call from several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Passage, Reading] = OrderedDict()

    def read(self, passage: Passage) -> Reading:
        """Return what a text says; see `read_all`."""
        return self.read_all([passage])[0]

    def read_all(self, passages: Iterable[Passage]) -> list[Reading]:
        """Return what texts say, in order. English without a parser has no frames."""
        asked = list(passages)
        with _ONE_AT_A_TIME:
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
def missing() -> str:
    """Return why English cannot be read, and what to do; empty where it can. Loads nothing."""
    try:
        check(installed())
    except ParserMissing as reason:
        return str(reason)
    return ""


@cache
def parser() -> Language | None:
    """Return the process's parser; None where its files are missing."""
    try:
        return load()
    except ParserMissing:
        return None


def _read(passages: Sequence[Passage]) -> list[Reading]:
    texts = [without_quotations(prose(each.text[:_LONGEST])) for each in passages]
    spoken = [
        each.language or language_of(text) for each, text in zip(passages, texts, strict=True)
    ]
    found: list[list[Frame]] = [[] for _ in passages]
    blocks = [
        (at, block.start(), block.group())
        for at, text in enumerate(texts)
        for block in _BLOCK.finditer(text)
        if not block.group().isspace() and not _CODE.search(block.group())
    ]
    is_english = [spoken[at] == DEFAULT_LANGUAGE for at, _, _ in blocks]
    if any(is_english) and (parse := parser()) is not None:
        chosen = list(compress(blocks, is_english))
        with parse.memory_zone():  # frames keep nothing of it
            docs = parse.pipe((text for _, _, text in chosen), batch_size=_BATCH)
            for (at, start, _), doc in zip(chosen, docs, strict=True):
                found[at] += (moved(e, start) for e in english.frames_of(doc, passages[at]))
    for (at, start, text), english_one in zip(blocks, is_english, strict=True):
        if not english_one:
            found[at] += (moved(e, start) for e in german.frames_of(text, passages[at]))
    for at, text in enumerate(texts):
        is_open = not (passages[at].language or _is_known(found[at]) or language_shown(text))
        if is_open and not _CODE.search(text):
            in_german = german.frames_of(text, passages[at])
            if _is_known(in_german):
                spoken[at], found[at] = "de", in_german
    return [Reading(*each) for each in zip(spoken, found, strict=True)]


def _is_known(frames: Sequence[Frame]) -> bool:
    return any(each.unread is None for each in frames)
