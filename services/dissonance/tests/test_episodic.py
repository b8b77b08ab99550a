"""Which memories say what was once: their texts are not compared (D3)."""

import pytest
from concord_dissonance.domain.episodic import is_date, why_left_out, without_episodic
from concord_dissonance.domain.sides import Kind, Side
from concord_dissonance.domain.statements import Statement

DATES = (
    *("2024-05-01", "2024_05_01", "20240501", "2024.5.1", "01.05.2024", "5/1/2024", "2024-05"),
    *("2024-W18", "2024W18", "Wed 2024-05-01", "May 1, 2024", "1st May 2024", "1. Mai 2024"),
    *("Wednesday, May 1st, 2024", "Mittwoch 1. Mai 2024", "März 2024"),
)
NAMES = (
    *("2024", "2024.1", "v2024.05.1", "2024-05-01-use-postgres", "Market 2024", "May", "Berlin"),
    *("May plans 2024", "01a21e57-e404-70c8-88a1-0d6f473f51e4", "ticket 20240", "12", "", "3.11"),
)


@pytest.mark.parametrize("name", DATES)
def test_a_date_is_a_name(name: str) -> None:
    """D3 A day, a week or a month, in the forms of note programs, English and German."""
    assert is_date(name)


@pytest.mark.parametrize("name", NAMES)
def test_other_names_are_none(name: str) -> None:
    """D3 A name that says more than a date names what it says; a version is no date."""
    assert not is_date(name)


def memory(text: str = "x", *names: str, kind: Kind = Kind.FACT, id_: str = "m") -> Statement:
    """Return a memory with the names that it was read under."""
    return Statement(Side(id_, kind, text), "1", names=names)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (memory(kind=Kind.TURN), "TURN"),
        (memory(kind=Kind.JOURNAL), "JOURNAL"),
        (memory("Rain.", "journal/2024-05-01.md"), "DATED_NOTE"),
        (memory("Rain.", "journal/2024-05-01.md#Evening"), "DATED_NOTE"),
        (memory("# 1 May 2024\n\nRain."), "DATED_NOTE"),
        (memory("Rain.", id_="2024-05-01"), "DATED_NOTE"),
        (memory("It ran.", "server.log"), "LOG"),
        (memory("It ran.", "docs/CHANGELOG.md"), "LOG"),
        (memory("It ran.", "work_log.md"), "LOG"),
        (memory("2024-05-01T12:00:01Z INFO it runs"), "LOG"),
        (memory("[2024-05-01 12:00] it runs"), "LOG"),
        (memory("May  1 12:00:01 host cron[1]: it runs"), "LOG"),
        (memory("12:00:01 it runs"), "LOG"),
        (memory("The office is open.", "plans/2024-05-01-office.md"), ""),
        (memory("The catalog is long.", "catalog.md"), ""),
        (memory("2024-05-01 is the deadline."), ""),
        (memory("# 2024-05-01: the office\n\nIt is open."), ""),
        (Statement(Side("2024-05-01", Kind.EDGE), "1"), ""),
    ],
)
def test_what_is_episodic_is_left_out(said: Statement, reason: str) -> None:
    """D3 By kind, by name, by title, and by how it begins; edges never."""
    assert why_left_out(said) == reason


def test_what_is_left_out_is_counted() -> None:
    """D3 D4 The rest stays in its order."""
    kept, left = without_episodic(
        [memory(id_="b"), memory(kind=Kind.TURN), memory(kind=Kind.TURN), memory(id_="a")]
    )

    assert [each.id for each in kept] == ["b", "a"]
    assert left == {"TURN": 2}
