"""Graph's writes over one Neo4j transaction: collected, then written at once.

Puts are laid over the store's answers (`working_set`). They go to the store before a statement that
only the store can answer, and at the end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from concord_attestation.consent import GenesisRecord
from concord_attestation.identifiers import new_id
from neo4j import AsyncManagedTransaction
from neo4j.exceptions import ConstraintError

from concord_graph.adapters import stored
from concord_graph.adapters.counters import Steps
from concord_graph.adapters.neo4j import fact_edges, feed, flush, records, succession
from concord_graph.adapters.neo4j.erased_items import ErasureWrites
from concord_graph.adapters.neo4j.patterns import ANY_AMENDMENT, ANY_CONFLICT
from concord_graph.adapters.neo4j.pending import PendingReads
from concord_graph.adapters.neo4j.records import Fields
from concord_graph.adapters.neo4j.sessions import SessionWrites
from concord_graph.adapters.neo4j.tokens import Tokens
from concord_graph.adapters.neo4j.transaction import Row
from concord_graph.adapters.neo4j.write_reads import LearntReads
from concord_graph.domain.digests import digest
from concord_graph.domain.errors import ConstitutiveProtected, ItemClash, SafeguardViolation
from concord_graph.domain.facts import Support
from concord_graph.domain.items import (
    FOREVER,
    HIDING,
    DeclaredRelation,
    Edge,
    EdgeType,
    Entry,
    ItemKind,
    Memory,
    Record,
    Relation,
)
from concord_graph.domain.protection import is_constitutive
from concord_graph.domain.relevance import Access
from concord_graph.domain.succession import Standing
from concord_graph.ports import (
    Author,
    Change,
    ChangeType,
    Clock,
    Imported,
    Receipt,
)

_ROWS_A_STATEMENT = 2_000
_LOCK = (
    "MERGE (s:Space) ON CREATE SET s.seq = 0, s.last_time = 0"
    " SET s.holder = randomUUID(),"
    " s.unsettled = CASE s.seq WHEN 0 THEN 0 ELSE s.unsettled END"
    " WITH s, CASE WHEN s.partition IS NULL THEN 0 ELSE s.seq END AS numbered"
    " SET s.partition = $partition WITH s, numbered"
    " OPTIONAL MATCH (r:Request {principal: $principal, method: $method,"
    " request_id: $request_id}) RETURN numbered, s.seq, s.last_time,"
    " properties(r),"
    " COLLECT { MATCH (f:Functional) WHERE f.name IS NOT NULL RETURN f.name },"
    f" coalesce(s.stated, false), {ANY_AMENDMENT}, {ANY_CONFLICT},"
    " coalesce(s.deleted, false)"
)
_BURN = (
    "OPTIONAL MATCH (b:Nonce) WHERE b.nonce IN $nonces WITH count(b) AS burnt"
    " CALL (burnt) { WITH * WHERE burnt = 0 UNWIND $nonces AS one CREATE (n:Nonce {nonce: one}) }"
    " RETURN burnt"
)
_REFUSE = (
    "OPTIONAL MATCH (r:EarlyRefusal) WHERE r.number > 0 WITH count(r) AS known"
    " CREATE (n:EarlyRefusal {number: known + 1}) SET n += $fields"
)
_PUT_ACCESSES = "UNWIND $accesses AS fields CREATE (a:Access {id: fields.id}) SET a += fields"


class Neo4jWrites(LearntReads, SessionWrites, ErasureWrites, Steps):
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
        author: Author,
        partition: int,
    ) -> None:
        super().__init__(tx, space, epoch=epoch, pending=pending)
        self._partition = partition
        self._numbered = self._changed = 0
        self._author = author
        self._request: Fields | None = None
        self._clock = clock
        self._tokens = tokens
        self._principals = False
        self._deleted = False
        self._counted = 0
        self._rows: list[Fields] = []
        self._standings: dict[tuple[str, int], Fields] = {}
        self._marked: set[str] = set()
        self._erased: list[Record] = []
        self._accesses: list[Fields] = []
        self._changes: list[Fields] = []
        self._requests: list[Fields] = []

    async def begin(self) -> None:
        """Lock the space, then read its counters and the receipt of the author's request."""
        found = await super().ask(
            _LOCK,
            principal=self._author.principal,
            method=self._author.method,
            request_id=self._author.request_id,
            partition=self._partition,
        )
        self._numbered, self._seq, self._last_time, self._request, functional, *known = found[0]
        self._stated, self._amended, self._disputed, self._deleted = known
        self._counted = self._changed = self._seq
        self._known.is_unused = self._seq == 0
        self._functional = set(functional)

    def new_id(self) -> str:
        item_id = new_id(self._time())
        self._known.fresh.add(item_id)
        return item_id

    async def put(self, item: Record) -> None:
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
            self._disputed |= item.kind in (ItemKind.CONFLICT, ItemKind.CLAIM)
            return
        self._amended |= isinstance(item, Edge) and item.relation == Relation.AMENDS
        self._known.note(item)
        if isinstance(item, Memory) and item.session_id in self._last_turns:
            last = self._last_turns[item.session_id]
            self._last_turns[item.session_id] = max(last, item.turn_order)
        if isinstance(item, Edge) or not self._known.is_new(item.id):
            self._viewed = ({}, ())  # a new id changes no other item's supersession

    async def put_facts(self, support: Support) -> None:
        edges = [{"place": place, "id": edge_id} for place, edge_id in enumerate(support.edges)]
        time = support.record_from
        await self.ask(fact_edges.PUT, id=support.memory_id, time=time, edges=edges)
        self._stated = True
        self._viewed = ({}, ())

    async def put_standings(self, standings: Mapping[str, Standing], time: int) -> None:
        for item_id, standing in standings.items():
            self._standings[item_id, time] = succession.kept(item_id, standing, time)
        self._known.stood |= standings
        self._viewed = ({}, ())

    async def unsettled_from(self) -> int:
        ((first,),) = await self.ask("MATCH (s:Space) RETURN coalesce(s.unsettled, 1)")
        return int(first)

    async def keep_unsettled(self, first: int) -> None:
        await self.ask("MATCH (s:Space) SET s.unsettled = $first", first=first)

    async def append(self, change: Change) -> None:
        self._changed = change.seq
        begins = change.type not in stored.LEAVE_THE_STATE
        self._changes.append(
            {
                "labels": ["Change", "StateChange"] if begins else ["Change"],
                "fields": {"space": self._space_name, **stored.kept_change(change)},
            }
        )

    async def announce(self, changed: Mapping[str, ItemKind], author: Author) -> None:
        await self._learn(changed)
        for item_id, kind in changed.items():
            item = await (self.edge(item_id) if kind == ItemKind.EDGE else self.memory(item_id))
            if item is None:
                continue
            seq, time = self.tick()
            await self.append(
                Change(
                    seq=seq,
                    record_time=time,
                    item_id=item_id,
                    item_kind=kind,
                    type=ChangeType.STANDING_CHANGED,
                    revision=item.revision.number,
                    digest=digest(item),
                    author=author,
                )
            )

    async def put_access(self, item_id: str, access: Access) -> None:
        values = {"id": item_id, "last_time": access.last_time, "count": access.count}
        self._accesses.append(values)

    async def keep_early_refusal(self, time: int, author: Author, why: str) -> None:
        fields = {
            "time": time,
            "principal": author.principal,
            "method": author.method,
            "request_id": author.request_id,
            "reason": why,
        }
        await self.ask(_REFUSE, fields=fields)

    async def keep_receipt(
        self, author: Author, salt: bytes, digest: str, receipt: Receipt
    ) -> None:
        """Store a request's receipt, and delete receipts that are over seven days old."""
        kept = stored.kept_receipt(author, salt, digest, receipt, self._clock())
        self._requests.append({"space": self._space_name, **kept})

    async def erase(self, item: Record) -> None:
        self._erased.append(item)

    async def burn(self, nonces: Collection[str]) -> bool:
        if len(set(nonces)) < len(nonces):
            return False
        ((burnt,),) = await self.ask(_BURN, nonces=list(nonces))
        return bool(burnt == 0)

    async def open_grant(self, digest: str) -> None:  # noqa: ARG002 - not stored
        """Let this transaction's writes from here on through the store's own protection."""
        await self.flush()
        self._granted = True

    async def open_principals(self) -> None:
        """Let this transaction's writes from here on change items that stand for principals."""
        await self.flush()
        self._principals = True

    async def put_genesis(self, record: GenesisRecord, envelope: bytes) -> None:
        await self.ask(
            "CREATE (g:Genesis) SET g.envelope = $envelope, g.digest = $digest",
            envelope=envelope,
            digest=record.digest,
        )

    async def keep_enrolment(self, digest: str) -> None:
        await self.ask("MATCH (s:Space) SET s.enrolment = $digest", digest=digest)

    @property
    def is_deleted(self) -> bool:
        return self._deleted

    async def mark_deleted(self) -> None:
        await self.ask("MATCH (s:Space) SET s.deleted = true")
        self._deleted = True

    async def put_imported(self, imported: Imported) -> None:
        await self.ask(
            "CREATE (i:Imported) SET i.seq = $seq, i.restore = $restore",
            seq=imported.seq,
            restore=imported.restore,
        )

    async def finish(self) -> int:
        """Write what is collected, then number the changes: the last step before the commit. Return
        the number of the last change in its partition; 0 without a change."""
        has_changed = self._changed > self._numbered
        number = await self.flush(numbering=has_changed)
        if number or not has_changed:
            return number
        ((number,),) = await self._run_numbering(feed.NUMBER, {})
        return int(number)

    async def _run_numbering(self, text: str, bound: Fields) -> list[Row]:
        """Run a statement that numbers the changes, and so is not of the space alone."""
        given = {
            "space": self._space_name,
            "partition": self._partition,
            "changed": self._changed,  # a step that was refused left no change
            "count": self._changed - self._numbered,
        }
        return await (await self._tx.run(text, given=bound | given)).values()

    async def flush(self, *, numbering: bool = False) -> int:
        """Write the collected puts, how items stand, their records and the counters; number the
        changes with them if that is asked for and anything is written. Return the last number."""
        if self._standings:
            standings, self._standings = list(self._standings.values()), {}
            for start in range(0, len(standings), _ROWS_A_STATEMENT):
                some = standings[start : start + _ROWS_A_STATEMENT]
                await super().ask(succession.PUT, standings=some)
        if self._accesses:
            accesses, self._accesses = self._accesses, []
            await super().ask(_PUT_ACCESSES, accesses=accesses)
        if not (self._rows or self._changes or self._requests or self._seq != self._counted):
            return 0
        rows, self._rows = self._rows, []
        changes, self._changes = self._changes, []
        requests, self._requests = self._requests, []
        for start in range(0, max(len(rows), 1), _ROWS_A_STATEMENT):
            last = start + _ROWS_A_STATEMENT >= len(rows)
            ((refused, sealed, *number),) = await self._write(
                numbering=numbering and last,
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
        if self._marked:  # only a grant changes the marks of held items
            ids, self._marked = list(self._marked), set()
            await super().ask(flush.MARK, ids=ids)
        if self._erased:
            erased, self._erased = self._erased, []
            await self._erase_content(erased)
        return int(number[0]) if number else 0

    async def _write(self, *, numbering: bool, **what: list[Fields]) -> list[Row]:
        bound = {
            **what,
            "granted": self._granted,
            "principals": self._principals,
            "seq": self._seq,
            "last_time": self._last_time,
            "forget_before": stored.forgotten_before(self._clock()),
        }
        try:
            if numbering:
                return await self._run_numbering(feed.numbering(flush.FLUSH), bound)
            return await super().ask(flush.FLUSH, **bound)
        except ConstraintError as error:
            raise ItemClash("") from error

    async def receipt(self) -> tuple[bytes, str, Receipt] | None:
        if not (kept := self._request):
            return None
        receipt = stored.receipt_of(kept["refs"], kept["seq"])
        return bytes(kept["salt"]), kept["digest"], receipt

    def _declare(self, relation: DeclaredRelation) -> None:
        self._ever_functional = None
        if relation.functional:
            self._functional.add(relation.name)
        else:
            self._functional.discard(relation.name)

    async def ask(self, text: str, **bound: Any) -> list[Row]:
        """Run a statement on what this transaction has written so far."""
        await self.flush()
        return await super().ask(text, **bound)

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
            # an edge that is put as a former revision has no relationship
            "linked": isinstance(item, Edge)
            and not item.deleted
            and item.revision.record_until == FOREVER,
            "participants": [],
        }
        if isinstance(item, Edge):
            row["participants"] = row["fields"]["participants"]
            row["type"] = self._tokens.type(item.relation)
            row["link"] = records.link(self._space_name, item, self._tokens)
        return row

    def _resting_on(self, item: Record | None) -> set[str]:
        """Return the ids that an edge may make held while it is live (G4)."""
        if not isinstance(item, Edge):
            return set()
        ends = {item.source.id, item.target.id}
        newer = self._known.item(item.source.id)
        return ends | {newer.source.id, newer.target.id} if isinstance(newer, Edge) else ends


def _erases_what_defines(item: Edge | Memory | None) -> bool:
    """Return whether a constitutive item, even a forgotten one, would lose its history."""
    erased = item is not None and item.erase_time != 0
    return erased and item is not None and item.edge_type == EdgeType.CONSTITUTIVE
