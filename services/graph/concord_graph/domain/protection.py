"""The rules of constitutive protection (spec G4, G5): which changes need both principals' consent.

The writer asks them before each write of an item, with the item's current version, the version that
it would write, and the item's surroundings in the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from concord_graph.domain.digests import stated
from concord_graph.domain.items import (
    HIDING,
    PRINCIPAL_RELATION,
    RESERVED_PREFIX,
    Edge,
    EdgeType,
    Item,
    Memory,
    Node,
    is_erased,
)

KEY_PROPERTIES = ("key", "label", "further_keys")
"""The properties of a principal's edge that state its keys."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """An item's neighbours in the graph, as far as the rules ask about them.

    `is_frozen`: a live constitutive edge, or lineage that was made with consent, starts or ends at
    the item: a consent depends on its content.
    `target_constitutive`, `source_constitutive`, `target_pinned`: the item is an edge, and that end
    of it is itself live and constitutive, or pinned.
    `agreed_twin`: the id of another live edge of the item's triple that is constitutive or pinned,
    whatever its valid time; empty without one.
    """

    is_frozen: bool = False
    target_constitutive: bool = False
    source_constitutive: bool = False
    target_pinned: bool = False
    agreed_twin: str = ""


def is_constitutive(item: Item | None) -> bool:
    """Return whether the item is live and defines the agent."""
    return isinstance(item, (Edge, Memory)) and not item.deleted and _defines(item)


def breach(before: Item | None, after: Item, around: Surroundings) -> str | None:
    """Return why the change needs consent, or None when it does not."""
    if is_erased(after) and isinstance(before, (Edge, Memory)) and _defines(before):
        return "this would erase something constitutive"  # also its history, when it is forgotten
    if is_constitutive(before):
        return _touches(before, after)
    if is_constitutive(after):
        return "this would create or promote something constitutive"
    if isinstance(after, Edge) and (why := _hides(before, after, around)):
        return why
    if around.agreed_twin and isinstance(after, Edge) and _takes_place(before, after):
        return "an edge that both principals agreed to says this already"
    if around.is_frozen and _states_otherwise(before, after):
        return "something that both principals agreed to depends on this"
    return None


def reserved(before: Item | None, after: Item, ends: Sequence[Item]) -> str | None:
    """Return why even a consented change is refused, or None.

    Only the genesis and key changes write the nodes and edges that stand for the principals; no
    other edge may end at them. `ends`: the ends of the changed item, if it is an edge.
    """
    if any(item is not None and is_reserved(item) for item in (before, after, *ends)):
        return "principals and their keys change by a key change alone"
    return None


def changes_key(before: Item, after: Item) -> bool:
    """Return whether a change gives a live principal other keys, and does nothing else."""
    if not isinstance(before, Edge) or not isinstance(after, Edge) or before.deleted:
        return False
    if before.relation != PRINCIPAL_RELATION:
        return False
    keys = {name: after.properties[name] for name in KEY_PROPERTIES if name in after.properties}
    rest = {n: value for n, value in before.properties.items() if n not in KEY_PROPERTIES}
    return stated(replace(before, properties={**rest, **keys})) == stated(after)


def takes_words(before: Item | None, after: Edge) -> bool:
    """Return whether consent to an edge includes what the edge's ends state.

    It does not if both principals agreed to the edge between the same ends before: the ends have
    been frozen since.
    """
    if after.deleted:
        return False
    if not isinstance(before, Edge) or before.deleted:
        return True
    agreed_before = before.governed or _defines(before)
    return not agreed_before or (before.source, before.target) != (after.source, after.target)


def is_reserved(item: Item) -> bool:
    """Return whether an item stands for the principals, their keys or the space they share."""
    return _reserved_name(item).startswith(RESERVED_PREFIX)


def _reserved_name(item: Item) -> str:
    return item.name if isinstance(item, Node) else getattr(item, "relation", "")


def agreed(item: Item) -> str | None:
    """Return why a revision of an import can only have been made with both principals' consent."""
    if isinstance(item, (Edge, Memory)) and item.edge_type == EdgeType.CONSTITUTIVE:
        return "this would bring in something constitutive"
    if isinstance(item, Edge) and item.governed:
        return "this would bring in lineage that was made with consent"
    if is_reserved(item):
        return "this would bring in principals"
    return None


def _defines(item: Edge | Memory) -> bool:
    return item.edge_type == EdgeType.CONSTITUTIVE


def _touches(before: Item | None, after: Item) -> str | None:
    if after.deleted:
        return "this would remove something constitutive"
    return "this would change something constitutive" if _states_otherwise(before, after) else None


def _hides(before: Item | None, after: Edge, around: Surroundings) -> str | None:
    if isinstance(before, Edge) and before.governed and not before.deleted:
        return "this lineage was made with consent"
    if after.relation not in HIDING or not _states_otherwise(before, after):
        return None
    hides = not after.deleted and not is_erased(after)  # an erasure may change void lineage
    if around.target_constitutive and hides:
        return "this lineage would hide something constitutive"
    if around.target_pinned and hides:
        return "this lineage would hide something that both principals agreed to"
    if around.source_constitutive:
        return "this would change what something constitutive replaces"
    return None


def _takes_place(before: Item | None, after: Edge) -> bool:
    """Return whether an edge newly takes a place in a succession of edges."""
    return not after.deleted and not (
        isinstance(before, Edge) and not before.deleted and before.place == after.place
    )


def _states_otherwise(before: Item | None, after: Item) -> bool:
    return before is None or stated(before) != stated(after)
