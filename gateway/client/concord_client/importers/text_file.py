"""Reads a whole text file."""

from pathlib import Path

from concord_client.importers.outcome import ItemUnreadable

MAX_FILE_BYTES = 256 << 20
"""Bytes of a document, a table or a transcript."""
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
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ItemUnreadable(error.strerror or "cannot be read", 0) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ItemUnreadable(f"not UTF-8: {SAVE}", line) from None
