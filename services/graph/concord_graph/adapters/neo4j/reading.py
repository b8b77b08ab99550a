"""Graph's reads over one Neo4j transaction."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any

from neo4j import AsyncManagedTransaction

from concord_graph.adapters.neo4j import filters, records, statements
from concord_graph.adapters.neo4j.pending import PendingReads, with_pending
from concord_graph.adapters.neo4j.records import Record
from concord_graph.adapters.neo4j.statements import Known
from concord_graph.adapters.signing.verify import verify_genesis
from concord_graph.domain.consent import GenesisRecord
from concord_graph.domain.drafts import EndRef
from concord_graph.domain.items import (
    FOREVER,
    Access,
    Edge,
    EdgeType,
    Importance,
    Instant,
    Item,
    ItemKind,
    Memory,
    Node,
)
from concord_graph.domain.standing import Standing
from concord_graph.ports import (
    Author,
    Counts,
    EdgeFilter,
    MemoryFilter,
    ReadCounts,
    Receipt,
    Ref,
    State,
    Step,
    View,
    Walk,
)

Row = list[Any]
_AS_READ = "(x:Item) WHERE x.id IN $ids"
_NO_STANDING = (6, 7)  # changes that leave a memory's state as it was: TOUCHED, REFUSED
_STATES_CHANGE = (
    "UNWIND $asked AS ask CALL (ask) { MATCH (c:Change {item_id: ask.id}) WHERE c.seq <= ask.seq"
    f" AND NOT c.type IN {list(_NO_STANDING)}"
    " RETURN c ORDER BY c.item_id DESC, c.seq DESC LIMIT 1 } RETURN ask.place, c.seq, c.record_time"
)


class Neo4jReads:
    """A view of one space.

    Neo4j shows what is committed at each statement. That several statements saw one state is
    checked by `is_unchanged`; the store runs the work again when they did not.
    """

    def __init__(
        self, tx: AsyncManagedTransaction, space: str, *, epoch: str, pending: PendingReads
    ) -> None:
        self._tx = tx
        self._space_name = space
        self._epoch = epoch
        self._pending = pending
        self._seq = 0
        self._last_time = 0
        self._asked = 0

    async def begin(self) -> None:
        """Read how far the space is; the first statement of the transaction."""
        self._seq, self._last_time = await self._head()

    async def is_unchanged(self) -> bool:
        """Return whether all that was read is of one state."""
        return self._asked <= 1 or (await self._head())[0] == self._seq

    @property
    def space(self) -> str:
        """The space."""
        return self._space_name

    @property
    def epoch(self) -> str:
        """The store's epoch."""
        return self._epoch

    @property
    def last_time(self) -> int:
        """The newest record time."""
        return self._last_time

    async def head_seq(self) -> int:
        """Return the newest sequence number."""
        return self._seq

    async def node(self, node_id: str) -> Node | None:
        """Return a node by id."""
        found = await self._item(node_id)
        return found if isinstance(found, Node) else None

    async def live_node_named(self, name: str) -> Node | None:
        """Return the live node of a name."""
        found = await self._items("MATCH (x:Entity {name: $name}) RETURN properties(x)", name=name)
        return records.node(found[0]) if found else None

    async def edge(self, edge_id: str) -> Edge | None:
        """Return an edge by id."""
        found = await self._item(edge_id)
        return found if isinstance(found, Edge) else None

    async def live_edges_of_triple(
        self, source_id: str, relation: str, target_id: str
    ) -> Sequence[Edge]:
        """Return the live edges of a triple by effective valid_from."""
        found = await self._items(
            "MATCH (e:Edge {source_id: $source, relation: $relation, target_id: $target})"
            " WHERE e.effective_from IS NOT NULL RETURN properties(e) ORDER BY e.effective_from",
            source=source_id,
            relation=relation,
            target=target_id,
        )
        return [records.edge(record) for record in found]

    async def memory(self, memory_id: str) -> Memory | None:
        """Return a memory by id."""
        found = await self._item(memory_id)
        return found if isinstance(found, Memory) else None

    async def memory_by_external_id(self, external_id: str) -> Memory | None:
        """Return the memory of an importer's key."""
        text = "MATCH (x:Item {external_id: $external_id}) RETURN properties(x)"
        found = await self._items(text, external_id=external_id)
        return records.memory(found[0]) if found else None

    async def live_memories_saying(self, content_digest: str) -> Sequence[Memory]:
        """Return the live memories with equal content, kind and sources, oldest first."""
        text = (
            "MATCH (m:Memory {content_digest: $digest}) RETURN properties(m) ORDER BY m.create_time"
        )
        found = await self._items(text, digest=content_digest)
        return [records.memory(record) for record in found]

    async def revision(self, ref: Ref) -> Item | None:
        """Return an item exactly as that revision had it."""
        text = (
            f"MATCH (x:{records.VERSION[ref.kind]} {{id: $id, revision: $revision}})"
            " RETURN properties(x)"
        )
        found = await self._items(text, id=ref.id, revision=ref.revision)
        return records.item(found[0]) if found else None

    async def kinds(self, ids: Collection[str]) -> Mapping[str, ItemKind]:
        """Return what each id names."""
        if not ids:
            return {}
        text = f"MATCH {_AS_READ} AND x.kind <> $ghost RETURN x.id, x.kind"
        found = await self._ask(text, ids=list(ids), ghost=int(ItemKind.GHOST))
        return {item_id: ItemKind(kind) for item_id, kind in found}

    async def views(self, kind: ItemKind, ids: Collection[str], at: Instant) -> Mapping[str, View]:
        """Return items with their standing."""
        asked = [{"id": item_id, "record": at.record} for item_id in ids]
        found = await self._views(kind, asked, at.record, at.valid)
        return {view.item.id: view for _, view in found}

    async def view_of(self, item: Item, at: Instant) -> View:
        """Return this very revision with the standing its item has."""
        found = (await self.views(item.kind, [item.id], at)).get(item.id)
        if found is None:
            return View(item, Standing(item.create_time), Access(item.create_time, 0))
        return View(item, found.standing, found.access, found.near_constitutive, found.names)

    async def successors(
        self, kind: ItemKind, ids: Collection[str], at: Instant
    ) -> Mapping[str, Collection[str]]:
        """Return the live items that have taken over from each."""
        asked = [{"id": item_id, "record": at.record} for item_id in ids]
        text = statements.successors(kind, _known(at.record))
        found: dict[str, set[str]] = {}
        for item_id, successor in await self._ask(text, asked=asked, valid=at.valid):
            found.setdefault(item_id, set()).add(successor)
        return found

    async def find(self, end: EndRef, at: Instant) -> str | None:
        """Return the id of the live item that an end names."""
        text = statements.found(_known(at.record), by_name=bool(end.name))
        asked = [{"name": end.name, "id": end.id, "record": at.record}]
        found = await self._ask(text, asked=asked)
        if not found or (end.id and end.id != found[0][0]):
            return None
        return str(found[0][0])

    async def lineage_edges(self, ids: Collection[str]) -> Sequence[Edge]:
        """Return the live lineage edges that start or end at the ids."""
        found = await self._items(
            "MATCH (l:Lineage) WHERE l.source_id IN $ids RETURN properties(l)"
            " UNION MATCH (l:Lineage) WHERE l.target_id IN $ids RETURN properties(l)",
            ids=list(ids),
        )
        return [records.edge(r) for r in sorted(found, key=lambda record: str(record["id"]))]

    async def is_held(self, item_id: str) -> bool:
        """Return whether what both parties agreed to rests on the item."""
        text = f"UNWIND $ids AS id RETURN {statements.held('id')}"
        return bool((await self._ask(text, ids=[item_id]))[0][0])

    async def live_edge_ids_at(self, item_id: str) -> Sequence[str]:
        """Return the live edges that start or end at the item."""
        found = await self._ask(
            "MATCH (e:Edge {source_id: $id}) RETURN e.id AS id"
            " UNION MATCH (e:Edge {target_id: $id}) RETURN e.id AS id",
            id=item_id,
        )
        return sorted(row[0] for row in found)

    async def content_edges_from(self, memory_id: str) -> Sequence[Edge]:
        """Return the live edges that the memory's own content made."""
        text = "MATCH (e:FromContent {source_id: $id}) RETURN properties(e)"
        return [records.edge(record) for record in await self._items(text, id=memory_id)]

    async def steps(self, ids: Collection[str], walk: Walk, limit: int) -> Sequence[Step]:
        """Return up to `limit` live edges at the ids."""
        rows, pending = await self._walked(ids, walk, limit, whole=False)
        return [self._step(row, pending) for row in rows]

    async def edges_at_hand(self, item_id: str, walk: Walk, most: int) -> Sequence[View] | None:
        """Return the edges of a hop as views, None when more than `most` are there to look at."""
        rows, pending = await self._walked([item_id], walk, most + 1, whole=True)
        if len(rows) > most:
            return None
        valid = walk.at.valid
        views = [self._view(row, valid, pending) for row in rows]
        if walk.include_superseded:
            return views
        return [view for view in views if not view.standing.is_superseded(valid)]

    async def degree(self, ids: Collection[str], walk: Walk, cap: int) -> int:
        """Return how many edges there are at the ids, at most `cap`."""
        text = statements.degree(_known(walk.at.record), _ends(walk))
        found = await self._ask(text, ids=list(ids), asked=[{"record": walk.at.record}], limit=cap)
        return int(found[0][0])

    async def list_nodes(self, label: str, after: str, limit: int) -> Sequence[Node]:
        """Return live nodes by name."""
        found = await self._items(
            "MATCH (x:Entity) WHERE x.name > $after AND ($label = '' OR x.label = $label)"
            " RETURN properties(x) ORDER BY x.name LIMIT $limit",
            label=label,
            after=after,
            limit=limit,
        )
        return [records.node(record) for record in found]

    async def list_edges(self, filter_: EdgeFilter, after: str, limit: int) -> Sequence[str]:
        """Return ids of live edges by id."""
        tests, bound = filters.edge_tests(filter_, include_resolutions=True)
        text = (
            f"MATCH (e:Edge) WHERE e.id > $after{' AND ' + tests if tests else ''}"
            " RETURN e.id ORDER BY e.id LIMIT $limit"
        )
        return [row[0] for row in await self._ask(text, **bound, after=after, limit=limit)]

    async def list_memories(
        self, filter_: MemoryFilter, at: Instant, before: tuple[int, str] | None, limit: int
    ) -> Sequence[tuple[int, str]]:
        """Return (create_time, id) of live memories, newest first."""
        tests, bound = filters.memory_tests(filter_)
        before_time, before_id = before or (FOREVER, "")
        found = await self._ask(
            statements.listed_memories(tests),
            **bound,
            valid=at.valid,
            before_time=before_time,
            before_id=before_id,
            limit=limit,
        )
        return [(row[0], row[1]) for row in found]

    async def history(self, memory_id: str, before_revision: int, limit: int) -> Sequence[Memory]:
        """Return the revisions of a memory below a number, newest first."""
        found = await self._items(
            "MATCH (x:MemoryVersion {id: $id}) WHERE x.revision < $before"
            " RETURN properties(x) ORDER BY x.revision DESC LIMIT $limit",
            id=memory_id,
            before=before_revision,
            limit=limit,
        )
        return [records.memory(record) for record in found]

    async def counts(self) -> Counts:
        """Count the items of the space."""
        return Counts(*(await self._ask(statements.COUNTS))[0])

    async def live_items(self, kind: ItemKind) -> Sequence[Item]:
        """Return every live item of a kind."""
        found = await self._items(statements.LIVE_ITEMS[kind])
        return [records.item(record) for record in found]

    async def deleted_ids(self) -> Set[str]:
        """Return the ids of forgotten memories and deleted edges."""
        text = "MATCH (x:Tombstone) WHERE x.id IS NOT NULL AND x.kind <> $node RETURN x.id"
        return {row[0] for row in await self._ask(text, node=int(ItemKind.NODE))}

    async def receipt(self, author: Author) -> tuple[bytes, str, Receipt] | None:
        """Return salt, digest and receipt of an earlier request."""
        found = await self._items(
            "MATCH (r:Request {principal: $principal, method: $method, request_id: $request_id})"
            " RETURN properties(r)",
            principal=author.principal,
            method=author.method,
            request_id=author.request_id,
        )
        return receipt_of(found[0]) if found else None

    async def genesis(self) -> GenesisRecord | None:
        """Return the space's genesis."""
        found = await self._ask("MATCH (g:Genesis) RETURN g.envelope")
        return verify_genesis(bytes(found[0][0]), self._space_name) if found else None

    async def states(self, refs: Sequence[tuple[str, int]], valid: int) -> Sequence[State | None]:
        """Return memories as they were after a change."""
        asked = [
            {"id": memory_id, "seq": seq or FOREVER, "place": place}
            for place, (memory_id, seq) in enumerate(refs)
        ]
        changes = {
            place: (int(seq), int(time))
            for place, seq, time in await self._ask(_STATES_CHANGE, asked=asked)
        }
        states: list[State | None] = [None] * len(refs)
        for now in (True, False):
            some = [
                {"id": refs[place][0], "place": place, "record": FOREVER if now else time}
                for place, (_, time) in changes.items()
                if (refs[place][1] == 0) == now
            ]
            for place, view in await self._views(
                ItemKind.MEMORY, some, FOREVER if now else 0, valid
            ):
                seq, time = changes[place]
                states[place] = State(
                    view, seq, time, Instant(valid) if now else Instant(valid, time)
                )
        return states

    async def _views(
        self, kind: ItemKind, asked: Sequence[Record], record: int, valid: int
    ) -> list[tuple[int, View]]:
        """Return (place, view) of what is asked; `record` FOREVER asks about now, else each."""
        if not asked:
            return []
        rows, pending = await self._view_rows(kind, asked, record)
        return [(row[-1], self._view(row, valid, pending)) for row in rows]

    async def _view_rows(
        self, kind: ItemKind, asked: Sequence[Record], record: int
    ) -> tuple[list[Row], Sequence[ReadCounts]]:
        text = statements.views(kind, _known(record))
        return await self._pending.beside(lambda: self._ask(text, asked=list(asked)))

    async def _walked(
        self, ids: Collection[str], walk: Walk, limit: int, *, whole: bool
    ) -> tuple[list[Row], Sequence[ReadCounts]]:
        tests, bound = filters.edge_tests(walk.filter, include_resolutions=walk.include_resolutions)
        text = statements.walked(
            _known(walk.at.record),
            _ends(walk),
            tests,
            # what is whole tells when it is superseded: its reader tests that
            hide_superseded=not (walk.include_superseded or whole),
            in_time=walk.at.stated or not walk.include_superseded,
            whole=whole,
        )
        bound |= {
            "ids": list(ids),
            "valid": walk.at.valid,
            "asked": [{"record": walk.at.record}],
            "limit": limit,
        }
        return await self._pending.beside(lambda: self._ask(text, **bound))

    def _view(self, row: Row, valid: int, pending: Sequence[ReadCounts]) -> View:
        record, sibling, replaced, predecessors, last_time, reads, near, source, target = row[:9]
        item = records.item(record)
        superseded = min(_or_forever(sibling), _or_forever(replaced))
        names: dict[str, str] = {}
        if isinstance(item, Edge):
            ends = ((item.source, source), (item.target, target))
            names = {end.id: name for end, name in ends if name is not None}
        effective = item.create_time if isinstance(item, Node) else item.effective_from
        until = None if isinstance(item, Node) else item.valid_until
        access = Access(last_time or item.create_time, reads or 0)
        return View(
            item=item,
            standing=Standing(
                effective_from=effective,
                stated_until=_or_forever(until),
                superseded_from=superseded,
                head_ids=() if item.deleted or superseded <= valid else (item.id,),
                predecessor_count=predecessors,
            ),
            access=with_pending(access, pending, self._space_name, item.id),
            near_constitutive=near,
            names=names,
        )

    def _step(self, row: Row, pending: Sequence[ReadCounts]) -> Step:
        return Step(
            id=row[0],
            source_id=row[1],
            target_id=row[2],
            weight=row[3],
            edge_type=EdgeType(row[4]),
            importance=Importance(row[5]),
            near_constitutive=row[6],
            access=with_pending(Access(row[7], row[8]), pending, self._space_name, row[0]),
        )

    async def _item(self, item_id: str) -> Item | None:
        text = "MATCH (x:Item {id: $id}) RETURN properties(x)"
        found = await self._items(text, id=item_id)
        return known_item(found[0]) if found else None

    async def _items(self, text: str, **bound: Any) -> list[Record]:
        return [row[0] for row in await self._ask(text, **bound)]

    async def _head(self) -> tuple[int, int]:
        found = await self._ask("MATCH (s:Space) RETURN s.seq, s.last_time")
        self._asked -= 1
        return (found[0][0], found[0][1]) if found else (0, 0)

    async def _ask(self, text: str, **bound: Any) -> list[Row]:
        """Run a statement of this space: the only door to the database for what is a space's."""
        self._asked += 1
        given = {**bound, "space": self._space_name}
        result = await self._tx.run(statements.scoped(text), given=given)
        return await result.values()


def known_item(record: Record | None) -> Item | None:
    """Return the item of a current node's properties; a ghost is none."""
    if record is None or record["kind"] == ItemKind.GHOST:
        return None
    return records.item(record)


def receipt_of(record: Record) -> tuple[bytes, str, Receipt]:
    """Return salt, digest and receipt of a request's properties."""
    refs = tuple(
        Ref(ItemKind(kind), item_id, revision, outcome)
        for kind, item_id, revision, outcome in json.loads(record["refs"])
    )
    return bytes(record["salt"]), record["digest"], Receipt(refs, record["seq"])


def _known(record: int) -> Known:
    return None if record == FOREVER else statements.THEN


def _or_forever(instant: int | None) -> int:
    return FOREVER if instant is None else instant


def _ends(walk: Walk) -> tuple[str, ...]:
    ends = (("source_id", walk.outgoing), ("target_id", walk.incoming))
    return tuple(end for end, wanted in ends if wanted)
