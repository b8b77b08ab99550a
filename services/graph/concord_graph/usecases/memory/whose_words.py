"""Whose words a memory's are, by who writes them and what they were drawn from (W8)."""

from __future__ import annotations

from concord_graph.domain.items import EdgeType, Memory, MemoryOrigin
from concord_graph.domain.origins import is_own_statement, lowest, of_sources, with_words_of
from concord_graph.ports import Expected
from concord_graph.usecases.write.writer import Writer


async def words_origin(writer: Writer, memory: Memory, *, extracted: bool) -> MemoryOrigin:
    """Return whose words a text is that the author writes now: not above what it was drawn from,
    unless a person says it with a key of their own (W8)."""
    own = writer.author.origin
    if is_own_statement(memory, own, derived=extracted):
        return own
    named = memory.derived_from
    if named:
        await writer.tx.expect(lambda: Expected(ids=named))
    sources = [await writer.tx.memory(each) for each in named]
    return lowest((own, *of_sources(memory, sources, derived=extracted)))


async def reworded(
    writer: Writer, stored: Memory, memory: Memory, *, extracted: bool = False
) -> Memory:
    """Return a memory's next revision with whose words it has now: new words are their author's,
    and new words, facts or sources never stand above what was there, but in a person's own words.
    """
    said, before = (
        (each.content, {f.triple for f in each.facts}, each.derived_from)
        for each in (memory, stored)
    )
    if said == before:
        return memory
    origin = await words_origin(writer, memory, extracted=extracted)
    is_own = is_own_statement(memory, writer.author.origin, derived=extracted)
    if not (is_own and memory.content != stored.content):
        origin = lowest((origin, stored.whose_words))
    return with_words_of(memory, origin)


def in_own_words(known: Memory, origin: MemoryOrigin) -> Memory:
    """Return a memory that a person says again: the words are theirs, too.

    What defines the agent stays as both principals agreed to it.
    """
    if known.edge_type == EdgeType.CONSTITUTIVE or not known.whose_words:
        return known
    return with_words_of(known, origin)
