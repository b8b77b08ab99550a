"""Reasons in words."""

import pytest
from concord_search.domain.explanation import Context, ago, reason, relevance_reason
from concord_search.domain.instants import DAY
from concord_search.domain.ranking import Breakdown, SignalPart
from search_lab import plain_state

NOW = 1_760_000_000_000_000


@pytest.fixture
def context() -> Context:
    """A memory of the billing domain, asked about from beside it."""
    memory = plain_state(
        "m",
        1,
        "The Berlin office of billing",
        concepts=("berlin", "office", "billing"),
        domain="work.billing",
        importance=3,
        predecessors=2,
    )
    return Context(
        memory=memory,
        query_concepts=("office", "rent", "berlin"),
        query_domain="work.hr",
        access_count=14,
        last_access=NOW - 3 * DAY,
        now=NOW,
    )


@pytest.mark.parametrize(
    ("name", "score", "expected"),
    [
        ("vector_similarity", 0.914, "cosine 0.91 with the query"),
        ("concept_overlap", 0.5, "shares berlin, office"),
        ("domain_match", 0.5, "work.billing stands beside work.hr under work"),
        ("domain_match", 1.0, "same domain work.billing"),
        ("domain_match", 0.0, "its domain is work.billing"),
        ("authority", 0.9, "high importance, read 14 times"),
        ("temporal", 0.9, "last read 3 days ago"),
        ("lexical", 0.25, "holds 25% of the query's words, by weight"),
        ("lexical", 0.0, "shares no searched word"),
        ("head_of_chain", 1.0, "current: it replaces 2 older memories"),
    ],
)
def test_each_signal_gives_its_reason(
    context: Context, name: str, score: float, expected: str
) -> None:
    """S4 matched concepts listed, the matched domain, importance and reads, last read."""
    assert reason(SignalPart(name, score, 0.1), context) == expected


@pytest.mark.parametrize(
    ("passed", "expected"),
    [
        (0, "just now"),
        (DAY // 1440, "1 minute ago"),
        (DAY // 24 * 5, "5 hours ago"),
        (DAY, "1 day ago"),
        (DAY * 400, "400 days ago"),
        (-DAY, "just now"),
    ],
)
def test_time_is_told_in_its_largest_unit(passed: int, expected: str) -> None:
    """S4 "last read 3 days ago"."""
    assert ago(NOW - passed, NOW) == expected


def test_one_sentence_names_what_contributed_most(context: Context) -> None:
    """S4 one relevance_reason sentence."""
    breakdown = Breakdown(
        0.6,
        (
            SignalPart("vector_similarity", 0.9, 0.3),
            SignalPart("authority", 0.9, 0.1),
            SignalPart("lexical", 1.0, 0.2),
        ),
        (),
    )

    assert relevance_reason(breakdown, context) == (
        "It surfaced mostly by similar meaning (cosine 0.90 with the query) and matching words "
        "(holds 100% of the query's words, by weight)."
    )
