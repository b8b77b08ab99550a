"""A text for a model within so many tokens: what is quoted in it can neither end nor steer it.

Quoted lines are indented by two spaces, their hidden characters and the `<` of what looks like a
tag are written out: no content can close the text, or what a client puts around it.
"""

import re

from concord_attestation.visible import cut, visible, written

BEGIN, END = "<concord-memory>", "</concord-memory>"
_TOKEN = re.compile(r" ?[A-Za-z]{1,8}|\d{1,3}|[^\sA-Za-z\d]|\n")
_TAG = re.compile(r"<(?=[/!?A-Za-z])")
_LONGEST = 20_000


def tokens(text: str) -> int:
    """About as many tokens as language models count, or some more: a piece of a word of eight
    letters, three digits, or any other character is one, and a tenth of all is added."""
    return -(-len(_TOKEN.findall(text)) * 11 // 10)


def one_line(text: object) -> str:
    """Text on one line, as it may be quoted."""
    return " ".join(quoted(text).split())


def quoted(text: object) -> str:
    """Text as it may be quoted; "" for what is no text."""
    if not isinstance(text, str):
        return ""
    return _TAG.sub(lambda _: written("<"), visible(text[:_LONGEST]))


def in_quotes(text: object, most: int) -> str:
    """Text of at most `most` characters on one line, in quotation marks that none in it can end."""
    return '"' + cut(one_line(text), most).replace('"', written('"')) + '"'


class Page:
    """Lines within a limit of tokens, their frame counted."""

    def __init__(self, limit: int, head: str) -> None:
        """`head`: the first line, of our own words."""
        self._lines = [BEGIN, head]
        self._left = limit - tokens("\n".join([*self._lines, END, ""]))
        self._head = len(self._lines)

    def add(self, *lines: str) -> bool:
        """Add lines that are quoted already, all or none; whether there was room."""
        cost = tokens("\n".join([*lines, ""]))
        if cost > self._left:
            return False
        self._left -= cost
        self._lines += lines
        return True

    def add_block(self, title: str, content: str, *below: str) -> bool:
        """Add a title, its content indented, and lines below; a content that is too long is cut,
        unless less than `LEAST` tokens of it would stay."""
        if self.add(title, *_indented(content), *below):
            return True
        words, low, high = content, 0, len(content)
        while low < high:
            middle = (low + high + 1) // 2
            tried = "\n".join([title, *_indented(words[:middle] + " […]"), *below, ""])
            low, high = (middle, high) if tokens(tried) <= self._left else (low, middle - 1)
        if tokens(words[:low]) < LEAST:
            return False
        return self.add(title, *_indented(words[:low] + " […]"), *below)

    @property
    def text(self) -> str:
        """The whole text; "" if nothing was added."""
        if len(self._lines) == self._head:
            return ""
        return "\n".join([*self._lines, END])


LEAST = 40
"""Tokens of a content that is worth being cut."""


def _indented(content: str) -> list[str]:
    return [f"  {line}" for line in content.split("\n") if line.strip()]
