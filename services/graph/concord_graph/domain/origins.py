"""Whose words a memory's are: the lowest origin of those who wrote what stands now (W8).

An origin's number grows as its standing falls: HUMAN, AGENT, TOOL, IMPORT. UNSPECIFIED is unknown,
and neither lowers nor raises another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from concord_graph.domain.items import EdgeType, Memory, MemoryOrigin, Trust


def lowest(origins: Iterable[MemoryOrigin]) -> MemoryOrigin:
    """Return the lowest of some origins, UNSPECIFIED if none is known."""
    return max(origins, default=MemoryOrigin.UNSPECIFIED)


def is_own_statement(memory: Memory, author: MemoryOrigin, *, derived: bool) -> bool:
    """Return whether a person's key states a text itself, and no program took it from elsewhere.

    `derived`: the caller says that a program made the text.
    """
    is_extracted = derived or any(fact.extracted for fact in memory.facts)
    return author == MemoryOrigin.HUMAN and not is_extracted


def of_sources(
    memory: Memory, sources: Sequence[Memory | None], *, derived: bool
) -> Iterable[MemoryOrigin]:
    """Return the origins below which a text lies that its writer drew from other memories.

    `sources`: those that it names, None: unknown. A program's text from a source that is no known
    memory is a TOOL's.
    """
    known = [each.whose_words for each in sources if each is not None]
    is_whole = bool(known) and len(known) == len(sources)
    if derived and not (is_whole and all(each.memory_ids for each in memory.sources)):
        known.append(MemoryOrigin.TOOL)
    return known


def with_words_of(memory: Memory, origin: MemoryOrigin) -> Memory:
    """Return a memory whose words are of an origin; that of its first writer is not kept twice."""
    kept = MemoryOrigin.UNSPECIFIED if origin == memory.origin else origin
    return memory if memory.words_origin == kept else replace(memory, words_origin=kept)


def trust_of(memory: Memory) -> Trust:
    """Return what the server established of a memory.

    What a writer claims of its sources only lowers it, where it doubts all of them.
    """
    if memory.edge_type == EdgeType.CONSTITUTIVE:
        return Trust.VERIFIED  # both principals agreed to it
    if memory.sources and all(each.trust == Trust.DOUBTFUL for each in memory.sources):
        return Trust.DOUBTFUL
    return _TRUST[memory.whose_words]


_TRUST = {
    MemoryOrigin.UNSPECIFIED: Trust.REPORTED,
    MemoryOrigin.HUMAN: Trust.VERIFIED,
    MemoryOrigin.AGENT: Trust.REPORTED,
    MemoryOrigin.TOOL: Trust.DOUBTFUL,
    MemoryOrigin.IMPORT: Trust.DOUBTFUL,
}


def merged(kept: Memory, other: Memory, united: Memory) -> MemoryOrigin:
    """Return whose words two memories' are once they are one.

    It is the lowest of both, as of all that is derived, unless both say the very same: then whoever
    stands higher said it all.
    """
    both = (kept, other)
    same = [each for each in both if each.content == united.content and each.facts == united.facts]
    if len(same) == len(both):
        return min((e.whose_words for e in both if e.whose_words), default=kept.whose_words)
    return lowest(each.whose_words for each in both)
