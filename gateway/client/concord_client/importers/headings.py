"""Splits a long note at its headings."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LONG = 3_000
"""Notes with more characters are split; the embedding model reads about a third of as many."""
LONGEST = 12_000
"""The most characters of a part; longer ones without headings are split at blank lines."""
_DEEPEST = 6

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_COMMENT, _COMMENT_ENDS = re.compile(r" {0,3}<!--"), ("-->",)
_LINE = LONGEST - 1_000
"""The most characters of a line that is not cut."""
_OPENING = 200
"""The most characters of a fence's first line that are repeated in the next piece."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a note; `heading`: its path of headings below the title, empty for the first."""

    heading: str
    text: str


def parts(body: str) -> list[Part]:
    """The body's parts in order, the first without a heading; a short body is one part.

    A part that is cut by length is numbered: "Heading (2)".
    """
    if len(body) <= LONG:
        return [Part("", body)]
    found = list(_split(Part("", body), 1))
    return found if not found[0].heading else [Part("", ""), *found]


def _split(part: Part, level: int) -> Iterator[Part]:
    """Split at headings of a level, and parts that are still long at the next level."""
    if len(part.text) <= LONG:
        yield part
    elif level > _DEEPEST:
        yield from _paragraphs(part)
    else:
        for heading, lines in _sections(part.text.split("\n"), level):
            text = "\n".join(lines).strip("\n")
            named = " › ".join(each for each in (part.heading, heading) if each)
            if text or heading:
                yield from _split(Part(named, text), level + 1)


def items(body: str) -> list[Part]:
    """A body as agents keep their memory: each item of its outermost lists is a part of its own,
    under the headings above it; the first part is all else."""
    others, found = list[str](), list[Part]()
    path, item, literal = [""] * _DEEPEST, list[str](), _Literal()

    def end() -> None:
        if item:
            heading = " › ".join(each for each in path if each)
            found.append(Part(heading, "\n".join(item).rstrip()))
            item.clear()

    for line in body.split("\n"):
        is_literal = literal.reads(line)
        heading = None if is_literal else _HEADING.fullmatch(line)
        if heading:
            end()
            level = len(heading[1])
            path[level - 1 :] = [heading[2], *[""] * (_DEEPEST - level)]
        if not is_literal and (begun := _ITEM.match(line)):
            end()
            item.append(line[begun.end() :])
        elif item and (is_literal or not line.strip() or line[0] in " \t"):
            item.append(line)
        else:
            end()
            others.append(line)
    end()
    return [Part("", "\n".join(others).strip("\n")), *found]


def title_of(body: str) -> tuple[str, str]:
    """The text of the body's first heading if it is a first-level one before all other text, and
    the body without it; else "" and the body."""
    lines = body.lstrip("\n").split("\n")
    found = _HEADING.fullmatch(lines[0])
    if found and len(found[1]) == 1 and found[2].strip():
        return found[2].strip(), "\n".join(lines[1:])
    if len(lines) > 1 and lines[0].strip() and re.fullmatch(r" {0,3}=+[ \t]*", lines[1]):
        return lines[0].strip(), "\n".join(lines[2:])
    return "", body


def _sections(lines: Sequence[str], level: int) -> Iterator[tuple[str, list[str]]]:
    heading, collected, literal, before = "", list[str](), _Literal(), ""
    for line in lines:
        is_literal = literal.reads(line)
        found = None if is_literal else _HEADING.fullmatch(line)
        under = None if is_literal or level > 2 else _UNDERLINE.fullmatch(line)
        if found and len(found[1]) == level:
            yield heading, collected
            heading, collected = found[2], []
        elif under and _is_title(collected, before) and level == 1 + ("-" in line):
            yield heading, collected[:-1]
            heading, collected = collected[-1].strip(), []
        else:
            before = collected[-1] if collected else ""
            collected.append(line)
    yield heading, collected


def _is_title(collected: Sequence[str], before: str) -> bool:
    """Whether the last line is a paragraph of one line of words, which a line may underline."""
    last = collected[-1].strip() if collected else ""
    return bool(last) and not before.strip() and (last[0].isalnum() or last[0] in "*_`[\"'“„(")


def _paragraphs(part: Part) -> Iterator[Part]:
    """Pieces of at most `LONGEST` characters, cut at blank lines if there are any."""
    for number, piece in enumerate(_pieces(part.text), 1):
        again = f"{part.heading} ({number})".strip() if number > 1 else part.heading
        yield Part(again, piece)


def _pieces(text: str) -> Iterator[str]:
    """Pieces of a text, none of which says what the text as a whole does not.

    One that has to be cut within code, a comment or a quotation goes on within it. One that is cut
    within a line begins with "…": no word in it begins a line.
    """
    piece, size, end, again = list[str](), 0, 0, 0
    literal, is_quoted = _Literal(), False
    for whole in text.split("\n"):
        width = min(_LINE, len(whole)) or 1
        for at in range(0, len(whole) or 1, width):
            line = f"… {whole[at : at + width]}" if at else whole[:width]
            while len(piece) > again and size + len(line) > LONGEST:
                if end:
                    yield "\n".join(piece[:end]).strip("\n")
                    piece, again = piece[end:], 0
                else:
                    yield "\n".join([*piece, *literal.closing])
                    piece, again = [*literal.opening], len(literal.opening)
                    if is_quoted and not line.startswith(">"):
                        line = f"> {line}"
                size, end = sum(map(len, piece)) + len(piece), 0
            piece.append(line)
            size += len(line) + 1
        if literal.reads(whole):
            continue
        is_quoted = bool(whole.strip()) and (is_quoted or whole.lstrip(" ").startswith(">"))
        if not whole.strip():
            end = len(piece)
    if "".join(piece).strip():
        yield "\n".join(piece).strip("\n")


class _Literal:
    """Finds the lines that stand in fenced code or in a comment, from the first to the last."""

    def __init__(self) -> None:
        self.opening: tuple[str, ...] = ()
        """The line that opens what the last line is in."""
        self.closing: tuple[str, ...] = ()
        """The line that would close it."""

    def reads(self, line: str) -> bool:
        """Return whether a line is one of them."""
        mark = _FENCE.match(line)
        if self.closing == _COMMENT_ENDS:
            if _COMMENT_ENDS[0] in line:
                self.opening = self.closing = ()
        elif self.closing:
            if mark and mark[1].startswith(self.closing[0]) and not line[mark.end() :].strip():
                self.opening = self.closing = ()
        elif mark:
            self.opening, self.closing = (line[:_OPENING],), (mark[1],)
        elif _COMMENT.match(line):
            if _COMMENT_ENDS[0] not in line:
                self.opening, self.closing = ("<!--",), _COMMENT_ENDS
        else:
            return False
        return True
