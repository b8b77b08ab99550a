"""What is a small edit of a former memory, and what is none (T6)."""

import pytest
from concord_dissonance.domain.amendment import (
    LEAST_SIMILARITY,
    MOST_ALIKE,
    MOST_SUGGESTED,
    Edit,
    amended,
    small_edit,
)
from concord_dissonance.domain.sides import Kind, Micros, Side
from hypothesis import given, settings
from hypothesis import strategies as st

BUDGET = "The budget of the Apollo project is 40,000 euros a year."


def memory(id: str, text: str, kind: Kind = Kind.FACT, written: int = 0) -> Side:  # noqa: A002
    """Return a memory with an id."""
    return Side(id, kind, text, written=Micros(written))


def changed(former: str, later: str) -> list[tuple[str, str]] | None:
    """Return the words that went and came at each place; None for no small edit."""
    edit = small_edit(former, later)
    if edit is None:
        return None
    return [(former[slice(*change.former)], later[slice(*change.later)]) for change in edit.changes]


@pytest.mark.parametrize(
    ("later", "changes"),
    [
        (BUDGET.replace("40,000", "45,000"), [("40,000", "45,000")]),
        (BUDGET.replace("a year", "every year"), [("a", "every")]),
        (BUDGET.replace("is", "is not"), [("", "not")]),
        (BUDGET.replace(" Apollo", ""), [("Apollo", "")]),
        (BUDGET.upper(), []),
        (f"{BUDGET} Amends: [[memory:old]]", []),
        (
            BUDGET.replace("40,000", "50,000").replace("euros", "dollars"),
            [("40,000 euros", "50,000 dollars")],
        ),
        (BUDGET.replace("a year", "since March"), [("a year", "since March")]),
    ],
)
def test_numbers_words_and_letter_case_are_small_edits(
    later: str, changes: list[tuple[str, str]]
) -> None:
    """T6 (promises 1, 2) And what changed is told by where it stands."""
    assert changed(BUDGET, later) == changes


@pytest.mark.parametrize(
    "later",
    [
        BUDGET,
        "The budget of Ada's move to another town is 3,000 francs in all.",
        "Apollo had a sister.",
        "Euros, 40,000 a year: of the project Apollo is the budget.",
        BUDGET + " It was agreed upon by all of us in the meeting of last Monday.",
    ],
)
def test_the_same_and_another_text_are_none(later: str) -> None:
    """T6 (promise 3) Nor is the same in another order, or a text that says much more."""
    assert small_edit(BUDGET, later) is None


@pytest.mark.parametrize("name", ["Artemis", "Gemini II", "ESA"])
def test_another_name_is_another_thing(name: str) -> None:
    """T6 Both memories must be about the same subject; a weekday for another is an edit."""
    assert small_edit(BUDGET, BUDGET.replace("Apollo", name)) is None
    weekly = "The team of the project meets every Monday at nine."
    assert changed(weekly, weekly.replace("Monday", "Friday")) == [("Monday", "Friday")]


@pytest.mark.parametrize(
    ("former", "word", "other"),
    [
        ("Ticket 311 is owned by the support team of the store.", "311", "312"),
        ("Ticket 3: the backup job runs at four on Monday mornings.", "Ticket 3", "Ticket 12"),
        ("The cat of my sister is three years old and likes fish.", "cat", "dog"),
        ("The meeting in hall A begins at nine on Monday mornings.", "hall A", "hall B"),
    ],
)
def test_another_subject_or_number_is_another_thing(former: str, word: str, other: str) -> None:
    """T6 Read from the sentence, so that a number that is its value is an edit all the same."""
    later = memory("new", former.replace(word, other))

    assert small_edit(former, later.text)
    assert amended(later, [memory("old", former)]) == []
    assert amended(memory("new", BUDGET.replace("40", "45")), [memory("old", BUDGET)])


def test_turns_and_other_kinds_are_not_compared() -> None:
    """T6 (promises 4, 5) A turn amends nothing, and nothing amends it."""
    raised = BUDGET.replace("40", "45")
    for former, later in ((Kind.TURN, Kind.TURN), (Kind.PLAN, Kind.FACT), (Kind.TURN, Kind.FACT)):
        assert amended(memory("new", raised, later), [memory("old", BUDGET, former)]) == []
    assert amended(memory("new", raised), [memory("old", BUDGET)])


def test_entries_of_a_list_amend_nothing() -> None:
    """T6 (promise 8) Where more than two differ from it at one place, none is suggested."""
    entries = [memory(str(n), BUDGET.replace("40", str(n))) for n in range(50, 50 + MOST_ALIKE + 1)]
    later = memory("new", BUDGET)

    assert len(amended(later, entries[:MOST_ALIKE])) == MOST_ALIKE
    assert amended(later, entries) == []
    reworded = memory("reworded", BUDGET.replace("a year", "every year"))
    assert [former.id for former, _ in amended(later, [*entries, reworded])] == ["reworded"]


def test_the_nearest_come_first() -> None:
    """T6 Up to three; of those that are equally near, the one that was written last."""
    formers = [
        memory("far", BUDGET.replace("40,000 euros", "3 dollars")),
        memory("old", BUDGET.replace("40", "41"), written=1),
        memory("new", BUDGET.replace("40", "42"), written=2),
        memory("word", BUDGET.replace("a year", "each year"), written=0),
    ]

    found = [former.id for former, _ in amended(memory("it", BUDGET), formers)]
    assert found == ["new", "old", "word"]
    assert len(found) == MOST_SUGGESTED


def test_the_longest_texts_are_compared() -> None:
    """T6 (promise 14) 4,000 words with two changes; and in the other order, given up early."""
    words = [f"w{number % 700}" for number in range(4_000)]
    edited = [*words[:10], "other", *words[11:3_000], "more", *words[3_000:]]
    edit = changed(" ".join(words), " ".join(edited))
    turned = small_edit(" ".join(words), " ".join(reversed(words)))

    assert edit == [("w10", "other"), ("", "more")]
    assert turned is None


WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=5, max_size=20)
EDITS = st.lists(
    st.tuples(st.integers(0, 19), st.integers(0, 1), st.sampled_from(["", "a", "b c", "x"])),
    max_size=4,
)


@given(WORDS, EDITS)
@settings(deadline=None)
def test_the_places_are_those_of_a_shortest_edit(
    old: list[str], edits: list[tuple[int, int, str]]
) -> None:
    """T6 (promise 15) The similarity is that of the longest common subsequence."""
    new = list(old)
    for at, gone, came in edits:
        new[at : at + gone] = came.split()
    later = " ".join(new)
    edit = small_edit(" ".join(old), later)
    if edit is None:
        return
    kept = longest_common(old, new)

    assert edit.similarity == pytest.approx(2 * kept / (len(old) + len(new)))
    assert edit.similarity >= LEAST_SIMILARITY
    assert longest_common(old, unchanged(later, edit)) == kept


def unchanged(text: str, edit: Edit) -> list[str]:
    """Return the words that stand outside the changes."""
    for change in reversed(edit.changes):
        text = f"{text[: change.later.start]} {text[change.later.end :]}"
    return text.split()


def longest_common(one: list[str], other: list[str]) -> int:
    """Return how many words both have in one order."""
    row = [0] * (len(other) + 1)
    for a in one:
        before, row = row, [0]
        for at, b in enumerate(other):
            row.append(before[at] + 1 if a == b else max(before[at + 1], row[-1]))
    return row[-1]
