"""Which memory a draft repeats: by external id, by id, else by its words (M5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from concord_graph.domain.digests import content_digest
from concord_graph.domain.drafts import MemoryDraft
from concord_graph.domain.errors import ItemExists
from concord_graph.domain.items import (
    REPLACING,
    Edge,
    EdgeType,
    Importance,
    Instant,
    ItemKind,
    Memory,
)
from concord_graph.domain.supersession import Supersession
from concord_graph.ports import Expected, LinkParser, Reads
from concord_graph.usecases.write.writer import Writer

MERGED = "merged"
"""The property that marks the lineage of a merge (V1)."""
MOST_FACTS = 10
"""The most facts of one memory, as in the contract."""


async def repeated(writer: Writer, draft: MemoryDraft) -> Memory | None:
    """Return the memory that a draft repeats: by external id, by id, else by its words."""
    tx = writer.tx
    by_key = await tx.memory_by_external_id(draft.external_id) if draft.external_id else None
    by_id = await _named(writer, draft.id) if draft.id else None
    if by_key and draft.id and by_key.id != draft.id:
        raise ItemExists(by_key.id, "external id")
    if by_key or by_id or is_keyed(draft):
        return by_key or by_id
    found = await tx.live_memories_with_digest(content_digest(draft))
    alike = [memory for memory in found if memory.is_by(draft.sources)]
    if not alike:
        return None
    at = Instant(max(writer.now, tx.last_time))
    views = await tx.views(ItemKind.MEMORY, [memory.id for memory in alike], at)
    for memory in alike:
        supersession = views[memory.id].supersession
        if _repeats(supersession, memory, draft, at) or (
            _is_same(memory, draft) and await _has_only_ended(tx, memory, supersession, at)
        ):
            return memory
    for memory in alike:
        kept = await _merged_into(tx, memory) if _is_same(memory, draft) else None
        if kept is not None:
            return kept
    return None


def confirmed_by(known: Memory, draft: MemoryDraft) -> Memory:
    """Return a memory, with its extracted facts as facts that a draft of the same words states."""
    stated = {fact.triple for fact in draft.facts if not fact.extracted}
    facts = (
        replace(fact, extracted=fact.extracted and fact.triple not in stated)
        for fact in known.facts
    )
    return replace(known, facts=tuple(facts))


def said_above(known: Memory, draft: MemoryDraft) -> Memory:
    """Return a memory of lower writers as somebody above them says the same: as long, and at least
    as important, with the facts of both (W9)."""
    facts = {fact.triple: fact for fact in (*known.facts, *draft.facts)}
    own = {fact.triple: facts[fact.triple] for fact in draft.facts}
    return replace(
        known,
        valid_until=draft.valid_until,
        importance=draft.importance if known.importance == Importance.LOW else known.importance,
        facts=tuple((own | facts).values())[:MOST_FACTS],
    )


def is_keyed(draft: MemoryDraft) -> bool:
    """Return whether the caller chose an id or external id: then words are not compared."""
    return bool(draft.id or draft.external_id)


async def _has_only_ended(
    tx: Reads, memory: Memory, supersession: Supersession, at: Instant
) -> bool:
    """Return whether a memory with a stated begin is superseded only because its facts ended.

    To say it again would state the same, ended edges: it is the same memory.
    """
    if memory.valid_from is None or not supersession.is_superseded(at.valid):
        return False
    return not await _replacing(tx, memory)


async def refuse_other_words(writer: Writer, known: Memory, drafted: Memory) -> None:
    """Refuse a draft whose id or external id is taken; a constitutive memory's is protected."""
    if known.edge_type == EdgeType.CONSTITUTIVE:
        await writer.demand_allowed(known, drafted)
    raise ItemExists(known.id, "id or external id")


def asked_about(drafts: Sequence[MemoryDraft], parse: LinkParser) -> Expected:
    """Return the keys that creating these drafts will ask the store for."""
    links = [link for draft in drafts for link in parse(draft.content)]
    linked = [each.link.target_id for each in links if not each.malformed]
    said = [content_digest(draft) for draft in drafts if not is_keyed(draft)]
    return Expected(
        ids=tuple(draft.id for draft in drafts if draft.id) + tuple(linked),
        external_ids=tuple(draft.external_id for draft in drafts if draft.external_id),
        content_digests=tuple(said),
        node_names=tuple(
            name for draft in drafts for f in draft.facts for name in (f.subject, f.object)
        ),
    )


async def _named(writer: Writer, memory_id: str) -> Memory | None:
    memory = await writer.tx.memory(memory_id)
    if memory is None and await writer.tx.kinds([memory_id]):
        raise ItemExists(memory_id, "id")
    return memory


def _repeats(supersession: Supersession, memory: Memory, draft: MemoryDraft, at: Instant) -> bool:
    """Return whether a draft with a memory's words repeats that memory (M5).

    With another stated begin it does not. The words of a superseded memory may come again as a new
    one: A, B, A. So may those of a memory that has ended or not begun, unless both end alike.
    """
    if memory.valid_from != draft.valid_from:
        return False
    is_same = _is_same(memory, draft) and not supersession.is_superseded(at.valid)
    return supersession.is_current(at.valid) or is_same


def _is_same(memory: Memory, draft: MemoryDraft) -> bool:
    """Return whether a memory states the same times as a draft."""
    return (memory.valid_from, memory.valid_until) == (draft.valid_from, draft.valid_until)


async def _merged_into(tx: Reads, memory: Memory) -> Memory | None:
    """Return the memory that a memory was merged into (V1), over any number of merges.

    None if it was replaced otherwise; the memory itself if it was not replaced.
    """
    kept: Memory | None = memory
    while kept is not None:
        memory = kept
        replacing = await _replacing(tx, memory)
        if any(not each.properties.get(MERGED) for each in replacing):
            return None
        kept = await tx.memory(replacing[0].source.id) if replacing else None
    return memory


async def _replacing(tx: Reads, memory: Memory) -> Sequence[Edge]:
    """Return the lineage by which others replace a memory."""
    found = await tx.lineage_edges([memory.id])
    return [
        each
        for each in found
        if each.relation in REPLACING and each.target.id == memory.id and not each.claimed
    ]
