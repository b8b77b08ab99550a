"""A file that an import reads whole."""

from pathlib import Path

import pytest
from concord_client.importers.outcome import ItemUnreadable
from concord_client.importers.text_file import read_text


def test_a_file_of_more_bytes_than_asked_for_is_not_read(tmp_path: Path) -> None:
    """M6 Whatever its form: a table as a transcript, a document or a note."""
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xef\xbb\xbfcontent")

    assert read_text(path, 10) == "content"
    with pytest.raises(ItemUnreadable, match="10 bytes, at most 9"):
        read_text(path, 9)
    path.write_bytes(b"one\n\xff")
    with pytest.raises(ItemUnreadable) as found:
        read_text(path)
    assert (found.value.reason, found.value.line) == ("not UTF-8: save the file as UTF-8", 2)
