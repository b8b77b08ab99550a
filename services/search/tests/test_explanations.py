"""Reasons in words."""

from collections import Counter
from importlib.resources import files

import pytest
from concord_concepts import extract
from concord_search.domain import hops
from concord_search.domain.explanation import Context, ago, reason, relevance_reason
from concord_search.domain.instants import DAY
from concord_search.domain.ranking import Breakdown, SignalPart
from concord_search.domain.stated import in_words, matched
from search_lab import plain_state

NOW = 1_760_000_000_000_000
HOME = ("Ada", "LIVES_IN", "Bremen")
TEA = ("Ada", "LIKES", "tea")


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


@pytest.mark.parametrize(
    ("relation", "words"),
    [
        ("LIVES_IN", "lives in"),
        ("livesIn", "lives in"),
        ("serves-table", "serves table"),
        ("P2P", "p2p"),
        ("hört_über", "hört über"),
    ],
)
def test_a_relation_is_read_as_words(relation: str, words: str) -> None:
    """S11 Names in capitals, with humps, hyphens and umlauts."""
    assert in_words(("a", relation, "b")).startswith(f"a {words} b")


@pytest.mark.parametrize("relation", ["LIVES_IN", "HAS_HOME", "residence", "wohnt_in"])
def test_other_words_of_a_relation_stand_beside_it(relation: str) -> None:
    """S11 A relation is found by what else it is called, in English and German."""
    assert {"lives", "address", "wohnort"} <= set(in_words(("Ada", relation, "Bonn")).split())


@pytest.mark.parametrize(
    ("query", "fact"),
    [
        ("Where does Ada live?", HOME),
        ("What is Ada's address?", HOME),
        ("Wo wohnt Ada?", HOME),
        ("does she like tea", TEA),
        ("What is home?", HOME),
        ("Who lives in Bremen in winter?", HOME),
        ("Where does Mira live?", None),
        ("What of Ada?", None),
        ("is it raining", None),
    ],
)
def test_the_fact_that_shares_most_with_a_query_matched(
    query: str, fact: tuple[str, str, str] | None
) -> None:
    """S11 Not one that shares its subject alone, nor one of somebody else."""
    assert matched([TEA, HOME], extract(query)) == fact


def test_a_phrase_names_one_relation() -> None:
    """S11 No phrase stands in two groups, of which one would never be used."""
    text = files("concord_search").joinpath("relation_words.txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert [p for p, n in Counter(", ".join(lines).split(", ")).items() if n > 1] == []


@pytest.mark.parametrize(
    ("question", "name", "words"),
    [
        ("Where does Ada's sister live?", "Ada", "sister, live"),
        ("where does ada's sister’s boss work", "ada", "sister, boss, work"),
        ("What is the phone number of Ada Lovelace's boss?", "Ada Lovelace", "boss, phone number"),
        ("Where does the sister of Ada Lovelace work?", "Ada Lovelace", "sister, work"),
        ("What is the name of Thomas' wife's employer?", "Thomas", "wife, employer"),
        ("Where is the company of Ada's sister based?", "Ada", "sister, company, based"),
        ("Wo arbeitet Kaspars Chefin?", "Kaspar", "chefin, arbeitet"),
        ("Weißt du, wo kaspars Chefin wohnt?", "kaspar", "chefin, wohnt"),
        ("Wo wohnt die Chefin der Schwester von Kaspar?", "Kaspar", "schwester, chefin, wohnt"),
        ("In welcher Stadt lebt die Schwester Adas?", "Ada", "schwester, lebt"),
    ],
)
def test_a_possession_is_read_as_hops(question: str, name: str, words: str) -> None:
    """S11 From the name outwards, then what is asked of it, in English and German."""
    first = hops.chains(question)[0][0]

    assert (first.name, ", ".join(first.words)) == (name, words)


@pytest.mark.parametrize(
    "question",
    [
        "Where does Ada live?",
        "Who manages Ada's sister?",
        "Wer leitet Kaspars Team?",
        "Ada's sister called. Where do we live?",
        "It's late, and D'Antoni hasn't said what's next",
        "Ada's mother's sister's boss's neighbour called",
    ],
)
def test_what_is_no_possession_of_several_hops_is_not_read(question: str) -> None:
    """S11 One hop, one against an edge's direction, another sentence, more than three."""
    assert hops.chains(question) == []


@pytest.mark.parametrize(
    ("relation", "word", "is_meant"),
    [
        ("HAS_SISTER", "sister", True),
        ("SIBLING", "sister", True),
        ("BROTHER", "sister", False),
        ("MANAGED_BY", "chefin", True),
        ("reportsTo", "boss", True),
        ("MANAGES", "boss", False),
        ("MANAGER_OF", "boss", False),
        ("LIVES_IN", "live", True),
        ("wohnt in", "lived", True),
        ("WORKS_FOR", "arbeitet", True),
        ("TEACHES", "teach", True),
        ("GODMOTHER", "godmother", True),
    ],
)
def test_a_relation_means_what_leads_in_its_direction(
    relation: str, word: str, *, is_meant: bool
) -> None:
    """S11 Its own words, their inflections, and others of the list that lead the same way."""
    assert hops.means(relation, word) is is_meant
