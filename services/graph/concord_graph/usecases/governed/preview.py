"""Previews of changes: each is applied in a transaction that is then rolled back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from concord_graph.domain.conflicts import Conflict, conflict_of
from concord_graph.domain.digests import etag
from concord_graph.domain.items import DEFAULT_LABEL, Edge, End, Entry, Item, ItemKind, Memory, Node
from concord_graph.ports import Author, Clock, GraphStore, Ref, Result, Writes, shown
from concord_graph.usecases.governed.apply import demand_etags
from concord_graph.usecases.read.items import item_by_id
from concord_graph.usecases.write.cascade import Scope
from concord_graph.usecases.write.commands import Command
from concord_graph.usecases.write.guard import PreviewGrant
from concord_graph.usecases.write.recorder import Effect
from concord_graph.usecases.write.writer import Writer


@dataclass(frozen=True, slots=True)
class Touched:
    """An item that a change would write, or that the consents would pin.

    `etag`: empty for an item that the change would create, or that must not exist. `statement`: the
    current statement of an item that needs consent; of any new item, the statement it would have.
    `is_pinned`: the change depends on the item without writing it. `statement_after`: the
    statement that an item which needs consent would have, if it differs or the item is not live.
    """

    id: str
    kind: ItemKind
    etag: str
    needs_consent: bool
    statement: str = ""
    is_pinned: bool = False
    statement_after: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """The items that the signed envelopes name, by id, and how many others the change cascades to.

    `irreversible`: they are more than an undo could bring back.
    """

    items: tuple[Touched, ...]
    cascaded_count: int
    irreversible: bool


class _RolledBack(Exception):
    """Carries the preview out of its transaction, which rolls back."""

    def __init__(self, preview: Preview) -> None:
        super().__init__()
        self.preview = preview


class Previews:
    """Applies changes that are never kept."""

    def __init__(self, store: GraphStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def touched(
        self,
        space: str,
        author: Author,
        command: Command[Result],
        etags: Mapping[str, str],
        scope: Scope,
    ) -> Preview:
        """Return the items that the command would touch; the command's own errors are raised.

        `etags`: the expected version of items by id; "" = the item must not exist.

        Raises:
            GrantInvalid: an item has another version than `etags` says.
        """

        async def transaction(tx: Writes) -> None:
            await demand_etags(tx, etags)
            now = max(self._clock(), tx.last_time)
            writer = Writer(tx, author, now, PreviewGrant())
            await tx.open_grant("preview")
            item, *_ = shown(await command(writer))
            raise _RolledBack(await _Sight(tx, writer, scope.naming(item.id)).preview())

        try:
            await self._store.write(space, transaction)
        except _RolledBack as end:
            return end.preview
        raise AssertionError("a preview is always rolled back")


class _Sight:
    """Compares the items that a previewed change has written with their former revisions."""

    def __init__(self, tx: Writes, writer: Writer, scope: Scope) -> None:
        self._tx = tx
        self._scope = scope
        self._effects = {effect.id: effect for effect in writer.effects}
        self._consented = writer.consented
        self._depended = writer.depended

    async def preview(self) -> Preview:
        """Return the items that were written and those that the consents would pin."""
        cascaded = {each.id for each in self._effects.values() if self._scope.cascades_to(each)}
        pinned = self._consented | self._depended
        cascaded -= pinned
        ids = sorted((self._effects.keys() | pinned) - cascaded)
        return Preview(
            tuple([await self._one(item_id) for item_id in ids]),
            len(cascaded),
            self._scope.is_beyond_undo(len(cascaded)),
        )

    async def _one(self, item_id: str) -> Touched:
        effect = self._effects.get(item_id)
        needs_consent = item_id in self._consented or (effect is not None and effect.needs_consent)
        if effect is None:
            return await self._unwritten(item_id)
        if not needs_consent:
            said = "" if effect.before else await self._statement(await self._after(effect))
            return Touched(item_id, effect.kind, effect.etag, needs_consent, said)
        before, after = await self._before(effect), await self._after(effect)
        said, will_say = await self._statement(before), await self._statement(after, now=True)
        there = after is not None and not after.deleted
        was_there = before is not None and not before.deleted
        is_news = there and not (was_there and said == will_say)
        return Touched(
            item_id,
            effect.kind,
            effect.etag,
            True,
            said,
            statement_after=will_say if is_news else "",
        )

    async def _unwritten(self, item_id: str) -> Touched:
        needs_consent = item_id in self._consented
        item = await item_by_id(self._tx, item_id)
        if item is None:  # a memory that a link names before it exists
            return Touched(item_id, ItemKind.MEMORY, "", needs_consent, is_pinned=True)
        said = await self._statement(item) if needs_consent else ""
        return Touched(item_id, item.kind, etag(item), needs_consent, said, is_pinned=True)

    async def _before(self, effect: Effect) -> Item | Entry | None:
        """Return an item as it was before the change; a new item as the change created it."""
        number = effect.before or effect.after
        found = await self._tx.revision(Ref(effect.kind, effect.id, number))
        return found if isinstance(found, Item | Entry) else None

    async def _after(self, effect: Effect) -> Item | Entry | None:
        found = await self._tx.revision(Ref(effect.kind, effect.id, effect.after))
        return found if isinstance(found, Item | Entry) else None

    async def _statement(self, item: Item | Entry | None, *, now: bool = False) -> str:
        """Return the words of an item: its content, name or triple, with its properties.

        An edge's ends have the names from before the change, or, with `now`, those after it.
        """
        match item:
            case Memory():
                return item.content
            case Node():
                label = f" ({item.label})" if item.label != DEFAULT_LABEL else ""
                return f"{item.name}{label}{_properties(item)}"
            case Edge():
                ends = [await self._named(end, now=now) for end in (item.source, item.target)]
                weight = f" (weight {item.weight:g})" if item.weight != 1 else ""
                return f"{ends[0]} {item.relation} {ends[1]}{weight}{_properties(item)}"
            case Entry():
                return _decided(conflict_of(item))
        return ""

    async def _named(self, end: End, *, now: bool) -> str:
        """Return a node end's name, else the end's id: other items have a line of their own."""
        if end.kind != ItemKind.NODE:
            return end.id
        effect = None if now else self._effects.get(end.id)
        node = await self._before(effect) if effect else await item_by_id(self._tx, end.id)
        return node.name if isinstance(node, Node) else end.id


def _decided(conflict: Conflict) -> str:
    """Return a conflict's state and resolution; its sides are previewed as items of their own."""
    resolution = conflict.resolution
    gives_way = resolution.superseded_id if resolution else ""
    words = [
        f"{conflict.conflict_class.name} of {conflict.first.id} and {conflict.second.id}:",
        conflict.state.name,
        *([f"as {resolution.resolution_type.name}"] if resolution else ()),
        *([f"({gives_way} gives way)"] if gives_way else ()),
        *([f"{(resolution or conflict).context!r}"] if (resolution or conflict).context else ()),
    ]
    return " ".join(words)


def _properties(item: Node | Edge) -> str:
    if not item.properties:
        return ""
    return " " + json.dumps(dict(item.properties), ensure_ascii=False, sort_keys=True)
