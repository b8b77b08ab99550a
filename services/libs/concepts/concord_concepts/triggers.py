"""Triggers: the conditions under which a memory surfaces by itself (spec S9).

file:GLOB      a path: * any characters, ? one, [abc] one of these; of the whole path or its end
error:REGEX    a line of an error, in any case: see `patterns`
else           words, one after another in the current words, in an error or in a path
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property, lru_cache

from concord_concepts.extraction import extract
from concord_concepts.patterns import Pattern, PatternMalformed

FILE, ERROR = "file:", "error:"
_WORD = re.compile(r"\w+")
_SHORTEST_NAME = 3  # of an error: "pool", "404"; not "e"


class TriggerMalformed(ValueError):
    """A trigger that nothing can match; the text says why."""


@dataclass(frozen=True)
class Situation:
    """The situation of a person or agent: path, text of an error, words; each may be empty."""

    path: str = ""
    error: str = ""
    said: str = ""

    @cached_property
    def words(self) -> str:
        """All words of the situation in lower case, between single spaces."""
        return _words(f"{self.said}\n{self.error}\n{self.path}")


HasTime = Callable[[], bool]
Matches = Callable[[Situation, HasTime], bool]
"""Returns whether a trigger matches. Raises `OutOfTime` if the time ends before that is known."""


@lru_cache(maxsize=1 << 12)
def trigger(text: str) -> Matches:
    """Return a trigger as a test of a situation. Raises `TriggerMalformed`."""
    if text.startswith(FILE):
        return _file(text.removeprefix(FILE).strip())
    if text.startswith(ERROR):
        return _error(text.removeprefix(ERROR).strip())
    words = _words(text)
    if not words.strip():
        raise TriggerMalformed("holds no word")
    return lambda situation, _: words in situation.words


_WILD = re.compile(r"\[[^\]]*\]|\\.|[*?]")
"""What matches any of several characters, in a glob or a regular expression."""


@lru_cache(maxsize=1 << 12)
def is_telling(text: str) -> bool:
    """Return whether a trigger names anything: file:*, error:.*, "e" and "the" do not."""
    if text.startswith(FILE):
        return bool(_WORD.search(_WILD.sub(" ", text.removeprefix(FILE))))
    if text.startswith(ERROR):
        words = _WORD.findall(_WILD.sub(" ", text.removeprefix(ERROR)))
        return any(len(word) >= _SHORTEST_NAME for word in words)
    return bool(extract(text, 1)) or any(map(str.isdecimal, _words(text).split()))


def _file(glob: str) -> Matches:
    if not glob:
        raise TriggerMalformed("holds no pattern of a path")
    # fnmatch writes each * as an atomic group: a path is matched without backtracking
    translated = translate(glob)
    if "(?!)" in translated:
        raise TriggerMalformed("has a range that runs backwards")
    pattern = re.compile(translated)

    def matches(situation: Situation, _: HasTime) -> bool:
        parts = situation.path.split("/")
        ends = ("/".join(parts[at:]) for at in range(len(parts)))
        return bool(situation.path) and any(pattern.match(end) for end in ends)

    return matches


def _error(text: str) -> Matches:
    try:
        pattern = Pattern(text)
    except PatternMalformed as error:
        raise TriggerMalformed(str(error)) from error

    def matches(situation: Situation, has_time: HasTime) -> bool:
        # Without this test, a pattern that matches "" would match a situation without an error.
        return bool(situation.error) and pattern.is_in(situation.error, has_time)

    return matches


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "
