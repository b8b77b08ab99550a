"""What a proposal is called in lists, in its items' words (V9)."""

from collections.abc import Mapping

import pytest
from concord_governance.domain.proposals import Affected, Json
from concord_governance.domain.summary import MOST_CHARACTERS, memories_of, quoted, summary

OLD, NEW = "Ran 6 km", "Ran 9 km"
SIDES = {"o": OLD, "n": NEW}
MEMORIES = {"n": NEW, "o": OLD}
PAIR: dict[str, Json] = {"newer_id": "n", "older_id": "o"}


def review(decision: str, **fields: str) -> Mapping[str, Json]:
    """Return a review of a conflict."""
    return {"review_conflict": {"decision": f"REVIEW_DECISION_{decision}", **fields}}


@pytest.mark.parametrize(
    ("action", "said", "expected"),
    [
        ({"resolve_conflict": {"superseded_id": "o"}}, SIDES, f"'{OLD}' gives way to '{NEW}'"),
        ({"resolve_conflict": {"superseded_id": "n"}}, SIDES, f"'{NEW}' gives way to '{OLD}'"),
        ({"resolve_conflict": {}}, SIDES, f"'{OLD}' and '{NEW}': neither gives way"),
        (review("CONFIRM"), SIDES, f"'{OLD}' and '{NEW}' disagree"),
        (
            review("RECLASSIFY", conflict_class="CONFLICT_CLASS_CONTRADICTION"),
            SIDES,
            f"'{OLD}' and '{NEW}' contradict each other",
        ),
        (
            {"add_lineage": {"relation": "LINEAGE_RELATION_AMENDS", **PAIR}},
            MEMORIES,
            f"'{NEW}' amends '{OLD}'",
        ),
        (
            {"merge_items": {"kept_id": "o", "merged_id": "n"}},
            MEMORIES,
            f"'{NEW}' becomes one with '{OLD}'",
        ),
        ({"forget_memory": {"id": "o"}}, {"o": OLD}, f"'{OLD}' is forgotten"),
        ({"declare_relation": {"name": "IN"}}, {}, ""),
        (review("CONFIRM"), {}, ""),
        (review("CONFIRM"), SIDES | {"o": ""}, ""),
        ({"resolve_conflict": {"superseded_id": "o"}}, SIDES | {"n": ""}, ""),
    ],
)
def test_a_summary_names_the_items(
    action: Mapping[str, Json], said: Mapping[str, str], expected: str
) -> None:
    """V9 By the action and its items; where a side has no words there is none."""
    assert summary(action, (), said) == expected


def test_what_needs_consent_or_is_new_says_itself() -> None:
    """V9 Edges and new items are quoted as the proposal has them."""
    promote: Mapping[str, Json] = {
        "update_edge": {"edge": {"edge_type": "EDGE_TYPE_CONSTITUTIVE"}, "update_mask": "edgeType"}
    }
    affected = [Affected("e", 2, "1", needs_consent=True, statement="Ada LIKES tea")]

    assert summary(promote, affected, {}) == "'Ada LIKES tea' becomes constitutive"
    assert summary(
        {"add_memory": {}}, [Affected("m", 3, "", needs_consent=False, statement=OLD)], {}
    ) == (f"'{OLD}' is added")


def test_of_an_edge_and_its_new_ends_the_edge_is_named() -> None:
    """V9 It is what the action is about."""
    ends = [Affected(each, 1, "", needs_consent=False, statement=each) for each in ("Ada", "tea")]
    edge = Affected("e", 2, "", needs_consent=False, statement="Ada LIKES tea")

    assert summary({"upsert_edge": {}}, [*ends, edge], {}) == "'Ada LIKES tea' is added"


def test_the_memories_that_are_quoted_are_named_in_order() -> None:
    """V9 The one that the sentence begins with is first."""
    assert memories_of({"add_lineage": PAIR}) == ["n", "o"]
    assert memories_of({"merge_items": {"kept_id": "o", "merged_id": "n"}}) == ["n", "o"]
    assert memories_of({"update_memory": {"memory": {"id": "m"}}}) == ["m"]
    assert memories_of({"add_memory": {"memory": {"content": "x"}}}) == []
    assert memories_of({"delete_edge": {"id": "e"}}) == []


def test_words_are_cut_and_stay_within_their_quotes() -> None:
    """V3 V9 On one line; a quote within does not seem to end them."""
    assert quoted("It's\n ' gives way") == "'It’s ’ gives way'"
    assert quoted("x" * MOST_CHARACTERS) == f"'{'x' * MOST_CHARACTERS}'"
    assert quoted("x" * 100) == f"'{'x' * (MOST_CHARACTERS - 1)}…'"
