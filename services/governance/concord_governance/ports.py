"""What governance needs from outside itself, and what it may and may not rely on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

from concord_attestation.consent import GenesisRecord

from concord_governance.domain.access import ApiKey, Space
from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.proposals import (
    Affected,
    Effect,
    Json,
    Proposal,
    Revision,
    Status,
)

T = TypeVar("T")

Clock = Callable[[], int]
NormalForm = Callable[[Mapping[str, Json]], tuple[Mapping[str, Json], str]]
"""An action's JSON as its contract writes it, and its digest. ValueError for what is no action."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """An entry in its place: `data` is the RFC 8785 JSON that is hashed."""

    index: int
    time: int
    data: bytes


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Which entries a list shows; every stated part must match.

    `since` and `until` (µs, half-open) are of when it happened: by graph's record what graph
    recorded, else when the entry was written. It does not grow with the entries' places.
    `item_id`: entries about the item, and those about proposals that touch, made or rest on it.
    """

    item_id: str = ""
    actions: tuple[Action, ...] = ()
    actor: Actor | None = None
    since: int | None = None
    until: int | None = None


class Cursor(NamedTuple):
    """How far graph's feed has been applied. `mark` distinguishes that change from any
    other of its number; empty = it is not known."""

    epoch: str = ""
    seq: int = 0
    mark: str = ""


class Head(NamedTuple):
    """How far graph is in a space. `lacks_cursor`: it does not hold the change asked for."""

    epoch: str
    seq: int
    lacks_cursor: bool


@dataclass(frozen=True, slots=True)
class RequestReceipt:
    """What an earlier request did: the digest of its content, and the proposals it named."""

    digest: str
    proposal_ids: tuple[str, ...]


class AccessReads(Protocol):
    """Spaces and API keys, of every space whichever the transaction is of."""

    async def space_named(self, name: str) -> Space | None:
        """Return a space that operators know, deleted or not."""
        ...

    async def space_list(self, after: str, limit: int, *, deleted: bool) -> Sequence[Space]:
        """Return spaces by name, beyond the one called `after`; deleted ones when asked."""
        ...

    async def spaces_to_erase(self) -> Sequence[str]:
        """Return the deleted spaces of which graph may hold something."""
        ...

    async def key_of_digest(self, digest: str) -> ApiKey | None:
        """Return the key of a digest, ended or not."""
        ...

    async def key_of_id(self, key_id: str) -> ApiKey | None:
        """Return the key of a public id, ended or not."""
        ...

    async def key_list(
        self, space: str, before: tuple[int, str], limit: int, active_at: int | None
    ) -> Sequence[ApiKey]:
        """Return keys of a space, newest first, older than `before` (create time, id).

        With `active_at` only those that open the space at that time.
        """
        ...


class AccessWrites(AccessReads, Protocol):
    """Writes spaces and keys. None of them is ever removed."""

    async def hold_space(self, name: str) -> Space | None:
        """Return a space; nobody else changes it or its keys until the transaction ends.

        Holds for those who ask for it in the same way; a space that is not there is not held.
        """
        ...

    async def put_space(self, space: Space) -> None:
        """Keep a space as it stands."""
        ...

    async def put_key(self, key: ApiKey) -> None:
        """Keep a key as it stands, by its digest."""
        ...

    async def revoke_keys(self, space: str, time: int) -> int:
        """Revoke every key of a space that is not yet; return how many."""
        ...

    async def note_uses(self, uses: Mapping[str, int]) -> None:
        """Keep when keys were last used, by id; never an earlier time than is kept."""
        ...


class LedgerReads(AccessReads, Protocol):
    """A consistent view of one space's ledger."""

    async def proposal(self, proposal_id: str) -> Proposal | None:
        """Return a proposal by id."""
        ...

    async def proposal_numbered(self, number: int) -> Proposal | None:
        """Return a proposal by number."""
        ...

    async def proposals(
        self, statuses: Sequence[Status], item_id: str, before: int, limit: int
    ) -> Sequence[Proposal]:
        """Return proposals with a number below `before`, newest first; empty parts match all."""
        ...

    async def newest_of_each(self, statuses: Sequence[Status], limit: int) -> Sequence[Proposal]:
        """Return the newest proposals of each proposer in turn: everybody's newest before anybody's
        second, up to `limit`; newest first."""
        ...

    async def proposal_count(self, statuses: Sequence[Status], proposer: str = "") -> int:
        """Return how many proposals stand so, reads none of them; of one proposer, if named."""
        ...

    async def due(self, now: int) -> Sequence[Proposal]:
        """Return open proposals whose time is over, at most 1,000."""
        ...

    async def undecided_effects(self) -> Sequence[Proposal]:
        """Return decided proposals whose effect is not known yet (status APPROVED)."""
        ...

    async def nonce_is_known(self, nonce: str) -> bool:
        """Return whether an envelope with this nonce came before."""
        ...

    async def receipt(self, principal: str, method: str, request_id: str) -> RequestReceipt | None:
        """Return what an earlier request did."""
        ...

    async def log_size(self) -> int:
        """Return how many leaves the log has."""
        ...

    async def leaves(self, start: int, end: int) -> Sequence[Leaf]:
        """Return leaves start..end, in order."""
        ...

    async def entries(self, filter_: EntryFilter, before: int, limit: int) -> Sequence[Leaf]:
        """Return leaves with an index below `before`, newest first."""
        ...

    async def nodes(self, names: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], bytes]:
        """Return hashes of complete subtrees by (level, index)."""
        ...

    async def feed_cursor(self) -> Cursor:
        """Return how far graph's feed has been applied; nothing of it at first."""
        ...

    async def key_changes(self) -> int:
        """Return how many changes of keys were executed: while it stays the same and none is
        decided, graph's keys are those in the log."""
        ...

    async def unconfirmed(self) -> Sequence[str]:
        """Return the erased memories whose erasure was not confirmed to graph yet."""
        ...


class LedgerWrites(LedgerReads, AccessWrites, Protocol):
    """One transaction on one space's ledger: all of it is kept, or nothing."""

    async def now(self) -> int:
        """Return the transaction's one time: no earlier than the log's newest entry, and the time
        of every entry that it appends, so that what was judged by it can be judged again."""
        ...

    async def next_number(self) -> int:
        """Return the next proposal number of the space, from 1."""
        ...

    async def put(self, before: Proposal | None, after: Proposal) -> None:
        """Write a proposal as it stands; a new revision's bytes with it.

        Raises LostRace when the stored version is not `before`'s.
        """
        ...

    async def keep_nonce(self, nonce: str) -> None:
        """Remember an envelope's nonce for ever."""
        ...

    async def keep_receipt(
        self, principal: str, method: str, request_id: str, receipt: RequestReceipt
    ) -> None:
        """Remember what a request did, for 7 days."""
        ...

    async def append(self, entries: Sequence[Entry]) -> Sequence[Leaf]:
        """Append entries to the log, with times that never step back."""
        ...

    async def move_cursor(self, cursor: Cursor) -> None:
        """Remember how far graph's feed has been applied."""
        ...

    async def count_key_change(self) -> None:
        """Remember that one more change of a key was executed."""
        ...

    async def forget_words(self, item_id: str, *, confirm: bool) -> int:
        """Remove the words of every proposal that touches an item; digests stay. Return how many.

        With `confirm` the item is unconfirmed from then on.
        """
        ...

    async def forget_all_words(self) -> None:
        """Remove the words of every proposal of the space; digests stay."""
        ...

    async def confirmed(self, memory_id: str) -> None:
        """Remember that an erasure was confirmed to graph."""
        ...


class Ledger(Protocol):
    """The store. One writer at a time per ledger; work may run again from its start."""

    async def read(self, space: str, work: Callable[[LedgerReads], Awaitable[T]]) -> T:
        """Run work on a consistent view."""
        ...

    async def write(self, space: str, work: Callable[[LedgerWrites], Awaitable[T]]) -> T:
        """Run work in a transaction; an exception undoes all of it."""
        ...

    async def spaces(self) -> Sequence[str]:
        """Return every space that has a ledger."""
        ...

    async def waiting(self, now: int) -> Sequence[str]:
        """Return the spaces with proposals that are due or whose effect is not known yet: one
        question for all of them, as it is asked all the time."""
        ...

    async def scrub(self) -> bool:
        """Leave no byte of what was removed in any file; False when that must be tried again."""
        ...

    async def ready(self) -> bool:
        """Return whether the store answers."""
        ...

    async def close(self) -> None:
        """Close the store; what was committed stays."""
        ...


class FramingJudge(Protocol):
    """A second look at a note that the lexicon let pass (V3)."""

    async def violations(self, note: str) -> tuple[str, ...]:
        """Return the words that are not neutral, as they stand in the note; none when neutral.

        Raises:
            JudgeUnavailable: there is no usable answer within a bounded time.
        """
        ...

    async def close(self) -> None:
        """Let go of what it holds."""
        ...


@dataclass(frozen=True, slots=True)
class Preview:
    """The items that an action would touch now, and how many more it would cascade to.

    `irreversible`: it cascades to more items than an undo could restore.
    """

    affected: tuple[Affected, ...]
    cascaded_count: int = 0
    irreversible: bool = False


@dataclass(frozen=True, slots=True)
class AppliedChange:
    """What an action did. `token`: freshness token of the write, change `seq` of `epoch`."""

    effects: tuple[Effect, ...]
    token: str
    epoch: str
    seq: int
    orphaned: tuple[str, ...] = ()
    """Ids of the lineage and resolutions that lost an end by it."""
    cascaded_count: int = 0
    """How many items it cascaded to; those that an undo restores are among the effects."""
    cascaded_digest: str = ""


@dataclass(frozen=True, slots=True)
class PrincipalKeys:
    """The principals of a space: the genesis with the keys as rotated since, and its envelope."""

    genesis: GenesisRecord
    envelope: bytes
    imported_seq: int = 0
    """The change with which the space was imported; 0: it began here."""


@dataclass(frozen=True, slots=True)
class GraphEvent:
    """A write on something constitutive, allowed or refused, as graph committed it."""

    seq: int
    record_time: int
    item_id: str
    item_kind: int
    change_type: int
    revision: int
    actor: str
    """AGENT, HUMAN or SYSTEM; empty when graph does not know."""
    principal: str
    method: str
    request_id: str
    digest: str
    before_digest: str
    reason: str
    constitutive: bool
    ends: Mapping[str, str]
    imported: bool = False
    """Recorded elsewhere: it came with an import."""
    restore_grant: bytes = b""
    """For an import that both principals signed for: the restore grant."""
    revocation: bytes = b""
    """For a consent's nonce that was burnt: the envelope that its principal signed."""


@dataclass(frozen=True, slots=True)
class FeedMessage:
    """Some of graph's changes of one space, in order; `seq` is the last one's, an event or not."""

    space: str
    epoch: str
    seq: int
    events: tuple[GraphEvent, ...]
    erased: tuple[tuple[str, bool], ...] = ()
    """Items whose words are to be removed everywhere, and whether graph waits for a confirmation:
    it does for a memory, not for what goes with one."""
    importing: bool = False
    """True while what comes was recorded elsewhere: the import that brought it comes later."""
    first: int = 0
    """The first of these changes."""
    mark: str = ""
    """Of the last of them."""
    follows: str = ""
    """The mark of the change before the first of them."""


class Feed(Protocol):
    """How far graph's changes are in the ledger."""

    def demand_whole(self, space: str) -> None:
        """Refuse what would be done in a space whose graph is older than the ledger.

        Raises GraphRolledBack.
        """
        ...

    def is_rolled_back(self, space: str) -> bool:
        """Return whether a space's graph is older than the ledger."""
        ...

    def found_rolled_back(self, space: str) -> None:
        """Take note that graph itself said so."""
        ...

    async def reached(self, space: str, epoch: str, seq: int) -> bool:
        """Wait, for seconds at most, for a change of graph in the ledger; say whether it is."""
        ...


class Graph(Protocol):
    """The graph service. Raises GraphUnavailable or GraphRefused.

    A write under a decision names the last change that the ledger has of graph (`expected_state`);
    if graph does not hold it, nothing is done and GraphRolledBack is raised. Unless the agreed
    change is `irreversible`, graph refuses one that cascades to more than an undo could restore.
    """

    async def preview(
        self, space: str, action: Mapping[str, Json], etags: Mapping[str, str] = ...
    ) -> Preview:
        """Return what the action would touch; nothing is written.

        GraphRefused also when an item is not as `etags` says (by id; "" = there is none).
        """
        ...

    async def perform(
        self,
        space: str,
        action: Mapping[str, Json],
        decision_id: str,
        etags: Mapping[str, str],
        *,
        expected_state: Cursor,
        irreversible: bool,
    ) -> AppliedChange:
        """Do an action that needs no grant, once per decision, on items as they were proposed."""
        ...

    async def apply(
        self,
        space: str,
        action: Mapping[str, Json],
        decision_id: str,
        grant: bytes,
        *,
        expected_state: Cursor,
        irreversible: bool,
    ) -> AppliedChange:
        """Do an action under a grant, once per decision."""
        ...

    async def recall(
        self, space: str, decision_id: str, *, expected_state: Cursor
    ) -> AppliedChange:
        """Return what a decision did whose action is gone, since an item of it was erased.

        GraphRefused when it did nothing; nothing is done.
        """
        ...

    async def revoke(self, space: str, revocation: bytes, request_id: str) -> tuple[str, int]:
        """Burn a consent's nonce on its principal's signature; return (epoch, seq) of the change
        that records it."""
        ...

    async def confirm_erased(self, space: str, memory_id: str) -> None:
        """Say that the ledger holds nothing more of what a memory said."""
        ...

    async def principal_keys(self, space: str) -> PrincipalKeys | None:
        """Return who counts; None before the genesis."""
        ...

    async def register_space(self, space: str, enrolment_digest: str) -> bool:
        """Make a space known, with the hex SHA-256 of the secret that its genesis takes.

        Return whether it has its genesis: then it keeps what it knows.
        """
        ...

    async def erase_space(self, space: str, statement: bytes) -> bool:
        """Erase some of what a deleted space holds; return whether nothing is left.

        `statement` is what both slots signed, for a space with a genesis.
        """
        ...

    async def heads(self, cursors: Mapping[str, Cursor]) -> Mapping[str, Head]:
        """Return how far graph is in every space that it has, and whether it holds these changes.

        A cursor without a mark is compared by its number alone, which costs graph nothing.
        """
        ...

    def watch(self, cursors: Mapping[str, Cursor]) -> AsyncGenerator[FeedMessage]:
        """Replay every space's changes after its cursor, then follow.

        The first message, of no space, says that graph answers."""
        ...


class Granter(Protocol):
    """Governance's own key."""

    def grant(
        self, decision_id: str, revision: Revision, consents: Mapping[str, bytes], expire_time: int
    ) -> bytes:
        """Return the signed grant for a revision, carrying the consents by slot."""
        ...


class LogSigner(Protocol):
    """The audit log's own key."""

    @property
    def public_key(self) -> bytes:
        """Raw Ed25519 public key, 32 bytes."""
        ...

    def origin(self, space: str) -> str:
        """Return the log's name: the first line of its checkpoints."""
        ...

    def checkpoint(self, space: str, size: int, root: bytes) -> str:
        """Return a signed checkpoint."""
        ...
