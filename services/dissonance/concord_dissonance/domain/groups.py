"""Groups of findings of text: those of one rule that hang together by shared statements.

One sentence that stands in many memories, or one memory that a rule misreads, makes many findings.
As a group they are looked at, and dismissed, at once.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from concord_dissonance.domain.statements import Finding

Place = tuple[str, str]
"""A rule, and the id of a statement that it found something about."""


def grouped(findings: Sequence[Finding], known: Mapping[Place, str]) -> list[Finding]:
    """Return the findings in their order, those of text with their groups. Templates have one.

    `known`: the groups of findings that are recorded and open. A finding that shares a statement
    with one of these joins its group; a new group is named after its rule and the smallest id in
    it, so that a repeated run names it alike.
    """
    of_text = [each for each in findings if each.is_of_text and not each.group_id]
    roots = _roots((each.rule, each.first.id, each.second.id) for each in of_text)
    joined: dict[Place, str] = {}
    for place, root in roots.items():
        if place in known:
            joined[root] = min(known[place], joined.get(root, known[place]))

    def group_of(each: Finding) -> str:
        root = roots[each.rule, each.first.id]
        return joined.get(root) or _named(root)

    ungrouped = {id(each) for each in of_text}
    return [
        replace(each, group_id=group_of(each)) if id(each) in ungrouped else each
        for each in findings
    ]


def _roots(pairs: Iterable[tuple[str, str, str]]) -> dict[Place, Place]:
    """Return the smallest place of each place's group (disjoint sets)."""
    above: dict[Place, Place] = {}

    def root(place: Place) -> Place:
        while above.setdefault(place, place) != place:
            above[place] = above[above[place]]
            place = above[place]
        return place

    for rule, one, other in pairs:
        first, second = sorted((root((rule, one)), root((rule, other))))
        above[second] = first
    return {place: root(place) for place in above}


def _named(root: Place) -> str:
    return hashlib.sha256("\0".join(root).encode()).hexdigest()[:16]
