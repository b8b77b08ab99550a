"""Reads a whole text file."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from contextlib import suppress
from pathlib import Path

from concord_client.importers.outcome import ItemUnreadable

MAX_FILE_BYTES = 256 << 20
"""Bytes of a document, a table or a transcript."""
_SAMPLE = 1 << 12
SAVE = "save the file as UTF-8"


def read_text(path: Path, most: int = MAX_FILE_BYTES) -> str:
    """Return the text of a UTF-8 file, without a byte order mark.

    Raises `ItemUnreadable` if it has more than `most` bytes, cannot be read, or is not UTF-8; then
    with the line.
    """
    try:
        size = path.stat().st_size
        if size > most:
            raise ItemUnreadable(f"the file has {size} bytes, at most {most}", 0)
        return _decoded(path.read_bytes())
    except OSError as error:
        raise ItemUnreadable(error.strerror or "cannot be read", 0) from None


def read_sheet(path: Path) -> tuple[str, str]:
    """Return the text of a file of a spreadsheet, and its encoding unless that is UTF-8.

    UTF-16 is known by its mark or its zero bytes; what is neither is taken for Windows-1252, which
    spreadsheets write in Europe and America. Raises `ItemUnreadable`.
    """
    try:
        return read_text(path), ""
    except ItemUnreadable as unreadable:
        if not unreadable.line:
            raise
        raw = path.read_bytes()
        for encoding in _encodings(raw):
            with suppress(UnicodeDecodeError):
                return raw.decode(encoding).removeprefix("\ufeff"), encoding
        raise


def _encodings(raw: bytes) -> list[str]:
    if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return ["UTF-16"]
    odd, even = raw[1:_SAMPLE:2].count(0), raw[:_SAMPLE:2].count(0)
    if odd or even:
        return ["UTF-16-LE" if odd > even else "UTF-16-BE"]
    return ["Windows-1252"]


def _decoded(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ItemUnreadable(f"not UTF-8: {SAVE}", line) from None
    return text
