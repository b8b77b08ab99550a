"""Governance's refusals and failures.

GovernanceError
├── ProposalNotFound      unknown here, or of another space
├── ProposalState         its state does not allow this; names the state
├── RevisionStale         another revision is the newest
├── LostRace              another writer changed the proposal meanwhile
├── NotProposer           only its proposer may do this
├── FramingViolation      words that urge, judge or feel
├── JudgeUnavailable      the model that judges words gave no usable answer
├── SafeguardViolation    an attempt to get around a safeguard
├── SlotNotRequired       the proposal asks no consent of this slot
├── UndoImpossible        it was not executed, was undone, or its words were erased
├── RetentionExpired      the time to undo it is over
├── UndoConflict          items were changed after the change to undo
├── TooManyPending        too many proposals of this proposer wait for an answer
├── ProposalTooLarge      an envelope or a log entry of it would be larger than the limit
├── TooManySpaces         there are as many spaces as may be made
├── KeysChanging          a key change is under way: which keys count is not settled
├── BulkForbidden         constitutive changes are never approved in bulk
├── ProofImpossible       the log has no such entry or size
├── LedgerBusy            too many writers at once
├── TooManyRefusals       this principal was refused too often in this hour
├── LedgerUnavailable     the ledger's store cannot be read or written
│   └── LedgerFull        its disk has no room for a write; reads still work
├── LedgerCorrupt         the ledger's store is damaged
├── AccessRefused         a refused command on spaces or keys
│   ├── KeyRefused        the key would grant more than the caller may
│   ├── PermissionMissing the key does not carry the permission that the command needs
│   ├── ReservedName      the principal's name is reserved for Concord
│   ├── FieldInvalid      the request's fields contradict each other; names one to change
│   ├── KeyNotFound       no key of this id is visible to the caller
│   ├── SpaceNotFound     no space of this name is on record
│   ├── SpaceExists       the name is or was in use
│   └── SpaceDeleted      the space was deleted
├── GenesisMissing        the space has no genesis: no consent counts yet
├── GenesisExists         the space has its genesis: consents decide, no access key
├── RequestReused         the request id came with other content
├── GraphRolledBack       graph's store is older than the log
├── GraphUnavailable      graph does not answer
│   └── GraphFaulty       graph fails on this request
└── GraphRefused          graph refused the request; holds its reason
A refused signed envelope raises concord_attestation.consent.ConsentError instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class Refusal(Protocol):
    """A refusal as another service sent it."""

    reason: str
    metadata: dict[str, str]


class GovernanceError(Exception):
    """Root of governance's own refusals."""


class ProposalNotFound(GovernanceError):
    """No such proposal in this space."""


class ProposalState(GovernanceError):
    """The proposal is in a state that does not allow this."""

    def __init__(self, status: str) -> None:
        super().__init__(f"the proposal is {status}")
        self.status = status


class RevisionStale(GovernanceError):
    """Another revision is the newest."""


class LostRace(GovernanceError):
    """Another writer changed the proposal meanwhile."""


class NotProposer(GovernanceError):
    """Only its proposer may revise or withdraw a proposal."""


class FramingViolation(GovernanceError):
    """A note is not neutral. `words`: its loaded phrases."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__("proposals are framed neutrally: leave out " + ", ".join(words))
        self.words = tuple(words)


class JudgeUnavailable(GovernanceError):
    """The model that judges words gave no usable answer; no caller ever sees this error."""


class SafeguardViolation(GovernanceError):
    """An attempt to get around a safeguard; the text says which."""


class SlotNotRequired(GovernanceError):
    """The proposal asks no consent of this slot."""


class UndoImpossible(GovernanceError):
    """There is nothing to undo; the text says why."""


class RetentionExpired(GovernanceError):
    """The time to undo it is over."""


class UndoConflict(GovernanceError):
    """These items were changed after the change to undo."""

    def __init__(self, item_ids: Sequence[str]) -> None:
        super().__init__("changed since: " + ", ".join(item_ids))
        self.item_ids = tuple(item_ids)


class ProposalTooLarge(GovernanceError):
    """An envelope or a log entry of the change would have more `of` than the limit."""

    def __init__(self, of: str, found: int, most: int) -> None:
        """`of`: "items" that the envelopes name, or "bytes" of one envelope or entry."""
        super().__init__(
            f"the change comes to {found:,} {of} in one signed envelope or log entry,"
            f" at most {most:,} are possible: propose it in parts"
        )
        self.of, self.found, self.most = of, found, most


class TooManyPending(GovernanceError):
    """The principal's proposals that wait for an answer have reached their limit, `most`."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"{most} proposals of yours wait for an answer: withdraw some, or wait for the answers"
        )
        self.most = most


class TooManySpaces(GovernanceError):
    """There are `most` spaces or more, deleted ones among them: no more are made."""

    def __init__(self, most: int) -> None:
        super().__init__(f"there are {most:,} spaces or more, deleted ones among them")
        self.most = most


class KeysChanging(GovernanceError):
    """A key change is under way, or ended during this request. Sent again, the envelope is judged
    by the keys that count then."""


class BulkForbidden(GovernanceError):
    """Constitutive changes are never approved in bulk."""


class ProofImpossible(GovernanceError):
    """The log has no such entry, or no such size."""


class LedgerBusy(GovernanceError):
    """Too many writers at once; the same request later may succeed."""


class TooManyRefusals(GovernanceError):
    """This principal's refused steps reached the limit of the hour."""

    def __init__(self, wait: float) -> None:
        """`wait`: seconds until the principal's steps are accepted again."""
        super().__init__("too many refused steps in this hour")
        self.wait = wait


class LedgerUnavailable(GovernanceError):
    """The ledger's store cannot be read or written."""


class LedgerFull(LedgerUnavailable):
    """The disk of the ledger's store has no room for a write; reads still work."""


class LedgerCorrupt(GovernanceError):
    """The ledger's store is damaged: it holds impossible values."""


class AccessRefused(GovernanceError):
    """A refused command on spaces or keys; the refusal has an entry in the log."""


class KeyRefused(AccessRefused):
    """The key would grant more than the caller may, or is of a space not the caller's to manage."""


class PermissionMissing(AccessRefused):
    """The key does not carry the permission that the command needs."""


class ReservedName(AccessRefused):
    """The name of a key's principal is reserved for Concord."""


class FieldInvalid(AccessRefused):
    """The request's fields contradict each other; `field`: one to change."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class KeyNotFound(AccessRefused):
    """No key of this id is visible to the caller."""


class SpaceNotFound(AccessRefused):
    """No space of this name is on record."""


class SpaceExists(AccessRefused):
    """The name is or was in use."""


class SpaceDeleted(AccessRefused):
    """The space was deleted: nothing is written there any more."""


class GenesisMissing(GovernanceError):
    """The space has no genesis: no consent counts yet."""


class GenesisExists(GovernanceError):
    """The space has its genesis: proposals are decided by consents, not by an access key."""


class RequestReused(GovernanceError):
    """The request id came with other content."""


class GraphRolledBack(GovernanceError):
    """Graph's newest change is older than the log's last one: graph was restored from an older
    copy. The log would miss its new changes."""


class GraphUnavailable(GovernanceError):
    """Graph does not answer; the same request later may succeed."""


class GraphFaulty(GraphUnavailable):
    """Graph fails on this request, and may fail each time it is repeated."""


class GraphRefused(GovernanceError):
    """Graph refused the request. `failure`: its refusal, which the caller gets unchanged."""

    def __init__(self, failure: Refusal) -> None:
        super().__init__(f"graph refuses: {failure.reason}")
        self.failure = failure

    @property
    def reason(self) -> str:
        """A name of concord.errors.v1.ErrorReason."""
        return self.failure.reason

    @property
    def metadata(self) -> Mapping[str, str]:
        """The details that come with that reason."""
        return self.failure.metadata
