"""Votes on ranked queries, moves of the weight, and the suggestions that a session claims."""

from dataclasses import asdict

from concord_search.domain.calibration import Proposal, Votes
from concord_search.domain.feedback import (
    MOST_MOVES,
    MOST_SUGGESTED,
    Body,
    Calibration,
    Vote,
    calibration_of,
    claimed,
    moved,
    voted,
)

QUERY = {"id": "q", "text": "who", "weight": 2.0, "constitutive_first": True}


def vote(*, helpful: bool | None = True, reason: str = "") -> Vote:
    """A vote of Ada's on the query."""
    return Vote("q", "ada", helpful, reason, 7)


def test_votes_are_counted_once_a_principal() -> None:
    """S7 With the weight and the kind of the query; those that were stored before stay."""
    votes = (Votes("ada", 2.0, True, 1, 4), Votes("bob", 2.0, True, 1, 0))
    stored = asdict(Calibration(2.25, 3, votes))

    counted, records = voted(vote(), QUERY, {}, stored | {"etag": "of before"})

    assert counted.new_votes == 4
    assert {each.principal: (each.helpful, each.unhelpful) for each in counted.counts} == {
        "ada": (2, 4),
        "bob": (1, 0),
    }
    assert records == (
        QUERY,
        {**QUERY, "helpful": True, "reason": "", "time": 7},
        asdict(counted),
    )
    first, _ = voted(vote(helpful=False), {**QUERY, "constitutive_first": False}, {}, stored)
    assert first.counts[-1] == Votes("ada", 2.0, False, 0, 1)


def test_a_vote_whose_words_were_erased_is_still_known() -> None:
    """S7 W8 The same one without a reason changes nothing; only the reason of an unsaid is kept."""
    stored = asdict(Calibration(0.0, 1, (Votes("ada", 2.0, True, 1, 0),)))
    erased = {**QUERY, "text": "", "helpful": True, "reason": "", "time": 1}

    assert voted(vote(), {}, erased, stored) == (calibration_of(stored), ())
    known, records = voted(vote(helpful=None, reason="why"), QUERY, {}, stored)
    assert known == calibration_of(stored)
    assert records == (QUERY, {**QUERY, "helpful": None, "reason": "why", "time": 7}, None)


def test_a_move_begins_the_count_anew_and_is_logged() -> None:
    """S7 The newest first, with old, new and evidence; the last hundred are kept."""
    stored: Body = asdict(Calibration(2.0, 50, (Votes("ada", 2.0, True, 50, 0),)))
    for number in range(MOST_MOVES + 1):
        asked = Proposal(2.0 + number, "e" * 2_000)
        known = calibration_of(stored)
        stored = moved(known, "search", known.weight, asked, number)

    after = calibration_of(stored, "etag")

    assert (after.weight, after.new_votes, after.etag) == (102.0, 0, "etag")
    assert after.counts == (Votes("ada", 2.0, True, 50, 0),)
    assert [each.new for each in after.moves] == [102.0 - number for number in range(MOST_MOVES)]
    assert (after.moves[0].old, after.moves[0].time, len(after.moves[0].evidence)) == (
        101,
        100,
        1_000,
    )


def test_of_a_sessions_suggestions_the_last_are_remembered() -> None:
    """S9 With those that are taken now, in the order asked."""
    many = {"memory_ids": [str(number) for number in range(MOST_SUGGESTED)]}

    assert claimed(many, ["x", "0", "y", "z"], 2) == (
        ["x", "y"],
        [{"memory_ids": [*many["memory_ids"][2:], "x", "y"]}],
    )
