"""Regular expressions whose time is linear in the text, for every pattern.

Python's `re` backtracks: a pattern that a stranger wrote may take hours. This matcher keeps the set
of all positions in the pattern that a match may have reached (Thompson 1968), as states of an
automaton that is built only as far as texts need it.

    a  \\.  .  [a-z]  [^0-9]  \\d \\w \\s (and \\D \\W \\S)  (...)  |  *  +  ?  {2}  {2,5}
    {2,}  ^  $

^ and $ are the beginning and the end of a line; nothing matches over the end of one. Upper and
lower case are one.
"""

import re
from collections.abc import Callable
from functools import partial

MOST_STATES = 1_000
"""A pattern with more states is refused: a counted repeat copies its part's states."""
MOST_REPEATS = 100
KEPT_STATES = 16_384
"""States in the cached steps of the automaton; beyond them, the cache is cleared."""

_SPECIAL = frozenset("*+?{}()|[]^$.\\")
_PLAIN = re.compile(r"(?:[^*+?{}()|[\]^$.\\](?![*+?{]))*")
"""A pattern's literal prefix."""
_CLASSES: dict[str, Callable[[str], bool]] = {
    "d": str.isdigit,
    "w": lambda char: char.isalnum() or char == "_",
    "s": str.isspace,
}
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r"}
_BEGIN, _END = "begin", "end"
_MATCH = 0
"""The state in which a match is complete."""

Test = Callable[[str], bool]
Part = Callable[[int], int]
"""Adds a part's states before the given following state; returns the part's first state."""
States = frozenset[int]


class PatternMalformed(ValueError):
    """A pattern that cannot be read, or is too large; the text says why."""


class OutOfTime(Exception):
    """The time ran out before it was known whether a pattern matches."""


def unhurried() -> bool:
    """Return True: for matching without a time limit."""
    return True


class Pattern:
    """A regular expression. Raises `PatternMalformed`."""

    def __init__(self, text: str) -> None:
        reader = _Reader(text)
        self._first = reader.whole()(_MATCH)
        # Most texts lack the literal prefix, and so need no step of the automaton.
        begins = _PLAIN.match(text)
        self._begins = "" if begins is None or "|" in text else begins[0].lower()
        self._states = reader.states
        self._steps: dict[tuple[States, str], States] = {}
        self._kept = 0

    def is_in(self, text: str, has_time: Callable[[], bool] = unhurried) -> bool:
        """Whether some line of a text holds a match.

        Raises `OutOfTime` if `has_time` returns False before a step that is not cached.
        """
        lowered = text.lower()
        if self._begins not in lowered:
            return False
        return any(self._is_in(line, has_time) for line in lowered.splitlines() or [""])

    def _is_in(self, line: str, has_time: Callable[[], bool]) -> bool:
        now = self._closed({self._first}, {_BEGIN})
        for char in line:
            if _MATCH in now:
                return True
            now = self._after(now, char, has_time)
        return _MATCH in self._closed(now, {_END} if line else {_BEGIN, _END})

    def _after(self, states: States, char: str, has_time: Callable[[], bool]) -> States:
        """Return the states after a character, with the first state: a match may begin there."""
        found = self._steps.get((states, char))
        if found is None:
            if not has_time():
                raise OutOfTime
            if self._kept >= KEPT_STATES:
                self._steps.clear()
                self._kept = 0
            reached = {self._first}
            for state in states:
                test, following = self._states[state]
                if callable(test) and test(char):
                    reached.update(following)
            found = self._steps[states, char] = self._closed(reached, set())
            self._kept += len(found)
        return found

    def _closed(self, states: set[int] | States, at: set[str]) -> States:
        """Return the states and all that they reach without a character; `at`: place in line."""
        found, new = set(states), list(states)
        while new:
            test, following = self._states[new.pop()]
            if test is None or test in at:
                new += set(following) - found
                found.update(following)
        return frozenset(found)


class _Reader:
    """Reads a pattern from left to right."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self.states: list[tuple[Test | str | None, tuple[int, ...]]] = [("match", ())]
        """Each state's test (a character, a place in the line, or none) and following states."""

    def _add(self, test: Test | str | None, *following: int) -> int:
        if len(self.states) >= MOST_STATES:
            raise PatternMalformed("is too large")
        self.states.append((test, following))
        return len(self.states) - 1

    def whole(self) -> Part:
        """Read the whole pattern."""
        if not self._text:
            raise PatternMalformed("is empty")
        found = self._either()
        if self._at < len(self._text):
            raise PatternMalformed(f"has a {self._text[self._at]!r} too many")
        return found

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self) -> str:
        char = self._next()
        if not char:
            raise PatternMalformed("ends too early")
        self._at += 1
        return char

    def _either(self) -> Part:
        ways = [self._sequence()]
        while self._next() == "|":
            self._take()
            ways.append(self._sequence())
        if len(ways) == 1:
            return ways[0]
        return lambda after: self._add(None, *(way(after) for way in ways))

    def _sequence(self) -> Part:
        parts: list[Part] = []
        while self._next() not in {"", "|", ")"}:
            parts.append(self._repeated())

        def join(after: int) -> int:
            for part in reversed(parts):
                after = part(after)
            return after

        return join

    def _repeated(self) -> Part:
        part = self._one()
        while self._next() in set("*+?{") - {""}:
            least, most = self._count()
            part = partial(self._times, part, least, most)
        return part

    def _count(self) -> tuple[int, int | None]:
        match self._take():
            case "*":
                return 0, None
            case "+":
                return 1, None
            case "?":
                return 0, 1
        digits = ""
        while (char := self._take()) != "}":
            digits += char
        low, comma, high = digits.partition(",")
        if not low.isdecimal() or not (high.isdecimal() or not high):
            raise PatternMalformed("has a { that begins no count")
        least, most = int(low), int(high) if high else None if comma else int(low)
        if max(least, most or 0) > MOST_REPEATS or (most is not None and most < least):
            raise PatternMalformed("repeats too often")
        return least, most

    def _times(self, part: Part, least: int, most: int | None, after: int) -> int:
        if most is None:
            loop = self._add(None, after)
            self.states[loop] = (None, (part(loop), after))
            after = loop
        else:
            end = after
            for _ in range(most - least):
                after = self._add(None, part(after), end)
        for _ in range(least):
            after = part(after)
        return after

    def _one(self) -> Part:
        char = self._take()
        match char:
            case "(":
                return self._group()
            case "[":
                return self._of(self._choice())
            case ".":
                return self._of(lambda _: True)
            case "^":
                return partial(self._add, _BEGIN)
            case "$":
                return partial(self._add, _END)
            case "\\":
                return self._of(self._escaped())
        if char in _SPECIAL - set("}]"):
            raise PatternMalformed(f"has a {char!r} with nothing before it")
        return self._of(partial(str.__eq__, char.lower()))

    def _of(self, test: Test) -> Part:
        return partial(self._add, test)

    def _group(self) -> Part:
        if self._next() == "?":
            self._take()
            if self._take() != ":":
                raise PatternMalformed("looks around or names a group, which is not offered")
        found = self._either()
        if self._next() != ")":
            raise PatternMalformed("has a ( that is not closed")
        self._take()
        return found

    def _escaped(self) -> Test:
        char = self._take()
        if char.lower() in _CLASSES:
            test = _CLASSES[char.lower()]
            return test if char.islower() else lambda each: not test(each)
        if char.isalnum() and char not in _ESCAPED:
            raise PatternMalformed(f"has a \\{char}, which is not offered")
        return partial(str.__eq__, _ESCAPED.get(char, char))

    def _choice(self) -> Test:
        negative = self._next() == "^"
        if negative:
            self._take()
        tests: list[Test] = []
        while self._next() != "]" or not tests:
            first = self._take()
            if first == "\\":
                tests.append(self._escaped())
            elif self._next() == "-" and self._text[self._at + 1 : self._at + 2] not in {"", "]"}:
                self._take()
                last = self._take()
                if last == "\\" or last < first:
                    raise PatternMalformed("has a range that runs backwards")
                tests.append(partial(_between, first.lower(), last.lower()))
            else:
                tests.append(partial(str.__eq__, first.lower()))
        self._take()
        return lambda char: any(test(char) for test in tests) != negative


def _between(first: str, last: str, char: str) -> bool:
    return first <= char <= last
