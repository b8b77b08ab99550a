"""Which pairs go to a judge: the right ones, few, and the same in any order (D3)."""

import random
from collections.abc import Sequence

from concord_dissonance.domain import candidates, nearness
from concord_dissonance.domain.sides import Kind, RelationRule, Rules, Side, TypedFact
from concord_dissonance.domain.sketch import sketch
from concord_dissonance.domain.statements import Statement
from hypothesis import given, settings
from hypothesis import strategies as st

WORDS = ["tower", "bridge", "river", "harbour", "office", "engine", "garden", "window"]
ONE_VALUE = Rules({"LIVES_IN": RelationRule(functional=True)})


def memory(
    place: int,
    text: str,
    concepts: frozenset[str] = frozenset(),
    domain: str = "",
    start: int | None = None,
) -> Statement:
    """Return a memory as a statement."""
    side = Side(
        f"m{place:04}",
        Kind.FACT,
        text,
        valid_from=start,  # type: ignore[arg-type] # µs
        concepts=concepts,
        domain=domain,
    )
    return Statement(side, "etag")


def of_memories(there: Sequence[Statement], similar: nearness.Near) -> set[candidates.Pair]:
    """Return the candidates of memories that are read for it."""
    return candidates.of_memories(there, sketches(there), similar)


def nearest_each(there: Sequence[Statement], similar: nearness.Near) -> dict[str, list[str]]:
    """Return the nearest of each memory, read for it."""
    return candidates.nearest_each(there, sketches(there), similar)


def sketches(there: Sequence[Statement]) -> candidates.Sketches:
    """Return memories' sketches under an empty key."""
    return {each.id: sketch(each.side, b"") for each in there}


def edge(
    name: str,
    value: str,
    start: int | None = None,
    end: int | None = None,
    *,
    relation: str = "LIVES_IN",
    is_superseded: bool = False,
) -> Statement:
    """Return an edge of Ada as a statement."""
    fact = TypedFact("Ada", relation, value)
    side = Side(name, Kind.EDGE, fact=fact, valid_from=start, valid_until=end)  # type: ignore[arg-type] # µs
    return Statement(side, "etag", is_superseded=is_superseded)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), max_size=12), st.randoms()
)
def test_order_changes_nothing(texts: list[list[str]], draw: random.Random) -> None:
    """D2 The same statements give the same pairs, in whatever order they come."""
    said = ["I have never seen a " * (n % 3 == 0) + " ".join(each) for n, each in enumerate(texts)]
    there = [memory(n, said[n], frozenset(words), "d") for n, words in enumerate(texts)]
    shuffled = draw.sample(there, len(there))

    assert of_memories(there, {}) == of_memories(shuffled, {})


def test_order_of_arrival_changes_nothing_where_there_are_too_many() -> None:
    """D2 D3 What says the same is ranked by what it says: ids come in the order of the writes."""
    texts = [f"The office is in {word}." for word in (*WORDS, *map(str, range(40)))]
    found = []
    for seed in (1, 2):
        draw = random.Random(seed)
        said = draw.sample(texts, len(texts))
        there = [memory(n, text, frozenset({"office"}), "d") for n, text in enumerate(said)]
        values = [edge(f"e{n:04}", text) for n, text in enumerate(said)]
        by_id = dict(zip([f"m{n:04}" for n in range(len(said))], said, strict=True))
        by_id |= {value.id: text for value, text in zip(values, said, strict=True)}
        pairs = of_memories(there, {}) | candidates.of_edges(values, ONE_VALUE)
        found.append({frozenset((by_id[one], by_id[other])) for one, other in pairs})

    assert found[0] == found[1]


def test_pairs_grow_with_the_statements_and_not_with_their_square() -> None:
    """D3 At most twenty pairs a statement, however much they have in common."""
    for count in (100, 400):
        same = [memory(n, "the same office", frozenset({"office"}), "d") for n in range(count)]
        values = [edge(f"e{n:04}", f"city {n}") for n in range(count)]
        pairs = of_memories(same, {}) | candidates.of_edges(values, ONE_VALUE)
        assert len(pairs) <= 20 * (len(same) + len(values))


def test_a_sentence_finds_the_one_with_another_filler() -> None:
    """D3 The same sentence frame with another filler, however long the texts around it."""
    noise = [memory(n, f"Item {n} of list {n} is numbered {n}.") for n in range(50)]
    one = memory(900, "Much was said. The harbour bridge closes at nine.")
    other = memory(901, "The harbour bridge closes at ten. Nobody minded it, then or later.")

    assert ("m0900", "m0901") in of_memories([*noise, one, other], {})


def test_what_speaks_of_the_same_things_meets() -> None:
    """D3 D13 In one sentence of a long text, among many that are more alike as a whole."""
    about = "repairs, paint and oil for the harbour engine"
    noise = [memory(n, f"The ledger has {about}, item {n}.") for n in range(50)]
    one = memory(900, f"Bo owns the boat. We spoke of {about}.")
    other = memory(901, "It was late. My cat slept. Bo sold the boat. Then we ate.")

    for there in ([*noise, one, other], [other, one, *noise]):
        nearest = nearest_each(there, {})
        assert nearest["m0900"][0] == "m0901"
        assert nearest["m0901"][0] == "m0900"


def test_same_things_leave_room_for_what_is_alike() -> None:
    """D3 Half of the candidates at most come by frames, however many speak of the same things."""
    telling = [memory(n, f"The tower stands in Bonn near bridge {n}.") for n in range(20)]
    one = memory(900, "The tower is in Bonn. Closing at nine, always!")
    alike = memory(901, "Closing at nine, always!")

    nearest = nearest_each([*telling, one, alike], {})["m0900"]

    assert nearest.index("m0901") == candidates.OF_FRAMES


def test_only_what_is_asserted_leads_to_others() -> None:
    """D3 D13 A question names things and says nothing of them."""
    texts = {
        "said": "Bo repaired the harbour engine.",
        "again": "The harbour engine is old.",
        "asked": "Is the harbour engine old?",
    }
    made = {each: sketch(memory(0, text).side, b"") for each, text in texts.items()}
    near = nearness.near_in_frames(made, made)

    assert [other for other, _ in near["said"]] == ["again"]
    assert "asked" not in near


def test_the_later_statement_brings_the_former() -> None:
    """D3 Where both state their times: what a statement may replace or deny was there before."""
    texts = [f"The harbour bridge closes at {hour}." for hour in ("nine", "ten", "eleven")]
    timed = [memory(n, text, start=n) for n, text in enumerate(texts)]
    untimed = [memory(n, text) for n, text in enumerate(texts)]

    stated = {key: set(found) for key, found in nearest_each(timed, {}).items()}
    arrived = {key: set(found) for key, found in nearest_each(untimed, {}).items()}

    assert stated == {"m0000": set(), "m0001": {"m0000"}, "m0002": {"m0000", "m0001"}}
    assert all(len(found) == 2 for found in arrived.values())


def test_what_all_records_begin_with_makes_none_alike() -> None:
    """D3 Sentences that all share do not hide the one that matters."""
    head = "Accepted by the harbour board."
    one = memory(1, f"{head} The engine runs on steam.")
    other = memory(2, f"{head} Seven gardens border our river.")
    opposed = memory(3, f"{head} The engine does not run on steam.")
    filling = [memory(10 + n, f"{head} Window {n} is {n} wide.") for n in range(30)]

    nearest = nearest_each([one, other, opposed, *filling], {})

    assert nearest["m0001"][0] == "m0003"
    assert "m0002" not in nearest["m0001"]


def test_concepts_meet_in_one_domain_above_the_threshold() -> None:
    """D3 Jaccard above .60, and never across domains."""
    sets = [frozenset("abcd"), frozenset("abce"), frozenset("abcf")]
    close = [frozenset("abcdefgh"), frozenset("abcdefgi")]
    there = [memory(n, "", each, "d") for n, each in enumerate((*sets, *close))]
    apart = [memory(10 + n, "", close[0], f"d{n}") for n in range(2)]

    assert candidates.near_in_concepts(there) == {("m0003", "m0004")}
    assert candidates.near_in_concepts(apart) == set()
    assert candidates.concept_overlap(there[0], there[1]) == 0.6


def test_values_meet_where_they_claim_to_hold_together() -> None:
    """D3 Overlap is of stated time; what a stated order has ended is none, arrival alone is."""
    together = [edge("a", "Bonn", is_superseded=True), edge("b", "Rome")]
    ended = [edge("a", "Bonn", 1, 5), edge("b", "Rome", 5)]
    ordered = [edge("a", "Bonn", 1, is_superseded=True), edge("b", "Rome", 5)]
    alike = [edge("a", "Bonn"), edge("b", "Bonn")]

    assert candidates.of_edges(together, ONE_VALUE) == {("a", "b")}
    for none in (ended, ordered, alike):
        assert candidates.of_edges(none, ONE_VALUE) == set()


def test_many_values_that_may_coexist_are_no_candidates() -> None:
    """D4 Declared so they are skipped; undeclared, a judge abstains from neighbours alone."""
    values = [edge(f"e{n}", f"city {n}") for n in range(9)]
    many = Rules({"LIVES_IN": RelationRule(functional=False)})

    assert candidates.of_edges(values, many) == set()
    assert len(candidates.of_edges(values, Rules())) == 8
