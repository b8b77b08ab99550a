"""The rules of protection, one by one: what needs both principals' consent, and why."""

from dataclasses import replace
from typing import Any

import pytest
from concord_graph.domain import protection
from concord_graph.domain.items import PRINCIPAL_RELATION, Edge, EdgeType, End, Item, Memory, Node
from concord_graph.domain.items import ItemKind as Kind
from concord_graph.domain.protection import Surroundings

CONSTITUTIVE = EdgeType.CONSTITUTIVE
EDGE = Edge(id="e", source=End("a", Kind.NODE), relation="LIKES", target=End("b", Kind.NODE))
MEMORY = Memory(content="I keep my word.", id="m")
NODE = Node(id="n", name="Me")
OWN_EDGE, OWN_MEMORY = (
    replace(EDGE, edge_type=CONSTITUTIVE),
    replace(MEMORY, edge_type=CONSTITUTIVE),
)
AGREED = replace(EDGE, governed=True)
HIDING = replace(EDGE, relation="SUPERSEDES")
KEYED = replace(
    EDGE,
    relation=PRINCIPAL_RELATION,
    edge_type=CONSTITUTIVE,
    properties={"key": "k1", "name": "ada"},
)
ALONE, FROZEN = Surroundings(), Surroundings(is_frozen=True)
TWIN = Surroundings(agreed_twin="other")


def deleted(item: Any) -> Any:
    """Return an item as it is when it was removed."""
    return replace(item, deleted=True)


def erased(item: Any) -> Any:
    """Return an item as it is when its words were erased."""
    return replace(item, deleted=True, erase_time=1)


def reworded(item: Any) -> Any:
    """Return an item that says something else."""
    if isinstance(item, Memory):
        return replace(item, content="I may lie.")
    return replace(item, properties={"said": "otherwise"})


@pytest.mark.parametrize(
    ("before", "after", "around", "why"),
    [
        # What defines the agent is neither erased, removed, changed, made nor promoted.
        (OWN_EDGE, erased(OWN_EDGE), ALONE, "erase something constitutive"),
        (deleted(OWN_MEMORY), erased(OWN_MEMORY), ALONE, "erase something constitutive"),
        (deleted(OWN_EDGE), erased(OWN_EDGE), ALONE, "erase something constitutive"),
        (OWN_EDGE, deleted(OWN_EDGE), ALONE, "remove something constitutive"),
        (OWN_MEMORY, reworded(OWN_MEMORY), ALONE, "change something constitutive"),
        (
            OWN_MEMORY,
            replace(OWN_MEMORY, edge_type=EdgeType.DESCRIPTIVE),
            ALONE,
            "change something",
        ),
        (OWN_EDGE, OWN_EDGE, ALONE, None),
        (None, OWN_EDGE, ALONE, "create or promote"),
        (None, OWN_MEMORY, ALONE, "create or promote"),
        (MEMORY, OWN_MEMORY, ALONE, "create or promote"),
        (deleted(OWN_EDGE), OWN_EDGE, ALONE, "create or promote"),
        # What does not is everybody's own.
        (None, EDGE, ALONE, None),
        (None, erased(OWN_EDGE), ALONE, None),
        (EDGE, reworded(EDGE), ALONE, None),
        (EDGE, erased(EDGE), ALONE, None),
        (MEMORY, erased(MEMORY), ALONE, None),
        (deleted(OWN_EDGE), EDGE, ALONE, None),
        (None, deleted(OWN_EDGE), ALONE, None),
        (NODE, deleted(NODE), ALONE, None),
        # Lineage that was made with consent stays as it is.
        (AGREED, AGREED, ALONE, "made with consent"),
        (AGREED, deleted(AGREED), ALONE, "made with consent"),
        (deleted(AGREED), EDGE, ALONE, None),
        # None hides what both principals agreed to, and none that stands there is changed.
        (None, HIDING, Surroundings(target_constitutive=True), "hide something constitutive"),
        (None, HIDING, Surroundings(target_pinned=True), "hide something that both principals"),
        (
            None,
            HIDING,
            Surroundings(source_constitutive=True),
            "what something constitutive replaces",
        ),
        (HIDING, deleted(HIDING), Surroundings(source_constitutive=True), "constitutive replaces"),
        (HIDING, erased(HIDING), Surroundings(source_constitutive=True), "constitutive replaces"),
        (HIDING, HIDING, Surroundings(True, True, True, True), None),
        (HIDING, deleted(HIDING), Surroundings(target_constitutive=True), None),
        (HIDING, deleted(HIDING), Surroundings(target_pinned=True), None),
        (HIDING, erased(HIDING), Surroundings(target_constitutive=True), None),
        (
            HIDING,
            replace(HIDING, erase_time=1),
            Surroundings(target_constitutive=True, target_pinned=True),
            None,
        ),
        (None, HIDING, ALONE, None),
        (None, EDGE, Surroundings(False, True, True, True), None),
        # No edge takes the place beside one that both principals agreed to.
        (None, EDGE, TWIN, "says this already"),
        (deleted(EDGE), EDGE, TWIN, "says this already"),
        (EDGE, replace(EDGE, valid_from=7), TWIN, "says this already"),
        (EDGE, reworded(EDGE), TWIN, None),
        (EDGE, deleted(EDGE), TWIN, None),
        (None, deleted(EDGE), TWIN, None),
        (None, MEMORY, TWIN, None),
        # What a consent rests on stays as it is.
        (NODE, replace(NODE, name="You"), FROZEN, "depends on this"),
        (NODE, deleted(NODE), FROZEN, "depends on this"),
        (None, NODE, FROZEN, "depends on this"),
        (NODE, NODE, FROZEN, None),
        (EDGE, reworded(EDGE), FROZEN, "depends on this"),
    ],
)
def test_what_needs_consent(
    before: Item | None, after: Item, around: Surroundings, why: str
) -> None:
    """G4 G5: every change of what defines the agent, and nothing else."""
    found = protection.breach(before, after, around)

    assert found == why if why is None or found is None else why in found


@pytest.mark.parametrize(
    ("item", "is_so"),
    [
        (OWN_EDGE, True),
        (OWN_MEMORY, True),
        (deleted(OWN_EDGE), False),
        (EDGE, False),
        (NODE, False),
        (None, False),
    ],
)
def test_what_defines_the_agent(item: Item | None, is_so: bool) -> None:
    """G4 Live edges and memories that are constitutive."""
    assert protection.is_constitutive(item) is is_so


@pytest.mark.parametrize(
    ("before", "after", "is_so"),
    [
        (KEYED, replace(KEYED, properties={"key": "k2", "name": "ada"}), True),
        (KEYED, KEYED, True),
        (KEYED, replace(KEYED, properties={"key": "k2", "name": "eve"}), False),
        (KEYED, replace(KEYED, properties={"key": "k2", "name": "ada"}, weight=0.5), False),
        (KEYED, replace(KEYED, deleted=True), False),
        (deleted(KEYED), deleted(KEYED), False),
        (replace(KEYED, relation="LIKES"), replace(KEYED, relation="LIKES"), False),
        (KEYED, OWN_MEMORY, False),
        (OWN_MEMORY, KEYED, False),
        (OWN_MEMORY, OWN_MEMORY, False),
    ],
)
def test_what_is_a_change_of_a_key(before: Item, after: Item, is_so: bool) -> None:
    """G5 A live principal's key, and nothing else of it."""
    assert protection.changes_key(before, after) is is_so


@pytest.mark.parametrize(
    ("before", "after", "is_so"),
    [
        (None, OWN_EDGE, True),
        (EDGE, OWN_EDGE, True),
        (MEMORY, OWN_EDGE, True),
        (deleted(OWN_EDGE), OWN_EDGE, True),
        (OWN_EDGE, reworded(OWN_EDGE), False),
        (AGREED, OWN_EDGE, False),
        (OWN_EDGE, replace(OWN_EDGE, source=End("c", Kind.NODE)), True),
        (AGREED, replace(AGREED, target=End("c", Kind.NODE)), True),
        (None, deleted(OWN_EDGE), False),
        (EDGE, deleted(OWN_EDGE), False),
    ],
)
def test_whether_consent_covers_what_the_ends_say(
    before: Item | None, after: Edge, is_so: bool
) -> None:
    """G4 Unless both agreed to an edge between the same ends before: they are frozen since."""
    assert protection.takes_words(before, after) is is_so


PRINCIPAL_NODE = Node(id="p", name="concord:ada")


@pytest.mark.parametrize(
    ("before", "after", "ends", "is_so"),
    [
        (None, PRINCIPAL_NODE, (), True),
        (PRINCIPAL_NODE, NODE, (), True),
        (None, EDGE, (NODE, PRINCIPAL_NODE), True),
        (None, KEYED, (), True),
        (None, EDGE, (NODE, NODE), False),
        (None, MEMORY, (), False),
    ],
)
def test_what_even_both_may_not_change(
    before: Item | None, after: Item, ends: tuple[Item, ...], is_so: bool
) -> None:
    """G5 Who the principals are changes by a key change alone."""
    refused = protection.reserved(before, after, ends)

    assert (refused is not None) is is_so
    assert refused is None or "key change" in refused


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (OWN_EDGE, "bring in something constitutive"),
        (OWN_MEMORY, "bring in something constitutive"),
        (AGREED, "made with consent"),
        (PRINCIPAL_NODE, "bring in principals"),
        (replace(EDGE, relation=PRINCIPAL_RELATION), "bring in principals"),
        (EDGE, None),
        (MEMORY, None),
        (NODE, None),
    ],
)
def test_what_an_import_may_not_bring_in(item: Item, why: str | None) -> None:
    """G4 G5: what only both principals can have made."""
    found = protection.agreed(item)

    assert found == why if why is None or found is None else why in found
