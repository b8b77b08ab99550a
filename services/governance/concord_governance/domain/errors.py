"""How governance says no.

GovernanceError
├── ProposalNotFound      unknown here, or of another space
├── ProposalState         it is not in a state for this; names the state
├── RevisionStale         another revision is the newest
├── LostRace              somebody else wrote it meanwhile
├── NotProposer           only its proposer may do this
├── FramingViolation      words that urge, judge or feel
├── JudgeUnavailable      the model that judges words gave no usable answer
├── SafeguardViolation    an attempt to get around a safeguard
├── SlotNotRequired       this slot has no say in this proposal
├── UndoImpossible        it was not executed, was undone, or its words were erased
├── RetentionExpired      the time to undo it is over
├── UndoConflict          items were changed since
├── TooManyPending        so many of the proposer's wait for an answer already
├── ProposalTooLarge      an envelope or a log entry of it would be larger than the limit
├── KeysChanging          a key is being changed: whose signature counts is not settled
├── BulkForbidden         what is constitutive is never approved in bulk
├── ProofImpossible       the log has no such entry or size
├── LedgerBusy            too many writers at once
├── TooManyRefusals       this principal was refused too often in this hour
├── LedgerUnavailable     the ledger's store cannot be read or written
│   └── LedgerFull        its disk has no room for a write; what is there can be read
├── LedgerCorrupt         the ledger's store is damaged
├── AccessRefused         a command on spaces or keys that is no
│   ├── KeyRefused        the key would do more than the caller may give
│   ├── PermissionMissing the key does not carry what the command needs
│   ├── ReservedName      a principal is called like one of Concord's own
│   ├── FieldInvalid      what is asked for does not go together; names the field
│   ├── KeyNotFound       no key of that id that the caller may see
│   ├── SpaceNotFound     operators know no such space
│   ├── SpaceExists       the name is or was in use
│   └── SpaceDeleted      the space was deleted
├── GenesisMissing        nobody's consent counts yet
├── RequestReused         the request id came with other content
├── GraphRolledBack       graph is older than what the log has of it
├── GraphUnavailable      graph does not answer
│   └── GraphFaulty       it fails at this very request
└── GraphRefused          graph says no, and why
The refusals of signed envelopes are concord_attestation.consent.ConsentError's.
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
    """Somebody else wrote the proposal meanwhile."""


class NotProposer(GovernanceError):
    """Only its proposer may revise or withdraw a proposal."""


class FramingViolation(GovernanceError):
    """The words that are not neutral, as they stand in the text."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__("proposals are framed neutrally: leave out " + ", ".join(words))
        self.words = tuple(words)


class JudgeUnavailable(GovernanceError):
    """The model that judges words gave no usable answer; never a caller's affair."""


class SafeguardViolation(GovernanceError):
    """An attempt to get around a safeguard; the text says which."""


class SlotNotRequired(GovernanceError):
    """This slot has no say in this proposal."""


class UndoImpossible(GovernanceError):
    """There is nothing to undo; the text says why."""


class RetentionExpired(GovernanceError):
    """The time to undo it is over."""


class UndoConflict(GovernanceError):
    """These items were changed since."""

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
    """As many proposals of this principal's as may wait for an answer do so already."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"{most} proposals of yours wait for an answer: withdraw some, or wait for the answers"
        )
        self.most = most


class KeysChanging(GovernanceError):
    """A key is being changed, or was during this request: the same envelope a moment later is
    judged by the keys of then."""


class BulkForbidden(GovernanceError):
    """What is constitutive is never approved in bulk."""


class ProofImpossible(GovernanceError):
    """The log has no such entry, or no such size."""


class LedgerBusy(GovernanceError):
    """Too many writers at once: later."""


class TooManyRefusals(GovernanceError):
    """This principal's refused steps reached the limit of the hour."""

    def __init__(self, wait: float) -> None:
        """`wait`: seconds until its steps are taken again."""
        super().__init__("too many refused steps in this hour")
        self.wait = wait


class LedgerUnavailable(GovernanceError):
    """The ledger's store cannot be read or written."""


class LedgerFull(LedgerUnavailable):
    """The disk of the ledger's store has no room for a write; what is there can be read."""


class LedgerCorrupt(GovernanceError):
    """The ledger's store holds what it cannot: it was damaged."""


class AccessRefused(GovernanceError):
    """A command on spaces or keys that is refused: it has an entry in the log."""


class KeyRefused(AccessRefused):
    """The key would do more than the caller may give, or is of a space where it has no say."""


class PermissionMissing(AccessRefused):
    """The key does not carry the permission that the command needs."""


class ReservedName(AccessRefused):
    """A key's principal is called like one of Concord's own."""


class FieldInvalid(AccessRefused):
    """What is asked for does not go together; `field` is the one to change."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class KeyNotFound(AccessRefused):
    """No key of that id that the caller may see."""


class SpaceNotFound(AccessRefused):
    """Operators know no such space."""


class SpaceExists(AccessRefused):
    """The name is or was in use."""


class SpaceDeleted(AccessRefused):
    """The space was deleted: nothing is written there any more."""


class GenesisMissing(GovernanceError):
    """The space has no genesis: nobody's consent counts yet."""


class RequestReused(GovernanceError):
    """The request id came with other content."""


class GraphRolledBack(GovernanceError):
    """Graph's newest change is older than the last one in the log: it was put back from
    an older copy, and what it does now would not be in the log."""


class GraphUnavailable(GovernanceError):
    """Graph does not answer; the same request later may succeed."""


class GraphFaulty(GraphUnavailable):
    """Graph fails at this very request: it may do so each time it comes."""


class GraphRefused(GovernanceError):
    """Graph says no. `failure` is what it said, for the caller to hear as it is."""

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
