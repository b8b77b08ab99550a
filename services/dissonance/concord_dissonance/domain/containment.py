"""What lies within what, by the transitive relations of a space."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from concord_dissonance.domain.sides import RelationRule
from concord_dissonance.domain.statements import Statement


def containers_of(
    statements: Iterable[Statement], relations: Mapping[str, RelationRule]
) -> dict[str, frozenset[str]]:
    """Return by the name of a thing what contains it, however far up.

    An edge of a transitive relation says that its target contains its source.
    """
    contains = {name for name, rule in relations.items() if rule.transitive}
    above: dict[str, set[str]] = defaultdict(set)
    for each in statements:
        fact = each.side.fact
        if fact and not each.is_superseded and fact.relation in contains:
            above[fact.subject].add(fact.object)
    return {name: frozenset(_reached(name, above)) for name in above}


def _reached(name: str, above: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for each in above.get(waiting.pop(), ()):
            if each not in found:
                found.add(each)
                waiting.append(each)
    return found - {name}
