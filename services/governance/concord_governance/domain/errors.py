"""Governance's refusals and failures, each with the reason that its caller receives.

A refused signed envelope raises concord_attestation.consent.ConsentError instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol


class Refusal(Protocol):
    """A refusal as another service sent it."""

    reason: str
    metadata: dict[str, str]


class GovernanceError(Exception):
    """Root of governance's own refusals.

    Those that a caller receives state their `reason`, and what else the caller receives, as
    attributes that `concord_chassis.call.failure.translate` reads.
    """

    code = "FAILED_PRECONDITION"
    reason: str
    metadata: Mapping[str, str] = MappingProxyType({})

    @property
    def message(self) -> str:
        """The error's text, as a sentence."""
        return f"{str(self)[:1].upper()}{str(self)[1:]}."


class _Verbatim(GovernanceError):
    """A refusal whose text the caller receives as it is."""

    @property
    def message(self) -> str:
        return str(self)


class ProposalNotFound(GovernanceError):
    """No such proposal in this space."""

    code = "NOT_FOUND"
    reason = "ERROR_REASON_ITEM_NOT_FOUND"
    message = "No such proposal."


class ProposalState(_Verbatim):
    """The proposal is in a state that does not allow this."""

    reason = "ERROR_REASON_PROPOSAL_STATE"

    def __init__(self, status: str) -> None:
        super().__init__(f"the proposal is {status}")
        self.metadata = {"status": status}


class RevisionStale(GovernanceError):
    """Another revision is the newest."""

    code = "ABORTED"
    reason = "ERROR_REASON_REVISION_STALE"


class LostRace(GovernanceError):
    """Another writer changed the proposal meanwhile."""

    code = "ABORTED"
    reason = "ERROR_REASON_REVISION_STALE"


class NotProposer(GovernanceError):
    """Only its proposer may revise or withdraw a proposal."""

    code = "PERMISSION_DENIED"
    reason = "ERROR_REASON_NOT_PROPOSER"


class FramingViolation(_Verbatim):
    """A note is not neutral. `words`: its loaded phrases."""

    code = "INVALID_ARGUMENT"
    reason = "ERROR_REASON_FRAMING_VIOLATION"

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__("proposals are framed neutrally: leave out " + ", ".join(words))
        self.metadata = {"words": ",".join(words)[:1000]}


class JudgeUnavailable(GovernanceError):
    """The model that judges words gave no usable answer; no caller ever sees this error."""


class SafeguardViolation(GovernanceError):
    """An attempt to get around a safeguard; the text says which."""

    reason = "ERROR_REASON_SAFEGUARD_VIOLATION"


class SlotNotRequired(GovernanceError):
    """The proposal asks no consent of this slot."""

    reason = "ERROR_REASON_SLOT_NOT_REQUIRED"


class UndoImpossible(GovernanceError):
    """There is nothing to undo; the text says why."""

    reason = "ERROR_REASON_UNDO_IMPOSSIBLE"


class RetentionExpired(GovernanceError):
    """The time to undo it is over."""

    reason = "ERROR_REASON_RETENTION_EXPIRED"


class UndoConflict(_Verbatim):
    """These items were changed after the change to undo."""

    reason = "ERROR_REASON_UNDO_CONFLICT"

    def __init__(self, item_ids: Sequence[str]) -> None:
        super().__init__("changed since: " + ", ".join(item_ids))
        self.metadata = {"item_ids": ",".join(item_ids[:20])}


class ProposalTooLarge(GovernanceError):
    """An envelope or a log entry of the change would have more `of` than the limit."""

    reason = "ERROR_REASON_PROPOSAL_TOO_LARGE"

    def __init__(self, of: str, found: int, most: int) -> None:
        """`of`: "items" that the envelopes name, or "bytes" of one envelope or entry."""
        super().__init__(
            f"the change comes to {found:,} {of} in one signed envelope or log entry,"
            f" at most {most:,} are possible: propose it in parts"
        )
        self.metadata = {of: str(found), f"max_{of}": str(most)}


class TooManyPending(GovernanceError):
    """The principal's proposals that wait for an answer have reached their limit, `most`."""

    code = "RESOURCE_EXHAUSTED"
    reason = "ERROR_REASON_TOO_MANY_PENDING"
    retry_after = 3600.0  # proposals wait for people

    def __init__(self, most: int) -> None:
        super().__init__(
            f"{most} proposals of yours wait for an answer: withdraw some, or wait for the answers"
        )
        self.metadata = {"max": str(most)}


class TooManySpaces(GovernanceError):
    """There are `most` spaces or more, deleted ones among them: no more are made."""

    code = "RESOURCE_EXHAUSTED"
    reason = "ERROR_REASON_TOO_MANY_SPACES"

    def __init__(self, most: int) -> None:
        super().__init__(
            f"no space is made: there are {most:,} spaces or more, deleted ones among them"
        )
        self.metadata = {"max": str(most)}


class KeysChanging(GovernanceError):
    """A key change is under way, or ended during this request. Sent again, the envelope is judged
    by the keys that count then."""

    code = "ABORTED"
    reason = "ERROR_REASON_KEYS_CHANGING"


class BulkForbidden(GovernanceError):
    """Constitutive changes are never approved in bulk."""

    reason = "ERROR_REASON_BULK_FORBIDDEN"


class ProofImpossible(GovernanceError):
    """The log has no such entry, or no such size."""

    reason = "ERROR_REASON_PROOF_IMPOSSIBLE"


class LedgerBusy(GovernanceError):
    """Too many writers at once; the same request later may succeed."""

    code = "RESOURCE_EXHAUSTED"
    reason = "ERROR_REASON_OVERLOADED"
    message = "The ledger is busy."
    retry_after = 1.0


class TooManyRefusals(GovernanceError):
    """This principal's refused steps reached the limit of the hour."""

    code = "RESOURCE_EXHAUSTED"
    reason = "ERROR_REASON_TOO_MANY_REFUSALS"
    message = "Too many refused steps in this hour."

    def __init__(self, wait: float) -> None:
        """`wait`: seconds until the principal's steps are accepted again."""
        super().__init__("too many refused steps in this hour")
        self.retry_after = wait


class LedgerUnavailable(GovernanceError):
    """The ledger's store cannot be read or written."""

    code = "UNAVAILABLE"
    reason = "ERROR_REASON_UNAVAILABLE"
    message = "The ledger does not answer."


class LedgerFull(LedgerUnavailable):
    """The disk of the ledger's store has no room for a write; reads still work."""

    code = "RESOURCE_EXHAUSTED"
    reason = "ERROR_REASON_DISK_FULL"
    message = "The ledger has no room for this; what is there can be read."
    retry_after = 60.0  # an operator has to free space on the disk


class LedgerCorrupt(GovernanceError):
    """The ledger's store is damaged: it holds impossible values."""

    code = "DATA_LOSS"
    reason = "ERROR_REASON_STORE_CORRUPT"
    message = "The ledger is damaged."


class RevisionUnreadable(GovernanceError):
    """A stored revision is of another version than today's."""

    code = "DATA_LOSS"
    reason = "ERROR_REASON_STORE_CORRUPT"
    message = (
        "The ledger holds a proposal of an older version: commit 85b147cc of Concord is the last "
        "one that reads it."
    )


class AccessRefused(GovernanceError):
    """A refused command on spaces or keys; the refusal has an entry in the log."""


class KeyRefused(AccessRefused):
    """The key would grant more than the caller may, or is of a space not the caller's to manage."""

    code = "PERMISSION_DENIED"
    reason = "ERROR_REASON_KEY_REFUSED"


class PermissionMissing(AccessRefused):
    """The key does not carry the permission that the command needs."""

    code = "PERMISSION_DENIED"
    reason = "ERROR_REASON_PERMISSION_MISSING"


class ReservedName(AccessRefused):
    """The name of a key's principal, or of a space, is reserved for Concord."""

    code = "INVALID_ARGUMENT"
    reason = "ERROR_REASON_RESERVED_NAME"
    message = "This name is one of Concord's own."

    def __init__(self, field: str, why: str) -> None:
        super().__init__(why)
        self.violations = ((field, why),)


class LooksReserved(ReservedName):
    """People would take the name for a reserved one."""

    message = "This name looks like one of Concord's own."


class FieldInvalid(AccessRefused):
    """The request's fields contradict each other; `field`: one to change."""

    code = "INVALID_ARGUMENT"
    reason = "ERROR_REASON_FIELD_INVALID"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.violations = ((field, message),)

    @property
    def message(self) -> str:
        """The field and what it must not be."""
        field, why = self.violations[0]
        return f"{field} {why}."


class KeyNotFound(AccessRefused):
    """No key of this id is visible to the caller."""

    code = "NOT_FOUND"
    reason = "ERROR_REASON_ITEM_NOT_FOUND"


class SpaceNotFound(AccessRefused):
    """No space of this name is on record."""

    code = "NOT_FOUND"
    reason = "ERROR_REASON_ITEM_NOT_FOUND"


class SpaceExists(AccessRefused):
    """The name is or was in use."""

    code = "ALREADY_EXISTS"
    reason = "ERROR_REASON_ITEM_EXISTS"


class SpaceDeleted(AccessRefused):
    """The space was deleted: nothing is written there any more."""

    reason = "ERROR_REASON_SPACE_DELETED"


class SignInInvalid(GovernanceError):
    """The code is unknown, used or late, or its key is not valid any more."""

    code = "UNAUTHENTICATED"
    reason = "ERROR_REASON_CREDENTIAL_INVALID"
    message = "This code opens no session: it is unknown, used, or over a minute old."


class GenesisMissing(GovernanceError):
    """The space has no genesis: no consent counts yet."""

    reason = "ERROR_REASON_GENESIS_MISSING"


class GenesisExists(GovernanceError):
    """The space has its genesis: proposals are decided by consents, not by an access key."""

    reason = "ERROR_REASON_GENESIS_EXISTS"


class RequestReused(GovernanceError):
    """The request id came with other content."""

    code = "ALREADY_EXISTS"
    reason = "ERROR_REASON_REQUEST_ID_REUSED"
    message = "This request id came with other content."

    def __init__(self, request_id: str) -> None:
        super().__init__(request_id)
        self.metadata = {"request_id": request_id}


class GraphRolledBack(GovernanceError):
    """Graph's newest change is older than the log's last one: graph was restored from an older
    copy. The log would miss its new changes."""

    code = "DATA_LOSS"
    reason = "ERROR_REASON_GRAPH_ROLLED_BACK"


class GraphUnavailable(GovernanceError):
    """Graph does not answer; the same request later may succeed."""

    code = "UNAVAILABLE"
    reason = "ERROR_REASON_UNAVAILABLE"
    message = "Graph does not answer."


class GraphFaulty(GraphUnavailable):
    """Graph fails on this request, and may fail each time it is repeated."""


class GraphRefused(GovernanceError):
    """Graph refused the request. `failure`: its refusal, which the caller gets unchanged."""

    def __init__(self, failure: Refusal) -> None:
        super().__init__(f"graph refuses: {failure.reason}")
        self.failure = failure
        self.reason = failure.reason
        self.metadata = failure.metadata
