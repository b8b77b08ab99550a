"""Graph's writes over one Neo4j transaction: learnt ahead, kept together, written at once.

What a use case asks of an id, a name or a key is fetched once, with everything else that it will
ask of it; puts are laid over that and go to the store when something is asked that only the store
can answer, and at the end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from concord_attestation.consent import GenesisRecord
from neo4j import AsyncManagedTransaction
from neo4j.exceptions import ConstraintError

from concord_graph.adapters import receipts
from concord_graph.adapters.neo4j import (
    erasing,
    flushing,
    records,
    statements,
    stating,
    transfer,
)
from concord_graph.adapters.neo4j.pending import PendingReads
from concord_graph.adapters.neo4j.reading import Neo4jReads, known_item, receipt_of
from concord_graph.adapters.neo4j.records import Fields
from concord_graph.adapters.neo4j.sketches import Sketches
from concord_graph.adapters.neo4j.tokens import Tokens
from concord_graph.adapters.neo4j.viewing import Row
from concord_graph.adapters.neo4j.working_set import Around, WorkingSet
from concord_graph.domain import sketch as sketching
from concord_graph.domain.drafts import EndRef
from concord_graph.domain.erasure import Erasure
from concord_graph.domain.exceptions import ConstitutiveProtected, ItemClash, SafeguardViolation
from concord_graph.domain.facts import Support
from concord_graph.domain.items import (
    FOREVER,
    HIDING,
    Access,
    DeclaredRelation,
    Edge,
    EdgeType,
    Entry,
    Item,
    ItemKind,
    Memory,
    Node,
    Record,
)
from concord_graph.domain.protection import is_constitutive
from concord_graph.ports import Author, Change, Clock, Expected, Imported, ReadCounts, Receipt, Ref

_ROWS_A_STATEMENT = 2_000
_RINGS_AHEAD = 2
"""How far the lineage around what is asked is fetched ahead: its ends, and theirs. Who follows a
chain further asks as it goes, from the side where it ends sooner."""
_LOCK = (
    "MERGE (s:Space) ON CREATE SET s.seq = 0, s.last_time = 0 SET s.holder = randomUUID(),"
    " s.sketch_key = coalesce(s.sketch_key, $sketch_key)"
    " WITH s OPTIONAL MATCH (r:Request {principal: $principal, method: $method,"
    " request_id: $request_id}) RETURN s.seq, s.last_time, s.sketch_key,"
    " properties(r),"
    " COLLECT { MATCH (f:Functional) WHERE f.name IS NOT NULL RETURN f.name },"
    " coalesce(s.stated, false)"
)
_NOBODY = Author("", "", "")
_BURN = (
    "OPTIONAL MATCH (b:Nonce) WHERE b.nonce IN $nonces WITH count(b) AS burnt"
    " CALL (burnt) { WITH * WHERE burnt = 0 UNWIND $nonces AS one CREATE (n:Nonce {nonce: one}) }"
    " RETURN burnt"
)


class Neo4jWrites(Neo4jReads):
    """One transaction on one space. It holds the space's counter, so no other writes there."""

    def __init__(
        self,
        tx: AsyncManagedTransaction,
        space: str,
        *,
        epoch: str,
        pending: PendingReads,
        clock: Clock,
        tokens: Tokens,
        author: Author | None = None,
    ) -> None:
        super().__init__(tx, space, epoch=epoch, pending=pending)
        self._author = author or _NOBODY
        self._request: Fields | None = None
        self._clock = clock
        self._begun = False
        self._tokens = tokens
        self._known = WorkingSet()
        self._viewed: tuple[dict[str, Row], Sequence[ReadCounts]] = ({}, ())
        self._sketches = Sketches()
        self._last_turns: dict[str, int] = {}
        self._granted = False
        self._principals = False
        self._counted = 0
        self._rows: list[Fields] = []
        self._marked: set[str] = set()
        self._erased: list[Item] = []
        self._accesses: list[Fields] = []
        self._changes: list[Fields] = []
        self._requests: list[Fields] = []

    async def begin(self) -> None:
        """Lock the space, then read how far it is, and what the author's request did before."""
        found = await super().ask(
            _LOCK,
            sketch_key=sketching.new_key(),
            principal=self._author.principal,
            method=self._author.method,
            request_id=self._author.request_id,
        )
        self._seq, self._last_time, key, self._request, functional, stated = found[0]
        self._counted = self._seq
        self._sketches.key = bytes(key)
        self._functional = set(functional)
        self._stated = stated

    def step(self) -> None:
        """Let the next tick be later."""
        self._begun = False

    def tick(self) -> tuple[int, int]:
        """Return the next sequence number and the step's record time."""
        self._seq += 1
        if not self._begun:
            self._begun = True
            self._last_time = max(self._clock(), self._last_time + 1)
        return self._seq, self._last_time

    def fresh(self, item_id: str) -> None:
        """Ask the store nothing about an id that was made up just now."""
        self._known.fresh.add(item_id)

    def wind(self, seq: int, time: int) -> None:
        """Set the counters to those of an imported change."""
        self._seq, self._last_time, self._begun = seq, time, False

    async def expect(self, expected: Callable[[], Expected]) -> None:
        """Fetch what will be asked, and the lineage next to it, in a few statements."""
        will = expected()
        await self._learn(
            will.ids, will.node_names, will.external_ids, will.content_digests, will.triples
        )
        known = self._known
        said = [m.id for digest in will.content_digests for m in known.saying[digest]]
        keyed = [m.id for key in will.external_ids if (m := known.external[key])]
        unknown = known.unknown([*said, *keyed, *self._lineage_ends(will.ids)])
        for _ in range(_RINGS_AHEAD):
            await self._learn(unknown)
            unknown = known.unknown(self._lineage_ends(unknown))
        if said:
            await self._view_ahead(said)

    async def put(self, item: Record) -> None:
        """Write a revision and close the one before."""
        self._rows.append(self._row(item))
        if self._granted:
            self._marked |= {
                item.id,
                *self._resting_on(item),
                *self._resting_on(self._known.item(item.id)),
            }
        if isinstance(item, DeclaredRelation):
            self._declare(item)
            return
        if isinstance(item, Entry):
            return
        self._known.note(item)
        if isinstance(item, Memory) and item.session_id in self._last_turns:
            last = self._last_turns[item.session_id]
            self._last_turns[item.session_id] = max(last, item.turn_order)
        if isinstance(item, Edge) or item.id not in self._known.fresh:
            self._viewed = ({}, ())  # what nothing knew before changes nobody's standing

    async def put_facts(self, support: Support) -> None:
        """Keep which edges a memory's facts are from a record time on."""
        edges = [{"place": place, "id": edge_id} for place, edge_id in enumerate(support.edges)]
        time = support.record_from
        await self.ask(stating.PUT, id=support.memory_id, time=time, edges=edges)
        self._stated = True
        self._viewed = ({}, ())

    async def facts_of(self, memory_id: str, record: int = FOREVER) -> Sequence[str]:
        """Return the ids of the edges that a memory's facts are."""
        return await super().facts_of(memory_id, record) if self._stated else ()

    async def ever_facts_of(self, memory_id: str) -> Sequence[str]:
        """Return the ids of the edges that the facts of a memory ever were."""
        return await super().ever_facts_of(memory_id) if self._stated else ()

    async def stating(
        self, edge_ids: Collection[str], after: str = "", limit: int | None = None
    ) -> Sequence[tuple[str, int]]:
        """Return live memories that state any of the edges; asks nothing where nobody does."""
        return await super().stating(edge_ids, after, limit) if self._stated else ()

    async def append(self, change: Change) -> None:
        """Write an outbox row."""
        author = change.author
        self._changes.append(
            {
                "space": self._space_name,
                "seq": change.seq,
                "record_time": change.record_time,
                "item_id": change.item_id,
                "item_kind": int(change.item_kind),
                "type": int(change.type),
                "revision": change.revision,
                "digest": change.digest,
                "before_digest": change.before_digest,
                "principal": author.principal,
                "method": author.method,
                "request_id": author.request_id,
                "reason": change.reason,
                "needs_consent": change.needs_consent,
                "ends": "" if change.ends is None else json.dumps(dict(change.ends)),
                "actor": author.kind,
            }
        )

    async def put_access(self, item_id: str, access: Access) -> None:
        """Write how often and when an item was read."""
        values = {"id": item_id, "last_time": access.last_time, "count": access.count}
        self._accesses.append(values)

    async def keep_early_refusal(self, time: int, author: Author, why: str) -> None:
        """Remember that an import was refused."""
        await transfer.keep_early_refusal(self, time, author, why)

    async def keep_receipt(
        self, author: Author, salt: bytes, digest: str, receipt: Receipt
    ) -> None:
        """Remember what a request did, and forget those of over seven days ago."""
        refs = [[int(ref.kind), ref.id, ref.revision, ref.outcome] for ref in receipt.refs]
        self._requests.append(
            {
                "space": self._space_name,
                "principal": author.principal,
                "method": author.method,
                "request_id": author.request_id,
                "salt": salt,
                "digest": digest,
                "refs": json.dumps(refs),
                "seq": receipt.seq,
                "create_time": receipts.counted_from(author, self._clock()),
            }
        )

    async def erase(self, item: Item) -> None:
        """Take out of every version what the item says no more."""
        self._erased.append(item)

    async def put_erasure(self, erasure: Erasure) -> None:
        """Keep a receipt."""
        await erasing.put(self, erasure)

    async def confirm(self, erase_id: str, confirmer: str, time: int) -> None:
        """Note when a confirmer confirmed."""
        await erasing.confirm(self, erase_id, confirmer, time)

    async def burn(self, nonces: Collection[str]) -> bool:
        """Burn nonces for ever; False when one was burnt before."""
        if len(set(nonces)) < len(nonces):
            return False
        ((burnt,),) = await self.ask(_BURN, nonces=list(nonces))
        return bool(burnt == 0)

    async def open_grant(self, digest: str) -> None:  # noqa: ARG002 - kept nowhere
        """Let what this transaction writes from here on through the store's own protection."""
        await self.flush()
        self._granted = True

    async def open_principals(self) -> None:
        """Let what this transaction writes from here on be the principals', too."""
        await self.flush()
        self._principals = True

    async def put_genesis(self, record: GenesisRecord, envelope: bytes) -> None:
        """Keep the space's genesis."""
        await self.ask(
            "CREATE (g:Genesis) SET g.envelope = $envelope, g.digest = $digest",
            envelope=envelope,
            digest=record.digest,
        )

    async def put_imported(self, imported: Imported) -> None:
        """Keep under which restore grant the space came here."""
        await self.ask(
            "CREATE (i:Imported) SET i.seq = $seq, i.restore = $restore",
            seq=imported.seq,
            restore=imported.restore,
        )

    async def finish(self) -> None:
        """Write what is left; the last step before the commit."""
        await self.flush()

    async def flush(self) -> None:
        """Write what was put, its records and the counters."""
        if self._accesses:
            accesses, self._accesses = self._accesses, []
            await super().ask(transfer.PUT_ACCESSES, accesses=accesses)
        if not (self._rows or self._changes or self._requests or self._seq != self._counted):
            return
        rows, self._rows = self._rows, []
        changes, self._changes = self._changes, []
        requests, self._requests = self._requests, []
        for start in range(0, max(len(rows), 1), _ROWS_A_STATEMENT):
            last = start + _ROWS_A_STATEMENT >= len(rows)
            ((refused, sealed),) = await self._write(
                rows=rows[start : start + _ROWS_A_STATEMENT],
                changes=changes if last else [],
                requests=requests if last else [],
            )
            if refused and self._granted:
                raise SafeguardViolation(refused[0], "the store keeps the principals")
            if refused:
                raise ConstitutiveProtected(refused[0], "the store keeps what defines the agent")
            if sealed:
                raise RuntimeError(f"a revision after an erased one: {sealed[0]}")
        self._counted = self._seq
        await self._keep_marks()
        if self._erased:
            erased, self._erased = self._erased, []
            await erasing.erase(self, erased)

    async def _write(self, **what: list[Fields]) -> list[Row]:
        try:
            return await super().ask(
                flushing.FLUSH,
                **what,
                granted=self._granted,
                principals=self._principals,
                seq=self._seq,
                last_time=self._last_time,
                forget_before=receipts.forgotten_before(self._clock()),
            )
        except ConstraintError as error:
            raise ItemClash("") from error

    async def node(self, node_id: str) -> Node | None:
        """Return a node by id."""
        found = await self._newest(node_id)
        return found if isinstance(found, Node) else None

    async def edge(self, edge_id: str) -> Edge | None:
        """Return an edge by id."""
        found = await self._newest(edge_id)
        return found if isinstance(found, Edge) else None

    async def memory(self, memory_id: str) -> Memory | None:
        """Return a memory by id."""
        found = await self._newest(memory_id)
        return found if isinstance(found, Memory) else None

    async def live_node_named(self, name: str) -> Node | None:
        """Return the live node of a name."""
        await self._learn(names=[name])
        return self._known.node_named(name)

    async def memory_by_external_id(self, external_id: str, record: int = FOREVER) -> Memory | None:
        """Return the memory of an importer's key."""
        if record != FOREVER:
            return await super().memory_by_external_id(external_id, record)
        await self._learn(external_ids=[external_id])
        return self._known.memory_by_external_id(external_id)

    async def live_memories_saying(self, content_digest: str) -> Sequence[Memory]:
        """Return the live memories with equal content, kind and sources, oldest first."""
        await self._learn(digests=[content_digest])
        return self._known.memories_saying(content_digest)

    async def memories_like(
        self, ids: Sequence[str], most: int
    ) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Return for each (id, content) of up to `most` memories that share most of its sketch."""
        return await self._sketches.like(super().ask, ids, most)

    async def live_edges_of_triple(
        self, source_id: str, relation: str, target_id: str, record: int = FOREVER
    ) -> Sequence[Edge]:
        """Return the live edges of a triple by effective valid_from."""
        if record != FOREVER:
            return await super().live_edges_of_triple(source_id, relation, target_id, record)
        triple = (source_id, relation, target_id)
        if triple not in self._known.triples and not self._known.has_all_of(triple):
            self._known.triples[triple] = tuple(await super().live_edges_of_triple(*triple))
        return self._known.edges_of(triple)

    async def kinds(self, ids: Collection[str], record: int = FOREVER) -> Mapping[str, ItemKind]:
        """Return what each id names."""
        if record != FOREVER:
            return await super().kinds(ids, record)
        await self._learn(ids)
        found = {item_id: self._known.item(item_id) for item_id in ids}
        return {item_id: item.kind for item_id, item in found.items() if item is not None}

    async def lineage_edges(self, ids: Collection[str], record: int = FOREVER) -> Sequence[Edge]:
        """Return the live lineage edges that start or end at the ids."""
        if record != FOREVER:
            return await super().lineage_edges(ids, record)
        await self._learn(ids)
        return self._known.lineage_at(ids)

    async def content_edges_from(self, memory_id: str) -> Sequence[Edge]:
        """Return the live edges that the memory's own content made."""
        await self._learn([memory_id])
        return self._known.content_edges_from(memory_id)

    async def live_edge_ids_at(self, item_id: str) -> Sequence[str]:
        """Return the live edges that start or end at the item."""
        return self._known.edge_ids_at(item_id, await super().live_edge_ids_at(item_id))

    async def receipt(self, author: Author) -> tuple[bytes, str, Receipt] | None:
        """Return salt, digest and receipt of an earlier request."""
        if author != self._author:
            return await super().receipt(author)
        return receipt_of(self._request) if self._request else None

    async def succession(self, edge: Edge, limit: int, record: int = FOREVER) -> Sequence[Edge]:
        """Return up to `limit` live edges that follow one another in time with this one."""
        if record != FOREVER or edge.relation in self._functional:
            return await super().succession(edge, limit, record)
        return (await self._triple_of(edge))[:limit]

    async def beside(self, edge: Edge) -> Sequence[Edge]:
        """Return its neighbours in time."""
        if edge.relation in self._functional:
            return await super().beside(edge)
        others = [one for one in await self._triple_of(edge) if one.id != edge.id]
        instants = {one.effective_from for one in others}
        if edge.effective_from in instants:
            return []
        before = max((t for t in instants if t < edge.effective_from), default=None)
        after = min((t for t in instants if t > edge.effective_from), default=None)
        return [one for one in others if one.effective_from in {before, after}]

    async def _triple_of(self, edge: Edge) -> list[Edge]:
        found = await self.live_edges_of_triple(edge.source.id, edge.relation, edge.target.id)
        return sorted(found, key=lambda one: (one.effective_from, one.id))

    def _declare(self, relation: DeclaredRelation) -> None:
        if relation.functional:
            self._functional.add(relation.name)
        else:
            self._functional.discard(relation.name)

    async def is_held(self, item_id: str, record: int = FOREVER) -> bool:
        """Return whether what both parties agreed to rests on the item."""
        if self._granted or record != FOREVER:  # only a grant lets the transaction change it
            return await super().is_held(item_id, record)
        await self._learn([item_id])
        return self._known.of(item_id).held

    async def last_turn_order(self, session_id: str) -> int:
        """Return the greatest order of a session's turns; 0 for none."""
        if session_id not in self._last_turns:
            self._last_turns[session_id] = await super().last_turn_order(session_id)
        return self._last_turns[session_id]

    async def revisions(self, refs: Sequence[Ref]) -> Sequence[Record | None]:
        """Return these very revisions, in the order asked."""
        return [await self.revision(ref) for ref in refs]

    async def revision(self, ref: Ref) -> Record | None:
        """Return an item exactly as that revision had it."""
        newest = self._known.item(ref.id)
        if newest is not None and ref == Ref(
            newest.kind, newest.id, newest.revision.number, ref.outcome
        ):
            return newest
        return await super().revision(ref)

    async def _view_rows(
        self, kind: ItemKind, asked: Sequence[Fields], record: int
    ) -> tuple[list[Row], Sequence[ReadCounts]]:
        rows, pending = self._viewed
        about_now = kind == ItemKind.MEMORY and record == FOREVER
        if about_now and all(one["id"] in rows and "place" not in one for one in asked):
            return [rows[one["id"]] for one in asked], pending
        return await super()._view_rows(kind, asked, record)

    async def ask(self, text: str, **bound: Any) -> list[Row]:
        """Run a statement on what this transaction has written so far."""
        await self.flush()
        return await super().ask(text, **bound)

    async def _newest(self, item_id: str) -> Item | None:
        if not self._known.was_put(item_id):
            await self._learn([item_id])
        return self._known.item(item_id)

    async def _learn(
        self,
        ids: Collection[str] = (),
        names: Collection[str] = (),
        external_ids: Collection[str] = (),
        digests: Collection[str] = (),
        triples: Collection[tuple[EndRef, str, EndRef]] = (),
    ) -> None:
        """Fetch what is not known yet, all of it in one statement."""
        known = self._known
        wanted: dict[str, list[Any]] = {
            "ids": known.unknown(ids),
            "names": [name for name in dict.fromkeys(names) if name not in known.named],
            "external_ids": [i for i in dict.fromkeys(external_ids) if i not in known.external],
            "digests": [digest for digest in dict.fromkeys(digests) if digest not in known.saying],
            "triples": [_triple(*triple) for triple in triples],
        }
        if not any(wanted.values()):
            return
        ((around, nodes, keyed, saying, stored),) = await super().ask(statements.LEARNT, **wanted)
        known.around |= {row[0]: _around(row) for row in around}
        known.named |= dict.fromkeys(wanted["names"])
        known.named |= {record["name"]: records.node(record) for record in nodes}
        known.external |= dict.fromkeys(wanted["external_ids"])
        known.external |= {record["external_id"]: records.memory(record) for record in keyed}
        known.saying |= dict.fromkeys(wanted["digests"], ())
        for record in saying:
            known.saying[record["content_digest"]] += (records.memory(record),)
        for source, relation, target, edges in stored:
            known.triples[source, relation, target] = tuple(map(records.edge, edges))

    async def _view_ahead(self, ids: Collection[str]) -> None:
        """Fetch what the views of memories are made of: to say again what is said is to ask."""
        asked = [{"id": memory_id} for memory_id in ids]
        rows, pending = await super()._view_rows(ItemKind.MEMORY, asked, FOREVER)
        self._viewed = {row[0]["id"]: row for row in rows}, pending

    def _lineage_ends(self, ids: Iterable[str]) -> set[str]:
        """Return the other ends of the lineage at the ids."""
        edges = (edge for item_id in ids for edge in self._known.of(item_id).lineage)
        return {end.id for edge in edges for end in (edge.source, edge.target)}

    def _row(self, item: Record) -> Fields:
        typed = item if isinstance(item, (Edge, Memory)) else None
        row: Fields = {
            "id": item.id,
            "fields": records.fields(self._space_name, item, self._tokens),
            "labels": records.labels(item, self._tokens),
            "version": records.version(item.kind),
            "defines": is_constitutive(typed) or _erases_what_defines(typed),
            "hides": isinstance(item, Edge) and item.relation in HIDING,
            "lineage": isinstance(item, Edge) and item.is_lineage,
            "linked": isinstance(item, Edge) and not item.deleted and not _is_over(item),
            "participants": [],
        } | self._sketches.row(item)
        if isinstance(item, Edge):
            row["participants"] = row["fields"]["participants"]
            row["type"] = self._tokens.type(item.relation)
            row["link"] = records.link(self._space_name, item, self._tokens)
        return row

    def _resting_on(self, item: Record | None) -> set[str]:
        """Return the ids that may be held while an edge is there (G4)."""
        if not isinstance(item, Edge):
            return set()
        ends = {item.source.id, item.target.id}
        newer = self._known.item(item.source.id)
        return ends | {newer.source.id, newer.target.id} if isinstance(newer, Edge) else ends

    async def _keep_marks(self) -> None:
        """Mark what is held; only a grant changes what is."""
        if self._marked:
            ids, self._marked = list(self._marked), set()
            await super().ask(flushing.MARK, ids=ids)


def _is_over(item: Record) -> bool:
    """Return whether a revision is put as one that has ended, before the one that ends it."""
    return item.revision.record_until != FOREVER


def _erases_what_defines(item: Edge | Memory | None) -> bool:
    """Return whether the history of something constitutive would go, also when it is forgotten."""
    erased = item is not None and item.erase_time != 0
    return erased and item is not None and item.edge_type == EdgeType.CONSTITUTIVE


def _triple(source: EndRef, relation: str, target: EndRef) -> Fields:
    """Return what the statement that learns is given of a triple."""
    ends = {"source": source, "target": target}
    ids = {f"{end}_id": one.id or None for end, one in ends.items()}
    names = {f"{end}_name": None if one.id else one.name for end, one in ends.items()}
    return {"relation": relation, **ids, **names}


def _around(row: Row) -> Around:
    _, record, held, lineage, from_content = row
    return Around(
        item=known_item(record),
        held=held,
        lineage=tuple(records.edge(edge) for edge in lineage),
        from_content=tuple(records.edge(edge) for edge in from_content),
    )
