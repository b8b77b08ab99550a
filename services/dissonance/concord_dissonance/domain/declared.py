"""A space's declarations: rules of relations, containers of things, and names of one thing."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from concord_dissonance.domain.sides import RelationRule, Rules
from concord_dissonance.domain.statements import Statement

SAME_AS = "SAME_AS"
"""The relation whose edges say that two names are of one thing."""


def rules_of(relations: Mapping[str, RelationRule], statements: Sequence[Statement]) -> Rules:
    """Return the rules that relations, and the edges among `statements`, declare."""
    return Rules(relations, _containers(statements, relations), _names(statements))


def read_by(relations: Mapping[str, RelationRule]) -> list[str]:
    """Return the relations whose edges `rules_of` reads."""
    return [SAME_AS, *(name for name, rule in relations.items() if rule.transitive)]


def declares(relations: Mapping[str, RelationRule], changed: Iterable[Statement]) -> bool:
    """Whether a changed edge declares a rule: then all statements are judged again."""
    declaring = {*read_by(relations)}
    return any(each.side.fact and each.side.fact.relation in declaring for each in changed)


def _names(statements: Iterable[Statement]) -> dict[str, str]:
    """Return, for each name of a thing with several names, the alphabetically first one."""
    beside: dict[str, set[str]] = defaultdict(set)
    for each in statements:
        fact = each.side.fact
        if fact and not each.is_superseded and fact.relation == SAME_AS:
            beside[fact.subject].add(fact.object)
            beside[fact.object].add(fact.subject)
    return {name: min(_reached(name, beside) | {name}) for name in beside}


def _containers(
    statements: Iterable[Statement], relations: Mapping[str, RelationRule]
) -> dict[str, frozenset[str]]:
    """Return the direct and indirect containers of each thing, by its name.

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
