"""Foreign text as it is shown to a person or a model: whole, but unable to pass for something else.

A signer must see the text to be signed: a direction override makes a terminal show its words
reversed, and a zero-width space makes two names look alike. A model must see where a quotation
ends. So characters that do not show, or change how others show, are written out as \\uXXXX, and a
field that a caller filled, such as a speaker's name, stands in quotation marks and is cut.
It imports the standard library alone: a client's hook starts it at every prompt.
"""

import re
import unicodedata
from typing import Any

FIELD_CHARACTERS = 120
"""Most characters that are shown of a field of a source, such as a speaker or a file."""
NAMED = 5
"""Most values that are shown of a field that has many, such as the turns of a source."""

# characters without width or ink, though their category is letter, mark or symbol (Unicode's
# Default_Ignorable_Code_Point outside the categories below, and the blank Braille cell)
_BLANK = frozenset(
    chr(code)
    for span in (
        *((0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
        *((0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0)),
        (0xE0100, 0xE01EF),
    )
    for code in range(span[0], span[1] + 1)
)
_PLAIN_ID = re.compile(r"[A-Za-z0-9._/:-]+")


def is_hidden(char: str) -> bool:
    """Whether a character is control, format, line or paragraph separator, private, unassigned, or
    blank; tab, newline and spaces are not hidden."""
    if char in _BLANK:
        return True
    return not char.isprintable() and char not in "\n\t" and unicodedata.category(char) != "Zs"


def visible(content: str) -> str:
    """The text with every hidden character written out: `\\u202e`, `\\U000e0041`."""
    shown = content.replace("\n", "").replace("\t", "")
    if shown.isprintable() and _BLANK.isdisjoint(shown):
        return content
    return "".join(written(char) if is_hidden(char) else char for char in content)


def written(char: str) -> str:
    """A character written out."""
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def in_json(line: str) -> str:
    """The same JSON with every hidden character as JSON's own escape."""
    if line.isascii() and line.isprintable():
        return line
    return "".join(_in_utf16(char) if is_hidden(char) else char for char in line)


def visible_values(value: Any) -> Any:
    """A value of JSON with `visible` texts and names, at any depth."""
    match value:
        case str():
            return visible(value)
        case dict():
            return {visible(name): visible_values(each) for name, each in value.items()}
        case list() | tuple():
            return [visible_values(each) for each in value]
    return value


def cut(content: str, most: int = FIELD_CHARACTERS) -> str:
    """The text; of one longer than `most` characters its beginning and "…", `most` in all."""
    return content if len(content) <= most else f"{content[: most - 1]}…"


def quoted(content: str, most: int = FIELD_CHARACTERS) -> str:
    """A caller's text on one line, visible, cut, and in quotation marks that none in it can end.

    A speaker `owner"; written by a person` is `"owner\\u0022; written by a person"`.
    """
    line = cut(" ".join(content.split()), most)
    return '"' + visible(line).replace('"', written('"')) + '"'


def named(identifier: str) -> str:
    """An id as it is, if it can be told from the words around it, else quoted."""
    plain = len(identifier) <= FIELD_CHARACTERS + 8 and _PLAIN_ID.fullmatch(identifier)
    return identifier if plain else quoted(identifier)


def _in_utf16(char: str) -> str:
    raw = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{raw[at : at + 2].hex()}" for at in range(0, len(raw), 2))
