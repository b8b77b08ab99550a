import time
import unicodedata

import pytest
from concord_concepts import MAX_CONCEPT_LENGTH, extract, normalise
from concord_concepts.normal_form import fold
from hypothesis import given
from hypothesis import strategies as st

CASES = {
    "code-like tokens stay whole": (
        "PEP 484: see `asyncio.run`, foo_bar and src/app/main.py.",
        {"pep 484", "asyncio.run", "foo_bar", "src/app/main.py"},
    ),
    "a label typed in lower case meets the acronym": (
        "what replaced pep 333?",
        {"replaced", "pep", "pep 333"},
    ),
    "plurals and possessives meet the singular": (
        "Queries, databases, boxes, caches, branches and classes of Anna's",
        {"query", "database", "box", "cache", "branch", "class", "anna"},
    ),
    "German words": (
        "Die Datenbanken der Abteilungen und die Straßen, während es für uns nicht reicht.",
        {"datenbank", "abteilung", "strassen", "reicht"},
    ),
    "stop words say nothing": ("What does it do, and why isn't this that?", set()),
    "hyphens and slashes join words": (
        "time-aware input/output, and/or e-mail; COVID-19",
        {"time", "aware", "input", "output", "mail", "covid 19"},
    ),
    "languages of the C family": ("C++ and C#, not c", {"c++", "c#"}),
    "versions and dates, no bare numbers": (
        "Python 3.11 on 2014-09-29 after 12 tries",
        {"python", "3.11", "2014-09-29", "try"},
    ),
    "runs that are no words": ("x" * (MAX_CONCEPT_LENGTH + 1) + " 12345 --- ''' ...", set()),
    "nothing": ("", set()),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_a_text_gives_its_concepts(text: str, expected: set[str]) -> None:
    """M1 Concepts are extracted deterministically from the content."""

    assert expected == set(extract(text, limit=50))


@pytest.mark.parametrize(
    ("query", "memory"),
    [
        ("databases", "The database is PostgreSQL."),
        ("PEP-484", "PEP 484 adds type hints."),
        ("pep 484", "PEP 484 adds type hints."),
        ("ASYNCIO", "We run asyncio."),
        ("Zu\u0308rich", "Zürich ist eine Stadt."),
        ("STRASSE", "Die Straße ist lang."),
    ],
)
def test_a_query_meets_the_memory_in_another_spelling(query: str, memory: str) -> None:
    """M1 S3 Query and memory agree on a concept whatever its number, case or composition."""

    assert set(extract(query)) & set(extract(memory))


def test_the_most_salient_concepts_come_first() -> None:
    """M1 Mentions, form and an early place decide the order; the limit cuts the rest."""
    text = "Notes: the cache failed. Later the cache of PEP 563 broke, and a cache is a cache."

    assert extract(text, limit=2) == ("cache", "pep 563")
    assert extract("alpha omega", limit=9) == ("alpha", "omega")
    assert extract("omega alpha", limit=9) == ("omega", "alpha")


@pytest.mark.parametrize(
    ("given_concept", "expected"),
    [
        (" Vector  Databases\n", "vector database"),
        ("PEP-484", "pep 484"),
        ("peps-484", "pep 484"),
        ("Type Hints", "type hint"),
        ("C++", "c++"),
        ("series", "series"),
        ("analyses", "analysis"),
        ("  ", ""),
    ],
)
def test_given_concepts_get_the_same_spelling(given_concept: str, expected: str) -> None:
    """M1 Given concepts are normalised as extracted ones are."""

    assert expected == normalise(given_concept)


@given(st.text())
def test_normalise_is_idempotent(text: str) -> None:
    """M1 Normalising twice changes nothing."""
    once = normalise(text)

    assert once == normalise(once)


def test_folding_every_character_is_idempotent() -> None:
    """M1 No character of Unicode changes under a second fold."""
    unstable = [c for c in map(chr, range(0x110000)) if fold(fold(c)) != fold(c)]

    assert not unstable


WORDS = st.sampled_from(
    """
    PEP 484 pep-484s classes Straßen can't foo_bar a/b and/or C++ x.y :: `run` İ ŉs e\u0301s . -
    9. AB-7 port 80 3.11 can’t Anna’s
    """.split()  # noqa: SIM905 - a word list reads as words
)


@given(st.one_of(st.text(), st.lists(WORDS).map(" ".join)), st.integers(-1, 15))
def test_extraction_is_bounded_deterministic_and_normal(text: str, limit: int) -> None:
    """M1 Few, distinct, bounded fixed points of `normalise`, equal for equal text."""
    concepts = extract(text, limit)

    assert concepts == extract(unicodedata.normalize("NFD", text), limit)
    assert len(concepts) <= max(limit, 0)
    assert len(concepts) == len(set(concepts))
    assert all(0 < len(concept) <= MAX_CONCEPT_LENGTH for concept in concepts)
    assert all(normalise(concept) == concept for concept in concepts)


@pytest.mark.parametrize("unit", ["a", "a-", "a/", "a'", "Aa ", "9", "a::", "`", "\u0301", "ab 1"])
def test_the_longest_content_costs_milliseconds(unit: str) -> None:
    """M1 Time grows with the length of the text, also for hostile runs (20,000 characters)."""
    text = (unit * 20_000)[:20_000]
    start = time.process_time()
    extract(text)

    assert time.process_time() - start < 1
