"""Finds recurring facts (V10): stated in each of some sessions, by two sources or the human."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from unicodedata import normalize

from concord_dissonance.domain.sides import Kind, TypedFact
from concord_dissonance.domain.statements import Statement


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Memories that state one fact, the oldest first, in as many sessions as were asked about.

    `fact` is the triple that they share; None where they share their text.
    """

    stating: tuple[Statement, ...]
    fact: TypedFact | None = None

    @property
    def has_two_sources(self) -> bool:
        """Whether two sources or more stated the fact."""
        return len(frozenset().union(*(each.side.sources for each in self.stating))) > 1


def recurrences(
    memories: Sequence[Statement], sessions: Mapping[str, frozenset[str]], wanted: frozenset[str]
) -> list[Recurrence]:
    """Return the facts that were stated in every `wanted` session.

    `sessions`: the ids of the sessions that stated a memory, by its id. A triple is left out if a
    recurring text states it: it goes with its memory.
    """
    facts = sorted(
        (each for each in memories if each.side.kind is Kind.FACT),
        key=lambda each: (each.side.written, each.id),
    )
    texts: dict[str, list[Statement]] = defaultdict(list)
    triples: dict[TypedFact, list[Statement]] = defaultdict(list)
    for memory in facts:
        texts[normalize("NFC", memory.side.text)].append(memory)
        for fact in memory.facts:
            triples[fact].append(memory)

    def recurs(stating: Sequence[Statement]) -> bool:
        return wanted <= frozenset().union(*(sessions.get(each.id, ()) for each in stating))

    found = [Recurrence(tuple(group)) for group in texts.values() if recurs(group)]
    stated = {fact for each in found for memory in each.stating for fact in memory.facts}
    found += [
        Recurrence(tuple(group), fact)
        for fact, group in triples.items()
        if fact not in stated and recurs(group)
    ]
    return found
