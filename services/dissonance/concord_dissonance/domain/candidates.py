"""Which pairs are worth a judge (D3): few, and never all of them.

Edges meet by their subject and relation; memories by the words of a sentence, by meaning, and by
their concepts. The cost grows with the number of statements: a word of many statements
distinguishes none and is passed over, and a statement brings at most `PER_STATEMENT` pairs by
each way. The order of the statements changes nothing.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from concord_concepts import normalise

from concord_dissonance.domain.sides import Rules
from concord_dissonance.domain.statements import Statement

PER_STATEMENT = 10
"""Pairs that one statement brings at most by nearness, and again by concepts or values."""
NEAR = 20
"""Neighbours of each kind that are ranked."""
MOST_POSTINGS = 100
"""A word of more sentences than this does not make two of them alike."""
LEAST_WORDS = 0.2
"""Least likeness of two sentences, in [0, 1]."""
LEAST_COSINE = 0.35
"""Least likeness in meaning."""
LEAST_OVERLAP = 0.6
"""Concepts of one domain overlap when their Jaccard index is above this."""

_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|\n+")
_WORD = re.compile(r"\w+")

Pair = tuple[str, str]
"""The ids of two statements, the smaller first."""
Near = Mapping[str, Sequence[tuple[str, float]]]
"""By a statement's id: its neighbours with their likeness, best first."""


def pair_of(one: str, other: str) -> Pair:
    """Return two ids in the order of a pair."""
    return (one, other) if one < other else (other, one)


def of_edges(edges: Iterable[Statement], rules: Rules) -> set[Pair]:
    """Return pairs of two values of one subject and relation that claim to hold together.

    Where only the order of arrival ended a value, the two are a pair: nobody stated an order.
    Of an undeclared relation each value meets the next one alone: a judge says that it is so.
    """
    groups: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    for edge in edges:
        if edge.side.fact is not None:
            groups[_subject(edge), edge.side.fact.relation].append(edge)
    found: set[Pair] = set()
    for (_, relation), values in groups.items():
        rule = rules.of(relation)
        if rule.functional is False and not rule.exclusive:
            continue
        reach = 1 if rule.functional is None and not rule.exclusive else PER_STATEMENT
        values.sort(key=_begin_and_value)
        for place, one in enumerate(values):
            others = (each for each in values[place + 1 :] if _claim_together(one, each))
            for _, other in zip(range(reach), others, strict=False):
                found.add(pair_of(one.id, other.id))
    return found


def _begin_and_value(edge: Statement) -> tuple[float, str, str]:
    value = edge.side.fact.object if edge.side.fact else ""
    return edge.side.valid_from or -math.inf, value, edge.id


def _subject(edge: Statement) -> str:
    assert edge.side.fact is not None  # noqa: S101 - our own call
    return min(edge.side.aliases | {edge.side.fact.subject})


def _claim_together(one: Statement, other: Statement) -> bool:
    """Whether two values of a relation overlap in stated time and no statement orders them."""
    first, second = one.side, other.side
    if first.fact and second.fact and first.fact.object == second.fact.object:
        return False
    ordered = None not in (first.valid_from, second.valid_from)
    if ordered and first.valid_from != second.valid_from:
        return not (one.is_superseded or other.is_superseded) and _overlap(one, other)
    return _overlap(one, other)


def _overlap(one: Statement, other: Statement) -> bool:
    return _ends_after(one, other) and _ends_after(other, one)


def _ends_after(one: Statement, other: Statement) -> bool:
    ended, began = one.side.valid_until, other.side.valid_from
    return ended is None or began is None or ended > began


def of_memories(memories: Sequence[Statement], similar: Near) -> set[Pair]:
    """Return pairs of memories that say alike things, by words or meaning, or share concepts."""
    nearest = nearest_each(memories, similar)
    found = {pair_of(one, other) for one, others in nearest.items() for other in others}
    return found | near_in_concepts(memories)


def nearest_each(memories: Sequence[Statement], similar: Near) -> dict[str, list[str]]:
    """Return for each memory the ids of the nearest others, at most `PER_STATEMENT`, best first."""
    there = {memory.id: memory.side.text for memory in memories}
    worded = near_in_words(there)
    return {
        memory_id: [
            other
            for other in _ranked(memory_id, worded, similar, there)
            if other in there and other != memory_id
        ][:PER_STATEMENT]
        for memory_id in there
    }


def _ranked(memory_id: str, worded: Near, similar: Near, texts: Mapping[str, str]) -> list[str]:
    """Return what is near to a memory, by the sum of both likenesses."""
    words, meaning = dict(worded.get(memory_id, ())), dict(similar.get(memory_id, ()))
    # What is not among the nearest in meaning is no nearer than the last of them.
    beyond = min(meaning.values(), default=0.0)
    near = {each for each, cosine in meaning.items() if cosine >= LEAST_COSINE} | words.keys()
    score = {each: words.get(each, 0.0) + meaning.get(each, beyond) for each in near}
    return sorted(near, key=lambda each: (-score[each], *_says_more(each, texts)))


def _says_more(text_id: str, texts: Mapping[str, str]) -> tuple[int, str, str]:
    """Return the order of texts that are equally near: those that say little else come first.

    So many that quote a sentence do not crowd out the one that says it, whichever came first.
    """
    text = texts.get(text_id, "")
    return len(text), text, text_id


def near_in_words(texts: Mapping[str, str]) -> Near:
    """Return for each text the texts with the most similar sentence.

    Two sentences are as alike as the cosine of their words, weighted by rarity. In [0, 1].
    """
    sentences = [
        (text_id, words) for text_id in sorted(texts) for words in _sentences(texts[text_id])
    ]
    postings: dict[str, list[int]] = defaultdict(list)
    for place, (_, words) in enumerate(sentences):
        for word in words:
            postings[word].append(place)
    weight = {word: math.log(1 + len(texts) / len(at)) ** 2 for word, at in postings.items()}
    length = [math.sqrt(sum(weight[word] for word in words)) for _, words in sentences]
    best: dict[str, dict[str, float]] = defaultdict(dict)
    for place, (text_id, words) in enumerate(sentences):
        shared: Counter[int] = Counter()
        for word in sorted(words):
            if len(postings[word]) <= MOST_POSTINGS:
                for other in postings[word]:
                    shared[other] += weight[word]  # type: ignore[assignment] # counts weights
        for other, common in shared.items():
            other_id, alike = sentences[other][0], common / (length[place] * length[other])
            if other_id != text_id and alike >= max(LEAST_WORDS, best[text_id].get(other_id, 0)):
                best[text_id][other_id] = alike
    return {
        text_id: sorted(found.items(), key=lambda each: (-each[1], *_says_more(each[0], texts)))[
            :NEAR
        ]
        for text_id, found in best.items()
    }


def _sentences(text: str) -> Iterator[frozenset[str]]:
    """Return the words of each sentence; one sentence twice counts once."""
    said = {frozenset(_words(part)) for part in _SENTENCE_END.split(text)}
    yield from sorted((words for words in said if words), key=sorted)


def _words(sentence: str) -> Iterator[str]:
    for word in _WORD.findall(sentence.lower()):
        if found := normalise(word):
            yield found


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
    """Return pairs among memories that share a concept, each with the next few of them."""
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


def stated_by(pair: Pair, there: Mapping[str, Statement]) -> set[Pair]:
    """Return the pairs of memories that state a pair of edges: these are compared as edges."""
    one, other = (there[each].stated_by for each in pair)
    return {pair_of(a, b) for a in one for b in other if a != b}
