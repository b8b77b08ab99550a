"""The writes of one transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from concord_attestation.consent import GenesisRecord

from concord_graph.domain.erasure import Erasure
from concord_graph.domain.facts import Support
from concord_graph.domain.items import (
    ItemKind,
    Record,
)
from concord_graph.domain.relevance import Access
from concord_graph.domain.sessions import Recall, SessionRow
from concord_graph.domain.succession import Standing
from concord_graph.ports.reads import Reads
from concord_graph.ports.results import Receipt
from concord_graph.ports.values import (
    Author,
    Change,
    Expected,
    Imported,
)


class Writes(Reads, Protocol):
    """One transaction on one space: all of its writes are stored, or none."""

    def step(self) -> None:
        """Begin the next of several commands that are reported one by one, as a batch's are.

        All writes of a step share one record time: no read sees half of a step (T3).
        """
        ...

    def tick(self) -> tuple[int, int]:
        """Return the next sequence number, and the step's record time (µs): later than that of
        every earlier step and transaction."""
        ...

    def new_id(self) -> str:
        """Return an unused id that sorts after the ids of every earlier step."""
        ...

    async def expect(self, expected: Callable[[], Expected]) -> None:
        """Name the keys of later reads, so that a store across a network fetches them at once.

        A hint: it changes no answer, and a store that does not need it never calls `expected`.
        """
        ...

    def wind(self, seq: int, time: int) -> None:
        """Set the sequence number and record time (µs) to those of an imported change."""
        ...

    async def put(self, item: Record) -> None:
        """Write a revision and close the one before. Unless a grant is open, refuses a change that
        protection forbids.

        Raises:
            ItemClash: another live item has this name, key or place.
        """
        ...

    async def put_access(self, item_id: str, access: Access) -> None:
        """Write the reads of an imported item, which was never read here."""
        ...

    async def keep_early_refusal(self, time: int, author: Author, why: str) -> None:
        """Store the refusal (µs) of an import into a space whose record has not begun."""
        ...

    async def put_facts(self, support: Support) -> None:
        """Store the edges of a memory's facts, from the support's record time on."""
        ...

    async def put_standings(self, standings: Mapping[str, Standing], time: int) -> None:
        """Store how edges and memories stand from a record time (µs) on; in place of what was
        stored for that very time."""
        ...

    async def unsettled_from(self) -> int:
        """Return from which change on it is unknown how the items stand; 0 = it is known."""
        ...

    async def keep_unsettled(self, first: int) -> None:
        """Store what `unsettled_from` returns."""
        ...

    async def append(self, change: Change) -> None:
        """Write an outbox row."""
        ...

    async def announce(self, changed: Mapping[str, ItemKind], author: Author) -> None:
        """Write an outbox row for each of these edges and memories: its supersession changed.

        Takes few statements: there may be a hundred thousand rows, and the space waits.
        """
        ...

    async def receipt(self) -> tuple[bytes, str, Receipt] | None:
        """Return (salt, digest, receipt) of the author's request; None when it is new."""
        ...

    async def keep_receipt(
        self, author: Author, salt: bytes, digest: str, receipt: Receipt
    ) -> None:
        """Store the receipt of a request, from which a repeated request is answered."""
        ...

    async def erase(self, item: Record) -> None:
        """Erase the content from all revisions of an item that was just put in its erased form.

        Also erases its salt, and the request digests of writes that wrote or found it.
        """
        ...

    async def put_erasure(self, erasure: Erasure) -> None:
        """Store the receipt of an erasure."""
        ...

    async def confirm(self, erase_id: str, confirmer: str, time: int) -> None:
        """Record a confirmer's confirmation at a time (µs); the first one stays."""
        ...

    async def burn(self, nonces: Collection[str]) -> bool:
        """Burn nonces for ever; if one was burnt before, burn none and return False."""
        ...

    async def open_grant(self, digest: str) -> None:
        """Let this transaction write protected items, under the grant with this digest."""
        ...

    async def open_principals(self) -> None:
        """Let a transaction with an open grant also write items that stand for principals."""
        ...

    async def put_genesis(self, record: GenesisRecord, envelope: bytes) -> None:
        """Store the space's genesis."""
        ...

    async def keep_enrolment(self, digest: str) -> None:
        """Store the hex SHA-256 of the secret that admits the genesis."""
        ...

    @property
    def is_deleted(self) -> bool:
        """Whether the space was deleted and takes no more writes."""
        ...

    async def mark_deleted(self) -> None:
        """Delete the space for good; one with a genesis only while a grant is open."""
        ...

    async def memories_to_erase(self, limit: int) -> Sequence[str]:
        """Return the ids of memories, forgotten ones too, without a receipt of their erasure."""
        ...

    async def drop_memories(self, ids: Sequence[str]) -> None:
        """Remove every revision of memories of a deleted space, and their facts and texts."""
        ...

    async def drop_rows(self, limit: int) -> bool:
        """Remove at most `limit` other rows of a deleted space; return whether none is left.

        Items that stand for the principals, genesis, outbox, burnt nonces and receipts stay.
        """
        ...

    async def put_imported(self, imported: Imported) -> None:
        """Store the space's import with its restore grant."""
        ...

    async def end_session(self, session_id: str, time: int) -> None:
        """Record the end (µs) of a session."""
        ...

    async def drop_co_reads(self, before: int) -> None:
        """Delete co-reads from before a time (µs)."""
        ...

    async def put_session_rows(self, rows: Sequence[SessionRow]) -> None:
        """Insert rows of sessions, all of one kind, but for those that exist already."""
        ...

    async def put_recall(self, recall: Recall) -> None:
        """Store a recall, without the memories in it that were erased."""
        ...

    async def drop_recalls(self, before: str) -> None:
        """Delete the recalls whose query ids sort before `before`."""
        ...

    async def drop_recalls_of(self, query_ids: Collection[str]) -> None:
        """Delete the recalls of these queries."""
        ...

    async def drop_service_records(self, kind: str, before: str) -> None:
        """Delete the records of a kind whose keys sort before `before`."""
        ...

    async def put_service_record(self, kind: str, body: str, key: str = "") -> None:
        """Store a record's body, in place of the one before."""
        ...
