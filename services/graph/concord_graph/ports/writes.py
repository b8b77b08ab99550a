"""What one transaction does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from concord_attestation.consent import GenesisRecord

from concord_graph.domain.erasure import Erasure
from concord_graph.domain.facts import Support
from concord_graph.domain.items import (
    Access,
    ItemKind,
    Properties,
    Record,
)
from concord_graph.domain.recalls import Recall
from concord_graph.domain.sessions import SessionRow
from concord_graph.ports.reads import Reads
from concord_graph.ports.results import Receipt
from concord_graph.ports.values import (
    Author,
    Change,
    Expected,
    Imported,
    ServiceRecord,
)


class Writes(Reads, Protocol):
    """One transaction on one space: all of it is kept, or nothing."""

    def step(self) -> None:
        """Begin the next of several commands that are reported one by one, as a batch's are.

        What is written in one step is known from one instant on: no read sees half of it (T3).
        """
        ...

    def tick(self) -> tuple[int, int]:
        """Return the next sequence number and the step's record time (µs), which is later than
        that of every earlier step and transaction."""
        ...

    def new_id(self) -> str:
        """Return an id that sorts behind those of every earlier step; nothing has it yet."""
        ...

    async def expect(self, expected: Callable[[], Expected]) -> None:
        """Say what will be asked for, so that a store across a network fetches it at once.

        Only a hint, worked out only where it is of use. Changes no answer.
        """
        ...

    def wind(self, seq: int, time: int) -> None:
        """Set the sequence number and record time (µs) to those of an imported change."""
        ...

    async def put(self, item: Record) -> None:
        """Write a revision and close the one before. Refuses what protection forbids, unless
        a grant is open.

        Raises:
            ItemClash: another live item stands there.
        """
        ...

    async def put_access(self, item_id: str, access: Access) -> None:
        """Write how often and when an item was read that was never read here."""
        ...

    async def keep_early_refusal(self, time: int, author: Author, why: str) -> None:
        """Remember that an import was refused at a time (µs), for the record that begins later."""
        ...

    async def put_facts(self, support: Support) -> None:
        """Keep which edges a memory's facts are from a record time on."""
        ...

    async def append(self, change: Change) -> None:
        """Write an outbox row."""
        ...

    async def announce(self, changed: Mapping[str, ItemKind], author: Author) -> None:
        """Write an outbox row for each edge and memory that is there: its supersession changed.

        All of them in a few statements: they may be a hundred thousand, and the space waits.
        """
        ...

    async def receipt(self) -> tuple[bytes, str, Receipt] | None:
        """Return salt, digest and receipt of the author's request; None when it is new."""
        ...

    async def keep_receipt(
        self, author: Author, salt: bytes, digest: str, receipt: Receipt
    ) -> None:
        """Remember what a request did."""
        ...

    async def erase(self, item: Record) -> None:
        """Take out of every revision what the item, put just now in its erased form, says no more.

        Its salt goes too, and what requests that wrote or found it are compared with.
        """
        ...

    async def put_erasure(self, erasure: Erasure) -> None:
        """Keep a receipt."""
        ...

    async def confirm(self, erase_id: str, confirmer: str, time: int) -> None:
        """Note when (µs) a confirmer confirmed; the first time stands."""
        ...

    async def burn(self, nonces: Collection[str]) -> bool:
        """Burn nonces for ever; False (and nothing burnt) when one was burnt before."""
        ...

    async def open_grant(self, digest: str) -> None:
        """Let this transaction through the store's own protection; `digest` says for what."""
        ...

    async def open_principals(self) -> None:
        """Let a transaction with an open grant write what stands for the principals, too."""
        ...

    async def put_genesis(self, record: GenesisRecord, envelope: bytes) -> None:
        """Keep the space's genesis."""
        ...

    async def keep_enrolment(self, digest: str) -> None:
        """Keep the hex SHA-256 of the secret that the genesis takes."""
        ...

    @property
    def is_deleted(self) -> bool:
        """Whether the space was deleted: nothing new is written there."""
        ...

    async def mark_deleted(self) -> None:
        """Delete the space for good; one with a genesis only while a grant is open."""
        ...

    async def memories_to_erase(self, limit: int) -> Sequence[str]:
        """Return memories, forgotten ones too, of which there is no receipt of an erasure."""
        ...

    async def drop_memories(self, ids: Sequence[str]) -> None:
        """Remove every version of memories of a deleted space, and what they said."""
        ...

    async def drop_rows(self, limit: int) -> bool:
        """Remove at most `limit` of what else a deleted space holds; say whether nothing is left.

        What stands for the principals stays, as do genesis, outbox, burnt nonces and receipts.
        """
        ...

    async def put_imported(self, imported: Imported) -> None:
        """Keep under which restore grant the space came here."""
        ...

    async def end_session(self, session_id: str, time: int) -> None:
        """Note when (µs) a session ended."""
        ...

    async def drop_co_reads(self, before: int) -> None:
        """Forget which memories were read together before a time (µs)."""
        ...

    async def put_session_rows(self, rows: Sequence[SessionRow]) -> None:
        """Write rows of sessions, all of one kind, that are not there yet."""
        ...

    async def put_restatement(self, memory_id: str, session_id: str, time: int) -> None:
        """Keep when (µs) a session first stated a memory that was there."""
        ...

    async def put_recall(self, recall: Recall) -> None:
        """Keep which memories were returned; those that were erased are left out."""
        ...

    async def drop_recalls(self, before: str) -> None:
        """Forget recalls whose query ids come before a text."""
        ...

    async def drop_service_records(self, kind: ServiceRecord, before: str) -> None:
        """Forget the records of a kind whose keys come before a text."""
        ...

    async def put_service_record(
        self, kind: ServiceRecord, body: Properties, key: str = ""
    ) -> None:
        """Keep the record of a kind, and of a key where it has one, in place of the one before."""
        ...
