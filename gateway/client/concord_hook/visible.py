"""Characters that do not show, or change how others show, written out as \\uXXXX (V6).

A signer must see the text to be signed: a direction override makes a terminal show its words
reversed, and a zero-width space makes two names look alike. A model
must see where a quotation ends.
"""

import unicodedata

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


def is_hidden(char: str) -> bool:
    """Whether a character is control, format, line or paragraph separator, private, unassigned, or
    blank; tab, newline and spaces are not hidden."""
    if char in _BLANK:
        return True
    return not char.isprintable() and char not in "\n\t" and unicodedata.category(char) != "Zs"


def visible(content: str) -> str:
    """The text with every hidden character written out: `\\u202e`, `\\U000e0041`."""
    return "".join(written(char) if is_hidden(char) else char for char in content)


def written(char: str) -> str:
    """A character written out."""
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
