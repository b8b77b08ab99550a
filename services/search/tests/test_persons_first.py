"""What persons said keeps its places beside what lower writers say (W9, decision 0117)."""

from collections.abc import Sequence

import numpy as np
import pytest
from concord_search.domain.profiles import shipped
from concord_search.domain.ranking import Ranking
from concord_search.domain.signals import QueryFacts
from concord_search.ports.graph import Hydrated
from concord_search.usecases.persons_first import MOST, REPEATS, SURE, persons_first
from concord_search.usecases.results import Ranked, before_claims
from search_lab import NOW, candidates, plain_state, talk

PERSON, AGENT, IMPORT = 3, 2, 1
FACTS = QueryFacts(now=NOW, has_domain=False, has_concepts=False)


def ranked(
    *said: tuple[int, float, float], writers: Sequence[int] | int = 7, terms: int = 3
) -> Ranked:
    """Candidates by trust, cosine, and the share of the question's `terms` that they hold."""
    trust, cosine, words = map(np.array, zip(*said, strict=True))
    near = np.ones((len(said), terms), dtype=np.bool_)
    found = candidates(
        len(said),
        trust=trust,
        writers=np.zeros(len(said), dtype=np.int64) + writers,
        cosine=cosine,
        lexical=words * 10,
        importance=np.ones(len(said)),
        fusion=2 * (cosine + words),
        holds=np.array([[share >= 0.9] + [share > 0.0] * (terms - 1) for share in words]),
        term_weights=np.array([1.0, 3.0, 3.0][:terms]),
        talk=talk(len(said), window=near, passage=near),
    )
    ranking = Ranking(found, FACTS, shipped())
    return Ranked(None, ranking, ranking.order.tolist())  # type: ignore[arg-type] # nothing asks it


PERSONS = [(PERSON, 0.3 + place / 100, 0.0) for place in range(3)]
ANSWER = (AGENT, 0.5, 0.5)
OTHERS = [(AGENT, 0.1, 0.0)] * 20
ECHO = (AGENT, 0.98, 1.0)


@pytest.mark.parametrize(("trust", "writers"), [(PERSON, (1, 2, 3)), (AGENT, 7), (IMPORT, 7)])
def test_where_all_are_of_one_kind_nothing_changes(trust: int, writers: Sequence[int]) -> None:
    """W9 A space of persons, or of one writer, is ranked as before, an echo first."""
    before = ranked((trust, 0.98, 1.0), (trust, 0.3, 0.0), (trust, 0.5, 0.5), writers=writers)

    assert persons_first(before) is before


@pytest.mark.parametrize("trust", [AGENT, IMPORT])
def test_what_repeats_the_question_does_not_come_before_a_persons(trust: int) -> None:
    """W9 Nor is it HIGH."""
    before = ranked((trust, 1.0, 1.0), *PERSONS, *OTHERS * 3)
    assert before.rows[0] == 0
    assert before.ranking.composite[0] > REPEATS

    after = persons_first(before)

    assert after.rows[:2] == [3, 0]
    assert 0 in after.doubted


def test_many_that_repeat_it_do_not_either() -> None:
    """W9 Together each stands out less, and scores less."""
    before = ranked(*[ECHO] * 50, *PERSONS, *OTHERS)

    after = persons_first(before)

    assert after.rows[0] == 52
    assert {50, 51, 52} <= set(after.rows[:10])
    assert sorted(after.rows) == sorted(before.rows)


def test_imports_that_hold_the_only_name_of_a_question_do_not_repeat_it() -> None:
    """W9 S11 "What did Mirja do?" has one searched word, and all that is said of Mirja holds it:
    what a person said of something else does not come before that person's imported notes."""
    others = [(PERSON, 0.2, 0.0)] * 3
    before = ranked(*[(IMPORT, 0.6, 1.0)] * 4, *others, *OTHERS, terms=1)

    assert persons_first(before).rows[:MOST] == before.rows[:MOST]

    by_agents = persons_first(ranked(*[(AGENT, 0.6, 1.0)] * 5, *others, *OTHERS, terms=1))
    assert by_agents.rows[0] == 5


def test_many_that_are_as_near_to_a_short_question_as_it_itself_repeat_it() -> None:
    """W9 The guard holds for questions of one or two words, too."""
    echoes = [(IMPORT, *ECHO[1:])] * 50
    after = persons_first(ranked(*echoes, *PERSONS, *OTHERS, terms=2))

    assert after.rows[0] == 52


def test_an_honest_answer_of_an_agent_stays_first() -> None:
    """W9 S4 What answers rather than repeats keeps the lead, and persons' follow."""
    before = ranked(ANSWER, *OTHERS, *[(PERSON, 0.05, 0.0)] * 8)

    after = persons_first(before)

    assert after.rows[:MOST] == before.rows[:MOST]
    assert sum(row > len(OTHERS) for row in after.rows[:10]) == MOST


def test_what_nearly_repeats_the_question_stays_first_and_is_not_high() -> None:
    """W9 S5 Of ten honest answers of agents that come first, one scores as much."""
    before = ranked((AGENT, 0.95, 0.8), *OTHERS * 3, *PERSONS)
    assert SURE < before.ranking.composite[0] <= REPEATS

    after = persons_first(before)

    assert after.rows[0] == 0
    assert 0 in after.doubted


FLOOD = [(AGENT, 0.9, 0.8)] * 50


@pytest.mark.parametrize("persons", [[], PERSONS])
def test_one_writers_flood_pushes_no_other_off_the_page(
    persons: list[tuple[int, float, float]],
) -> None:
    """W9 Fifty texts of one agent leave the best of another on the page, and of persons, too."""
    said = [*FLOOD, *OTHERS, *persons]
    before = ranked(*said, writers=[7] * len(FLOOD) + [8] * (len(OTHERS) + len(persons)))
    assert set(before.rows[:10]) <= set(range(len(FLOOD)))

    after = persons_first(before)

    others = [row for row in before.rows if len(FLOOD) <= row < len(FLOOD) + len(OTHERS)]
    assert after.rows[:MOST] == before.rows[:MOST]
    assert set(others[:MOST]) <= set(after.rows[:10])
    assert set(range(len(FLOOD) + len(OTHERS), len(said))) <= set(after.rows[:10])
    assert sorted(after.rows) == sorted(before.rows)


def test_many_writers_push_no_person_off_the_page() -> None:
    """W9 However many keys the agents have."""
    before = ranked(*FLOOD, *PERSONS, writers=[*range(1, 51), 60, 60, 60])

    assert {50, 51, 52} <= set(persons_first(before).rows[:10])


def test_agents_that_share_the_page_keep_their_order() -> None:
    """W9 S4 None has more places than it is left before another's best."""
    said = [(AGENT, 0.9 - place / 50, 0.5) for place in range(20)]
    before = ranked(*said, writers=[1 + place % 4 for place in range(20)])

    assert persons_first(before).rows[:10] == before.rows[:10]


def test_what_was_imported_gives_way_to_none_but_where_it_repeats() -> None:
    """W9 An import may be the person's own: it keeps its places."""
    before = ranked(*[(IMPORT, 0.4, 0.5)] * 12, *PERSONS)

    assert persons_first(before).rows == before.rows


def test_what_is_claimed_comes_before_its_claimants() -> None:
    """W9 Wherever it stood behind the page: no claim hides what it is about."""
    claimant = Hydrated(plain_state("b", 1, claims_on=("c", "gone")), None)
    other = Hydrated(plain_state("a", 2), None)

    assert before_claims([1, 2, 4, 3], [(1, other), (2, claimant)], {"c": 3}) == [1, 3, 2, 4]
