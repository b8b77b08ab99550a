"""A strict reader of the part of Graphviz's DOT language that drawings are written in.

Grammar and escapes: https://graphviz.org/doc/info/lang.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r'\s*(?:(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<word>[A-Za-z_][A-Za-z_0-9]*)|(?P<number>[0-9]+)'
    r"|(?P<mark>->|[{}\[\]=;,]))",
    re.DOTALL,
)


@dataclass
class Graph:
    """What a drawing says: what nodes look like, and the arrows with how they look."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    arrows: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)


def parse(text: str) -> Graph:
    """Read one directed graph; ValueError for anything else, or anything after it."""
    tokens = _Tokens(text)
    for expected in ("digraph", "concord", "{"):
        tokens.take(expected)
    graph = Graph()
    while tokens.peek() != "}":
        first = tokens.name()
        if tokens.peek() == "->":
            tokens.take("->")
            graph.arrows.append((first, tokens.name(), _looks(tokens)))
        else:
            if first in graph.nodes:
                raise ValueError(f"{first!r} is drawn twice")
            graph.nodes[first] = _looks(tokens)
        tokens.take(";")
    tokens.take("}")
    tokens.end()
    return graph


def _looks(tokens: _Tokens) -> dict[str, str]:
    looks: dict[str, str] = {}
    tokens.take("[")
    while tokens.peek() != "]":
        name = tokens.name()
        if name in looks:
            raise ValueError(f"{name!r} is said twice")
        tokens.take("=")
        looks[name] = tokens.name()
        if tokens.peek() == ",":
            tokens.take(",")
    tokens.take("]")
    return looks


class _Tokens:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def peek(self) -> str:
        """Return the next mark or word, without taking it."""
        found = self._next()
        return found.group().strip()

    def take(self, expected: str) -> None:
        """Go past a mark or word that must come."""
        found = self._next()
        if found.group().strip() != expected:
            raise ValueError(f"{found.group()!r} in place of {expected!r}")
        self._at = found.end()

    def name(self) -> str:
        """Go past a name and return it, with a quoted one's escapes undone."""
        found = self._next()
        self._at = found.end()
        if quoted := found["quoted"]:
            return _unquoted(quoted[1:-1])
        if found["mark"]:
            raise ValueError(f"{found['mark']!r} is no name")
        return found.group().strip()

    def end(self) -> None:
        """Demand that nothing follows."""
        if self._text[self._at :].strip():
            raise ValueError("something follows the graph")

    def _next(self) -> re.Match[str]:
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            raise ValueError(f"no DOT: {self._text[self._at : self._at + 40]!r}")
        return found


def _unquoted(text: str) -> str:
    """Undo the two escapes that a drawing may use; any other would be expanded by Graphviz."""
    pieces = re.split(r"(\\.)", text, flags=re.DOTALL)
    for escape in pieces[1::2]:
        if escape not in ('\\"', "\\\\"):
            raise ValueError(f"an escape that Graphviz expands: {escape!r}")
    if "\n" in text:
        raise ValueError("a line break within a name")
    return "".join(piece[1] if place % 2 else piece for place, piece in enumerate(pieces))
