"""Writing memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from concord_graph.domain.drafts import (
    DRAFTED,
    MemoryDraft,
    Patch,
    check_extracted,
    check_interval,
    check_triggers,
)
from concord_graph.domain.errors import (
    FieldInvalid,
    GraphError,
    ItemErased,
    ItemExists,
    ItemState,
    PrincipalsReserved,
)
from concord_graph.domain.items import (
    RESERVED_PREFIX,
    Edge,
    EdgeType,
    End,
    Importance,
    ItemKind,
    Memory,
    MemoryKind,
    Relation,
    Revision,
)
from concord_graph.domain.links import (
    Link,
    MalformedLink,
    Voice,
    meant_links,
    reread_links,
    voice_of,
    without_links,
)
from concord_graph.domain.origins import is_own_statement, with_words_of
from concord_graph.domain.turns import check_turn_unchanged, said
from concord_graph.ports import (
    BatchAdded,
    ConceptExtractor,
    LinkParser,
    Outcome,
    TurnsAppended,
    Written,
)
from concord_graph.usecases.items.lineage import sync_links
from concord_graph.usecases.memory.facts import keep_facts, make_edges, settle
from concord_graph.usecases.memory.raised import is_above, take_back_lower
from concord_graph.usecases.memory.repeats import (
    asked_about,
    confirmed_by,
    is_keyed,
    refuse_other_words,
    repeated,
    said_above,
)
from concord_graph.usecases.memory.whose_words import in_own_words, reworded, words_origin
from concord_graph.usecases.write.commands import BatchRefused, ItemRefused
from concord_graph.usecases.write.writer import Writer, claimed_as, existing, ref, written


class Memories:
    """Commands on memories; reads links and concepts out of their content."""

    def __init__(self, links: LinkParser, concepts: ConceptExtractor) -> None:
        self.links = links
        self._concepts = concepts

    async def add(self, writer: Writer, draft: MemoryDraft, *, extracted: bool = False) -> Written:
        """Create a memory, unless it exists: by id, external id or its words (M1, M5).

        `extracted`: a program or model took the text from elsewhere; its links are RELATED_TO.
        """
        self._check(draft)
        await writer.tx.expect(lambda: asked_about([draft], self.links))
        known = await repeated(writer, draft)
        if known is None:
            return written(None, await self._create(writer, draft, extracted=extracted))
        if known.erase_time:
            raise ItemErased(known.id)
        if known.deleted:
            raise ItemState("this memory is forgotten: restore it")
        drafted = self._drafted(known, draft)
        if is_keyed(draft) and drafted != known:
            await refuse_other_words(writer, known, drafted)
        await writer.restate(known, draft.session_id)
        own = is_own_statement(drafted, writer.author.origin, derived=extracted)
        return written(known, await self._confirm(writer, known, draft, own=own))

    async def add_many(
        self,
        writer: Writer,
        drafts: Sequence[MemoryDraft],
        *,
        update_existing: bool,
        extracted: bool = False,
    ) -> BatchAdded:
        """Create memories in one transaction: all, or none with every refusal listed."""
        await writer.tx.expect(lambda: asked_about(drafts, self.links))
        added: list[Written] = []
        refusals: list[ItemRefused] = []
        async with writer.together():
            for index, draft in enumerate(drafts):
                writer.tx.step()
                try:
                    one = await self._add_one(
                        writer, draft, update_existing=update_existing, extracted=extracted
                    )
                    added.append(one)
                except (GraphError, MalformedLink) as error:
                    refusals.append(ItemRefused(index, error))
        if refusals:
            raise BatchRefused(refusals)
        return BatchAdded(tuple(added))

    async def update(self, writer: Writer, patch: Patch) -> Written:
        """Change the named fields of a live memory; the former version is kept (M4)."""
        stored = existing(await writer.tx.memory(patch.item_id), patch.item_id)
        if patch.values.get("edge_type") == EdgeType.RESOLUTION:
            await writer.demand_allowed(stored, replace(stored, edge_type=EdgeType.RESOLUTION))
        memory = await reworded(writer, stored, self._patched(stored, patch.values))
        await writer.demand_etag(stored, patch.etag, memory)
        _demand_unerased(stored)
        if stored.deleted:
            raise ItemState("this memory is forgotten: restore it first")
        if memory.external_id and memory.external_id != stored.external_id:
            other = await writer.tx.memory_by_external_id(memory.external_id)
            if other is not None:
                raise ItemExists(other.id, "external id")
        if memory.content != stored.content and not await writer.standing.may(stored):
            check_turn_unchanged(stored, memory)
            await writer.demand_allowed(stored, memory)
            return await self._beside(writer, stored, memory)
        above = memory.content != stored.content and await is_above(writer, stored)
        with claimed_as(stored):
            replaced = await self.replace(writer, stored, memory)
        if above:
            await take_back_lower(writer, replaced)
        return written(stored, replaced)

    async def _beside(
        self, writer: Writer, stored: Memory, memory: Memory, *, extracted: bool = False
    ) -> Written:
        """Write new words for a memory of somebody who stands above the author as a memory of its
        own, which claims to supersede the stored one (W9)."""
        own = replace(
            memory,
            id=writer.tx.new_id(),
            id_stated=False,
            external_id="",
            session_id="",
            origin=writer.author.origin,
            create_time=writer.now,
            revision=Revision(),
        )
        check_interval(own, "memory.valid_until")
        check_triggers(own)
        links = meant_links(self.links(own.content), _voice(writer, own, extracted=extracted))
        origin = await words_origin(writer, own, extracted=extracted)
        other = await self.put(writer, None, with_words_of(own, origin))
        await sync_links(writer, other, [link for link in links if link.target_id != stored.id])
        ends = End(other.id, ItemKind.MEMORY), End(stored.id, ItemKind.MEMORY)
        lineage = Edge(writer.tx.new_id(), ends[0], Relation.SUPERSEDES, ends[1])
        await writer.put(None, lineage)
        return Written(ref(other), Outcome.CLAIMED)

    async def _confirm(
        self, writer: Writer, known: Memory, draft: MemoryDraft, *, own: bool = False
    ) -> Memory:
        """Return a memory whose words were said again: a writer who may confirms its facts. What
        only lower writers wrote is on record as the author's, too, and holds as the author says it.

        `own`: the words are the writer's own, too.
        """
        confirmed = confirmed_by(known, draft)
        above = await is_above(writer, known)
        if above:
            confirmed = said_above(confirmed, draft)
        if own:
            confirmed = in_own_words(confirmed, writer.author.origin)
        if not above and (confirmed == known or not await writer.standing.may(known)):
            return known
        if confirmed == known:
            said = await writer.put(known, known)
        else:
            said = await self.replace(writer, known, confirmed)
        if above:
            await take_back_lower(writer, said)
        return said

    async def _freed(self, writer: Writer, known: Memory) -> Memory:
        """Return a memory; one that only lower writers wrote and forgot is back."""
        if not known.deleted or not await is_above(writer, known):
            return known
        back = await self.put(writer, known, replace(known, deleted=False))
        await take_back_lower(writer, back)
        return back

    async def forget(self, writer: Writer, memory_id: str, etag: str) -> Written:
        """Forget a memory: it can be restored."""
        stored = existing(await writer.tx.memory(memory_id), memory_id)
        await writer.demand_etag(stored, etag, replace(stored, deleted=True))
        _demand_unerased(stored)
        if stored.deleted:
            raise ItemState("this memory is forgotten already")
        async with writer.together():
            gone = await writer.put(stored, replace(stored, deleted=True))
            for edge_id in await writer.tx.facts_of(memory_id):
                await settle(writer, edge_id)
        return written(stored, gone)

    async def restore(self, writer: Writer, memory_id: str, etag: str) -> Written:
        """Bring a forgotten memory back."""
        stored = existing(await writer.tx.memory(memory_id), memory_id)
        await writer.demand_etag(stored, etag, replace(stored, deleted=False))
        _demand_unerased(stored)
        if not stored.deleted:
            raise ItemState("this memory is not forgotten", memory_id)
        with claimed_as(stored):
            back = await self.put(writer, stored, replace(stored, deleted=False))
        return written(stored, back)

    async def append(self, writer: Writer, drafts: Sequence[MemoryDraft]) -> TurnsAppended:
        """Append turns to their session's dialogue; the same words again are another turn.

        A turn whose external id is known is not appended again.
        """
        await writer.tx.expect(lambda: asked_about(drafts, self.links))
        turns: list[Written] = []
        for draft in drafts:
            writer.tx.step()
            turns.append(await self._append_one(writer, draft))
        return TurnsAppended(tuple(turns))

    async def _append_one(self, writer: Writer, draft: MemoryDraft) -> Written:
        tx = writer.tx
        known = await tx.memory_by_external_id(draft.external_id) if draft.external_id else None
        if known is None:
            return written(None, await self._create(writer, draft))
        if said(known) != said(self._drafted(known, draft)):
            raise ItemExists(known.id, "external id")
        if known.erase_time or (back := await self._freed(writer, known)).deleted:
            return written(known, known)  # forgotten stays forgotten: an import restores none
        return written(known, await self._confirm(writer, back, draft))

    async def _add_one(
        self, writer: Writer, draft: MemoryDraft, *, update_existing: bool, extracted: bool
    ) -> Written:
        self._check(draft)
        known = await repeated(writer, draft)
        if known is None:
            return written(None, await self._create(writer, draft, extracted=extracted))
        if known.erase_time:
            return Written(ref(known), Outcome.ERASED)
        there, known = known, await self._freed(writer, known)
        if known.deleted:
            return written(known, known)  # forgotten stays forgotten: a batch restores none
        await writer.restate(known, draft.session_id)
        drafted = self._drafted(known, draft)
        if drafted == known or not is_keyed(draft):
            return written(there, await self._confirm(writer, known, draft))
        if not update_existing:
            await refuse_other_words(writer, known, drafted)
        await writer.demand_allowed(known, drafted)
        if writer.standing.changes(known, drafted) and not await writer.standing.may(known):
            return await self._beside(writer, known, drafted, extracted=extracted)
        above = drafted.content != known.content and await is_above(writer, known)
        drafted = await reworded(writer, known, drafted, extracted=extracted)
        replaced = await self.replace(writer, known, drafted, extracted=extracted)
        if above:
            await take_back_lower(writer, replaced)
        return written(there, replaced)

    async def _create(
        self, writer: Writer, draft: MemoryDraft, *, extracted: bool = False
    ) -> Memory:
        voice = _voice(writer, draft, extracted=extracted)
        links = meant_links(self.links(draft.content), voice)
        blank = Memory(
            id=draft.id or writer.tx.new_id(),
            content=draft.content,
            id_stated=bool(draft.id),
            origin=writer.author.origin,
            create_time=writer.now,
        )
        drafted = self._drafted(blank, draft)
        check_interval(drafted, "memory.valid_until")
        check_triggers(drafted)
        if drafted.memory_kind == MemoryKind.TURN:
            order = await writer.tx.last_turn_order(draft.session_id) + 1
            drafted = replace(drafted, turn_order=order)
        origin = await words_origin(writer, drafted, extracted=extracted)
        memory = await self.put(writer, None, with_words_of(drafted, origin))
        await sync_links(writer, memory, links)
        if draft.id:
            await take_back_lower(writer, memory)
        return memory

    async def replace(
        self, writer: Writer, stored: Memory, memory: Memory, *, extracted: bool = False
    ) -> Memory:
        """Write a memory's next revision, and the edges of its content's links and its facts."""
        if memory == stored:
            return stored
        check_turn_unchanged(stored, memory)
        check_interval(memory, "memory.valid_until")
        check_triggers(memory)
        if memory.content == stored.content:
            return await self.put(writer, stored, memory)
        edges = await writer.tx.content_edges_from(stored.id)
        held = {Link(edge.relation, edge.target.id) for edge in edges}
        now, before = self.links(memory.content), self.links(stored.content)
        kept, anew = reread_links(now, before, held, _voice(writer, memory, extracted=extracted))
        replaced = await self.put(writer, stored, memory)
        await sync_links(writer, replaced, anew, kept)
        return replaced

    async def put(self, writer: Writer, before: Memory | None, after: Memory) -> Memory:
        """Write a memory and the edges of its facts."""
        if _stating(before) == _stating(after):
            return await writer.put(before, after)
        await writer.demand_allowed(before, after)
        if before is not None:
            await writer.demand_unharmed(before, after)
        check_extracted(after)
        async with writer.together():  # announces the changed items after both writes
            edges = await make_edges(writer, before, after)
            put = await writer.put(before, after)
            await keep_facts(writer, before, put, edges)
        return put

    def _check(self, draft: MemoryDraft) -> None:
        if not draft.content:
            raise FieldInvalid("memory.content", "is required")
        if draft.id.casefold().startswith(RESERVED_PREFIX):
            raise PrincipalsReserved(
                "memory.id", f"ids starting with {RESERVED_PREFIX!r} are reserved"
            )
        if draft.edge_type == EdgeType.RESOLUTION:
            raise FieldInvalid("memory.edge_type", "a memory is descriptive or constitutive")

    def _drafted(self, memory: Memory, draft: MemoryDraft) -> Memory:
        """Return the memory with all fields of the draft."""
        values = {name: getattr(draft, name) for name in DRAFTED}
        values["edge_type"] = draft.edge_type or memory.edge_type
        values["concepts_stated"] = bool(draft.concepts)
        values["concepts"] = draft.concepts or tuple(self._concepts(without_links(draft.content)))
        return replace(memory, **values)

    def _patched(self, stored: Memory, values: Any) -> Memory:
        memory = replace(stored, **values)
        if memory.content != stored.content and "facts" not in values:
            # what a program took from the former words: the new ones need not state it
            memory = replace(memory, facts=tuple(f for f in memory.facts if not f.extracted))
        if memory.edge_type is None:  # in the mask, but unspecified: no change
            memory = replace(memory, edge_type=stored.edge_type)
        if not memory.content:
            raise FieldInvalid("memory.content", "is required")
        if memory.edge_type == EdgeType.RESOLUTION:
            raise FieldInvalid("memory.edge_type", "a memory is descriptive or constitutive")
        given = bool(values["concepts"]) if "concepts" in values else memory.concepts_stated
        return replace(
            memory,
            importance=Importance(memory.importance),
            concepts_stated=given,
            concepts=memory.concepts
            if given
            else tuple(self._concepts(without_links(memory.content))),
        )


def _voice(writer: Writer, text: Memory | MemoryDraft, *, extracted: bool) -> Voice:
    """Return who speaks in a content that this writer writes."""
    return Voice.STORED if extracted else voice_of(text.memory_kind, writer.author.origin)


def _stating(memory: Memory | None) -> object:
    """Return the fields of a memory that decide about its facts' edges."""
    if memory is None or not memory.facts:
        return None
    return memory.facts, memory.valid_from, memory.valid_until, memory.edge_type, memory.deleted


def _demand_unerased(memory: Memory) -> None:
    if memory.erase_time:
        raise ItemErased(memory.id)
