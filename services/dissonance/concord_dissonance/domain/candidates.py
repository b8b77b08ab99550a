"""Selects the pairs that are worth a judge (D3): few, and never all of them.

Edges are paired by subject and relation; memories by an experience that one denies and the other
tells, by words, by meaning, and by concepts. The cost grows with the number of statements, not of
pairs: a word of many statements leads to none of them, and each way of pairing adds at most
`PER_STATEMENT` pairs for a statement. The order of the statements changes nothing.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from concord_dissonance.domain.judges.structural import are_apart, judge_facts
from concord_dissonance.domain.nearness import Near, near_in_frames, near_in_words
from concord_dissonance.domain.sides import RelationRule, Rules, TemporalClass
from concord_dissonance.domain.sketch import Sketch
from concord_dissonance.domain.statements import Statement
from concord_dissonance.domain.verdicts import Verdict

PER_STATEMENT = 10
"""Most pairs that one statement adds by nearness, and as many again by concepts or values."""
OF_FRAMES = 5
"""Most of these pairs that have a sentence each about the same things."""
LEAST_COSINE = 0.35
"""Least cosine of two memories that are near in meaning."""
LEAST_OVERLAP = 0.6
"""Concepts of one domain overlap when their Jaccard index is above this."""

Pair = tuple[str, str]
"""The ids of two statements, the smaller first."""


def pair_of(one: str, other: str) -> Pair:
    """Return two ids in the order of a pair."""
    return (one, other) if one < other else (other, one)


def of_edges(edges: Iterable[Statement], rules: Rules) -> set[Pair]:
    """Return the pairs of values of one subject and relation that claim to hold at the same time.

    If only the order of arrival ended a value, the two are a pair: nobody stated an order. Values
    of an undeclared relation are paired with the next one alone: the judge abstains from them.
    """
    groups: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    for edge in edges:
        if edge.side.fact is not None:
            fact = edge.side.fact
            groups[rules.name(fact.subject), fact.relation].append(edge)
    found: set[Pair] = set()
    for (_, relation), values in groups.items():
        rule = rules.of(relation)
        if rule.functional is False and not rule.exclusive:
            continue
        reach = 1 if rule.functional is None and not rule.exclusive else PER_STATEMENT
        values.sort(key=begin_and_value)
        for place, one in enumerate(values):
            others = (each for each in values[place + 1 :] if claim_together(one, each, rule))
            for _, other in zip(range(reach), others, strict=False):
                found.add(pair_of(one.id, other.id))
    return found


def begin_and_value(edge: Statement) -> tuple[float, str, str]:
    """Return the sort key of the values of one subject and relation."""
    value = edge.side.fact.object if edge.side.fact else ""
    return edge.side.valid_from or -math.inf, value, edge.id


def claim_together(one: Statement, other: Statement, rule: RelationRule) -> bool:
    """Return whether two values of a relation overlap in stated time, and nobody ordered them.

    Of what is eternal, every two values do.
    """
    first, second = one.side, other.side
    if first.fact and second.fact and first.fact.object == second.fact.object:
        return False
    if rule.temporal_class is TemporalClass.ETERNAL:
        return True
    ordered = None not in (first.valid_from, second.valid_from)
    settled = ordered and first.valid_from != second.valid_from
    if settled and (one.is_superseded or other.is_superseded):
        return False
    return not are_apart(first, second)


Sketches = Mapping[str, Sketch]
"""The sketch of each memory's text, by its id."""


def of_memories(
    memories: Sequence[Statement],
    sketches: Sketches,
    similar: Near,
    only: Collection[str] | None = None,
) -> set[Pair]:
    """Return the pairs of memories that are near in words or meaning, or share concepts.

    `only`: pairs without any of these ids are left out.
    """
    nearest = nearest_each(memories, sketches, similar, only)
    found = {pair_of(one, other) for one, others in nearest.items() for other in others}
    found |= near_in_concepts(memories)
    return found if only is None else {pair for pair in found if any(e in only for e in pair)}


def nearest_each(
    memories: Sequence[Statement],
    sketches: Sketches,
    similar: Near,
    only: Collection[str] | None = None,
) -> dict[str, list[str]]:
    """Return for each memory the ids of the nearest others, at most `PER_STATEMENT`, best first.

    Of two memories with different stated times only the later one lists the other, which it may
    replace or deny. With `only`, just these have a list: twice as long, of others of any time, as
    those do not list them.
    """
    there = {memory.id: memory for memory in sorted(memories, key=_says_more)}
    wanted = there.keys() if only is None else there.keys() & only
    texts = {each: sketches[each] for each in there}
    place = {each: number for number, each in enumerate(there)}
    worded, framed = near_in_words(texts, wanted), near_in_frames(texts, wanted)
    nearest = {}
    for memory in memories:
        if memory.id not in wanted:
            continue
        same = [other for other, _ in framed.get(memory.id, ())]
        near = _ranked(memory.id, worded, similar, place)
        first, then = (
            [other for other in found if only is not None or _brings(memory, there[other])]
            for found in (same, near)
        )
        lists = 1 if only is None else 2
        both = dict.fromkeys([*first[: lists * OF_FRAMES], *then])
        nearest[memory.id] = [e for e in both if e != memory.id][: lists * PER_STATEMENT]
    return nearest


def _brings(memory: Statement, other: Statement) -> bool:
    one, former = memory.side.valid_from, other.side.valid_from
    return memory.id != other.id and (one is None or former is None or one >= former)


def _says_more(memory: Statement) -> tuple[int, str, str]:
    """Return the sort key of memories that are equally near: the shortest come first.

    So the many memories that quote a sentence do not crowd out the one that says little else.
    """
    return len(memory.side.text), memory.side.text, memory.id


def _ranked(memory_id: str, worded: Near, similar: Near, place: Mapping[str, int]) -> list[str]:
    """Return the ids of memories near to one, by the sum of both likenesses, then by `place`."""
    words, meaning = dict(worded.get(memory_id, ())), dict(similar.get(memory_id, ()))
    # A memory that is not among the nearest in meaning is no nearer than the last of them.
    beyond = min(meaning.values(), default=0.0)
    near = {each for each, cosine in meaning.items() if cosine >= LEAST_COSINE} | words.keys()
    score = {each: words.get(each, 0.0) + meaning.get(each, beyond) for each in near}
    return sorted(near & place.keys(), key=lambda each: (-score[each], place[each]))


def near_in_concepts(memories: Iterable[Statement]) -> set[Pair]:
    """Return pairs of one domain whose concepts overlap by more than `LEAST_OVERLAP`.

    Prefix filtering: sets that overlap so much share one of their rarest few concepts.
    """
    domains: dict[str, list[Statement]] = defaultdict(list)
    for memory in memories:
        if memory.side.domain and memory.side.concepts:
            domains[memory.side.domain].append(memory)
    found: set[Pair] = set()
    for there in domains.values():
        count = Counter(concept for memory in there for concept in memory.side.concepts)
        postings: dict[str, list[Statement]] = defaultdict(list)
        for memory in there:
            rarest = sorted(memory.side.concepts, key=lambda each: (count[each], each))
            for concept in rarest[: len(rarest) - math.ceil(LEAST_OVERLAP * len(rarest)) + 1]:
                postings[concept].append(memory)
        for sharing in postings.values():
            found |= _overlapping(sorted(sharing, key=lambda each: (each.side.text, each.id)))
    return found


def _overlapping(sharing: Sequence[Statement]) -> set[Pair]:
    """Return the overlapping pairs of memories that share a concept, each with the next few."""
    found = set()
    for place, one in enumerate(sharing):
        for other in sharing[place + 1 : place + 1 + PER_STATEMENT]:
            if concept_overlap(one, other) > LEAST_OVERLAP:
                found.add(pair_of(one.id, other.id))
    return found


def concept_overlap(one: Statement, other: Statement) -> float:
    """Return the Jaccard index of two memories' concepts, in [0, 1]; 0 in different domains."""
    if not one.side.domain or one.side.domain != other.side.domain:
        return 0.0
    either = one.side.concepts | other.side.concepts
    return len(one.side.concepts & other.side.concepts) / len(either) if either else 0.0


def stated_by(pairs: Iterable[Pair], there: Mapping[str, Statement], rules: Rules) -> set[Pair]:
    """Return the pairs of memories that state pairs of edges: they are compared as edges.

    Where a program took both edges from texts and nothing decides about them, texts are compared
    as if nothing had been taken from them.
    """
    found: set[Pair] = set()
    for one, other in ((there[a], there[b]) for a, b in pairs):
        is_taken = one.is_extracted and other.is_extracted
        if not is_taken or isinstance(judge_facts(one.side, other.side, rules), Verdict):
            found.update(pair_of(a, b) for a in one.stated_by for b in other.stated_by if a != b)
    return found
