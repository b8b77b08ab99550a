"""What of a text is compared (D3, D13)."""

import time

import pytest
from concord_reading.frame import Passage
from concord_reading.prose import prose
from concord_reading.reader import reader

LONG_NOTE = """# Boat manual › Chapter 1

The rope is spliced.

Parts: Chapter 1; Chapter 2"""


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Tracking: https://a.example/browse/SAIL-101.", "Tracking: ."),
        ("See www.a.example/b(c) or mailto:ada@a.example, now.", "See ) or , now."),
        ("(see HTTPS://a.example/x?y=1#z)", "(see )"),
        ("<https://a.example/x> is up.", "< > is up."),
        ("A [plan](https://a.example/1 'Plan (2)') is there.", "A [plan] is there."),
        ("A [plan][1] is there.\n\n[1]: https://a.example/1", "A [plan][1] is there."),
        ("  [a b]: <https://a.example> 'Title'\nIt rains.", "It rains."),
        ("![A boat that is red](boat.png) sails.", "sails."),
        ("# Version 1\n\nIt rains.\n\n## 2024 #", "It rains."),
        ("Version 2\n=========\nIt rains.\n", "It rains."),
        ("Version 2\n---\nIt rains.\n", "It rains."),
        ("It rains.\n\n---\n\nIt pours.", "It rains. --- It pours."),
        ("| Owner | Ada |\n|---|---|\nIt rains.", "It rains."),
        ("`not open` and\n```\nnot shut\n```\nIt rains.", "and It rains."),
        ("Supersedes: [[memory:a|the old one]]\nIt rains.", "It rains."),
        (LONG_NOTE, "The rope is spliced."),
        ("Parts: a; b", "Parts: a; b"),
        ("#3 is open, and C# is not.", "#3 is open, and C# is not."),
        ("The list [a](b is open.", "The list [a](b is open."),
        ("Ada: I came at 10://30", "Ada: I came at 10://30"),
    ],
)
def test_what_is_no_sentence_is_blanked(text: str, left: str) -> None:
    """D3 D13 C1 Everything else stays in its place, character for character."""
    found = prose(text)

    assert " ".join(found.split()) == left
    assert len(found) == len(text)
    assert all(kept in (" ", said) for kept, said in zip(found, text, strict=True))


def test_a_reading_has_none_of_it() -> None:
    """D3 C1 Rules and candidates see sentences alone, models the same text."""
    text = "# Gate 7 is shut\n\nThe bridge is open: https://a.example/not/open"

    (frame,) = reader().read(Passage(text)).frames

    assert [word.key for word in frame.words] == ["bridg", "be", "open"]


@pytest.mark.parametrize(
    "piece", ["[", "](", "#", "(", "\n-", "|", "![", "a.", "a", "www.", "[[", "`", "a\n"]
)
def test_it_takes_linear_time(piece: str) -> None:
    """D3 Whatever a memory of 20,000 characters holds."""
    text = (piece * 20_000)[:20_000]
    start = time.process_time()
    prose(text)

    assert time.process_time() - start < 1.0
